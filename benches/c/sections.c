/*
 * What Fortran costs: half of a round trip between ranks 0 and 1 of arrays by module mpi_f08, whole or 16 of their 64 rows, and of the
 * same places by C, where the rows are a committed vector datatype. benches/fortran/sections.f90 has Fortran's side, which the library's
 * mpifort compiles with this file.
 *
 *   mpirun -n 2 sections --whole | --rows [--c] [-s size[,size]] [-r samples] [-i iterations] [--json] [--pin]
 *
 * The size is that of the data in bytes, a multiple of 64.
 */
#include "bench.h"

enum { ROWS = 64, SOME = 16 };

static int whole, rows, c;

void whole_arrays(int rank, int iterations, int columns, void *out, void *in);
void some_rows(int rank, int iterations, int columns, void *out, void *in);

struct ping {
    char *out, *in;
    int rank, columns, count;
    MPI_Datatype datatype;
};

static void chunk(void *with, int iterations)
{
    struct ping *p = with;
    if (!c) {
        (whole ? whole_arrays : some_rows)(p->rank, iterations, p->columns, p->out, p->in);
        return;
    }
    for (int i = 0; i < iterations; i++) {
        if (p->rank == 0)
            MPI_Send(p->out, p->count, p->datatype, 1, BENCH_TAG, MPI_COMM_WORLD);
        MPI_Recv(p->in, p->count, p->datatype, 1 - p->rank, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (p->rank == 1)
            MPI_Send(p->out, p->count, p->datatype, 0, BENCH_TAG, MPI_COMM_WORLD);
    }
}

/* Of each column what was to come, and nothing beside it. */
static void verify(const struct bench *b, const struct ping *p)
{
    const int *in = (const int *)p->in;
    int height = whole ? SOME : ROWS;
    for (int i = 0; i < p->columns * height; i++)
        if (in[i] != (i % height < SOME ? i + 1 - b->rank : 0))
            bench_die(b, "received data differ, first wrong element", i);
}

static void measure(const struct bench *b, int size)
{
    int columns = size / (SOME * 4), height = whole ? SOME : ROWS;
    size_t bytes = (size_t)columns * (size_t)height * 4;
    struct ping p = {.out = bench_memory(b, bytes), .in = bench_memory(b, bytes), .rank = b->rank, .columns = columns};
    for (int i = 0; i < columns * height; i++)
        ((int *)p.out)[i] = i + b->rank;
    if (whole)
        p.datatype = MPI_INT, p.count = SOME * columns;
    else {
        p.count = 1;
        MPI_Type_vector(columns, SOME, ROWS, MPI_INT, &p.datatype);
        MPI_Type_commit(&p.datatype);
    }
    chunk(&p, 1);
    verify(b, &p);
    bench_measure(b, chunk, &p, size, MICROSECONDS, 2, 2.0 * size);
    verify(b, &p);
    if (!whole)
        MPI_Type_free(&p.datatype);
    free(p.out);
    free(p.in);
}

int main(int argc, char **argv)
{
    struct bench b = {.o = {.program = "sections", .repetitions = 20, .chunk_us = 1000, .sizes = {64, 4096, 65536}, .size_count = 3}, .members = 2};
    struct flag flags[] = {{"--whole", "whole arrays", &whole},
                           {"--rows", "16 of the 64 rows of arrays", &rows},
                           {"--c", "by C", &c}};
    memcpy(b.o.flags, flags, sizeof flags);
    b = bench_start(&argc, &argv, b);
    if (whole + rows != 1)
        bench_die(&b, "name one of --whole and --rows; those named", whole + rows);
    for (int i = 0; i < b.o.size_count && b.rank < 2; i++)
        measure(&b, b.o.sizes[i]);
    bench_finish();
    return 0;
}

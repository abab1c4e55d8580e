/*
 * Halo exchange in a ring: each iteration posts MPI_Irecv from both neighbours, MPI_Isend to both (MPI 5.0 section 3.7),
 * computes on memory of its own, waits for all four with MPI_Waitall, and reads what came. What is printed is the whole
 * iteration with its computing: a step of a solver.
 *
 *   mpirun -n 2 halo [-s bytes[,bytes]] [-w compute] [-r samples] [-i iterations] [--json] [--pin]
 *
 * -w: how many times 64 doubles are worked on in between, some 20 ns each; 1 is next to nothing.
 */
#include "bench.h"

#define FIELD 64

struct step {
    char *out[2], *in[2];
    double field[FIELD];
    int size, work, peer[2];
    volatile char sum;
};

/* A function of its own at the start of a line: inlined, its loop took 0.55 or 1.0 us on an AMD EPYC, as it happened to lie. */
__attribute__((noinline, aligned(64))) static void compute(struct step *s)
{
    for (int k = 0; k < s->work; k++)
        for (int i = 0; i < FIELD; i++)
            s->field[i] = s->field[i] * 0.999 + 0.5;
}

static void chunk(void *with, int iterations)
{
    struct step *s = with;
    MPI_Request requests[4];
    for (int i = 0; i < iterations; i++) {
        char sum = 0;
        /* Tags say the direction: with two ranks both neighbours are the same process. */
        MPI_Irecv(s->in[0], s->size, MPI_BYTE, s->peer[0], BENCH_TAG + 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(s->in[1], s->size, MPI_BYTE, s->peer[1], BENCH_TAG, MPI_COMM_WORLD, &requests[1]);
        for (int side = 0; side < 2; side++) {
            for (int at = 0; at < s->size; at += 64)
                s->out[side][at]++;
            MPI_Isend(s->out[side], s->size, MPI_BYTE, s->peer[side], BENCH_TAG + side, MPI_COMM_WORLD, &requests[2 + side]);
        }
        compute(s);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        for (int side = 0; side < 2; side++)
            for (int at = 0; at < s->size; at += 64)
                sum = (char)(sum + s->in[side][at]);
        s->sum = sum;
    }
}

/* What came is what the neighbour counted up to: all ranks do the same number of iterations. */
static void verify(const struct bench *b, const struct step *s)
{
    for (int side = 0; side < 2; side++)
        for (int at = 0; at < s->size; at += 64)
            if (s->in[side][at] != s->out[side][at])
                bench_die(b, "received data differ, first wrong byte", at);
}

static void measure(const struct bench *b, int size)
{
    struct step s = {.size = size, .work = b->o.window, .peer = {(b->rank + b->ranks - 1) % b->ranks, (b->rank + 1) % b->ranks}};
    for (int side = 0; side < 2; side++)
        s.out[side] = bench_memory(b, (size_t)size), s.in[side] = bench_memory(b, (size_t)size);
    bench_measure(b, chunk, &s, size, MICROSECONDS, 1, 4.0 * size);
    verify(b, &s);
    for (int side = 0; side < 2; side++) {
        free(s.out[side]);
        free(s.in[side]);
    }
}

int main(int argc, char **argv)
{
    struct bench b = {.o = {.program = "halo", .repetitions = 20, .chunk_us = 4000, .window = 50, .size_count = 0}, .all = 1};
    for (int size = 8; size <= 1 << 18; size *= 8)
        b.o.sizes[b.o.size_count++] = size;
    b = bench_start(&argc, &argv, b);
    for (int i = 0; i < b.o.size_count; i++)
        measure(&b, b.o.sizes[i]);
    bench_finish();
    return 0;
}

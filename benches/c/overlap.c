/*
 * Overlap of nonblocking collectives (MPI 5.0 section 6.12) with computing: an iteration begins one of MPI_Ibcast,
 * MPI_Iallreduce and MPI_Ialltoall, computes in parts with an MPI_Test after each, and waits; a sample is what the slowest
 * rank took. The computing is the same number of steps for every library, about 120 us. What an operation costs beyond it
 * is what could not be hidden: copies and reductions are this process's own work, waiting for others can vanish. --alone:
 * no computing; --deaf: no MPI_Test, so that only a library that works behind the program's back hides anything.
 *
 *   mpirun -n 2 overlap --bcast | --allreduce | --alltoall [--alone] [--deaf] [-s bytes[,bytes]] [-r samples] [-w parts]
 *                       [--json] [--pin]
 */
#include "bench.h"

static int bcast, allreduce, alltoall, alone, deaf;
static volatile double sink;

struct group {
    double *out, *in;
    int count, rank, ranks, parts;
};

enum { STEPS = 60000 };

static void compute(long steps)
{
    double x = 1.0;
    for (long i = 0; i < steps; i++)
        x = x * 1.0000001 + 1e-9;
    sink = x;
}

static void begin(struct group *g, int i, MPI_Request *q)
{
    if (bcast)
        MPI_Ibcast(g->rank == i % g->ranks ? g->out : g->in, g->count, MPI_DOUBLE, i % g->ranks, MPI_COMM_WORLD, q);
    else if (allreduce)
        MPI_Iallreduce(g->out, g->in, g->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, q);
    else
        MPI_Ialltoall(g->out, g->count / g->ranks, MPI_DOUBLE, g->in, g->count / g->ranks, MPI_DOUBLE, MPI_COMM_WORLD, q);
}

static void chunk(void *with, int iterations)
{
    struct group *g = with;
    for (int i = 0; i < iterations; i++) {
        MPI_Request q;
        int done = 0;
        begin(g, i, &q);
        for (int part = 0; part < g->parts && !alone; part++) {
            compute(STEPS / g->parts);
            if (!done && !deaf)
                MPI_Test(&q, &done, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
}

/* All ranks send the same, so that the result is known whoever was the root. */
static void verify(const struct bench *b, const struct group *g)
{
    for (int i = 0; i < g->count / g->ranks * g->ranks; i++) {
        double sent = alltoall ? i % (g->count / g->ranks) % 7 : i % 7;
        if (g->in[i] != (allreduce ? sent * g->ranks : sent))
            bench_die(b, "the result is wrong, first at element", i);
    }
}

static void measure(const struct bench *b, int size)
{
    size_t bytes = (size_t)size + sizeof(double) * (size_t)b->ranks;
    struct group g = {(void *)bench_memory(b, bytes), (void *)bench_memory(b, bytes), size / (int)sizeof(double), b->rank, b->ranks, b->o.window};
    if (g.count < g.ranks)
        bench_die(b, "every rank needs a double of its own; bytes given", size);
    for (int i = 0; i < g.count; i++)
        g.out[i] = alltoall ? i % (g.count / g.ranks) % 7 : i % 7;
    bench_measure(b, chunk, &g, size, MICROSECONDS, 1, size);
    chunk(&g, g.ranks);
    verify(b, &g);
    free(g.out);
    free(g.in);
}

int main(int argc, char **argv)
{
    struct bench b = {.o = {.program = "overlap", .repetitions = 20, .chunk_us = 4000, .window = 16, .sizes = {1024, 65536, 1 << 20}, .size_count = 3},
                      .all = 1};
    struct flag flags[] = {{"--bcast", "MPI_Ibcast, roots in turn", &bcast},
                           {"--allreduce", "MPI_Iallreduce, MPI_SUM of doubles", &allreduce},
                           {"--alltoall", "MPI_Ialltoall, all blocks together", &alltoall},
                           {"--alone", "no computing", &alone},
                           {"--deaf", "no MPI_Test while computing", &deaf}};
    memcpy(b.o.flags, flags, sizeof flags);
    b = bench_start(&argc, &argv, b);
    if (bcast + allreduce + alltoall != 1)
        bench_die(&b, "name one collective; those named", bcast + allreduce + alltoall);
    for (int i = 0; i < b.o.size_count; i++)
        measure(&b, b.o.sizes[i]);
    bench_finish();
    return 0;
}

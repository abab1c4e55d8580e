/*
 * Collectives (MPI 5.0 chapter 6): one of MPI_Barrier, MPI_Bcast, MPI_Reduce, MPI_Allreduce, MPI_Alltoall and
 * MPI_Allgather over all ranks, called again and again; a sample is what the slowest rank took. Roots of MPI_Bcast and
 * MPI_Reduce rotate, so that nobody runs ahead. Sizes are bytes per rank (MPI_Alltoall: per pair), in doubles.
 *
 *   mpirun -n 4 collective --bcast | --reduce | --allreduce | --alltoall | --allgather | --barrier
 *                          [-s bytes[,bytes]] [-r samples] [-i iterations] [--json] [--pin]
 */
#include "bench.h"

static int barrier, bcast, reduce, allreduce, alltoall, allgather;

struct group {
    double *out, *in;
    int count, rank, ranks;
};

static void chunk(void *with, int iterations)
{
    struct group *g = with;
    for (int i = 0; i < iterations; i++) {
        if (barrier)
            MPI_Barrier(MPI_COMM_WORLD);
        else if (bcast)
            MPI_Bcast(g->rank == i % g->ranks ? g->out : g->in, g->count, MPI_DOUBLE, i % g->ranks, MPI_COMM_WORLD);
        else if (reduce)
            MPI_Reduce(g->out, g->in, g->count, MPI_DOUBLE, MPI_SUM, i % g->ranks, MPI_COMM_WORLD);
        else if (allreduce)
            MPI_Allreduce(g->out, g->in, g->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        else if (alltoall)
            MPI_Alltoall(g->out, g->count, MPI_DOUBLE, g->in, g->count, MPI_DOUBLE, MPI_COMM_WORLD);
        else
            MPI_Allgather(g->out, g->count, MPI_DOUBLE, g->in, g->count, MPI_DOUBLE, MPI_COMM_WORLD);
    }
}

/* Element i of what rank r sends to rank t: small integers, whose sums are exact in any order. */
static double element(int r, int t, int i)
{
    return r * 3 + t * 5 + i % 7;
}

static void verify(const struct bench *b, struct group *g)
{
    int blocks = alltoall || allgather ? g->ranks : 1;
    for (int k = 0; k < blocks && !barrier; k++)
        for (int i = 0; i < g->count; i++) {
            double wanted = 0, have = g->in[(size_t)k * (size_t)g->count + (size_t)i];
            for (int r = 0; r < g->ranks && (allreduce || reduce); r++)
                wanted += element(r, 0, i);
            if (alltoall)
                wanted = element(k, g->rank, i);
            else if (allgather)
                wanted = element(k, 0, i);
            else if (bcast) /* of the last root that was another rank */
                wanted = element(g->rank == 0 ? 1 : 0, 0, i);
            if (have != wanted)
                bench_die(b, "the result is wrong, first at element", i);
        }
}

static void measure(const struct bench *b, int size)
{
    size_t all = ((size_t)size / sizeof(double) + 1) * sizeof(double) * (size_t)b->ranks;
    struct group g = {(void *)bench_memory(b, all), (void *)bench_memory(b, all), size / (int)sizeof(double), b->rank, b->ranks};
    for (int t = 0; t < g.ranks; t++)
        for (int i = 0; i < g.count; i++)
            g.out[(size_t)t * (size_t)g.count + (size_t)i] = element(g.rank, t, i);
    if (bcast) { /* roots 1 and 0: whoever is not a root has the last of them */
        MPI_Bcast(g.rank == 1 ? g.out : g.in, g.count, MPI_DOUBLE, 1, MPI_COMM_WORLD);
        if (g.rank != 0)
            memset(g.in, 0, (size_t)g.count * sizeof(double));
        MPI_Bcast(g.rank == 0 ? g.out : g.in, g.count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    } else {
        chunk(&g, g.ranks);
    }
    verify(b, &g);
    bench_measure(b, chunk, &g, size, MICROSECONDS, 1, size);
    free(g.out);
    free(g.in);
}

int main(int argc, char **argv)
{
    struct bench b = {.o = {.program = "collective", .repetitions = 20, .chunk_us = 4000, .sizes = {8, 1024, 65536}, .size_count = 3},
                      .all = 1};
    struct flag flags[] = {{"--barrier", "sizes mean nothing", &barrier},
                           {"--bcast", "bytes", &bcast},
                           {"--reduce", "bytes, MPI_SUM of doubles", &reduce},
                           {"--allreduce", "bytes, MPI_SUM of doubles", &allreduce},
                           {"--alltoall", "bytes per pair", &alltoall},
                           {"--allgather", "bytes per rank", &allgather}};
    memcpy(b.o.flags, flags, sizeof flags);
    b = bench_start(&argc, &argv, b);
    if (barrier + bcast + reduce + allreduce + alltoall + allgather != 1)
        bench_die(&b, "name one collective; those named", barrier + bcast + reduce + allreduce + alltoall + allgather);
    for (int i = 0; i < b.o.size_count; i++)
        measure(&b, b.o.sizes[i]);
    bench_finish();
    return 0;
}

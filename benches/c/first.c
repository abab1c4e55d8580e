/*
 * What long messages cost a program that has not sent any yet: the first operations of a job, all together. Later ones
 * find queues, pages and choices as those before left them. A launch has one sample, for its first size; further sizes
 * are no longer the first ones.
 *
 *   mpirun -n 2 first --send | --allreduce | --alltoall [-s bytes] [-w operations] [--json] [--pin]
 */
#include "bench.h"

static int send, allreduce, alltoall;

struct group {
    double *out, *in;
    int count, rank, ranks;
};

/* Round trips between the first and the last rank. */
static void round_trip(const struct group *g)
{
    int last = g->ranks - 1, peer = g->rank == 0 ? last : 0;
    if (g->rank != 0 && g->rank != last)
        return;
    if (g->rank == 0)
        MPI_Send(g->out, g->count, MPI_DOUBLE, peer, BENCH_TAG, MPI_COMM_WORLD);
    MPI_Recv(g->in, g->count, MPI_DOUBLE, peer, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (g->rank != 0)
        MPI_Send(g->out, g->count, MPI_DOUBLE, peer, BENCH_TAG, MPI_COMM_WORLD);
}

static void chunk(void *with, int iterations)
{
    struct group *g = with;
    for (int i = 0; i < iterations; i++)
        if (send)
            round_trip(g);
        else if (allreduce)
            MPI_Allreduce(g->out, g->in, g->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        else
            MPI_Alltoall(g->out, g->count / g->ranks, MPI_DOUBLE, g->in, g->count / g->ranks, MPI_DOUBLE, MPI_COMM_WORLD);
}

/* All ranks send the same. */
static void verify(const struct bench *b, const struct group *g)
{
    int block = g->count / g->ranks;
    for (int i = 0; i < block * g->ranks; i++) {
        double wanted = allreduce ? (double)i * g->ranks : alltoall ? (double)(i % block + b->rank * block) : (double)i;
        if (g->in[i] != wanted)
            bench_die(b, "the result is wrong, first at element", i);
    }
}

static void measure(const struct bench *b, int size)
{
    size_t bytes = (size_t)size * (size_t)(alltoall ? b->ranks : 1);
    struct group g = {(void *)bench_memory(b, bytes), (void *)bench_memory(b, bytes), (int)(bytes / sizeof(double)), b->rank, b->ranks};
    struct samples s;
    if (!samples_open(&s, 1, b->o.window))
        bench_die(b, "no memory for a sample", 1);
    for (int i = 0; i < g.count; i++)
        g.out[i] = i;
    MPI_Barrier(MPI_COMM_WORLD);
    int before = involuntary();
    double start = seconds_now();
    chunk(&g, s.iterations);
    s.seconds[0] = (seconds_now() - start) / s.iterations;
    s.switches[0] = involuntary() - before;
    bench_gather(b, &s);
    if (b->rank == 0)
        samples_print(&b->o, &s, size, MICROSECONDS, send ? 2 : 1, (send ? 2.0 : 1.0) * size);
    if (!send || b->rank == 0 || b->rank == b->ranks - 1)
        verify(b, &g);
    samples_close(&s);
    free(g.out);
    free(g.in);
}

int main(int argc, char **argv)
{
    struct bench b = {.o = {.program = "first", .repetitions = 1, .window = 16, .sizes = {65536}, .size_count = 1}, .all = 1};
    struct flag flags[] = {{"--send", "MPI_Send and MPI_Recv, one way", &send},
                           {"--allreduce", "MPI_Allreduce of doubles with MPI_SUM", &allreduce},
                           {"--alltoall", "MPI_Alltoall, bytes for each pair", &alltoall}};
    memcpy(b.o.flags, flags, sizeof flags);
    b = bench_start(&argc, &argv, b);
    if (send + allreduce + alltoall != 1)
        bench_die(&b, "name one operation; those named", send + allreduce + alltoall);
    for (int i = 0; i < b.o.size_count; i++)
        measure(&b, b.o.sizes[i]);
    bench_finish();
    return 0;
}

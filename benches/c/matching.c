/*
 * Matching: one way of an 8-byte ping-pong (MPI 5.0 section 3.5) while other entries lie in the queue that each message
 * must be matched against. Sizes are numbers of those entries.
 *
 * default        that many receives are posted before, with other tags: a posted queue searched in order is walked whole
 * --unexpected   that many messages with other tags have arrived before and nobody receives them meanwhile
 *
 *   mpirun -n 2 matching [--unexpected] [-s entries[,entries]] [-r samples] [-i iterations] [--json] [--pin]
 */
#include "bench.h"

#define OTHER 1000 /* tags from here on */

static int unexpected;

static void chunk(void *with, int iterations)
{
    const struct bench *b = with;
    double out = 1, in = 0;
    for (int i = 0; i < iterations; i++) {
        if (b->rank == 0)
            MPI_Send(&out, 1, MPI_DOUBLE, 1, BENCH_TAG, MPI_COMM_WORLD);
        MPI_Recv(&in, 1, MPI_DOUBLE, 1 - b->rank, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (b->rank == 1)
            MPI_Send(&out, 1, MPI_DOUBLE, 0, BENCH_TAG, MPI_COMM_WORLD);
    }
}

static void measure(struct bench *b, int entries)
{
    MPI_Request *requests = (void *)bench_memory(b, (size_t)entries * sizeof *requests);
    int *values = (void *)bench_memory(b, (size_t)entries * sizeof *values), peer = 1 - b->rank, value;
    if (unexpected) {
        /* Nonblocking: more of them than a library buffers must not stop the sender. */
        for (int i = 0; i < entries; i++) {
            values[i] = i;
            MPI_Isend(&values[i], 1, MPI_INT, peer, OTHER + i, MPI_COMM_WORLD, &requests[i]);
        }
    } else {
        for (int i = 0; i < entries; i++)
            MPI_Irecv(&values[i], 1, MPI_INT, peer, OTHER + i, MPI_COMM_WORLD, &requests[i]);
    }
    chunk(b, 1); /* in order behind them: all have arrived */
    bench_measure(b, chunk, b, entries, MICROSECONDS, 2, 16);
    if (unexpected) {
        for (int i = 0; i < entries; i++) {
            MPI_Recv(&value, 1, MPI_INT, peer, OTHER + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (value != i)
                bench_die(b, "another message matched, wanted that with tag", OTHER + i);
        }
    } else {
        for (int i = 0; i < entries; i++)
            MPI_Send(&i, 1, MPI_INT, peer, OTHER + i, MPI_COMM_WORLD);
    }
    MPI_Waitall(entries, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < entries; i++)
        if (values[i] != i)
            bench_die(b, "another message matched, wanted that with tag", OTHER + i);
    free(requests);
    free(values);
}

int main(int argc, char **argv)
{
    struct bench b = {.o = {.program = "matching", .repetitions = 20, .chunk_us = 4000, .sizes = {1, 100, 10000}, .size_count = 3},
                      .members = 2};
    b.o.flags[0] = (struct flag){"--unexpected", "messages that nobody receives instead of receives that nothing matches", &unexpected};
    b = bench_start(&argc, &argv, b);
    for (int i = 0; i < b.o.size_count && b.rank < 2; i++)
        measure(&b, b.o.sizes[i]);
    bench_finish();
    return 0;
}

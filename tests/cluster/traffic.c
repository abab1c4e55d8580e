/*
 * What programs do, for so many seconds: collectives, one-sided communication, short and long messages, each with all ranks and checked
 * bit by bit. For links.sh, which has the links fail meanwhile.
 *
 *   traffic SEED SECONDS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1 << 19 }; /* of 8-byte numbers: 4 MiB */

static int rank, size, wrong;
static unsigned long long state;

/* The same numbers on all ranks. */
static unsigned roll(unsigned sides)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state >> 11) % sides);
}

static long value(int of, int at, int round)
{
    return (long)of * 1000003 + (long)at * 7919 + round;
}

static void check(int is_right, const char *what, int round)
{
    if (!is_right && wrong++ < 5)
        fprintf(stderr, "traffic: rank %d, round %d: %s is wrong\n", rank, round, what);
}

static void collectives(long *mine, long *theirs, int count, int round)
{
    for (int at = 0; at < count; at++)
        mine[at] = value(rank, at, round);
    MPI_Allreduce(mine, theirs, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    long ranks = (long)size * (size - 1) / 2;
    for (int at = 0; at < count; at++)
        check(theirs[at] == ranks * 1000003 + size * value(0, at, round), "a sum", round);
    int root = (int)roll((unsigned)size), part = count / size;
    for (int at = 0; rank == root && at < count; at++)
        theirs[at] = value(root, at, round + 1);
    MPI_Bcast(theirs, count, MPI_LONG, root, MPI_COMM_WORLD);
    for (int at = 0; at < count; at++)
        check(theirs[at] == value(root, at, round + 1), "what was broadcast", round);
    MPI_Request request;
    MPI_Ialltoall(mine, part, MPI_LONG, theirs, part, MPI_LONG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int at = 0; at < part * size; at++)
        check(theirs[at] == value(at / part, rank * part + at % part, round), "what was exchanged", round);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void messages(long *mine, long *theirs, int count, int round)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request requests[20];
    /* A long one between short ones: they keep their order. */
    for (int part = 0; part < 10; part++) {
        int at = part < 5 ? part : count - 10 + part, long_one = part == 5;
        MPI_Irecv(theirs + (long_one ? 5 : at), long_one ? count - 9 : 1, MPI_LONG, from, 7, MPI_COMM_WORLD, &requests[part]);
    }
    for (int part = 0; part < 10; part++) {
        int at = part < 5 ? part : count - 10 + part, long_one = part == 5;
        MPI_Isend(mine + (long_one ? 5 : at), long_one ? count - 9 : 1, MPI_LONG, to, 7, MPI_COMM_WORLD, &requests[10 + part]);
    }
    MPI_Waitall(20, requests, MPI_STATUSES_IGNORE);
    for (int at = 0; at < count; at++)
        check(theirs[at] == value(from, at, round), "a message", round);
}

static void one_sided(MPI_Win window, long *shown, long *mine, int count, int round)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size, half = count / 2;
    MPI_Win_fence(0, window);
    memset(shown, 0, sizeof(long) * (size_t)count);
    MPI_Win_fence(0, window);
    MPI_Put(mine, half, MPI_LONG, to, 0, half, MPI_LONG, window);
    /* Every rank adds to the last number of rank 0. */
    long one = rank + 1;
    MPI_Accumulate(&one, 1, MPI_LONG, 0, count - 1, 1, MPI_LONG, MPI_SUM, window);
    MPI_Win_fence(0, window);
    for (int at = 0; at < half; at++)
        check(shown[at] == value(from, at, round), "what was put", round);
    check(rank != 0 || shown[count - 1] == (long)size * (size + 1) / 2, "what was added", round);
    long *back = malloc(sizeof(long) * (size_t)half);
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, window);
    MPI_Get(back, half, MPI_LONG, to, 0, half, MPI_LONG, window);
    MPI_Win_unlock(to, window);
    for (int at = 0; at < half; at++)
        check(back[at] == value(rank, at, round), "what was got", round);
    free(back);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = strtoull(argc > 1 ? argv[1] : "1", NULL, 10) * 0x9e3779b97f4a7c15ULL | 1;
    double seconds = argc > 2 ? atof(argv[2]) : 5, begun = MPI_Wtime();
    long *mine = malloc(sizeof(long) * LONGEST), *theirs = malloc(sizeof(long) * LONGEST), *shown;
    MPI_Win window;
    MPI_Win_allocate(sizeof(long) * LONGEST, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &shown, &window);
    int rounds = 0, goes_on = 1;
    while (goes_on) {
        int count = 32 << roll(15);
        collectives(mine, theirs, count, rounds);
        messages(mine, theirs, count, rounds);
        one_sided(window, shown, mine, count, rounds);
        rounds++;
        goes_on = MPI_Wtime() - begun < seconds;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    int all;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s traffic seed %s: %d rounds of %d ranks, %d numbers differ\n", all ? "wrong" : "ok", argc > 1 ? argv[1] : "1", rounds, size, all);
    MPI_Win_free(&window);
    free(mine);
    free(theirs);
    MPI_Finalize();
    return all > 0;
}

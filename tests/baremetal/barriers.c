/* Barriers on machines that share no file: before each barrier every rank sends a word to all others, and afterwards all of
   theirs must have come. That holds within a node, where what was sent before is there after; it is no promise of MPI. Ranks
   come late by turns, so that whoever leaves a barrier early finds words missing. Arguments: how many barriers; "world" or
   "several" communicators, which are made and freed again and again.

   -DSEED_BARRIER_MISTAKE: the last rank leaves a barrier out, which must be found. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMMS = 5, ROUNDS = 4, TAG = 7, LOOKS = 8 };
static int rank, size;
static long done;

static void fail(const char *what, long a, long b)
{
    fprintf(stderr, "rank %d: %s (%ld, %ld)\n", rank, what, a, b);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Up to 300 us, different for each rank and each barrier. */
static void be_late(long number)
{
    unsigned random = (unsigned)(number * 2654435761u + rank * 40503u);
    double end = MPI_Wtime() + ((random >> 16) % 8 == 0 ? (random >> 8) % 300 * 1e-6 : 0);
    while (MPI_Wtime() < end) {
    }
}

static int has_come(MPI_Comm comm, int from)
{
    int flag = 0;
    for (int look = 0; look < LOOKS && !flag; look++)
        MPI_Iprobe(from, TAG, comm, &flag, MPI_STATUS_IGNORE);
    return flag;
}

static void barrier(MPI_Comm comm, int which)
{
    int own, count;
    long number = done * COMMS + which, theirs = -1;
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &count);
    int leaves_out = 0;
    be_late(number);
#ifdef SEED_BARRIER_MISTAKE
    /* Its next barrier meets the others' this one, and they are late for the next. */
    leaves_out = done == 10 && which == 0 && rank == size - 1;
    double end = MPI_Wtime() + 0.05;
    while (done == 11 && rank != size - 1 && MPI_Wtime() < end) {
    }
#endif
    for (int other = 0; other < count; other++)
        if (other != own)
            MPI_Send(&number, 1, MPI_LONG, other, TAG, comm);
    if (!leaves_out && MPI_Barrier(comm) != MPI_SUCCESS)
        fail("MPI_Barrier", which, number);
    for (int other = 0; other < count; other++) {
        if (other == own)
            continue;
        if (!leaves_out && !has_come(comm, other))
            fail("left a barrier before a member had come", other, number);
        MPI_Recv(&theirs, 1, MPI_LONG, other, TAG, comm, MPI_STATUS_IGNORE);
        if (theirs != number)
            fail("a member is in another barrier", theirs, number);
    }
}

static void split(MPI_Comm *comms)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, rank < (size + 1) / 2, 0, &comms[3]);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, 0, &comms[4]);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long wanted = atol(argv[1]), rounds = strcmp(argv[2], "several") == 0 ? ROUNDS : 1;
    double begin = MPI_Wtime();
    for (long round = 0; round < rounds; round++) {
        MPI_Comm comms[COMMS] = {MPI_COMM_WORLD, MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
        if (rounds > 1)
            split(comms);
        for (long until = wanted * (round + 1) / rounds; done < until; done++)
            for (int which = 0; which < COMMS; which++)
                if (comms[which] != MPI_COMM_NULL)
                    barrier(comms[which], which);
        for (int which = 1; which < COMMS; which++)
            if (comms[which] != MPI_COMM_NULL)
                MPI_Comm_free(&comms[which]);
    }
    if (rank == 0)
        printf("%ld times all barriers in %.3f s\n", done, MPI_Wtime() - begin);
    MPI_Finalize();
    return 0;
}

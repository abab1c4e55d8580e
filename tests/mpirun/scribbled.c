/* Overwrites what ranks share, as a stray pointer would: all of them learn of it, though only one finds it out. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where components/btl/sm/src/wire.rs puts what concerns rank 1 in a segment of two ranks: how much of its messages was
   consumed, and the slots of its messages. */
enum { CONSUMED = 4096 + 64, SLOTS = 4096 * 3 + 8192, SLOTS_BYTES = 8192, LEAST_BYTES = 8 << 20 };

/* Overwrites it in every segment that this rank has mapped. Returns in how many. */
static int scribble(size_t offset, size_t bytes, int value)
{
    char line[512], mode[8];
    unsigned long from, to;
    int segments = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) == 3 && strcmp(mode, "rw-s") == 0 && to - from >= LEAST_BYTES) {
            memset((char *)(uintptr_t)from + offset, value, bytes);
            segments++;
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return segments;
}

/* Collective calls while the last rank overwrites the pools of all, where coll/sm has its flags and counters. */
static int collective(int rank, int ranks, int value)
{
    size_t words = 4096 * 2, slots = words + 4096, rings = slots + (ranks * (size_t)8192 + 4095) / 4096 * 4096;
    int code = MPI_SUCCESS;
    for (int i = 0; i < 200 && code == MPI_SUCCESS; i++) {
        if (i == 100 && rank == ranks - 1 && scribble(rings + ((size_t)ranks << 20), 1 << 18, value) == 0) {
            return MPI_SUCCESS;
        }
        code = MPI_Barrier(MPI_COMM_WORLD);
    }
    return code;
}

/* Each rank has its error before the first one ends. */
static void end_together(int rank, int ranks, int code)
{
    int word;
    fprintf(stderr, "rank %d: %s\n", rank, code == MPI_SUCCESS ? "no error" : "an error");
    for (int other = 0; other < ranks; other++) {
        MPI_Sendrecv(&rank, 1, MPI_INT, other, 3, &word, 1, MPI_INT, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    _exit(code == MPI_SUCCESS ? 6 : 4);
}

int main(int argc, char **argv)
{
    int ranks, rank, other, word = 0, code = MPI_SUCCESS, slots;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1 && strcmp(argv[1], "collective") == 0) {
        end_together(rank, ranks, collective(rank, ranks, 0xff));
    }
    other = 1 - rank;
    slots = argc > 1 && strcmp(argv[1], "slots") == 0;
    for (int i = 0; i < 10; i++) {
        MPI_Sendrecv_replace(&word, 1, MPI_INT, other, 0, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 1 && scribble(slots ? SLOTS : CONSUMED, slots ? SLOTS_BYTES : 4, 0xff) == 0) {
        return 5;
    }
    /* Rank 0 finds wrong slots, rank 1 a wrong count once it needs to know that slots are free. */
    for (int i = 0; i < 100000 && rank == 1 && !slots && code == MPI_SUCCESS; i++) {
        /* Rank 0 writes the right count again whenever it has received. */
        scribble(CONSUMED, 4, 0xff);
        code = MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    if (code == MPI_SUCCESS) {
        code = MPI_Recv(&word, 1, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    fprintf(stderr, "rank %d: %s\n", rank, code == MPI_SUCCESS ? "no error" : "an error");
    /* Who finds it out waits for the other one, whose end is the end of the job. */
    if (rank == (slots ? 0 : 1)) {
        pause();
    }
    _exit(code == MPI_SUCCESS ? 6 : 4);
}

/* Jobs that are looked at from outside; what each does is its argument. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "nothing";
    int rank, size, word = 0;
    MPI_Comm ring;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &ring);
    MPI_Comm_set_name(ring, "ring");
    int next = (rank + 1) % size;
    if (!strcmp(what, "cycle")) {
        /* Each waits for the next one, by a call of its own; nobody sends. */
        MPI_Request request;
        switch (rank % 3) {
        case 0:
            MPI_Recv(&word, 1, MPI_INT, next, 7, ring, MPI_STATUS_IGNORE);
            break;
        case 1:
            MPI_Irecv(&word, 1, MPI_INT, next, MPI_ANY_TAG, ring, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            break;
        default:
            MPI_Ssend(&word, 1, MPI_INT, next, 9, MPI_COMM_WORLD);
        }
    } else if (!strcmp(what, "any")) {
        /* No rank can be named. */
        MPI_Request requests[2];
        if (rank == 0)
            MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 7, ring, MPI_STATUS_IGNORE);
        else if (rank == 1) {
            int index, words[2];
            MPI_Irecv(&words[0], 1, MPI_INT, 0, 1, ring, &requests[0]);
            MPI_Irecv(&words[1], 1, MPI_INT, 0, 2, ring, &requests[1]);
            MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
        } else
            MPI_Probe(0, 3, ring, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "traffic")) {
        /* Rank 1 is late, rank 2 finds two messages that came before. */
        static char long_one[1 << 20];
        double number = 1;
        if (rank == 0) {
            MPI_Recv(&number, 1, MPI_DOUBLE, 1, 7, ring, MPI_STATUS_IGNORE);
            MPI_Send(&number, 1, MPI_DOUBLE, 2, 8, ring);
            MPI_Send(&number, 1, MPI_DOUBLE, 2, 9, ring);
            MPI_Send(long_one, sizeof long_one, MPI_BYTE, 2, 10, MPI_COMM_WORLD);
        } else if (rank == 1) {
            usleep(300000);
            MPI_Send(&number, 1, MPI_DOUBLE, 0, 7, ring);
        } else {
            MPI_Recv(&number, 1, MPI_DOUBLE, 0, 9, ring, MPI_STATUS_IGNORE);
            MPI_Recv(&number, 1, MPI_DOUBLE, 0, 8, ring, MPI_STATUS_IGNORE);
            MPI_Recv(long_one, sizeof long_one, MPI_BYTE, 0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(ring);
    } else if (!strcmp(what, "abort") || !strcmp(what, "die")) {
        /* Each sends the next one three messages; then the last rank ends the job, while the others wait for it. */
        double number = 1;
        for (int turn = 0; turn < 3; turn++)
            MPI_Sendrecv_replace(&number, 1, MPI_DOUBLE, next, turn, (rank + size - 1) % size, turn, ring, MPI_STATUS_IGNORE);
        usleep(50000);
        MPI_Barrier(ring);
        if (rank == size - 1) {
            usleep(50000);
            if (!strcmp(what, "abort"))
                MPI_Abort(MPI_COMM_WORLD, 3);
            raise(SIGKILL);
        }
        MPI_Recv(&number, 1, MPI_DOUBLE, size - 1, 7, ring, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "window")) {
        /* Rank 0 holds what rank 1 waits for, and waits for rank 1. Rank 2 waits for a post that does not come. */
        int *memory = NULL;
        MPI_Win win;
        MPI_Group world, zero;
        MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        if (rank == 0)
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Barrier(ring);
        if (rank == 0)
            MPI_Recv(&word, 1, MPI_INT, 1, 7, ring, MPI_STATUS_IGNORE);
        else if (rank == 1)
            MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        else {
            MPI_Comm_group(MPI_COMM_WORLD, &world);
            MPI_Group_incl(world, 1, (int[]){0}, &zero);
            MPI_Win_start(zero, 0, win);
        }
    } else if (!strcmp(what, "nap")) {
        usleep(2000000);
    } else if (!strcmp(what, "collective")) {
        /* The last rank does not come. */
        if (rank == size - 1)
            MPI_Recv(&word, 1, MPI_INT, 0, 7, ring, MPI_STATUS_IGNORE);
        else
            MPI_Barrier(ring);
    }
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}

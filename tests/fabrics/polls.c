// covers: MPI_Test MPI_Iprobe MPI_Waitany MPI_Recv
/*
 * The last of three ranks is killed; the others have only received from it, and never sleep or send: the argument says how they look.
 *   test      MPI_Test again and again of a receive
 *   probe     MPI_Iprobe again and again
 *   wait      MPI_Waitany of a receive from the dead and one that stays pending
 *   recv      MPI_Recv
 * Before its end it sends COUNT messages, some of them long, all of which come.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 50, LONG = 200000, VICTIM = 2, SECONDS = 30 };

static int data[LONG];

static int ints_of(int message)
{
    return message % 10 == 9 ? LONG : message * 40;
}

static int is_told(int code)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    return class == MPI_ERR_PROC_ABORTED;
}

/* Whether the end was told by the way that is asked for. */
static int looks(const char *how)
{
    MPI_Request requests[2];
    MPI_Status status;
    double end = MPI_Wtime() + SECONDS;
    int flag = 0, index, code;
    if (strcmp(how, "recv") == 0)
        return is_told(MPI_Recv(data, LONG, MPI_INT, VICTIM, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (strcmp(how, "probe") == 0) {
        while (MPI_Wtime() < end) {
            code = MPI_Iprobe(VICTIM, 2, MPI_COMM_WORLD, &flag, &status);
            if (code != MPI_SUCCESS)
                return is_told(code);
        }
        return 0;
    }
    MPI_Irecv(data, LONG, MPI_INT, VICTIM, 2, MPI_COMM_WORLD, &requests[0]);
    if (strcmp(how, "wait") == 0) {
        MPI_Irecv(data + 1, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &requests[1]);
        code = MPI_Waitany(2, requests, &index, &status);
        return index == 0 && is_told(code);
    }
    while (MPI_Wtime() < end) {
        code = MPI_Test(&requests[0], &flag, &status);
        if (flag || code != MPI_SUCCESS)
            return is_told(code);
    }
    return 0;
}

int main(int argc, char **argv)
{
    int rank, size, told;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != VICTIM + 1 || argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == VICTIM) {
        MPI_Request short_ones[2 * COUNT];
        for (int message = 0; message < COUNT; message++)
            for (int to = 0; to < VICTIM; to++)
                MPI_Isend(data, ints_of(message), MPI_INT, to, 1, MPI_COMM_WORLD, &short_ones[2 * message + to]);
        MPI_Waitall(2 * COUNT, short_ones, MPI_STATUSES_IGNORE);
        raise(SIGKILL);
    }
    for (int message = 0; message < COUNT; message++) {
        int got = -1;
        MPI_Status status;
        if (MPI_Recv(data, LONG, MPI_INT, VICTIM, 1, MPI_COMM_WORLD, &status) == MPI_SUCCESS)
            MPI_Get_count(&status, MPI_INT, &got);
        if (got != ints_of(message)) {
            printf("rank %d: message %d of the dead did not come\n", rank, message);
            fflush(stdout);
            _Exit(1);
        }
    }
    told = looks(argv[1]);
    printf("rank %d was %s: %s\n", rank, told ? "told" : "not told", argv[1]);
    fflush(stdout);
    _Exit(!told);
}

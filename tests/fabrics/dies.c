/* The last of three ranks is killed in the middle of one-sided communication, as the argument says; the other two are told and do not hang:
 *   target   the others put to it without end
 *   holder   it puts to rank 1, whose memory it has locked for itself; rank 0 waits for that lock
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { COUNT = 1 << 16, VICTIM = 2 };

static double origin[COUNT];
static double *memory;
static MPI_Win win;
static int rank;

static void die(int signal)
{
    (void)signal;
    raise(SIGKILL);
}

/* Kills this process in the middle of what it does then. */
static void die_soon(void)
{
    struct itimerval soon = {.it_value = {.tv_usec = 200000}};
    signal(SIGALRM, die);
    setitimer(ITIMER_REAL, &soon, NULL);
}

static void must(int code, const char *what)
{
    if (code != MPI_SUCCESS) {
        printf("rank %d: %s failed early\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

/* Puts to a rank until a synchronisation fails, or for ever. */
static int put_to(int target)
{
    int code;
    do {
        code = MPI_Put(origin, COUNT, MPI_DOUBLE, target, 0, COUNT, MPI_DOUBLE, win);
        code = code == MPI_SUCCESS ? MPI_Win_flush(target, win) : code;
    } while (code == MPI_SUCCESS);
    return code;
}

static int target_dies(void)
{
    must(MPI_Win_lock_all(0, win), "MPI_Win_lock_all");
    if (rank == VICTIM) {
        die_soon();
        for (;;) {
            MPI_Win_flush_all(win);
        }
    }
    return put_to(VICTIM);
}

static int holder_dies(void)
{
    int byte = 0, code;
    if (rank == VICTIM) {
        must(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win), "MPI_Win_lock");
        must(MPI_Send(&byte, 1, MPI_INT, 0, 1, MPI_COMM_WORLD), "MPI_Send");
        die_soon();
        put_to(1);
    }
    if (rank == 0) {
        must(MPI_Recv(&byte, 1, MPI_INT, VICTIM, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
        code = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    } else {
        code = MPI_Recv(&byte, 1, MPI_INT, VICTIM, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return code;
}

int main(int argc, char **argv)
{
    int size, code, class = 0;
    const char *what = argc > 1 ? argv[1] : "target";
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != VICTIM + 1) {
        printf("three ranks are needed\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    must(MPI_Win_allocate(sizeof origin, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win), "MPI_Win_allocate");
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    memset(memory, 0, sizeof origin);
    must(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    code = strcmp(what, "target") == 0 ? target_dies() : holder_dies();
    MPI_Error_class(code, &class);
    printf("rank %d was told: %s\n", rank, class == MPI_ERR_PROC_ABORTED ? "MPI_ERR_PROC_ABORTED" : "another class");
    fflush(stdout);
    /* Nothing of the window can be ended in good order any more. */
    _Exit(code == MPI_SUCCESS);
}

/* What `cargo xtask test dynamic` runs: a process that is connected to those of another job ends without MPI_Comm_disconnect, and what
 * others that still need it are told; sends that only MPI_Finalize completes; errors that several raise at once. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LONG = 3 << 20 };
static char *program, data[LONG];

static void want(int good, const char *what)
{
    if (!good) {
        printf("wrong: %s\n", what);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 9);
    }
}

static MPI_Comm spawn(char *word, int children)
{
    char *words[] = {"child", word, NULL};
    MPI_Comm inter;
    MPI_Comm_spawn(program, words, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    return inter;
}

static void rest(int milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static int is_gone(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class == MPI_ERR_PROC_ABORTED;
}

static void abort_both(MPI_Comm inter);
static void bridge(MPI_Comm parent, const char *word);

static int child(const char *word)
{
    MPI_Comm parent;
    MPI_Request request;
    int rank, pid = getpid(), number = 0, signal;
    sigset_t signals;
    MPI_Init(NULL, NULL);
    MPI_Comm_get_parent(&parent);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    if (strcmp(word, "aborts") == 0)
        abort_both(parent);
    if (strcmp(word, "says") == 0) {
        printf("colour %s, shape %s\n", getenv("COLOUR"), getenv("SHAPE"));
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    if (strcmp(word, "left") == 0 || strcmp(word, "right") == 0) {
        bridge(parent, word);
        MPI_Finalize();
        return 0;
    }
    if (strcmp(word, "goes") == 0) {
        MPI_Finalize();
        return 0;
    }
    if (strcmp(word, "late") == 0) {
        /* Its parent is in MPI_Finalize long since. */
        rest(300);
        MPI_Recv(data, LONG, MPI_CHAR, 0, 1, parent, MPI_STATUS_IGNORE);
        want(data[0] == 5 && data[LONG - 1] == 5, "the message of a send whose request was freed");
        puts("all of it came");
        MPI_Finalize();
        return 0;
    }
    if (strcmp(word, "first") == 0) {
        memset(data, 6, LONG);
        MPI_Isend(data, LONG, MPI_CHAR, 0, 1, parent, &request);
        MPI_Request_free(&request);
        MPI_Finalize();
        return 0;
    }
    MPI_Send(&pid, 1, MPI_INT, 0, 1, parent);
    if (strcmp(word, "sends") == 0) {
        MPI_Isend(data, LONG, MPI_CHAR, 0, 1, parent, &request);
        sigwait(&signals, &signal);
    }
    MPI_Recv(&number, 1, MPI_INT, 0, 2, parent, MPI_STATUS_IGNORE);
    /* What it sends before it ends is received. */
    MPI_Send(&number, 1, MPI_INT, 0, 3, parent);
    if (strcmp(word, "dies") == 0)
        raise(SIGKILL);
    MPI_Finalize();
    if (strcmp(word, "stays") == 0)
        sigwait(&signals, &signal);
    return 0;
}

/* What all are to do with a group that is gone: nobody waits for one of its own that has given up. */
static void together(MPI_Comm inter)
{
    int sum, one = 1;
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    want(is_gone(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter)), "MPI_Allreduce");
    want(is_gone(MPI_Comm_disconnect(&inter)), "MPI_Comm_disconnect");
}

/* A child that is gone, in each way of needing it. */
static void gone(const char *word, int rank)
{
    MPI_Comm inter = spawn((char *)word, 1);
    MPI_Request requests[2];
    int pid, number = 8, flag = 0, code, length;
    char text[MPI_MAX_ERROR_STRING];
    if (rank > 0) {
        together(inter);
        return;
    }
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Recv(&pid, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
    MPI_Irecv(&number, 1, MPI_INT, 0, 4, inter, &requests[0]);
    MPI_Isend(data, LONG, MPI_CHAR, 0, 5, inter, &requests[1]);
    MPI_Send(&number, 1, MPI_INT, 0, 2, inter);
    want(is_gone(MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 6, inter, MPI_STATUS_IGNORE)), "a receive from any of the remote group");
    want(is_gone(MPI_Recv(&number, 1, MPI_INT, 0, 6, inter, MPI_STATUS_IGNORE)), "a receive from a process that is gone");
    while (!flag)
        code = MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    want(is_gone(code), "a receive that was begun before");
    want(is_gone(MPI_Wait(&requests[1], MPI_STATUS_IGNORE)), "a long send that was begun before");
    want(is_gone(MPI_Send(data, LONG, MPI_CHAR, 0, 5, inter)), "a send to a process that is gone");
    want(MPI_Recv(&number, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE) == 0 && number == 8, "what it sent before");
    MPI_Error_string(code, text, &length);
    printf("%s\n", text);
    together(inter);
    if (strcmp(word, "stays") == 0)
        kill(pid, SIGUSR1);
}

/* A loop of MPI_Test notices it as well. */
static void tested(void)
{
    MPI_Comm inter = spawn("leaves", 1);
    MPI_Request request;
    int number = 8, flag = 0, code = 0;
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Irecv(&number, 1, MPI_INT, 0, 4, inter, &request);
    MPI_Send(&number, 1, MPI_INT, 0, 2, inter);
    while (!flag)
        code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    want(is_gone(code), "a receive that is tested");
}

/* The child is killed when the receive of its long message has begun: the error is raised on that communicator. */
static void middle(void)
{
    MPI_Comm inter = spawn("sends", 1);
    MPI_Request request;
    int pid, flag = 0;
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Recv(&pid, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
    MPI_Probe(0, 1, inter, MPI_STATUS_IGNORE);
    MPI_Irecv(data, LONG, MPI_CHAR, 0, 1, inter, &request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    want(!flag, "a message whose sender does nothing");
    kill(pid, SIGKILL);
    want(is_gone(MPI_Wait(&request, MPI_STATUS_IGNORE)), "a message that had begun");
}

/* This process spawns two, and all three come together: those two know each other only through this one. */
static void bridge(MPI_Comm parent, const char *word)
{
    MPI_Comm one, other, merged, inter, all;
    int size, rank, sum;
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        MPI_Intercomm_merge(spawn("left", 2), 0, &one);
        MPI_Intercomm_merge(spawn("right", 1), 0, &other);
        MPI_Intercomm_create(one, 0, other, size, 7, &inter);
    } else if (strcmp(word, "left") == 0) {
        MPI_Intercomm_merge(parent, 1, &merged);
        MPI_Intercomm_create(merged, 0, MPI_COMM_NULL, 0, 7, &inter);
    } else {
        MPI_Intercomm_merge(parent, 1, &merged);
        MPI_Intercomm_create(MPI_COMM_SELF, 0, merged, 0, 7, &inter);
    }
    MPI_Intercomm_merge(inter, parent != MPI_COMM_NULL && strcmp(word, "right") == 0, &all);
    MPI_Comm_size(all, &size);
    MPI_Comm_rank(all, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    want(sum == size * (size - 1) / 2, "the sum of all ranks");
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 3, &sum, 1, MPI_INT, (rank + size - 1) % size, 3, all, MPI_STATUS_IGNORE);
    want(sum == (rank + size - 1) % size, "a message round all of them");
}

/* What a program is called is no option of the launcher. */
static void dash(void)
{
    char *words[] = {"4", program, NULL};
    MPI_Comm inter;
    int class;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Comm_spawn("-n", words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE), &class);
    want(class == MPI_ERR_SPAWN, "a program -n");
}

static void universe(void)
{
    int *size, found;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &size, &found);
    printf("universe of %d\n", found ? *size : -1);
}

static void freed(void)
{
    MPI_Comm inter = spawn("late", 1);
    MPI_Request request;
    memset(data, 5, LONG);
    MPI_Isend(data, LONG, MPI_CHAR, 0, 1, inter, &request);
    MPI_Request_free(&request);
}

static void freed_by_child(void)
{
    MPI_Comm inter = spawn("first", 1);
    rest(300);
    MPI_Recv(data, LONG, MPI_CHAR, 0, 1, inter, MPI_STATUS_IGNORE);
    want(data[0] == 6 && data[LONG - 1] == 6, "the message of a child that is in MPI_Finalize");
}

/* MPI_ERRORS_ABORT on an intercommunicator of one process of each job, raised by both at once: the others go on. */
static void abort_both(MPI_Comm inter)
{
    int number = 0;
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_ABORT);
    MPI_Barrier(inter);
    MPI_Send(&number, 1, MPI_INT, 7, 1, inter);
}

static void abort_some(int rank)
{
    int number, class;
    char *words[] = {"child", "aborts", NULL};
    MPI_Comm inter;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank == 0) {
        MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
        abort_both(inter);
    }
    MPI_Error_class(MPI_Recv(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), &class);
    if (class == MPI_ERR_PROC_ABORTED)
        printf("rank %d went on\n", rank);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    int rank;
    program = argv[0];
    if (strcmp(word, "child") == 0)
        return child(argv[2]);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(word, "freed") == 0)
        freed();
    else if (strcmp(word, "freed-by-child") == 0)
        freed_by_child();
    else if (strcmp(word, "tested") == 0)
        tested();
    else if (strcmp(word, "bridge") == 0)
        bridge(MPI_COMM_NULL, word);
    else if (strcmp(word, "dash") == 0)
        dash();
    else if (strcmp(word, "universe") == 0)
        universe();
    else if (strcmp(word, "middle") == 0)
        middle();
    else if (strcmp(word, "abort-both") == 0)
        abort_some(rank);
    else if (strcmp(word, "options") == 0) {
        MPI_Comm inter = spawn("says", 1);
        MPI_Comm_disconnect(&inter);
    } else if (strcmp(word, "fatal") == 0)
        MPI_Recv(&rank, 1, MPI_INT, 0, 9, spawn("goes", 1), MPI_STATUS_IGNORE);
    else
        gone(word, rank);
    /* Others are there as ever. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        puts("all is well");
    return 0;
}

/* What `cargo xtask test dynamic` runs: processes of one job die, and a rank that goes on and only looks (MPI_Test, MPI_Iprobe, MPI_Parrived)
 * is told of it, whatever it looks at; what they sent before arrives. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORDS = 1, SET, ANY, GO, NEVER, LATER, LAST, LONG = 1 << 20 };
static char data[LONG], parts[4];

static void want(int good, const char *what)
{
    if (!good) {
        printf("wrong: %s\n", what);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 9);
    }
}

static void want_lost(int code, const char *what)
{
    int class;
    MPI_Error_class(code, &class);
    want(class == MPI_ERR_PROC_ABORTED, what);
}

static void test_until_lost(MPI_Request *request, const char *what)
{
    int flag = 0, code = MPI_SUCCESS;
    while (!flag && code == MPI_SUCCESS)
        code = MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    want_lost(code, what);
}

static void go(int rank)
{
    MPI_Send(NULL, 0, MPI_CHAR, rank, GO, MPI_COMM_WORLD);
}

static void wait_for_go(void)
{
    MPI_Recv(NULL, 0, MPI_CHAR, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void die(void)
{
    wait_for_go();
    kill(getpid(), SIGKILL);
}

/* Its last words, and one partition of four. */
static void dies(void)
{
    MPI_Request partitioned;
    MPI_Send("bye", 3, MPI_CHAR, 0, WORDS, MPI_COMM_WORLD);
    MPI_Psend_init(parts, 4, 1, MPI_CHAR, 0, WORDS, MPI_COMM_WORLD, MPI_INFO_NULL, &partitioned);
    MPI_Start(&partitioned);
    MPI_Pready(0, partitioned);
    die();
}

static void lives(MPI_Comm late, int rank)
{
    MPI_Request barrier;
    if (rank == 1) {
        wait_for_go();
        MPI_Send("a", 1, MPI_CHAR, 0, SET, MPI_COMM_WORLD);
        MPI_Send("b", 1, MPI_CHAR, 0, ANY, MPI_COMM_WORLD);
    }
    MPI_Ibarrier(late, &barrier);
    die();
}

static void look_at_partitions(MPI_Request *partitioned)
{
    int flag = 0, code = MPI_SUCCESS;
    want(MPI_Parrived(*partitioned, 0, &flag) == MPI_SUCCESS && flag, "a partition that was there is gone");
    for (flag = 0; !flag && code == MPI_SUCCESS;)
        code = MPI_Parrived(*partitioned, 1, &flag);
    want_lost(code, "MPI_Parrived of a partition that never comes");
    want_lost(MPI_Wait(partitioned, MPI_STATUS_IGNORE), "MPI_Wait after MPI_Parrived");
    MPI_Request_free(partitioned);
}

static void probe(void)
{
    char words[3];
    int flag = 0, code;
    MPI_Message message;
    code = MPI_Iprobe(3, WORDS, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    want(code == MPI_SUCCESS && flag, "MPI_Iprobe of what came before");
    MPI_Recv(words, 3, MPI_CHAR, 3, WORDS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    want(words[0] == 'b' && words[2] == 'e', "the last words");
    want_lost(MPI_Iprobe(3, WORDS, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), "MPI_Iprobe");
    want_lost(MPI_Improbe(3, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE), "MPI_Improbe");
    for (int round = 0; round < 1000; round++) {
        code = MPI_Iprobe(MPI_ANY_SOURCE, LATER, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        want(code == MPI_SUCCESS && !flag, "MPI_Iprobe of any source, of which two live");
    }
}

static void watches(MPI_Comm late)
{
    MPI_Request never, send, set[2], any, partitioned, barrier, later;
    MPI_Status status;
    char a, b, none;
    int flag = 0, index, code = MPI_SUCCESS;
    MPI_Irecv(&none, 1, MPI_CHAR, 3, NEVER, MPI_COMM_WORLD, &never);
    MPI_Issend(data, LONG, MPI_CHAR, 3, NEVER, MPI_COMM_WORLD, &send);
    MPI_Irecv(&a, 1, MPI_CHAR, 1, SET, MPI_COMM_WORLD, &set[0]);
    MPI_Irecv(&none, 1, MPI_CHAR, 3, SET, MPI_COMM_WORLD, &set[1]);
    MPI_Irecv(&b, 1, MPI_CHAR, MPI_ANY_SOURCE, ANY, MPI_COMM_WORLD, &any);
    MPI_Ibarrier(late, &barrier);
    MPI_Precv_init(parts, 4, 1, MPI_CHAR, 3, WORDS, MPI_COMM_WORLD, MPI_INFO_NULL, &partitioned);
    MPI_Start(&partitioned);
    while (!flag)
        MPI_Parrived(partitioned, 0, &flag);
    go(3);
    test_until_lost(&never, "MPI_Test");
    want(never == MPI_REQUEST_NULL, "the request is complete");
    test_until_lost(&send, "MPI_Test of a send");
    for (flag = 0; !flag && code == MPI_SUCCESS;)
        code = MPI_Testany(2, set, &index, &flag, &status);
    want_lost(code, "MPI_Testany");
    want(index == 1 && set[1] == MPI_REQUEST_NULL && set[0] != MPI_REQUEST_NULL, "the one that failed");
    look_at_partitions(&partitioned);
    probe();
    MPI_Irecv(&none, 1, MPI_CHAR, 3, LATER, MPI_COMM_WORLD, &later);
    test_until_lost(&later, "MPI_Test of a receive that was posted later");
    want_lost(MPI_Issend(data, LONG, MPI_CHAR, 3, LATER, MPI_COMM_WORLD, &later), "MPI_Issend");
    go(1);
    want(MPI_Wait(&set[0], MPI_STATUS_IGNORE) == MPI_SUCCESS && a == 'a', "a message of the living");
    want(MPI_Wait(&any, MPI_STATUS_IGNORE) == MPI_SUCCESS && b == 'b', "a message of any source");
    test_until_lost(&barrier, "MPI_Test of MPI_Ibarrier");
    MPI_Irecv(&none, 1, MPI_CHAR, MPI_ANY_SOURCE, LAST, MPI_COMM_WORLD, &later);
    go(1);
    go(2);
    test_until_lost(&later, "MPI_Test of a receive of any source, of which none lives");
    want_lost(MPI_Iprobe(MPI_ANY_SOURCE, LAST, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), "MPI_Iprobe of any source");
    printf("all is well\n");
}

int main(int argc, char **argv)
{
    MPI_Comm late;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &late);
    if (rank == 0)
        watches(late);
    else if (rank == 3)
        dies();
    else
        lives(late, rank);
    MPI_Finalize();
    return 0;
}

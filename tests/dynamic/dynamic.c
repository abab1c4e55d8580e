/* What `cargo xtask test dynamic` runs: jobs that start others and do not end well, or do it many times. */
#include <dirent.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int descriptors(void)
{
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static MPI_Comm spawn(char *program, char *word, int children)
{
    char *words[] = {word, NULL};
    MPI_Comm inter;
    MPI_Comm_spawn(program, words, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    return inter;
}

static int child(MPI_Comm parent, const char *word)
{
    int value = 1;
    if (strcmp(word, "fails") == 0) {
        MPI_Barrier(parent);
        exit(3);
    }
    if (strcmp(word, "aborts") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(word, "waits") == 0)
        MPI_Recv(&value, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
    if (strcmp(word, "dies") == 0)
        raise(SIGKILL);
    MPI_Send(&value, 1, MPI_INT, 0, 2, parent);
    MPI_Comm_disconnect(&parent);
    if (strcmp(word, "fails-later") == 0)
        exit(3);
    MPI_Finalize();
    return 0;
}

/* MPI_ERRORS_ABORT on a half of the job, or on one process: the others go on, and hear of it when they need one of the ended. */
static void abort_some(int alone)
{
    int rank, size, rank_in_half, value = 1, sum = 0, class;
    MPI_Comm half;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int ends = alone ? rank == 0 : rank % 2 == 0;
    MPI_Comm_split(MPI_COMM_WORLD, ends, 0, &half);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    /* That of MPI_Finalize, which cannot reach all. */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    /* Who is still in it when others have ended may hear of that here. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (ends) {
        MPI_Comm_set_errhandler(half, MPI_ERRORS_ABORT);
        if (rank == 0)
            MPI_Send(&value, 1, MPI_INT, size, 1, half);
        MPI_Recv(&value, 1, MPI_INT, 0, 1, half, MPI_STATUS_IGNORE);
    }
    MPI_Error_class(MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), &class);
    /* One of those that go on is late: the others wait for it as long as it takes. */
    MPI_Comm_rank(half, &rank_in_half);
    if (rank_in_half == 0)
        for (double end = MPI_Wtime() + 0.1; MPI_Wtime() < end;)
            ;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, half);
    if (class == MPI_ERR_PROC_ABORTED)
        printf("rank %d went on with %d\n", rank, sum);
}

/* Spawns and leaves `times` children, and counts what is left over. */
static int loop(char *program, int times)
{
    int value, before = 0;
    for (int i = 0; i < times; i++) {
        MPI_Comm inter = spawn(program, "once", 1);
        int rank;
        MPI_Comm_rank(inter, &rank);
        if (rank == 0)
            MPI_Recv(&value, 1, MPI_INT, 0, 2, inter, MPI_STATUS_IGNORE);
        MPI_Comm_disconnect(&inter);
        if (i == 0)
            before = descriptors();
    }
    if (descriptors() != before) {
        printf("%d descriptors after the first child, %d after %d\n", before, descriptors(), times);
        return 1;
    }
    puts("nothing is left over");
    return 0;
}

/* `rounds` messages there and back through the intercommunicator. */
static void pingpong(MPI_Comm inter, int first, int rounds)
{
    double word = 0, start = 0;
    for (int i = 0; i < rounds; i++) {
        if (i == rounds / 10)
            start = MPI_Wtime();
        if (first) {
            MPI_Send(&word, 1, MPI_DOUBLE, 0, 4, inter);
            MPI_Recv(&word, 1, MPI_DOUBLE, 0, 4, inter, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&word, 1, MPI_DOUBLE, 0, 4, inter, MPI_STATUS_IGNORE);
            MPI_Send(&word, 1, MPI_DOUBLE, 0, 4, inter);
        }
    }
    if (first)
        printf("8 bytes between jobs: %.3f us one way\n", (MPI_Wtime() - start) / (rounds - rounds / 10) / 2 * 1e6);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    const char *word = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        if (strcmp(word, "pingpong") != 0)
            return child(parent, word);
        pingpong(parent, 0, 100000);
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    int status = 0, value = 0, rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(word, "loop") == 0) {
        status = loop(argv[0], atoi(argv[2]));
    } else if (strcmp(word, "pingpong") == 0 || strcmp(word, "time") == 0) {
        double start = MPI_Wtime();
        MPI_Comm inter = spawn(argv[0], strcmp(word, "time") == 0 ? "once" : "pingpong", strcmp(word, "time") == 0 ? atoi(argv[2]) : 1);
        if (strcmp(word, "time") == 0) {
            MPI_Recv(&value, 1, MPI_INT, 0, 2, inter, MPI_STATUS_IGNORE);
            printf("until the first message: %.1f ms\n", (MPI_Wtime() - start) * 1e3);
            for (int i = 1; i < atoi(argv[2]); i++)
                MPI_Recv(&value, 1, MPI_INT, i, 2, inter, MPI_STATUS_IGNORE);
        } else {
            pingpong(inter, 1, 100000);
        }
        MPI_Comm_disconnect(&inter);
    } else if (strcmp(word, "abort-half") == 0 || strcmp(word, "abort-one") == 0) {
        abort_some(strcmp(word, "abort-one") == 0);
    } else if (strcmp(word, "no-program") == 0) {
        spawn("/nowhere/no-such-program", "x", 1);
    } else if (strcmp(word, "no-accept") == 0) {
        char port[MPI_MAX_PORT_NAME];
        MPI_Comm inter;
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    } else {
        MPI_Comm inter = spawn(argv[0], (char *)word, 1);
        if (strcmp(word, "fails") == 0 && rank == 0)
            MPI_Barrier(inter), MPI_Recv(&value, 1, MPI_INT, 0, 9, inter, MPI_STATUS_IGNORE);
        if (strcmp(word, "waits") == 0) {
            puts("spawned");
            fflush(stdout);
            for (;;)
                pause();
        }
        MPI_Recv(&value, 1, MPI_INT, 0, 2, inter, MPI_STATUS_IGNORE);
        MPI_Comm_disconnect(&inter);
        sleep(1);
        puts("nobody minded");
    }
    MPI_Finalize();
    return status;
}

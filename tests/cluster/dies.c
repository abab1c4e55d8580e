/*
 * Rank 1 is killed while rank 0 waits for a message of it, and has unread messages of rank 0; rank 0 says how long it took until it knew.
 * For rejects.sh.
 *
 *   dies FOLDER      makes `ready` there, sends until there is `go`, makes `waits`
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 60000 };

static char path[2][4096], data[BYTES];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static const char *in(const char *folder, const char *name)
{
    static int which;
    which = !which;
    snprintf(path[which], sizeof path[which], "%s/%s", folder, name);
    return path[which];
}

/* Its last act is to say when. */
static void die(const char *folder)
{
    MPI_Recv(data, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (access(in(folder, "waits"), F_OK) != 0)
        usleep(1000);
    FILE *died = fopen(in(folder, "died"), "w");
    fprintf(died, "%.6f\n", now());
    fclose(died);
    kill(getpid(), SIGKILL);
}

static void lives(void)
{
    printf("rank 1 lives, and rank 0 was told that it does not\n");
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char **argv)
{
    int rank, code, class = MPI_SUCCESS;
    double then = 0;
    if (argc < 2)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        die(argv[1]);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Send(data, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    fclose(fopen(in(argv[1], "ready"), "w"));
    /* While somebody rejects. */
    while (access(in(argv[1], "go"), F_OK) != 0) {
        MPI_Request request;
        if (MPI_Isend(data, 60, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request) != MPI_SUCCESS)
            lives();
        MPI_Request_free(&request);
        usleep(10000);
    }
    fclose(fopen(in(argv[1], "waits"), "w"));
    code = MPI_Recv(data, BYTES, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double noticed = now();
    FILE *died = fopen(in(argv[1], "died"), "r");
    if (died == NULL || fscanf(died, "%lf", &then) != 1)
        lives();
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    if (class == MPI_ERR_PROC_ABORTED)
        printf("noticed after %.0f ms\n", 1e3 * (noticed - then));
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 4);
}

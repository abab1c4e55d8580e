/* What a job does with sockets, and what others may do with its sockets: run by `cargo xtask test sockets`. The argument says
 * what is tried. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <mpi.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank, size;

/* Connections before a flood counts as one. */
enum { FIRST_ONES = 300 };

static void fail(const char *what) {
    fprintf(stderr, "sockets.c: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

/* Sockets of this process that listen on an address of IP; the port of the last one. */
static int listening(int *port, int *beyond_loopback) {
    DIR *all = opendir("/proc/self/fd");
    struct dirent *entry;
    int count = 0;
    while ((entry = readdir(all))) {
        struct sockaddr_storage place;
        struct sockaddr_in *address = (struct sockaddr_in *)&place;
        struct sockaddr_in6 *long_address = (struct sockaddr_in6 *)&place;
        socklen_t bytes = sizeof place, flag_bytes = sizeof(int);
        int socket = atoi(entry->d_name), listens = 0;
        if (getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listens, &flag_bytes) || !listens) continue;
        if (getsockname(socket, (struct sockaddr *)&place, &bytes)) continue;
        if (place.ss_family == AF_INET) {
            count++;
            *port = ntohs(address->sin_port);
            *beyond_loopback += ntohl(address->sin_addr.s_addr) >> 24 != 127;
        } else if (place.ss_family == AF_INET6) {
            count++;
            *beyond_loopback += !IN6_IS_ADDR_LOOPBACK(&long_address->sin6_addr);
        }
    }
    closedir(all);
    return count;
}

/* Data of many lengths both ways; every byte is checked. */
static void exchange(void) {
    enum { MOST = 3000000 };
    unsigned char *out = malloc(MOST), *in = malloc(MOST);
    int peer = rank ^ 1;
    for (int bytes = 0; bytes < MOST && peer < size; bytes = bytes * 3 + 1) {
        for (int round = 0; round < 4; round++) {
            for (int at = 0; at < bytes; at++) out[at] = (unsigned char)(at * 7 + rank + round + bytes), in[at] = 0;
            MPI_Sendrecv(out, bytes, MPI_BYTE, peer, round, in, bytes, MPI_BYTE, peer, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int at = 0; at < bytes; at++)
                if (in[at] != (unsigned char)(at * 7 + peer + round + bytes)) fail("a byte differs");
        }
    }
    free(out);
    free(in);
}

/* Connects again and again until killed: nothing, garbage, and what looks like the first message of another version. */
static void flood(int port, int seconds, int begun) {
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    unsigned char hello[64] = "ompi-tcp";
    double end = now() + seconds;
    int open_ones[100] = {0};
    for (unsigned number = 0; now() < end; number++) {
        if (number == FIRST_ONES) (void)!write(begun, "", 1);
        int one = socket(AF_INET, SOCK_STREAM, 0), *place = &open_ones[number % 100];
        if (*place) close(*place);
        *place = one;
        if (connect(one, (struct sockaddr *)&there, sizeof there)) continue;
        memcpy(hello + 8, &number, 4);
        hello[0] = number % 3 == 1 ? 'x' : 'o';
        if (number % 3) (void)!send(one, hello, sizeof hello, MSG_NOSIGNAL);
    }
    _exit(0);
}

/* Each rank leaves a file in a folder and waits for the other's, where MPI works no more. */
static void meet(const char *folder) {
    char name[4000];
    struct timespec pause = {0, 10000000};
    snprintf(name, sizeof name, "%s/rank-%d", folder, rank);
    FILE *own = fopen(name, "w");
    if (!own || fclose(own)) fail("the folder takes no file");
    snprintf(name, sizeof name, "%s/rank-%d", folder, rank ^ 1);
    for (double end = now() + 20; access(name, F_OK);) {
        if (now() > end) fail("the other rank's half does not end");
        nanosleep(&pause, NULL);
    }
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "exchange";
    int port = 0, beyond = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    exchange();
    int count = listening(&port, &beyond);
    if (!strcmp(what, "nothing") && count != 0) fail("it listens, and shared memory carries everything");
    if (!strcmp(what, "loopback") && (count == 0 || beyond)) fail("it listens on more than the loopback, or not at all");
    if (!strcmp(what, "outsiders")) {
        int theirs = 0;
        MPI_Sendrecv(&port, 1, MPI_INT, rank ^ 1, 0, &theirs, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int begun[2];
        char byte;
        if (pipe(begun)) fail("there is no pipe");
        pid_t child = fork();
        if (child == 0) flood(theirs, 20, begun[1]);
        if (read(begun[0], &byte, 1) != 1) fail("the flood does not begin");
        exchange();
        /* The flood goes on. */
        double begin = now();
        MPI_Finalize();
        double took = now() - begin;
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        if (took > 3) {
            fprintf(stderr, "sockets.c: MPI_Finalize took %.1f s\n", took);
            return 3;
        }
        return 0;
    }
    if (!strcmp(what, "closed")) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) syscall(SYS_close_range, 3, ~0U, 0);
        char out = 1, in = 0;
        int error = MPI_Sendrecv(&out, 1, MPI_BYTE, rank ^ 1, 9, &in, 1, MPI_BYTE, rank ^ 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (error == MPI_SUCCESS) {
            /* What was under way may still arrive; what follows does not. */
            error = MPI_Sendrecv(&out, 1, MPI_BYTE, rank ^ 1, 9, &in, 1, MPI_BYTE, rank ^ 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        fprintf(stderr, "sockets.c: rank %d: both halves ended, %s\n", rank, error ? "with an error" : "without an error");
        /* Who ends first ends the job. */
        meet(argv[2]);
        return error ? 0 : 3;
    }
    MPI_Finalize();
    return 0;
}

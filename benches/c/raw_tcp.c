/*
 * What the sockets themselves cost on this machine: the yardstick for latency and bandwidth over btl/tcp. No MPI. Two
 * processes over the loopback (or, with --address, over another own address), TCP_NODELAY, either spinning on recv as a
 * waiting MPI process with a core of its own does, or with --block sleeping in it.
 *
 *   raw_tcp [-s size] [-r repetitions] [--block] [--pin] [--stream] [--address a.b.c.d]
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int blocking, pin, stream;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void put(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t k = send(fd, p, n, MSG_NOSIGNAL);
        if (k < 0 && errno != EINTR)
            die("send");
        if (k > 0)
            p += k, n -= (size_t)k;
    }
}

static void get(int fd, char *p, size_t n)
{
    while (n > 0) {
        ssize_t k = recv(fd, p, n, blocking ? 0 : MSG_DONTWAIT);
        if (k == 0 || (k < 0 && errno != EAGAIN && errno != EINTR))
            die("recv");
        if (k > 0)
            p += k, n -= (size_t)k;
    }
}

static void ready(int fd, int core)
{
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (pin) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(core % (int)sysconf(_SC_NPROCESSORS_ONLN), &set);
        sched_setaffinity(0, sizeof set, &set);
    }
}

/* Ping-pong: seconds for one way. Stream: seconds per message, closed by one byte back. */
static double chunk(int fd, int first, char *buffer, size_t size, int iterations)
{
    double start = now();
    char mark = 0;
    for (int i = 0; i < iterations; i++) {
        if (first) {
            put(fd, buffer, size);
            if (!stream)
                get(fd, buffer, size);
        } else {
            get(fd, buffer, size);
            if (!stream)
                put(fd, buffer, size);
        }
    }
    if (stream && first)
        get(fd, &mark, 1);
    else if (stream)
        put(fd, &mark, 1);
    return (now() - start) / iterations / (stream ? 1 : 2);
}

static int order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    size_t size = 8;
    int repetitions = 20;
    const char *address = "127.0.0.1";
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--block") == 0)
            blocking = 1;
        else if (strcmp(argv[i], "--pin") == 0)
            pin = 1;
        else if (strcmp(argv[i], "--stream") == 0)
            stream = 1;
        else if (strcmp(argv[i], "-s") == 0 && i + 1 < argc)
            size = (size_t)atol(argv[++i]);
        else if (strcmp(argv[i], "-r") == 0 && i + 1 < argc)
            repetitions = atoi(argv[++i]);
        else if (strcmp(argv[i], "--address") == 0 && i + 1 < argc)
            address = argv[++i];
        else {
            fprintf(stderr, "raw_tcp: unknown option: %s\n", argv[i]);
            return 2;
        }
    }
    struct sockaddr_in to = {.sin_family = AF_INET};
    socklen_t length = sizeof to;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (size < 1 || repetitions < 1 || inet_pton(AF_INET, address, &to.sin_addr) != 1 || listener < 0 ||
        bind(listener, (struct sockaddr *)&to, sizeof to) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&to, &length) != 0)
        die("raw_tcp: cannot listen");
    char *buffer = calloc(1, size);
    int iterations = size > 100000 ? 40 : size > 4000 ? 400 : 2000;
    pid_t other = fork();
    if (other < 0 || buffer == NULL)
        die("fork");
    int fd = other == 0 ? socket(AF_INET, SOCK_STREAM, 0) : accept(listener, NULL, NULL);
    if (fd < 0 || (other == 0 && connect(fd, (struct sockaddr *)&to, sizeof to) != 0))
        die("connect");
    ready(fd, other == 0);
    double times[1000];
    for (int i = 0; i < repetitions + 1 && i < 1000; i++) {
        double t = chunk(fd, other != 0, buffer, size, iterations);
        times[i == 0 ? 0 : i - 1] = t; /* the first warms up */
    }
    if (other == 0)
        return 0;
    waitpid(other, NULL, 0);
    qsort(times, (size_t)repetitions, sizeof *times, order);
    double best = times[0], median = times[repetitions / 2];
    if (stream)
        printf("%zu bytes: best %.1f MB/s, median %.1f MB/s\n", size, (double)size / best / 1e6, (double)size / median / 1e6);
    else
        printf("%zu bytes: min %.3f us, median %.3f us one way\n", size, best * 1e6, median * 1e6);
    return 0;
}

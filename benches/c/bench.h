/*
 * What the point-to-point benchmarks share: options, pinning, clock, statistics, output. Include it first, since
 * pinning needs _GNU_SOURCE. The programs use MPI-1 calls only, so that any MPI of the last twenty years can be compared.
 *
 * Method: a figure is taken over a chunk of iterations between two MPI_Wtime calls, long enough that the clock's own cost
 * (some 20 ns) vanishes; chunks are repeated, and both the minimum (what the machine can do) and the median (what a user
 * gets) are shown. Ranks 0 and 1 measure; further ranks wait in a barrier and may disturb, so use two.
 */
#ifndef BENCH_H
#define BENCH_H
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sched.h>
#include <unistd.h>
#endif

#define BENCH_MAX_SIZES 64
#define BENCH_CHUNK_SECONDS 0.004
#define BENCH_TAG 17

struct bench {
    const char *name;
    int rank, ranks;
    int sizes[BENCH_MAX_SIZES], size_count; /* bytes */
    int repetitions;                        /* chunks per size */
    int iterations;                         /* per chunk; 0: as many as fill BENCH_CHUNK_SECONDS */
    int window;                             /* messages in flight; rate and bandwidth only */
    int json, pin, bidir;
    char library[256]; /* first line of MPI_Get_library_version */
};

struct bench_result {
    double min, median, max; /* seconds per iteration */
    int iterations;
};

/* Ends all ranks at once: a benchmark whose data are wrong has no figures. */
static inline void bench_die(const struct bench *b, const char *what, long long where)
{
    fprintf(stderr, "%s: rank %d: %s (%lld)\n", b->name, b->rank, what, where);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1); /* a library's MPI_Abort may return while the launcher's signal is on its way */
}

static inline char *bench_memory(const struct bench *b, size_t bytes)
{
    char *p = malloc(bytes ? bytes : 1);
    if (p == NULL)
        bench_die(b, "no memory, bytes wanted", (long long)bytes);
    memset(p, 0, bytes ? bytes : 1); /* page faults belong before the clock */
    return p;
}

/* A pattern that depends on place and seed, so that a shifted, stale or swapped message shows. */
static inline char bench_byte(size_t i, int seed)
{
    return (char)(i * 131 + (i >> 8) * 7 + (size_t)seed * 29 + 1);
}

static inline void bench_fill(char *p, size_t n, int seed)
{
    for (size_t i = 0; i < n; i++)
        p[i] = bench_byte(i, seed);
}

static inline void bench_verify(const struct bench *b, const char *p, size_t n, int seed)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != bench_byte(i, seed))
            bench_die(b, "received data differ, first wrong byte", (long long)i);
}

/* "4096", "4k", "1m"; -1 if it is none of these or more than an int holds. */
static inline int bench_size(const char *word, const char **end)
{
    char *stop;
    long long n = strtoll(word, &stop, 10);
    if (stop == word || n < 0 || n > 0x7fffffff)
        return -1;
    if (*stop == 'k' || *stop == 'K')
        n <<= 10, stop++;
    else if (*stop == 'm' || *stop == 'M')
        n <<= 20, stop++;
    *end = stop;
    return n > 0x7fffffff ? -1 : (int)n;
}

static inline int bench_parse_sizes(struct bench *b, const char *list)
{
    for (b->size_count = 0; b->size_count < BENCH_MAX_SIZES;) {
        const char *end = list;
        int n = bench_size(list, &end);
        if (n < 0 || (*end != ',' && *end != '\0'))
            return 0;
        b->sizes[b->size_count++] = n;
        if (*end == '\0')
            return 1;
        list = end + 1;
    }
    return 0;
}

/* Returns 1 to go on, 0 after --help, -1 after a mistake, which rank 0 has printed. */
static inline int bench_parse(struct bench *b, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i], *word = i + 1 < argc ? argv[i + 1] : "", *end = word;
        int *number = strcmp(option, "-r") == 0   ? &b->repetitions
                      : strcmp(option, "-i") == 0 ? &b->iterations
                      : strcmp(option, "-w") == 0 && b->window > 0 ? &b->window
                                                                    : NULL;
        int ok = 1;
        if (strcmp(option, "-s") == 0) {
            ok = bench_parse_sizes(b, word), i++;
        } else if (number != NULL) {
            *number = bench_size(word, &end), i++;
            ok = *number > 0 && *end == '\0';
        } else if (strcmp(option, "--json") == 0) {
            b->json = 1;
        } else if (strcmp(option, "--pin") == 0) {
            b->pin = 1;
        } else if (strcmp(option, "--bidir") == 0 && strcmp(b->name, "bandwidth") == 0) {
            b->bidir = 1;
        } else if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
            if (b->rank == 0)
                printf("usage: %s [-s size[,size]] [-r repetitions] [-i iterations] [--json] [--pin]%s%s\n"
                       "sizes in bytes, or with k or m; --pin: rank r on core r %% cores\n",
                       b->name, b->window > 0 ? " [-w window]" : "", strcmp(b->name, "bandwidth") == 0 ? " [--bidir]" : "");
            return 0;
        } else {
            ok = 0, word = "";
        }
        if (!ok && b->rank == 0)
            fprintf(stderr, "%s: bad or unknown option: %s %s; see --help\n", b->name, option, word);
        if (!ok)
            return -1;
    }
    return 1;
}

static inline void bench_pin(struct bench *b)
{
#if defined(__linux__)
    cpu_set_t one;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    CPU_ZERO(&one);
    CPU_SET((int)(b->rank % (cores > 0 ? cores : 1)), &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0)
        return;
#endif
    fprintf(stderr, "%s: rank %d: could not be pinned; the figures are those of a floating process\n", b->name, b->rank);
    b->pin = 0;
}

/* MPI_Init and everything up to the first measurement. Leaves the program by itself on --help or a mistake. */
static inline struct bench bench_start(int *argc, char ***argv, struct bench b)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, go;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\r\n")] = '\0';
    snprintf(b.library, sizeof b.library, "%.255s", version);
    go = bench_parse(&b, *argc, *argv);
    if (go == 1 && b.ranks < 2) {
        fprintf(stderr, "%s: needs 2 ranks, this job has 1; start it with mpirun -n 2\n", b.name);
        go = -1;
    }
    if (go != 1) {
        MPI_Finalize();
        exit(go == 0 ? 0 : 2);
    }
    if (b.pin)
        bench_pin(&b);
    if (b.rank == 0 && !b.json)
        printf("# %s%s: %s\n", b.name, b.bidir ? " --bidir" : "", b.library);
    return b;
}

static inline void bench_finish(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

static inline int bench_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Runs `chunk` (which does `iterations` of the pattern on ranks 0 and 1) often enough and returns rank 0's times.
 * Rank 0 settles the iteration count by a trial and tells rank 1. */
static inline struct bench_result bench_measure(const struct bench *b, void (*chunk)(void *, int), void *with)
{
    struct bench_result r = {0.0, 0.0, 0.0, b->iterations};
    double *t = malloc((size_t)b->repetitions * sizeof *t), start;
    if (t == NULL)
        bench_die(b, "no memory for the times of so many repetitions", b->repetitions);
    chunk(with, 8);
    if (r.iterations == 0) {
        double each;
        start = MPI_Wtime();
        chunk(with, 8);
        each = (MPI_Wtime() - start) / 8;
        r.iterations = each * 20000 <= BENCH_CHUNK_SECONDS ? 20000 : (int)(BENCH_CHUNK_SECONDS / each) + 4;
        if (b->rank == 0)
            MPI_Send(&r.iterations, 1, MPI_INT, 1, BENCH_TAG, MPI_COMM_WORLD);
        else
            MPI_Recv(&r.iterations, 1, MPI_INT, 0, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    chunk(with, r.iterations / 4 + 1); /* warm up with the final pattern */
    for (int i = 0; i < b->repetitions; i++) {
        start = MPI_Wtime();
        chunk(with, r.iterations);
        t[i] = (MPI_Wtime() - start) / r.iterations;
    }
    qsort(t, (size_t)b->repetitions, sizeof *t, bench_order);
    r.min = t[0];
    r.max = t[b->repetitions - 1];
    r.median = b->repetitions % 2 ? t[b->repetitions / 2] : 0.5 * (t[b->repetitions / 2 - 1] + t[b->repetitions / 2]);
    free(t);
    return r;
}

/* Opens a JSON line with what all benchmarks have in common; the caller appends its figures and the brace. */
static inline void bench_json_open(const struct bench *b, int size, const struct bench_result *r)
{
    printf("{\"bench\":\"%s\",\"library\":\"", b->name);
    for (const char *p = b->library; *p; p++) {
        if (*p == '"' || *p == '\\')
            putchar('\\');
        putchar((unsigned char)*p < 0x20 ? ' ' : *p);
    }
    printf("\",\"size\":%d,\"repetitions\":%d,\"iterations\":%d,\"pinned\":%s", size, b->repetitions, r->iterations,
           b->pin ? "true" : "false");
}
#endif

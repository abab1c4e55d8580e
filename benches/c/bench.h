/*
 * What the MPI benchmarks share beside samples.h: start and end of a job, who it really runs on, buffers, taking samples.
 * The programs use MPI-1 calls where they can, so that any MPI of the last twenty years can be compared.
 *
 * Ranks 0 … members-1 measure; further ranks wait in a barrier and may disturb, so start no more than needed.
 */
#ifndef BENCH_H
#define BENCH_H
#include "samples.h"
#include <mpi.h>

#define BENCH_TAG 17
#define BENCH_MAPPED 512

struct bench {
    struct options o;
    int rank, ranks;
    int members; /* how many ranks measure */
    int lone;    /* one rank will do */
    int all;     /* a sample is what the slowest rank took, not what rank 0 took */
    int threads; /* level to ask for; 0: plain MPI_Init */
    double *apart; /* NULL, or to what a chunk adds the seconds that are not to be counted */
};

/* Ends all ranks at once: a benchmark whose data are wrong has no figures. */
static inline void bench_die(const struct bench *b, const char *what, long long where)
{
    fprintf(stderr, "%s: rank %d: %s (%lld)\n", b->o.program, b->rank, what, where);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1); /* a library's MPI_Abort may return while the launcher's signal is on its way */
}

static inline char *bench_memory(const struct bench *b, size_t bytes)
{
    void *p = NULL;
    if (posix_memalign(&p, 4096, bytes ? bytes : 1) != 0)
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

/* Every mapped file whose name has libmpi in it, once each: what the loader took, whatever anybody asked for. */
static inline void bench_mapped(char *list)
{
    char line[4352];
    FILE *maps = fopen("/proc/self/maps", "r");
    list[0] = '\0';
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        char *path = strchr(line, '/'), *name = path == NULL ? NULL : strrchr(path, '/');
        if (path == NULL || strstr(name, "libmpi") == NULL)
            continue;
        path[strcspn(path, "\n")] = '\0';
        if (strstr(list, path) == NULL && strlen(list) + strlen(path) + 2 < BENCH_MAPPED)
            strcat(strcat(list, list[0] ? ":" : ""), path);
    }
    if (maps != NULL)
        fclose(maps);
}

static inline void bench_string(const char *p)
{
    putchar('"');
    for (; *p; p++) {
        if (*p == '"' || *p == '\\')
            putchar('\\');
        putchar((unsigned char)*p < 0x20 ? ' ' : *p);
    }
    putchar('"');
}

/* Which library each rank runs on, said by the library and by the kernel. Rank 0 prints for all. */
static inline void bench_identify(const struct bench *b)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING + 1], mapped[BENCH_MAPPED];
    int length;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\r\n")] = '\0';
    bench_mapped(mapped);
    if (b->rank != 0 && b->o.json) {
        MPI_Send(version, (int)strlen(version) + 1, MPI_CHAR, 0, BENCH_TAG, MPI_COMM_WORLD);
        MPI_Send(mapped, BENCH_MAPPED, MPI_CHAR, 0, BENCH_TAG, MPI_COMM_WORLD);
    }
    if (b->rank == 0 && !b->o.json)
        printf("# %s: %s\n", b->o.program, version);
    for (int r = 0; r < b->ranks && b->rank == 0 && b->o.json; r++) {
        if (r > 0) {
            MPI_Recv(version, (int)sizeof version, MPI_CHAR, r, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(mapped, BENCH_MAPPED, MPI_CHAR, r, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        printf("{\"rank\":%d,\"library\":", r);
        bench_string(version);
        printf(",\"mapped\":");
        bench_string(mapped);
        printf("}\n");
    }
}

/* MPI_Init and everything up to the first measurement. Leaves the program by itself on --help or a mistake. */
static inline struct bench bench_start(int *argc, char ***argv, struct bench b)
{
    int go, level = 0, wanted = 0;
    /* The thread level is needed before MPI_Init, where nobody may print. */
    for (int i = 1; i < *argc; i++)
        wanted |= strcmp((*argv)[i], "--multiple") == 0;
    if (wanted)
        MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
    else
        MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
    go = parse_options(&b.o, *argc, *argv, b.rank == 0);
    if (b.members == 0)
        b.members = b.ranks;
    if (go == 1 && b.ranks < 2 && !b.lone) {
        fprintf(stderr, "%s: needs 2 ranks, this job has 1; start it with mpirun -n 2\n", b.o.program);
        go = -1;
    }
    if (go == 1 && wanted && level != MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "%s: this library does not grant MPI_THREAD_MULTIPLE\n", b.o.program);
        go = -1;
    }
    if (go != 1) {
        MPI_Finalize();
        exit(go == 0 ? 0 : 2);
    }
    if (b.o.pin && !pin_to_core(b.rank))
        bench_die(&b, "could not be pinned; leave --pin out to measure a floating process", b.rank);
    b.o.crowded = b.ranks > cores();
    bench_identify(&b);
    return b;
}

static inline void bench_finish(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

/* What a trial of `iterations` takes. */
static inline double bench_trial(void (*chunk)(void *, int), void *with, int iterations)
{
    double start = seconds_now();
    chunk(with, iterations);
    return (seconds_now() - start) / iterations;
}

/* Rank 0 settles how many iterations make a sample, and tells the others. */
static inline int bench_settle(const struct bench *b, void (*chunk)(void *, int), void *with)
{
    int iterations = 1, trial = 4;
    double each = bench_trial(chunk, with, 1), next;
    /* The best of three trials: one that was interrupted would make the samples too short for their clock. */
    if (b->rank == 0)
        trial = each > 1e-3 ? 1 : 8;
    for (int r = 1; r < b->members && b->rank == 0; r++)
        MPI_Send(&trial, 1, MPI_INT, r, BENCH_TAG, MPI_COMM_WORLD);
    if (b->rank != 0)
        MPI_Recv(&trial, 1, MPI_INT, 0, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < (trial > 1 ? 5 : 3); i++)
        each = (next = bench_trial(chunk, with, trial)) < each ? next : each;
    iterations = b->o.iterations > 0 ? b->o.iterations : iterations_for(&b->o, each);
    for (int r = 1; r < b->members && b->rank == 0; r++)
        MPI_Send(&iterations, 1, MPI_INT, r, BENCH_TAG, MPI_COMM_WORLD);
    if (b->rank != 0)
        MPI_Recv(&iterations, 1, MPI_INT, 0, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return iterations;
}

/* Adds what the other ranks saw to the samples of rank 0. */
static inline void bench_gather(const struct bench *b, struct samples *s)
{
    struct samples other;
    if (b->rank != 0) {
        MPI_Send(s->seconds, s->count, MPI_DOUBLE, 0, BENCH_TAG, MPI_COMM_WORLD);
        MPI_Send(s->switches, s->count, MPI_INT, 0, BENCH_TAG, MPI_COMM_WORLD);
        return;
    }
    if (!samples_open(&other, s->count, s->iterations))
        bench_die(b, "no memory for so many samples", s->count);
    for (int r = 1; r < b->members; r++) {
        MPI_Recv(other.seconds, s->count, MPI_DOUBLE, r, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(other.switches, s->count, MPI_INT, r, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < s->count; i++) {
            s->switches[i] += other.switches[i];
            if (b->all && other.seconds[i] > s->seconds[i])
                s->seconds[i] = other.seconds[i];
        }
    }
    samples_close(&other);
}

/* Takes samples of `chunk`, which does `iterations` of the pattern on all members, and prints them on rank 0. */
static inline void bench_measure(const struct bench *b, void (*chunk)(void *, int), void *with, int size, enum unit unit,
                                 double operations, double bytes)
{
    struct samples s;
    if (!samples_open(&s, b->o.repetitions, bench_settle(b, chunk, with)))
        bench_die(b, "no memory for so many samples", b->o.repetitions);
    chunk(with, s.iterations / 4 + 1); /* warm up with the final pattern */
    for (int i = 0; i < s.count; i++) {
        int before = involuntary();
        double start = seconds_now(), apart = b->apart == NULL ? 0 : *b->apart;
        chunk(with, s.iterations);
        s.seconds[i] = seconds_now() - start;
        s.seconds[i] = (s.seconds[i] - (b->apart == NULL ? 0 : *b->apart - apart)) / s.iterations;
        s.switches[i] = involuntary() - before;
    }
    bench_gather(b, &s);
    if (b->rank == 0)
        samples_print(&b->o, &s, size, unit, operations, bytes);
    samples_close(&s);
}
#endif

/*
 * What the measuring programs share, those with MPI and those without: options, pinning, clock, samples, output. Include
 * it first, since pinning needs _GNU_SOURCE.
 *
 * Method: a sample is a chunk of iterations between two readings of the clock, long enough that the clock's own cost (some
 * 20 ns) vanishes and short enough that most samples end before the scheduler takes the core away. Each sample carries the
 * number of involuntary context switches of the processes that took part: one with any is not a measurement of the
 * library, and is left out of minimum and median, unless there are more processes than cores. `cargo xtask bench` reads the --json form.
 */
#ifndef SAMPLES_H
#define SAMPLES_H
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#if defined(__linux__)
#include <sched.h>
#include <unistd.h>
#endif

#define MAX_SIZES 64
#define MAX_FLAGS 24

/* An option of one program: --name sets *value to 1. */
struct flag {
    const char *name, *help;
    int *value;
};

struct options {
    const char *program;
    int sizes[MAX_SIZES], size_count; /* bytes, or what the program measures over */
    int repetitions;                  /* samples per size */
    int iterations;                   /* per sample; 0: as many as fill chunk_us */
    int chunk_us;
    int window; /* messages in flight; 0 where there is no such thing */
    int json, pin;
    int crowded; /* more processes than cores: the system must switch, and every sample counts */
    struct flag flags[MAX_FLAGS];
};

/* What a figure is made of: an iteration does `operations` of something and moves `bytes`. */
enum unit { MICROSECONDS, PER_SECOND, BYTES_PER_SECOND };

struct samples {
    double *seconds; /* per iteration */
    int *switches;   /* involuntary context switches of all who took part */
    int count, iterations;
};

static inline double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of this thread where the system tells: helper threads of a library may be sent away without harm. */
static inline int involuntary(void)
{
    struct rusage use;
#if defined(RUSAGE_THREAD)
    getrusage(RUSAGE_THREAD, &use);
#else
    getrusage(RUSAGE_SELF, &use);
#endif
    return (int)use.ru_nivcsw;
}

static inline int cores(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

/* Number n to core n % cores. */
static inline int pin_to_core(int n)
{
#if defined(__linux__)
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(n % cores(), &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
#else
    (void)n;
    return 0;
#endif
}

/* Takes back what pinned this thread, and those that it starts from now on. */
static inline void on_all_cores(void)
{
#if defined(__linux__)
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int core = 0; core < cores(); core++)
        CPU_SET(core, &all);
    if (sched_setaffinity(0, sizeof all, &all) != 0)
        perror("sched_setaffinity");
#endif
}

/* "4096", "4k", "1m"; -1 if it is none of these or more than an int holds. */
static inline int parse_size(const char *word, const char **end)
{
    char *stop;
    long long n = strtoll(word, &stop, 10);
    *end = stop;
    if (stop == word || n < 0 || n > 0x7fffffff)
        return -1;
    if (*stop == 'k' || *stop == 'K')
        n <<= 10, stop++;
    else if (*stop == 'm' || *stop == 'M')
        n <<= 20, stop++;
    *end = stop;
    return n > 0x7fffffff ? -1 : (int)n;
}

static inline int parse_sizes(struct options *o, const char *list)
{
    for (o->size_count = 0; o->size_count < MAX_SIZES;) {
        const char *end = list;
        int n = parse_size(list, &end);
        if (n < 0 || (*end != ',' && *end != '\0'))
            return 0;
        o->sizes[o->size_count++] = n;
        if (*end == '\0')
            return 1;
        list = end + 1;
    }
    return 0;
}

static inline void usage(const struct options *o)
{
    printf("usage: %s [-s size[,size]] [-r samples] [-i iterations] [-c microseconds per sample] [--json] [--pin]%s", o->program,
           o->window > 0 ? " [-w window]" : "");
    for (const struct flag *f = o->flags; f->name != NULL; f++)
        printf(" [%s]", f->name);
    printf("\nsizes in bytes, or with k or m; --pin: rank r on core r %% cores\n");
    for (const struct flag *f = o->flags; f->name != NULL; f++)
        printf("%s: %s\n", f->name, f->help);
}

/* Returns 1 to go on, 0 after --help, -1 after a mistake; says so if `loud`. */
static inline int parse_options(struct options *o, int argc, char **argv, int loud)
{
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i], *word = i + 1 < argc ? argv[i + 1] : "", *end = word;
        int *number = strcmp(option, "-r") == 0                      ? &o->repetitions
                      : strcmp(option, "-i") == 0                    ? &o->iterations
                      : strcmp(option, "-c") == 0                    ? &o->chunk_us
                      : strcmp(option, "-w") == 0 && o->window > 0 ? &o->window
                                                                     : NULL;
        int ok = 0;
        if (strcmp(option, "-s") == 0) {
            ok = parse_sizes(o, word), i++;
        } else if (number != NULL) {
            *number = parse_size(word, &end), i++;
            ok = *number > 0 && *end == '\0';
        } else if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
            if (loud)
                usage(o);
            return 0;
        } else {
            struct flag common[] = {{"--json", "", &o->json}, {"--pin", "", &o->pin}, {NULL, NULL, NULL}};
            word = "";
            for (const struct flag *f = o->flags; f->name != NULL; f++)
                if (strcmp(option, f->name) == 0)
                    ok = *f->value = 1;
            for (const struct flag *f = common; f->name != NULL; f++)
                if (strcmp(option, f->name) == 0)
                    ok = *f->value = 1;
        }
        if (!ok) {
            if (loud)
                fprintf(stderr, "%s: bad or unknown option: %s %s; see --help\n", o->program, option, word);
            return -1;
        }
    }
    return 1;
}

/* How many iterations fill a sample, given what a few of them took. */
static inline int iterations_for(const struct options *o, double seconds_each)
{
    double wanted = o->chunk_us * 1e-6 / (seconds_each > 1e-9 ? seconds_each : 1e-9);
    return wanted >= 1e6 ? 1000000 : wanted < 1 ? 1 : (int)wanted;
}

static inline int samples_open(struct samples *s, int count, int iterations)
{
    s->seconds = calloc((size_t)count, sizeof *s->seconds);
    s->switches = calloc((size_t)count, sizeof *s->switches);
    s->count = count;
    s->iterations = iterations;
    return s->seconds != NULL && s->switches != NULL;
}

static inline void samples_close(struct samples *s)
{
    free(s->seconds);
    free(s->switches);
}

static inline int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A line per size: for people, or as JSON with every sample. */
static inline void samples_print(const struct options *o, const struct samples *s, int size, enum unit unit, double operations,
                                 double bytes)
{
    static const char *const NAMES[] = {"us", "per_s", "bytes_per_s"};
    static const char *const HEADS[] = {"us", "M/s", "MB/s"};
    static int headed;
    double *clean = malloc((size_t)s->count * sizeof *clean), figure[3] = {0, 0, 0};
    int n = 0;
    if (o->json) {
        printf("{\"size\":%d,\"unit\":\"%s\",\"operations\":%.0f,\"bytes\":%.0f,\"iterations\":%d,\"seconds\":[", size, NAMES[unit],
               operations, bytes, s->iterations);
        for (int i = 0; i < s->count; i++)
            printf("%s%.5e", i ? "," : "", s->seconds[i]);
        printf("],\"switches\":[");
        for (int i = 0; i < s->count; i++)
            printf("%s%d", i ? "," : "", s->switches[i]);
        printf("]}\n");
    } else if (clean != NULL) {
        if (!headed++)
            printf("# %8s %12s %12s %12s %10s  %s\n", "size", "best", "median", "worst", "iterations", HEADS[unit]);
        for (int i = 0; i < s->count; i++)
            if (s->switches[i] == 0 || o->crowded)
                clean[n++] = s->seconds[i];
        qsort(clean, (size_t)n, sizeof *clean, ascending);
        for (int i = 0; i < 3 && n > 0; i++) {
            double t = clean[i == 0 ? 0 : i == 1 ? n / 2 : n - 1];
            figure[i] = unit == MICROSECONDS ? t / operations * 1e6 : (unit == PER_SECOND ? operations : bytes) / t / 1e6;
        }
        printf("%10d %12.3f %12.3f %12.3f %10d  %d of %d samples\n", size, figure[0], figure[1], figure[2],
               s->iterations, n, s->count);
    }
    fflush(stdout);
    free(clean);
}
#endif

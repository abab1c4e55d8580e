/*
 * What the yardsticks without MPI share beside samples.h: a second process, a page that both see, and the taking of
 * samples, so that their figures are made the same way as those of the MPI programs.
 */
#ifndef RAW_H
#define RAW_H
#include "samples.h"
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define RAW_MAX_SAMPLES 1000

/* Seen by both. */
struct meeting {
    _Atomic int arrived, iterations;
    int switches[RAW_MAX_SAMPLES];
};

struct raw {
    struct options o;
    struct meeting *meeting;
    int rank, phase;
    pid_t other;
};

static inline void raw_die(const char *what)
{
    perror(what);
    exit(1);
}

static inline void *raw_shared(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        raw_die("mmap");
    memset(p, 0, bytes);
    return p;
}

static inline void raw_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Both have come. Not part of what is measured. */
static inline void raw_meet(struct raw *r)
{
    atomic_fetch_add(&r->meeting->arrived, 1);
    r->phase += 2;
    while (atomic_load(&r->meeting->arrived) < r->phase)
        raw_pause();
}

static inline void raw_parse(struct raw *r, int argc, char **argv)
{
    int go = parse_options(&r->o, argc, argv, 1);
    if (go != 1)
        exit(go == 0 ? 0 : 2);
    if (r->o.repetitions > RAW_MAX_SAMPLES) {
        fprintf(stderr, "%s: -r %d: at most %d\n", r->o.program, r->o.repetitions, RAW_MAX_SAMPLES);
        exit(2);
    }
    r->meeting = raw_shared(sizeof *r->meeting);
}

/* Starts the second process. */
static inline void raw_fork(struct raw *r)
{
    pid_t parent = getpid();
    r->other = fork();
    if (r->other < 0)
        raw_die("fork");
    r->rank = r->other == 0;
    if (r->rank == 1)
        r->other = parent;
    if (r->o.pin && !pin_to_core(r->rank))
        raw_die("cannot pin");
}

static inline void raw_measure(struct raw *r, void (*chunk)(void *, int), void *with, int size, enum unit unit, double operations,
                               double bytes)
{
    struct samples s;
    double each = 1e9;
    raw_meet(r);
    for (int i = 0; i < 4; i++) {
        double start = seconds_now(), took;
        chunk(with, 8);
        took = (seconds_now() - start) / 8;
        each = took < each ? took : each;
    }
    if (r->rank == 0)
        atomic_store(&r->meeting->iterations, r->o.iterations > 0 ? r->o.iterations : iterations_for(&r->o, each));
    raw_meet(r);
    if (!samples_open(&s, r->o.repetitions, atomic_load(&r->meeting->iterations)))
        raw_die("memory");
    chunk(with, s.iterations / 4 + 1);
    for (int i = 0; i < s.count; i++) {
        int before = involuntary();
        double start = seconds_now();
        chunk(with, s.iterations);
        s.seconds[i] = (seconds_now() - start) / s.iterations;
        s.switches[i] = involuntary() - before;
    }
    if (r->rank == 1)
        memcpy(r->meeting->switches, s.switches, (size_t)s.count * sizeof *s.switches);
    raw_meet(r);
    for (int i = 0; i < s.count; i++)
        s.switches[i] += r->rank == 0 ? r->meeting->switches[i] : 0;
    if (r->rank == 0)
        samples_print(&r->o, &s, size, unit, operations, bytes);
    raw_meet(r);
    samples_close(&s);
}

/* The second process ends here; the first waits for it. */
static inline int raw_finish(const struct raw *r)
{
    int status = 0;
    if (r->rank == 1)
        _exit(0);
    waitpid(r->other, &status, 0);
    return status != 0;
}
#endif

/*
 * What the programs with threads share: MPI_THREAD_MULTIPLE, a duplicate of MPI_COMM_WORLD for each thread, and findings
 * that several threads may report at once.
 */
#ifndef THREADS_H
#define THREADS_H
#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4 };

struct thread {
    int number;
    MPI_Comm own;
    void (*run)(struct thread *);
};

static pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER;

/* check.h counts without a lock. */
#undef CHECK
#undef CHECK_EQ
#define CHECK(condition)                                                                                                  \
    do {                                                                                                                  \
        if (!(condition)) {                                                                                               \
            pthread_mutex_lock(&finding);                                                                                 \
            check_fail(__FILE__, __LINE__, "expected %s", #condition);                                                    \
            pthread_mutex_unlock(&finding);                                                                               \
        }                                                                                                                 \
    } while (0)
#define CHECK_EQ(got, want)                                                                                               \
    do {                                                                                                                  \
        long long got_ = (long long)(got), want_ = (long long)(want);                                                     \
        if (got_ != want_) {                                                                                              \
            pthread_mutex_lock(&finding);                                                                                 \
            check_fail(__FILE__, __LINE__, "%s: expected %lld, got %lld", #got, want_, got_);                             \
            pthread_mutex_unlock(&finding);                                                                               \
        }                                                                                                                 \
    } while (0)

static inline void start_threads_multiple(int *argc, char ***argv, const char *name)
{
    int provided = -1;
    check_name = name;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_ranks);
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
}

static inline void *run_thread(void *arg)
{
    struct thread *thread = arg;
    thread->run(thread);
    return NULL;
}

/* Runs `run` in THREADS threads, each with a communicator of its own, and waits for them. */
static inline void in_threads(void (*run)(struct thread *))
{
    pthread_t ids[THREADS];
    struct thread threads[THREADS];
    for (int t = 0; t < THREADS; t++) {
        threads[t] = (struct thread){.number = t, .run = run};
        MPI_Comm_dup(MPI_COMM_WORLD, &threads[t].own);
    }
    for (int t = 0; t < THREADS; t++)
        if (pthread_create(&ids[t], NULL, run_thread, &threads[t]) != 0)
            MPI_Abort(MPI_COMM_WORLD, 3);
    for (int t = 0; t < THREADS; t++)
        pthread_join(ids[t], NULL);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&threads[t].own);
}

static inline double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
#endif

// covers: MPI_Psend_init MPI_Precv_init MPI_Pready MPI_Pready_range MPI_Parrived
// seconds: 240
/*
 * Threads that mark partitions of one send at once, while others look at what arrives and the main thread waits: MPI 5.0
 * section 4.2, MPI_Pready from any thread.
 */
#include "threads.h"

enum { ROUNDS = 60, EACH = 40 };

static unsigned char *out, *in;
static int bytes, round_now;
static MPI_Request requests[2];
static pthread_barrier_t all;

static int next(void) { return (check_rank + 1) % check_ranks; }
static int previous(void) { return (check_rank + check_ranks - 1) % check_ranks; }

/* Its share of the partitions, every THREADS-th, written just before it is marked. */
static void mark(int number)
{
    for (int i = number; i < THREADS * EACH; i += THREADS) {
        for (int b = 0; b < bytes; b++)
            out[i * bytes + b] = pattern((size_t)(i * bytes + b), check_rank + round_now);
        MPI_Pready(i, requests[0]);
        if (round_now % 3 == 1 && i % 7 == number)
            usleep(50);
    }
}

/* Sees its share arrive. */
static void watch(int number)
{
    for (int i = number; i < THREADS * EACH; i += THREADS) {
        int flag = 0, wrong = 0;
        while (!flag)
            MPI_Parrived(requests[1], i, &flag);
        for (int b = 0; b < bytes; b++)
            wrong += in[i * bytes + b] != pattern((size_t)(i * bytes + b), previous() + round_now);
        CHECK_EQ(wrong, 0);
    }
}

static void work(struct thread *thread)
{
    for (int round = 0; round < ROUNDS; round++) {
        if (thread->number == 0) {
            round_now = round;
            memset(in, 0, (size_t)(THREADS * EACH * bytes));
            MPI_Startall(2, requests);
        }
        pthread_barrier_wait(&all);
        mark(thread->number);
        if (round % 2)
            watch(thread->number);
        if (thread->number == 0 && round % 2 == 0)
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        pthread_barrier_wait(&all);
        if (thread->number == 0 && round % 2)
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        if (thread->number == 0)
            for (size_t i = 0; i < (size_t)(THREADS * EACH * bytes); i++)
                if (in[i] != pattern(i, previous() + round)) {
                    check_fail(__FILE__, __LINE__, "round %d: byte %zu is wrong", round, i);
                    break;
                }
    }
}

/* The main thread waits and frees the requests while others may still be in their last MPI_Pready. */
static void freed(struct thread *thread)
{
    for (int round = 0; round < 4 * ROUNDS; round++) {
        if (thread->number == 0) {
            round_now = 3 * round;
            MPI_Psend_init(out, THREADS * EACH, bytes, MPI_BYTE, next(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
            MPI_Precv_init(in, THREADS * EACH, bytes, MPI_BYTE, previous(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
            MPI_Startall(2, requests);
        }
        pthread_barrier_wait(&all);
        mark(thread->number);
        if (thread->number)
            continue;
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK_EQ(in[bytes], pattern((size_t)bytes, previous() + round_now));
        MPI_Request_free(&requests[0]);
        MPI_Request_free(&requests[1]);
    }
}

int main(int argc, char **argv)
{
    static const int sizes[] = {3, 200, 5000};
    start_threads_multiple(&argc, &argv, "threads_partitioned");
    pthread_barrier_init(&all, NULL, THREADS);
    for (int s = 0; s < 3; s++) {
        bytes = sizes[s];
        out = check_alloc((size_t)(THREADS * EACH * bytes)), in = check_alloc((size_t)(THREADS * EACH * bytes));
        memset(out, 0, (size_t)(THREADS * EACH * bytes));
        MPI_Psend_init(out, THREADS * EACH, bytes, MPI_BYTE, next(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
        MPI_Precv_init(in, THREADS * EACH, bytes, MPI_BYTE, previous(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
        in_threads(work);
        MPI_Request_free(&requests[0]), MPI_Request_free(&requests[1]);
        in_threads(freed);
        free(out), free(in);
    }
    return finish();
}

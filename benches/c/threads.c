/*
 * Round trips of 8 bytes between threads: each thread of rank 0 sends and waits for an answer, whichever thread of rank 1 gives it.
 * Half of a round trip of one thread is the figure. All threads run on all cores, whatever --pin says.
 *
 *   mpirun -n 2 threads --multiple [--two | --four] [-s size[,size]] [-r samples] [-i iterations] [--json] [--pin]
 *
 * Without an option one thread sends and two answer; --two: two and two; --four: four and four.
 */
#include "bench.h"
#include <pthread.h>

static int multiple, two, four;

enum { MOST = 4 };

struct team {
    int rank, size, senders, answerers, own; /* `own`: the threads of this rank */
    int iterations, over;
    char *memory[MOST];
    pthread_t threads[MOST];
    pthread_barrier_t round;
};

struct member {
    struct team *of;
    int number;
};

/* An iteration: each answerer answers once. */
static void trips(struct team *t, char *memory)
{
    int count = t->rank == 0 ? t->iterations * t->answerers / t->senders : t->iterations;
    for (int i = 0; i < count; i++) {
        if (t->rank == 0)
            MPI_Send(memory, t->size, MPI_BYTE, 1, BENCH_TAG, MPI_COMM_WORLD);
        MPI_Recv(memory, t->size, MPI_BYTE, 1 - t->rank, BENCH_TAG + t->rank - 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (t->rank == 1)
            MPI_Send(memory, t->size, MPI_BYTE, 0, BENCH_TAG - 1, MPI_COMM_WORLD);
    }
}

/* Each thread but the first. */
static void *work(void *with)
{
    struct member *member = with;
    for (;;) {
        pthread_barrier_wait(&member->of->round);
        if (member->of->over)
            return NULL;
        trips(member->of, member->of->memory[member->number]);
        pthread_barrier_wait(&member->of->round);
    }
}

static void chunk(void *with, int iterations)
{
    struct team *t = with;
    t->iterations = iterations;
    pthread_barrier_wait(&t->round);
    trips(t, t->memory[0]);
    pthread_barrier_wait(&t->round);
}

static void measure(const struct bench *b, int size)
{
    struct team t = {.rank = b->rank, .size = size, .senders = four ? 4 : two ? 2 : 1, .answerers = four ? 4 : 2};
    struct member members[MOST];
    t.own = b->rank == 0 ? t.senders : t.answerers;
    if (pthread_barrier_init(&t.round, NULL, (unsigned)t.own) != 0)
        bench_die(b, "no barrier for so many threads", t.own);
    for (int i = 0; i < t.own; i++) {
        t.memory[i] = bench_memory(b, (size_t)size);
        members[i] = (struct member){&t, i};
        if (b->rank == 0)
            bench_fill(t.memory[i], (size_t)size, size);
        if (i > 0 && pthread_create(&t.threads[i], NULL, work, &members[i]) != 0)
            bench_die(b, "no thread, number", i);
    }
    bench_measure(b, chunk, &t, size, MICROSECONDS, 2.0 * t.answerers / t.senders, 0);
    t.over = 1;
    pthread_barrier_wait(&t.round);
    for (int i = 0; i < t.own; i++) {
        if (i > 0)
            pthread_join(t.threads[i], NULL);
        bench_verify(b, t.memory[i], (size_t)size, size);
        free(t.memory[i]);
    }
    pthread_barrier_destroy(&t.round);
}

int main(int argc, char **argv)
{
    struct bench b = {.o = {.program = "threads", .repetitions = 20, .chunk_us = 4000, .sizes = {8}, .size_count = 1}, .members = 2};
    struct flag flags[] = {{"--multiple", "ask for MPI_THREAD_MULTIPLE: needed", &multiple},
                           {"--two", "two threads send, two answer", &two},
                           {"--four", "four threads send, four answer", &four}};
    memcpy(b.o.flags, flags, sizeof flags);
    b = bench_start(&argc, &argv, b);
    if (!multiple)
        bench_die(&b, "say --multiple", 0);
    on_all_cores();
    b.o.crowded |= (four ? 8 : two ? 4 : 3) > cores();
    for (int i = 0; i < b.o.size_count && b.rank < 2; i++)
        measure(&b, b.o.sizes[i]);
    bench_finish();
    return 0;
}

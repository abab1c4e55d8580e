/*
 * Partitioned communication (MPI 5.0 section 4.2): half of a round trip between ranks 0 and 1 of 16 or 64 partitions, whose size is
 * the row's. A round is MPI_Start, MPI_Pready for each partition, MPI_Wait; on the other side MPI_Start and MPI_Wait. The receive
 * is started before the answer to it can come.
 *
 *   mpirun -n 2 partitioned [--many] [--whole] [--watch] [--multiple [--threads]] [--apart | --late] [-s size[,size]] [-r samples]
 *                           [-i iterations] [--json] [--pin]
 *
 * --whole sends the same bytes by MPI_Send instead, which is what partitions cost something beside. --apart: some 20 us of
 * computing before each mark, so that partitions become ready one after the other; --late: all of that computing before the first
 * mark. With both rank 1 answers with an empty message, and the figure is what a round takes beside the computing, answer and all:
 * late less apart is how much of the transfer was hidden, of which all but the last partition's part can be.
 *
 * --threads: four threads of each rank mark a quarter of the partitions each, the first of them the one that starts and waits. They
 * meet at a barrier of the system in each round, which the figure contains, and run on all cores, whatever --pin says.
 */
#include "bench.h"
#include <pthread.h>

static int many, whole, watch, multiple, threads, apart, late;
static volatile double sink;
static double computing; /* seconds, of rank 0 */

enum { STEPS = 10000, THREADS = 4 };

static void compute(int times)
{
    double x = 1.0, start = seconds_now();
    for (long i = 0; i < (long)times * STEPS; i++)
        x = x * 1.0000001 + 1e-9;
    sink = x;
    computing += seconds_now() - start;
}

struct ping {
    char *out, *in;
    int partitions, size, rank;
    MPI_Request send, receive;
    pthread_t team[THREADS];
    pthread_barrier_t round;
    int over;
};

struct member {
    struct ping *of;
    int number;
};

static void mark(struct ping *p, int number)
{
    int each = p->partitions / THREADS;
    for (int i = number * each; i < (number + 1) * each; i++)
        MPI_Pready(i, p->send);
}

/* Each thread but the first. A send ends when all have marked, so that none is a round behind. */
static void *work(void *with)
{
    struct member *member = with;
    for (;;) {
        pthread_barrier_wait(&member->of->round);
        if (member->of->over)
            return NULL;
        mark(member->of, member->number);
    }
}

/* The first thread of each rank keeps the others: they are there while a size is measured. */
static void team(struct ping *p, struct member *members, int go)
{
    if (go && pthread_barrier_init(&p->round, NULL, THREADS) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (!go)
        p->over = 1, pthread_barrier_wait(&p->round);
    for (int i = 1; i < THREADS; i++) {
        members[i] = (struct member){p, i};
        if ((go ? pthread_create(&p->team[i], NULL, work, &members[i]) : pthread_join(p->team[i], NULL)) != 0)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (!go)
        pthread_barrier_destroy(&p->round);
}

static void send(struct ping *p)
{
    if (whole) {
        MPI_Send(p->out, p->partitions * p->size, MPI_BYTE, 1 - p->rank, BENCH_TAG, MPI_COMM_WORLD);
        return;
    }
    if (late)
        compute(p->partitions);
    MPI_Start(&p->send);
    if (threads) {
        pthread_barrier_wait(&p->round);
        mark(p, 0);
    }
    for (int i = 0; i < p->partitions && !threads; i++) {
        if (apart)
            compute(1);
        MPI_Pready(i, p->send);
    }
    MPI_Wait(&p->send, MPI_STATUS_IGNORE);
}

static void begin(struct ping *p)
{
    if (!whole)
        MPI_Start(&p->receive);
}

static void receive(struct ping *p)
{
    if (whole) {
        MPI_Recv(p->in, p->partitions * p->size, MPI_BYTE, 1 - p->rank, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    for (int i = 0; i < p->partitions && watch; i++)
        for (int flag = 0; !flag;)
            MPI_Parrived(p->receive, i, &flag);
    MPI_Wait(&p->receive, MPI_STATUS_IGNORE);
}

static void chunk(void *with, int iterations)
{
    struct ping *p = with;
    for (int i = 0; i < iterations; i++) {
        begin(p);
        if (p->rank == 0)
            send(p);
        receive(p);
        if (p->rank == 1)
            send(p);
    }
}

/* From rank 0 to rank 1 alone: it alone computes, so that it alone knows for how long. */
static void one_way(void *with, int iterations)
{
    struct ping *p = with;
    for (int i = 0; i < iterations; i++) {
        if (p->rank == 0) {
            send(p);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, BENCH_TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            begin(p);
            receive(p);
            MPI_Send(NULL, 0, MPI_BYTE, 0, BENCH_TAG + 1, MPI_COMM_WORLD);
        }
    }
}

static void measure(const struct bench *b, int size)
{
    struct ping p = {.partitions = many ? 64 : 16, .size = size, .rank = b->rank};
    struct member members[THREADS];
    size_t bytes = (size_t)p.partitions * (size_t)size;
    p.out = bench_memory(b, bytes), p.in = bench_memory(b, bytes);
    bench_fill(p.out, bytes, size + b->rank);
    if (!whole) {
        MPI_Psend_init(p.out, p.partitions, size, MPI_BYTE, 1 - b->rank, BENCH_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &p.send);
        MPI_Precv_init(p.in, p.partitions, size, MPI_BYTE, 1 - b->rank, BENCH_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &p.receive);
    }
    if (threads)
        team(&p, members, 1);
    chunk(&p, 1);
    bench_verify(b, p.in, bytes, size + 1 - b->rank);
    memset(p.in, 0, bytes);
    if (apart || late)
        bench_measure(b, one_way, &p, size, MICROSECONDS, 1, (double)bytes);
    else
        bench_measure(b, chunk, &p, size, MICROSECONDS, 2, 2.0 * (double)bytes);
    if (b->rank == 1 || !(apart || late))
        bench_verify(b, p.in, bytes, size + 1 - b->rank);
    if (threads)
        team(&p, members, 0);
    if (!whole)
        MPI_Request_free(&p.send), MPI_Request_free(&p.receive);
    free(p.out);
    free(p.in);
}

int main(int argc, char **argv)
{
    struct bench b = {.o = {.program = "partitioned", .repetitions = 20, .chunk_us = 4000}, .members = 2};
    struct flag flags[] = {{"--many", "64 partitions instead of 16", &many},
                           {"--whole", "the same bytes by MPI_Send", &whole},
                           {"--watch", "ask for each partition with MPI_Parrived before the wait", &watch},
                           {"--multiple", "ask for MPI_THREAD_MULTIPLE", &multiple},
                           {"--threads", "four threads mark a quarter each; with --multiple", &threads},
                           {"--apart", "some 20 us of computing before each mark", &apart},
                           {"--late", "all of that computing before the first mark", &late}};
    memcpy(b.o.flags, flags, sizeof flags);
    for (int size = 64; size <= 64 << 10; size *= 8)
        b.o.sizes[b.o.size_count++] = size;
    b = bench_start(&argc, &argv, b);
    b.apart = &computing;
    if (threads && (!multiple || whole || apart || late))
        bench_die(&b, "--threads needs --multiple, and goes with none of --whole, --apart, --late", 0);
    if (threads) {
        on_all_cores();
        b.o.crowded |= 2 * THREADS > cores();
    }
    for (int i = 0; i < b.o.size_count && b.rank < 2; i++)
        measure(&b, b.o.sizes[i]);
    bench_finish();
    return 0;
}

/*
 * Partitioned communication (MPI 5.0 section 4.2): half of a round trip between ranks 0 and 1 of 16 or 64 partitions, whose size is
 * the row's. A round is MPI_Start, MPI_Pready for each partition, MPI_Wait; on the other side MPI_Start and MPI_Wait. The receive
 * is started before the answer to it can come.
 *
 *   mpirun -n 2 partitioned [--many] [--whole] [--watch] [--apart | --late | --still] [-s size[,size]] [-r samples] [-i iterations] [--json] [--pin]
 *
 * --whole sends the same bytes by MPI_Send instead, which is what partitions cost something beside. --apart: some 20 us of
 * computing before each mark, so that partitions become ready one after the other; --late: all of that computing before the first
 * mark; --still: the computing alone. Late less still is what the transfer takes; late less apart is how much of it was hidden, of
 * which all but the last partition's part can be.
 */
#include "bench.h"

static int many, whole, watch, apart, late, still;
static volatile double sink;

enum { STEPS = 10000 };

static void compute(int times)
{
    double x = 1.0;
    for (long i = 0; i < (long)times * STEPS; i++)
        x = x * 1.0000001 + 1e-9;
    sink = x;
}

struct ping {
    char *out, *in;
    int partitions, size, rank;
    MPI_Request send, receive;
};

static void send(struct ping *p)
{
    if (whole) {
        MPI_Send(p->out, p->partitions * p->size, MPI_BYTE, 1 - p->rank, BENCH_TAG, MPI_COMM_WORLD);
        return;
    }
    if (late || still)
        compute(p->partitions);
    if (still)
        return;
    MPI_Start(&p->send);
    for (int i = 0; i < p->partitions; i++) {
        if (apart)
            compute(1);
        MPI_Pready(i, p->send);
    }
    MPI_Wait(&p->send, MPI_STATUS_IGNORE);
}

static void begin(struct ping *p)
{
    if (!whole && !still)
        MPI_Start(&p->receive);
}

static void receive(struct ping *p)
{
    if (whole) {
        MPI_Recv(p->in, p->partitions * p->size, MPI_BYTE, 1 - p->rank, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    if (still)
        return;
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

static void measure(const struct bench *b, int size)
{
    struct ping p = {.partitions = many ? 64 : 16, .size = size, .rank = b->rank};
    size_t bytes = (size_t)p.partitions * (size_t)size;
    p.out = bench_memory(b, bytes), p.in = bench_memory(b, bytes);
    bench_fill(p.out, bytes, size + b->rank);
    if (!whole) {
        MPI_Psend_init(p.out, p.partitions, size, MPI_BYTE, 1 - b->rank, BENCH_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &p.send);
        MPI_Precv_init(p.in, p.partitions, size, MPI_BYTE, 1 - b->rank, BENCH_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &p.receive);
    }
    if (!still) {
        chunk(&p, 1);
        bench_verify(b, p.in, bytes, size + 1 - b->rank);
    }
    bench_measure(b, chunk, &p, size, MICROSECONDS, still ? 1 : 2, 2.0 * (double)bytes);
    if (!still)
        bench_verify(b, p.in, bytes, size + 1 - b->rank);
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
                           {"--apart", "some 20 us of computing before each mark", &apart},
                           {"--late", "all of that computing before the first mark", &late},
                           {"--still", "that computing alone", &still}};
    memcpy(b.o.flags, flags, sizeof flags);
    for (int size = 64; size <= 64 << 10; size *= 8)
        b.o.sizes[b.o.size_count++] = size;
    b = bench_start(&argc, &argv, b);
    for (int i = 0; i < b.o.size_count && b.rank < 2; i++)
        measure(&b, b.o.sizes[i]);
    bench_finish();
    return 0;
}

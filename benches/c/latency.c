/*
 * Latency: half of a round trip of one message between ranks 0 and 1, for each size. MPI_Send and MPI_Recv (MPI 5.0
 * sections 3.2 and 3.4) with the receiver already waiting, which is the shortest path a library has.
 *
 *   mpirun -n 2 latency [-s size[,size]] [-r samples] [-i iterations] [--json] [--pin]
 *                       [--rewrite] [--vector] [--any] [--multiple]
 *
 * Without --rewrite nobody touches a buffer between two messages, so that its lines lie shared in both caches; real
 * programs write what they send. --rewrite stores to every line before each send and reads every line after each receive;
 * that time counts, and is the same for every library.
 */
#include "bench.h"

#define BLOCK 8 /* bytes of a vector's block; as many lie between two */

static int rewrite, vector, any, multiple;

struct ping {
    char *out, *in;
    int size, rank, count;
    size_t span;
    MPI_Datatype type;
    volatile char sum;
};

static void touch(struct ping *p)
{
    for (size_t i = 0; i < p->span; i += 64)
        p->out[i]++;
}

static void look(struct ping *p)
{
    char sum = 0;
    for (size_t i = 0; i < p->span; i += 64)
        sum = (char)(sum + p->in[i]);
    p->sum = sum;
}

static void send(struct ping *p)
{
    if (rewrite)
        touch(p);
    MPI_Send(p->out, p->count, p->type, 1 - p->rank, BENCH_TAG, MPI_COMM_WORLD);
}

static void receive(struct ping *p)
{
    if (any)
        MPI_Recv(p->in, p->count, p->type, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Recv(p->in, p->count, p->type, 1 - p->rank, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rewrite)
        look(p);
}

static void chunk(void *with, int iterations)
{
    struct ping *p = with;
    for (int i = 0; i < iterations; i++) {
        if (p->rank == 0) {
            send(p);
            receive(p);
        } else {
            receive(p);
            send(p);
        }
    }
}

/* Only what the datatype names has arrived. */
static void verify(const struct bench *b, const struct ping *p)
{
    int seed = p->size + 1 - b->rank;
    for (size_t i = 0; i < p->span; i++)
        if ((!vector || i / BLOCK % 2 == 0) && p->in[i] != bench_byte(i, seed))
            bench_die(b, "received data differ, first wrong byte", (long long)i);
}

/* Each rank sends its own pattern, so that a receiver that never stored anything, or got its own data back, is found. */
static void measure(const struct bench *b, int size)
{
    struct ping p = {.size = size, .rank = b->rank, .count = size, .span = (size_t)size, .type = MPI_BYTE};
    if (vector) {
        p.count = 1, p.span = 2 * (size_t)size;
        MPI_Type_vector(size / BLOCK, BLOCK, 2 * BLOCK, MPI_BYTE, &p.type);
        MPI_Type_commit(&p.type);
    }
    p.out = bench_memory(b, p.span), p.in = bench_memory(b, p.span);
    bench_fill(p.out, p.span, size + b->rank);
    MPI_Sendrecv(p.out, p.count, p.type, 1 - b->rank, BENCH_TAG, p.in, p.count, p.type, 1 - b->rank, BENCH_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    verify(b, &p);
    bench_measure(b, chunk, &p, size, MICROSECONDS, 2, 2.0 * size);
    if (!rewrite)
        verify(b, &p);
    free(p.out);
    free(p.in);
    if (vector)
        MPI_Type_free(&p.type);
}

int main(int argc, char **argv)
{
    struct bench b = {.o = {.program = "latency", .repetitions = 20, .chunk_us = 4000, .size_count = 1}, .members = 2};
    struct flag flags[] = {{"--rewrite", "write each message before it is sent, read it after", &rewrite},
                           {"--vector", "blocks of 8 bytes, 8 bytes apart; sizes are multiples of 8", &vector},
                           {"--any", "receive from MPI_ANY_SOURCE with MPI_ANY_TAG", &any},
                           {"--multiple", "MPI_THREAD_MULTIPLE", &multiple}};
    memcpy(b.o.flags, flags, sizeof flags);
    for (int size = 1; size <= 4 << 20; size *= 2)
        b.o.sizes[b.o.size_count++] = size;
    b = bench_start(&argc, &argv, b);
    for (int i = 0; i < b.o.size_count && b.rank < 2; i++) {
        if (vector && (b.o.sizes[i] == 0 || b.o.sizes[i] % BLOCK != 0))
            continue;
        measure(&b, b.o.sizes[i]);
    }
    bench_finish();
    return 0;
}

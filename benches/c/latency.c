/*
 * Latency: half of a round trip of one message between ranks 0 and 1, for each size. MPI_Send and MPI_Recv (MPI 5.0
 * sections 3.2 and 3.4) with the receiver already waiting, which is the shortest path a library has.
 *
 *   mpirun -n 2 latency [-s size[,size]] [-r repetitions] [-i iterations] [--json] [--pin]
 */
#include "bench.h"

struct ping {
    char *out, *in;
    int size, rank;
};

static void chunk(void *with, int iterations)
{
    struct ping *p = with;
    for (int i = 0; i < iterations; i++) {
        if (p->rank == 0) {
            MPI_Send(p->out, p->size, MPI_BYTE, 1, BENCH_TAG, MPI_COMM_WORLD);
            MPI_Recv(p->in, p->size, MPI_BYTE, 1, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(p->in, p->size, MPI_BYTE, 0, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(p->out, p->size, MPI_BYTE, 0, BENCH_TAG, MPI_COMM_WORLD);
        }
    }
}

/* Each rank sends its own pattern, so that a receiver that never stored anything, or got its own data back, is found. */
static void measure(const struct bench *b, int size)
{
    struct ping p = {bench_memory(b, (size_t)size), bench_memory(b, (size_t)size), size, b->rank};
    struct bench_result r;
    bench_fill(p.out, (size_t)size, size + b->rank);
    chunk(&p, 1);
    bench_verify(b, p.in, (size_t)size, size + 1 - b->rank);
    r = bench_measure(b, chunk, &p);
    bench_verify(b, p.in, (size_t)size, size + 1 - b->rank);
    if (b->rank == 0 && b->json) {
        bench_json_open(b, size, &r);
        printf(",\"min_us\":%.4f,\"median_us\":%.4f,\"max_us\":%.4f}\n", r.min / 2 * 1e6, r.median / 2 * 1e6, r.max / 2 * 1e6);
    } else if (b->rank == 0) {
        printf("%10d %12.3f %12.3f %12.3f %10d\n", size, r.min / 2 * 1e6, r.median / 2 * 1e6, r.max / 2 * 1e6, r.iterations);
    }
    fflush(stdout);
    free(p.out);
    free(p.in);
}

int main(int argc, char **argv)
{
    struct bench b = {.name = "latency", .repetitions = 20, .size_count = 1};
    for (int size = 1; size <= 4 << 20; size *= 2)
        b.sizes[b.size_count++] = size;
    b = bench_start(&argc, &argv, b);
    if (b.rank == 0 && !b.json)
        printf("# %8s %12s %12s %12s %10s\n", "bytes", "min us", "median us", "max us", "iterations");
    for (int i = 0; i < b.size_count && b.rank < 2; i++)
        measure(&b, b.sizes[i]);
    bench_finish();
    return 0;
}

/*
 * Bandwidth: windows of MPI_Isend / MPI_Irecv from rank 0 to rank 1, or with --bidir both ways at once (MPI 5.0 section
 * 3.7), each window closed by an empty acknowledgement. MB/s are 10^6 bytes of payload per second, both directions added up.
 *
 * Each message in flight has a buffer of its own, as the standard demands of receives. The window shrinks with the size so
 * that a side holds at most MEMORY bytes per direction; benchmarks that let a window share one buffer measure the cache.
 *
 *   mpirun -n 2 bandwidth [--bidir] [-s size[,size]] [-w window] [-r repetitions] [-i windows] [--json] [--pin]
 */
#include "bench.h"

#define MEMORY (32 << 20)

struct stream {
    char *out, *in; /* NULL where this rank does not send or receive */
    MPI_Request *requests;
    int size, window, peer;
};

static void chunk(void *with, int iterations)
{
    struct stream *s = with;
    for (int i = 0; i < iterations; i++) {
        int n = 0;
        for (int m = 0; m < s->window && s->in != NULL; m++)
            MPI_Irecv(s->in + (size_t)m * s->size, s->size, MPI_BYTE, s->peer, BENCH_TAG, MPI_COMM_WORLD, &s->requests[n++]);
        for (int m = 0; m < s->window && s->out != NULL; m++)
            MPI_Isend(s->out + (size_t)m * s->size, s->size, MPI_BYTE, s->peer, BENCH_TAG, MPI_COMM_WORLD, &s->requests[n++]);
        MPI_Waitall(n, s->requests, MPI_STATUSES_IGNORE);
        if (s->in != NULL)
            MPI_Send(NULL, 0, MPI_BYTE, s->peer, BENCH_TAG, MPI_COMM_WORLD);
        if (s->out != NULL)
            MPI_Recv(NULL, 0, MPI_BYTE, s->peer, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void measure(const struct bench *b, int size)
{
    int window = size > 0 && MEMORY / size < b->window ? MEMORY / size : b->window;
    struct stream s = {NULL, NULL, NULL, size, window > 0 ? window : 1, 1 - b->rank};
    size_t bytes = (size_t)size * (size_t)s.window;
    double payload = (double)bytes * (b->bidir ? 2 : 1);
    struct bench_result r;
    s.requests = (MPI_Request *)(void *)bench_memory(b, 2 * (size_t)s.window * sizeof(MPI_Request));
    if (b->rank == 0 || b->bidir)
        bench_fill(s.out = bench_memory(b, bytes), bytes, size + b->rank);
    if (b->rank == 1 || b->bidir)
        s.in = bench_memory(b, bytes);
    chunk(&s, 1);
    if (s.in != NULL)
        bench_verify(b, s.in, bytes, size + s.peer);
    r = bench_measure(b, chunk, &s);
    if (b->rank == 0 && b->json) {
        bench_json_open(b, size, &r);
        printf(",\"bidir\":%s,\"window\":%d,\"best_mb_s\":%.2f,\"median_mb_s\":%.2f,\"worst_mb_s\":%.2f}\n",
               b->bidir ? "true" : "false", s.window, payload / r.min / 1e6, payload / r.median / 1e6, payload / r.max / 1e6);
    } else if (b->rank == 0) {
        printf("%10d %8d %14.2f %14.2f %14.2f %10d\n", size, s.window, payload / r.min / 1e6, payload / r.median / 1e6,
               payload / r.max / 1e6, r.iterations);
    }
    fflush(stdout);
    free(s.out);
    free(s.in);
    free(s.requests);
}

int main(int argc, char **argv)
{
    struct bench b = {.name = "bandwidth", .repetitions = 10, .window = 64};
    for (int size = 1; size <= 4 << 20; size *= 4)
        b.sizes[b.size_count++] = size;
    b = bench_start(&argc, &argv, b);
    if (b.rank == 0 && !b.json)
        printf("# %8s %8s %14s %14s %14s %10s\n", "bytes", "window", "best MB/s", "median MB/s", "worst MB/s", "windows");
    for (int i = 0; i < b.size_count && b.rank < 2; i++)
        measure(&b, b.sizes[i]);
    bench_finish();
    return 0;
}

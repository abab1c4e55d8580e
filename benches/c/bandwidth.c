/*
 * Bandwidth: windows of MPI_Isend / MPI_Irecv from rank 0 to rank 1, or with --bidir both ways at once (MPI 5.0 section
 * 3.7), each window closed by an empty acknowledgement. MB/s are 10^6 bytes of payload per second, both directions added up.
 *
 * Each message in flight has a buffer of its own, as the standard demands of receives. The window shrinks with the size so
 * that a side holds at most MEMORY bytes per direction; benchmarks that let a window share one buffer measure the cache.
 *
 *   mpirun -n 2 bandwidth [--bidir] [--rewrite] [-s size[,size]] [-w window] [-r samples] [-i windows] [--json] [--pin]
 */
#include "bench.h"

#define MEMORY (32 << 20)

static int bidir, rewrite;

struct stream {
    char *out, *in; /* NULL where this rank does not send or receive */
    MPI_Request *requests;
    int size, window, peer;
};

static void touch(char *buffer, size_t size)
{
    for (size_t i = 0; i < size; i += 64)
        buffer[i]++;
}

static void chunk(void *with, int iterations)
{
    struct stream *s = with;
    for (int i = 0; i < iterations; i++) {
        int n = 0;
        for (int m = 0; m < s->window && s->in != NULL; m++)
            MPI_Irecv(s->in + (size_t)m * s->size, s->size, MPI_BYTE, s->peer, BENCH_TAG, MPI_COMM_WORLD, &s->requests[n++]);
        for (int m = 0; m < s->window && s->out != NULL; m++) {
            if (rewrite)
                touch(s->out + (size_t)m * s->size, (size_t)s->size);
            MPI_Isend(s->out + (size_t)m * s->size, s->size, MPI_BYTE, s->peer, BENCH_TAG, MPI_COMM_WORLD, &s->requests[n++]);
        }
        MPI_Waitall(n, s->requests, MPI_STATUSES_IGNORE);
        if (s->in != NULL)
            MPI_Send(NULL, 0, MPI_BYTE, s->peer, BENCH_TAG, MPI_COMM_WORLD);
        if (s->out != NULL)
            MPI_Recv(NULL, 0, MPI_BYTE, s->peer, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void measure(const struct bench *b, int size)
{
    int window = size > 0 && MEMORY / size < b->o.window ? MEMORY / size : b->o.window, verify = rewrite;
    struct stream s = {NULL, NULL, NULL, size, window > 0 ? window : 1, 1 - b->rank};
    size_t bytes = (size_t)size * (size_t)s.window;
    s.requests = (void *)bench_memory(b, 2 * (size_t)s.window * sizeof(MPI_Request));
    if (b->rank == 0 || bidir)
        bench_fill(s.out = bench_memory(b, bytes), bytes, size + b->rank);
    if (b->rank == 1 || bidir)
        s.in = bench_memory(b, bytes);
    rewrite = 0;
    chunk(&s, 1);
    rewrite = verify;
    if (s.in != NULL)
        bench_verify(b, s.in, bytes, size + s.peer);
    bench_measure(b, chunk, &s, size, BYTES_PER_SECOND, s.window * (bidir ? 2 : 1), (double)bytes * (bidir ? 2 : 1));
    free(s.out);
    free(s.in);
    free(s.requests);
}

int main(int argc, char **argv)
{
    struct bench b = {.o = {.program = "bandwidth", .repetitions = 20, .chunk_us = 4000, .window = 64}, .members = 2};
    b.o.flags[0] = (struct flag){"--bidir", "both directions at once", &bidir};
    b.o.flags[1] = (struct flag){"--rewrite", "write each message before it is sent", &rewrite};
    for (int size = 1; size <= 4 << 20; size *= 4)
        b.o.sizes[b.o.size_count++] = size;
    b = bench_start(&argc, &argv, b);
    for (int i = 0; i < b.o.size_count && b.rank < 2; i++)
        measure(&b, b.o.sizes[i]);
    bench_finish();
    return 0;
}

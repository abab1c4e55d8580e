/*
 * Message rate: rank 0 starts a window of MPI_Isend (default 64 of 8 bytes), rank 1 has the matching MPI_Irecv, both
 * MPI_Waitall (MPI 5.0 section 3.7), then rank 1 acknowledges the window with an empty message. The acknowledgement is
 * part of the time: without it the sender would measure how fast it fills buffers.
 *
 *   mpirun -n 2 rate [-s size[,size]] [-w window] [-r repetitions] [-i windows] [--json] [--pin]
 */
#include "bench.h"

struct flood {
    char *buffer; /* one slot per message in flight: overlapping receive buffers would be wrong, and hide disorder */
    MPI_Request *requests;
    int size, window, rank;
};

static void chunk(void *with, int iterations)
{
    struct flood *f = with;
    for (int i = 0; i < iterations; i++) {
        for (int m = 0; m < f->window; m++) {
            char *slot = f->buffer + (size_t)m * f->size;
            if (f->rank == 0)
                MPI_Isend(slot, f->size, MPI_BYTE, 1, BENCH_TAG, MPI_COMM_WORLD, &f->requests[m]);
            else
                MPI_Irecv(slot, f->size, MPI_BYTE, 0, BENCH_TAG, MPI_COMM_WORLD, &f->requests[m]);
        }
        MPI_Waitall(f->window, f->requests, MPI_STATUSES_IGNORE);
        if (f->rank == 0)
            MPI_Recv(NULL, 0, MPI_BYTE, 1, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(NULL, 0, MPI_BYTE, 0, BENCH_TAG, MPI_COMM_WORLD);
    }
}

static void measure(const struct bench *b, int size)
{
    size_t bytes = (size_t)size * (size_t)b->window;
    struct flood f = {bench_memory(b, bytes), (MPI_Request *)(void *)bench_memory(b, (size_t)b->window * sizeof(MPI_Request)), size,
                      b->window, b->rank};
    struct bench_result r;
    if (b->rank == 0)
        bench_fill(f.buffer, bytes, size);
    chunk(&f, 1);
    bench_verify(b, f.buffer, bytes, size); /* all slots: messages that overtook one another show here */
    r = bench_measure(b, chunk, &f);
    if (b->rank == 0 && b->json) {
        bench_json_open(b, size, &r);
        printf(",\"window\":%d,\"best_per_s\":%.0f,\"median_per_s\":%.0f,\"worst_per_s\":%.0f}\n", b->window, b->window / r.min,
               b->window / r.median, b->window / r.max);
    } else if (b->rank == 0) {
        printf("%10d %8d %14.3f %14.3f %14.3f %10d\n", size, b->window, b->window / r.min / 1e6, b->window / r.median / 1e6,
               b->window / r.max / 1e6, r.iterations);
    }
    fflush(stdout);
    free(f.buffer);
    free(f.requests);
}

int main(int argc, char **argv)
{
    struct bench b = {.name = "rate", .repetitions = 20, .window = 64, .sizes = {8}, .size_count = 1};
    b = bench_start(&argc, &argv, b);
    if (b.rank == 0 && !b.json)
        printf("# %8s %8s %14s %14s %14s %10s\n", "bytes", "window", "best M/s", "median M/s", "worst M/s", "windows");
    for (int i = 0; i < b.size_count && b.rank < 2; i++)
        measure(&b, b.sizes[i]);
    bench_finish();
    return 0;
}

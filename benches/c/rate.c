/*
 * Message rate: even ranks start a window of MPI_Isend (default 64 of 8 bytes), the odd rank above each has the matching
 * MPI_Irecv, both MPI_Waitall (MPI 5.0 section 3.7), then the odd one acknowledges the window with an empty message. The
 * acknowledgement is part of the time: without it the sender would measure how fast it fills buffers. Rates of all pairs
 * are added up, over the time of the slowest.
 *
 *   mpirun -n 2 rate [-s size[,size]] [-w window] [-r samples] [-i windows] [--json] [--pin] [--multiple]
 */
#include "bench.h"

static int multiple;

struct flood {
    char *buffer; /* one slot per message in flight: overlapping receive buffers would be wrong, and hide disorder */
    MPI_Request *requests;
    int size, window, sends, peer;
};

static void chunk(void *with, int iterations)
{
    struct flood *f = with;
    for (int i = 0; i < iterations; i++) {
        for (int m = 0; m < f->window; m++) {
            char *slot = f->buffer + (size_t)m * f->size;
            if (f->sends)
                MPI_Isend(slot, f->size, MPI_BYTE, f->peer, BENCH_TAG, MPI_COMM_WORLD, &f->requests[m]);
            else
                MPI_Irecv(slot, f->size, MPI_BYTE, f->peer, BENCH_TAG, MPI_COMM_WORLD, &f->requests[m]);
        }
        MPI_Waitall(f->window, f->requests, MPI_STATUSES_IGNORE);
        if (f->sends)
            MPI_Recv(NULL, 0, MPI_BYTE, f->peer, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(NULL, 0, MPI_BYTE, f->peer, BENCH_TAG, MPI_COMM_WORLD);
    }
}

static void measure(const struct bench *b, int size)
{
    size_t bytes = (size_t)size * (size_t)b->o.window;
    double each_way = (double)b->o.window * b->members / 2;
    struct flood f = {bench_memory(b, bytes), (void *)bench_memory(b, (size_t)b->o.window * sizeof(MPI_Request)), size, b->o.window,
                      b->rank % 2 == 0, b->rank ^ 1};
    if (f.sends)
        bench_fill(f.buffer, bytes, size);
    chunk(&f, 1);
    bench_verify(b, f.buffer, bytes, size); /* all slots: messages that overtook one another show here */
    bench_measure(b, chunk, &f, size, PER_SECOND, each_way, each_way * size);
    free(f.buffer);
    free(f.requests);
}

int main(int argc, char **argv)
{
    struct bench b = {
        .o = {.program = "rate", .repetitions = 20, .chunk_us = 4000, .window = 64, .sizes = {8}, .size_count = 1}, .all = 1};
    b.o.flags[0] = (struct flag){"--multiple", "MPI_THREAD_MULTIPLE", &multiple};
    b = bench_start(&argc, &argv, b);
    if (b.ranks % 2 != 0)
        bench_die(&b, "needs an even number of ranks, this job has", b.ranks);
    for (int i = 0; i < b.o.size_count; i++)
        measure(&b, b.o.sizes[i]);
    bench_finish();
    return 0;
}

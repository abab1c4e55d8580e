/*
 * Long messages as the benchmarks of Ohio State University measure them (OMB 7: osu_latency, osu_bw, osu_bibw): send and receive
 * buffer apart and touched by nobody in between, all messages of a window from and to one buffer, the mean of the first
 * iterations after few of warming up. What a library needs time to find out counts here. The samples are what follows upon each
 * other, so that one in which a rank was switched away can be left out.
 *
 *   mpirun -n 2 osu [--windows | --both] [--given [--rewrite]] [-s size[,size]] [-i iterations] [-w window] [-r samples] [--first] [--json] [--pin]
 *
 * One way: mean of 1,000 round trips after 100, halved. Windows: of 64 messages each, 100 windows after 10, of 1 MiB and more 20
 * after 2. --first: nothing warms up, the mean of a size's first 100. --given: the buffers are memory of MPI_Alloc_mem, which a library may
 * have mapped by both sides. --rewrite: one way only, each message is written before it is sent and read after it came.
 * On stderr rank 0 says before and after all sizes how long 8 bytes take one way: cores that are near each other (threads of one
 * core) and far (two cores) are two machines, and figures of one compare with nothing of the other.
 */
#include "bench.h"

static int windows, both, first, given, rewrite;

struct pair {
    char *out, *in;
    int size, rank, window;
    MPI_Request *requests;
};

static volatile unsigned long sink;

static void touch(const struct pair *p)
{
    unsigned long sum = 0, word;
    memset(p->out, (int)p->out[0] + 1, (size_t)p->size);
    for (int i = 0; i + (int)sizeof word <= p->size; i += (int)sizeof word) {
        memcpy(&word, p->in + i, sizeof word);
        sum += word;
    }
    sink += sum;
}

static void round_trip(const struct pair *p)
{
    if (rewrite)
        touch(p);
    if (p->rank == 0)
        MPI_Send(p->out, p->size, MPI_BYTE, 1, BENCH_TAG, MPI_COMM_WORLD);
    MPI_Recv(p->in, p->size, MPI_BYTE, 1 - p->rank, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (p->rank == 1)
        MPI_Send(p->out, p->size, MPI_BYTE, 0, BENCH_TAG, MPI_COMM_WORLD);
}

static void window(const struct pair *p)
{
    char closing = 0;
    int n = 0, receives = both || p->rank == 1, sends = both || p->rank == 0;
    for (int m = 0; m < p->window && receives; m++)
        MPI_Irecv(p->in, p->size, MPI_BYTE, 1 - p->rank, BENCH_TAG, MPI_COMM_WORLD, &p->requests[n++]);
    for (int m = 0; m < p->window && sends; m++)
        MPI_Isend(p->out, p->size, MPI_BYTE, 1 - p->rank, BENCH_TAG, MPI_COMM_WORLD, &p->requests[n++]);
    MPI_Waitall(n, p->requests, MPI_STATUSES_IGNORE);
    if (p->rank == 1)
        MPI_Send(&closing, 1, MPI_BYTE, 0, BENCH_TAG, MPI_COMM_WORLD);
    else
        MPI_Recv(&closing, 1, MPI_BYTE, 1, BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void chunk(void *with, int iterations)
{
    for (int i = 0; i < iterations; i++)
        if (windows || both)
            window(with);
        else
            round_trip(with);
}

static char *buffer(const struct bench *b, size_t bytes)
{
    char *p = NULL;
    if (!given)
        return bench_memory(b, bytes);
    if (MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &p) != MPI_SUCCESS)
        bench_die(b, "no memory, bytes wanted", (long long)bytes);
    memset(p, 0, bytes);
    return p;
}

static void release(char *p)
{
    if (given)
        MPI_Free_mem(p);
    else
        free(p);
}

static void measure(const struct bench *b, int size)
{
    int streams = windows || both, large = size >= 1 << 20;
    int all = b->o.iterations > 0 ? b->o.iterations : streams ? (large ? 20 : 100) : 1000;
    struct pair p = {buffer(b, (size_t)size), buffer(b, (size_t)size), size, b->rank, b->o.window, NULL};
    struct samples s;
    p.requests = (void *)bench_memory(b, 2 * (size_t)p.window * sizeof(MPI_Request));
    if (!samples_open(&s, first ? 1 : b->o.repetitions, first ? 100 : (all + b->o.repetitions - 1) / b->o.repetitions))
        bench_die(b, "no memory for a sample", 1);
    bench_fill(p.out, (size_t)size, size + b->rank);
    MPI_Barrier(MPI_COMM_WORLD);
    chunk(&p, first ? 0 : streams ? (large ? 2 : 10) : 100);
    for (int i = 0; i < s.count; i++) {
        int before = involuntary();
        double start = seconds_now();
        chunk(&p, s.iterations);
        s.seconds[i] = (seconds_now() - start) / s.iterations;
        s.switches[i] = involuntary() - before;
    }
    if (!rewrite && (!windows || b->rank == 1))
        bench_verify(b, p.in, (size_t)size, size + 1 - b->rank);
    bench_gather(b, &s);
    if (b->rank == 0 && streams)
        samples_print(&b->o, &s, size, BYTES_PER_SECOND, p.window * (both ? 2 : 1), (double)p.window * size * (both ? 2 : 1));
    else if (b->rank == 0)
        samples_print(&b->o, &s, size, MICROSECONDS, 2, 2.0 * size);
    samples_close(&s);
    release(p.out);
    release(p.in);
    free(p.requests);
}

/* The least of twenty means. */
static void tell_placement(const struct bench *b, const char *when)
{
    char out[8] = {0}, in[8];
    double least = 1e9;
    struct pair p = {out, in, 8, b->rank, 1, NULL};
    for (int i = 0; i < 20; i++) {
        double start = seconds_now(), took;
        for (int k = 0; k < 500; k++)
            round_trip(&p);
        took = (seconds_now() - start) / 1000;
        least = took < least ? took : least;
    }
    if (b->rank == 0)
        fprintf(stderr, "osu: %s: 8 bytes one way %.3f us\n", when, least * 1e6);
}

int main(int argc, char **argv)
{
    struct bench b = {.o = {.program = "osu", .repetitions = 20, .window = 64}, .members = 2};
    b.o.flags[0] = (struct flag){"--windows", "windows in one direction", &windows};
    b.o.flags[1] = (struct flag){"--both", "windows in both directions at once", &both};
    b.o.flags[2] = (struct flag){"--first", "the first messages of each size", &first};
    b.o.flags[3] = (struct flag){"--given", "buffers of MPI_Alloc_mem", &given};
    b.o.flags[4] = (struct flag){"--rewrite", "one way, each message is written and read", &rewrite};
    for (int size = 4 << 10; size <= 4 << 20; size *= 4)
        b.o.sizes[b.o.size_count++] = size;
    b = bench_start(&argc, &argv, b);
    if (b.rank < 2) {
        tell_placement(&b, "before");
        for (int i = 0; i < b.o.size_count; i++)
            measure(&b, b.o.sizes[i]);
        tell_placement(&b, "after");
    }
    bench_finish();
    return 0;
}

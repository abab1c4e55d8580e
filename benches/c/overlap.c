/*
 * Overlap of nonblocking collectives (MPI 5.0 section 6.12) with computation: how much of an operation's time vanishes
 * behind work of the same length that calls MPI_Test now and then. The library has no thread of its own, so that those
 * calls are what moves the operation on; with none of them little can. Copies and reductions are this process's own work
 * and cannot vanish; waiting can.
 *
 *   mpirun -n 2 overlap [-s size[,size]] [-r repetitions] [-w tests] [--json] [--pin]
 *
 * Per operation, size and number of tests during the work: alone = begin and wait; together = begin, work, wait.
 * overlap = 1 - (together - work) / alone, of the medians; 100 % means that it cost nothing.
 */
#include "bench.h"

enum { OPERATIONS = 3 };
static const char *const names[OPERATIONS] = {"Ibcast", "Iallreduce", "Ialltoall"};
static volatile double sink;

static void begin(int operation, char *a, char *b, int size, int ranks, MPI_Request *q)
{
    if (operation == 0)
        MPI_Ibcast(a, size, MPI_BYTE, 0, MPI_COMM_WORLD, q);
    else if (operation == 1)
        MPI_Iallreduce(a, b, size / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, q);
    else
        MPI_Ialltoall(a, size / ranks, MPI_BYTE, b, size / ranks, MPI_BYTE, MPI_COMM_WORLD, q);
}

/* Work of a given length by the clock of steps, not of time: an interrupted rank has the same work to do. */
static void work(long steps)
{
    double x = 1.0;
    for (long i = 0; i < steps; i++)
        x = x * 1.0000001 + 1e-9;
    sink = x;
}

struct run {
    int operation, size, ranks, tests;
    char *a, *b;
    long steps;
};

/* Seconds of one operation with `steps` of work in `tests` + 1 parts; without work if there are no steps. */
static double once(const struct run *r)
{
    MPI_Request q;
    double start;
    int flag = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    begin(r->operation, r->a, r->b, r->size, r->ranks, &q);
    for (int i = 0; i <= r->tests && r->steps > 0; i++) {
        work(r->steps / (r->tests + 1));
        if (i < r->tests && !flag)
            MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    return MPI_Wtime() - start;
}

static double median(const struct bench *b, const struct run *r)
{
    double *t = (double *)(void *)bench_memory(b, (size_t)b->repetitions * sizeof *t), m;
    once(r);
    for (int i = 0; i < b->repetitions; i++)
        t[i] = once(r);
    qsort(t, (size_t)b->repetitions, sizeof *t, bench_order);
    m = t[b->repetitions / 2];
    free(t);
    return m;
}

static double length(long steps)
{
    double start = MPI_Wtime();
    work(steps);
    return MPI_Wtime() - start;
}

static void measure(const struct bench *b, int operation, int size)
{
    struct run r = {operation, size, b->ranks, 0, bench_memory(b, (size_t)size), bench_memory(b, (size_t)size), 0};
    double alone = median(b, &r), each = 1e9;
    MPI_Bcast(&alone, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 20; i++) {
        double t = length(100000) / 100000;
        each = t < each ? t : each;
    }
    MPI_Bcast(&each, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    r.steps = (long)(alone / each) + 1;
    for (r.tests = 0; r.tests <= b->window; r.tests = r.tests ? r.tests * 4 : 4) {
        double together = median(b, &r), hidden = 100 * (1 - (together - each * (double)r.steps) / alone);
        struct bench_result result = {alone, alone, alone, 1};
        if (b->rank == 0 && b->json) {
            bench_json_open(b, size, &result);
            printf(",\"operation\":\"%s\",\"tests\":%d,\"alone_us\":%.3f,\"together_us\":%.3f,\"overlap_percent\":%.1f}\n",
                   names[operation], r.tests, alone * 1e6, together * 1e6, hidden);
        } else if (b->rank == 0) {
            printf("%-12s %10d %6d %12.2f %12.2f %8.1f\n", names[operation], size, r.tests, alone * 1e6, together * 1e6, hidden);
        }
        fflush(stdout);
    }
    free(r.a), free(r.b);
}

int main(int argc, char **argv)
{
    struct bench b = {.name = "overlap", .repetitions = 41, .window = 64, .sizes = {1024, 65536, 1 << 20}, .size_count = 3};
    b = bench_start(&argc, &argv, b);
    if (b.rank == 0 && !b.json)
        printf("# %-10s %10s %6s %12s %12s %8s\n", "operation", "bytes", "tests", "alone us", "together us", "overlap");
    for (int operation = 0; operation < OPERATIONS; operation++)
        for (int i = 0; i < b.size_count; i++)
            measure(&b, operation, b.sizes[i]);
    bench_finish();
    return 0;
}

/*
 * Collectives (MPI 5.0 chapter 6): one of those below over all ranks, called again and again; a sample is what the slowest
 * rank took. Roots rotate, so that nobody runs ahead. Sizes are bytes per rank (MPI_Alltoall and its like: per pair), in
 * doubles.
 *
 *   mpirun -n 4 collective --barrier | --bcast | --reduce | --allreduce | --alltoall | --allgather | --gather | --scatter |
 *                          --gatherv | --scatterv | --allgatherv | --alltoallv | --reduce_scatter | --scan |
 *                          --neighbor_allgather | --neighbor_alltoall
 *                          [-s bytes[,bytes]] [-r samples] [-i iterations] [--json] [--pin]
 */
#include "bench.h"

struct group;

/* One collective: how it is called, and what is in block k of `in` at element i once each rank was root. */
struct operation {
    const char *flag, *sizes;
    void (*call)(struct group *g, int root);
    double (*wanted)(const struct group *g, int k, int i);
    enum { ONE, RANKS, NEIGHBORS } blocks; /* of the result */
};

struct group {
    const struct operation *operation;
    double *out, *in;
    int *counts, *places; /* equal counts, as the functions with a v take them */
    int count, rank, ranks;
    MPI_Comm ring; /* a periodic line for those that ask neighbors */
};

static void barrier(struct group *g, int root)
{
    (void)g, (void)root;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(struct group *g, int root)
{
    MPI_Bcast(g->rank == root ? g->out : g->in, g->count, MPI_DOUBLE, root, MPI_COMM_WORLD);
}

static void reduce(struct group *g, int root)
{
    MPI_Reduce(g->out, g->in, g->count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
}

static void allreduce(struct group *g, int root)
{
    (void)root;
    MPI_Allreduce(g->out, g->in, g->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void alltoall(struct group *g, int root)
{
    (void)root;
    MPI_Alltoall(g->out, g->count, MPI_DOUBLE, g->in, g->count, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void allgather(struct group *g, int root)
{
    (void)root;
    MPI_Allgather(g->out, g->count, MPI_DOUBLE, g->in, g->count, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void gather(struct group *g, int root)
{
    MPI_Gather(g->out, g->count, MPI_DOUBLE, g->in, g->count, MPI_DOUBLE, root, MPI_COMM_WORLD);
}

static void scatter(struct group *g, int root)
{
    MPI_Scatter(g->out, g->count, MPI_DOUBLE, g->in, g->count, MPI_DOUBLE, root, MPI_COMM_WORLD);
}

static void gatherv(struct group *g, int root)
{
    MPI_Gatherv(g->out, g->count, MPI_DOUBLE, g->in, g->counts, g->places, MPI_DOUBLE, root, MPI_COMM_WORLD);
}

static void scatterv(struct group *g, int root)
{
    MPI_Scatterv(g->out, g->counts, g->places, MPI_DOUBLE, g->in, g->count, MPI_DOUBLE, root, MPI_COMM_WORLD);
}

static void allgatherv(struct group *g, int root)
{
    (void)root;
    MPI_Allgatherv(g->out, g->count, MPI_DOUBLE, g->in, g->counts, g->places, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void alltoallv(struct group *g, int root)
{
    (void)root;
    MPI_Alltoallv(g->out, g->counts, g->places, MPI_DOUBLE, g->in, g->counts, g->places, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void reduce_scatter(struct group *g, int root)
{
    (void)root;
    MPI_Reduce_scatter_block(g->out, g->in, g->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void scan(struct group *g, int root)
{
    (void)root;
    MPI_Scan(g->out, g->in, g->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void neighbor_allgather(struct group *g, int root)
{
    (void)root;
    MPI_Neighbor_allgather(g->out, g->count, MPI_DOUBLE, g->in, g->count, MPI_DOUBLE, g->ring);
}

static void neighbor_alltoall(struct group *g, int root)
{
    (void)root;
    MPI_Neighbor_alltoall(g->out, g->count, MPI_DOUBLE, g->in, g->count, MPI_DOUBLE, g->ring);
}

/* Element i of what rank r has for rank t: small integers, whose sums are exact in any order. */
static double element(int r, int t, int i)
{
    return r * 3 + t * 5 + i % 7;
}

/* The sum of block t over the first ranks. */
static double sum(int ranks, int t, int i)
{
    double all = 0;
    for (int r = 0; r < ranks; r++)
        all += element(r, t, i);
    return all;
}

static double of_all(const struct group *g, int k, int i)
{
    return sum(g->ranks, k, i);
}

static double of_own_block(const struct group *g, int k, int i)
{
    (void)k;
    return sum(g->ranks, g->rank, i);
}

static double of_those_before(const struct group *g, int k, int i)
{
    return sum(g->rank + 1, k, i);
}

static double from_each_for_all(const struct group *g, int k, int i)
{
    (void)g;
    return element(k, 0, i);
}

static double from_each_for_own(const struct group *g, int k, int i)
{
    return element(k, g->rank, i);
}

/* From the last root. */
static double from_last_for_own(const struct group *g, int k, int i)
{
    (void)k;
    return element(g->ranks - 1, g->rank, i);
}

/* From the last root that was another rank. */
static double from_last_other(const struct group *g, int k, int i)
{
    (void)k;
    return element(g->rank == g->ranks - 1 ? g->ranks - 2 : g->ranks - 1, 0, i);
}

/* The neighbor below, and then the one above. */
static int neighbor(const struct group *g, int k)
{
    return (g->rank + (k == 0 ? g->ranks - 1 : 1)) % g->ranks;
}

static double from_neighbor_for_all(const struct group *g, int k, int i)
{
    return element(neighbor(g, k), 0, i);
}

/* Who is below has this rank above. */
static double from_neighbor_for_own(const struct group *g, int k, int i)
{
    return element(neighbor(g, k), 1 - k, i);
}

static const struct operation operations[] = {
    {"--barrier", "sizes mean nothing", barrier, NULL, ONE},
    {"--bcast", "bytes", bcast, from_last_other, ONE},
    {"--reduce", "bytes, MPI_SUM of doubles", reduce, of_all, ONE},
    {"--allreduce", "bytes, MPI_SUM of doubles", allreduce, of_all, ONE},
    {"--alltoall", "bytes per pair", alltoall, from_each_for_own, RANKS},
    {"--allgather", "bytes per rank", allgather, from_each_for_all, RANKS},
    {"--gather", "bytes per rank", gather, from_each_for_all, RANKS},
    {"--scatter", "bytes per rank", scatter, from_last_for_own, ONE},
    {"--gatherv", "bytes per rank", gatherv, from_each_for_all, RANKS},
    {"--scatterv", "bytes per rank", scatterv, from_last_for_own, ONE},
    {"--allgatherv", "bytes per rank", allgatherv, from_each_for_all, RANKS},
    {"--alltoallv", "bytes per pair", alltoallv, from_each_for_own, RANKS},
    {"--reduce_scatter", "MPI_Reduce_scatter_block, bytes per rank, MPI_SUM of doubles", reduce_scatter, of_own_block, ONE},
    {"--scan", "bytes, MPI_SUM of doubles", scan, of_those_before, ONE},
    {"--neighbor_allgather", "bytes per rank, both neighbors in a ring", neighbor_allgather, from_neighbor_for_all, NEIGHBORS},
    {"--neighbor_alltoall", "bytes per pair, likewise", neighbor_alltoall, from_neighbor_for_own, NEIGHBORS},
};
#define OPERATIONS (int)(sizeof operations / sizeof *operations)

static void chunk(void *with, int iterations)
{
    struct group *g = with;
    for (int i = 0, root = 0; i < iterations; i++, root = root + 1 == g->ranks ? 0 : root + 1)
        g->operation->call(g, root);
}

static void verify(const struct bench *b, const struct group *g)
{
    const struct operation *operation = g->operation;
    int blocks = operation->blocks == RANKS ? g->ranks : operation->blocks == NEIGHBORS ? 2 : 1;
    for (int k = 0; k < blocks && operation->wanted != NULL; k++)
        for (int i = 0; i < g->count; i++)
            if (g->in[(size_t)k * (size_t)g->count + (size_t)i] != operation->wanted(g, k, i))
                bench_die(b, "the result is wrong, first at element", i);
}

static void measure(const struct bench *b, const struct operation *operation, MPI_Comm ring, int size)
{
    size_t all = ((size_t)size / sizeof(double) + 1) * sizeof(double) * (size_t)b->ranks;
    size_t list = sizeof(int) * (size_t)b->ranks;
    struct group g = {operation, (void *)bench_memory(b, all), (void *)bench_memory(b, all), (void *)bench_memory(b, list),
                      (void *)bench_memory(b, list), size / (int)sizeof(double), b->rank, b->ranks, ring};
    for (int t = 0; t < g.ranks; t++) {
        g.counts[t] = g.count;
        g.places[t] = t * g.count;
        for (int i = 0; i < g.count; i++)
            g.out[(size_t)t * (size_t)g.count + (size_t)i] = element(g.rank, t, i);
    }
    chunk(&g, g.ranks);
    verify(b, &g);
    bench_measure(b, chunk, &g, size, MICROSECONDS, 1, size);
    free(g.out);
    free(g.in);
    free(g.counts);
    free(g.places);
}

int main(int argc, char **argv)
{
    struct bench b = {.o = {.program = "collective", .repetitions = 20, .chunk_us = 4000, .sizes = {8, 1024, 65536}, .size_count = 3},
                      .all = 1};
    const struct operation *operation = NULL;
    int named[OPERATIONS] = {0}, count = 0;
    for (int k = 0; k < OPERATIONS; k++)
        b.o.flags[k] = (struct flag){operations[k].flag, operations[k].sizes, &named[k]};
    b = bench_start(&argc, &argv, b);
    for (int k = 0; k < OPERATIONS; k++)
        if (named[k]) {
            operation = &operations[k];
            count++;
        }
    if (count != 1)
        bench_die(&b, "name one collective; those named", count);
    MPI_Comm ring = MPI_COMM_NULL;
    if (operation->blocks == NEIGHBORS)
        MPI_Cart_create(MPI_COMM_WORLD, 1, &b.ranks, &(int){1}, 0, &ring);
    for (int i = 0; i < b.o.size_count; i++)
        measure(&b, operation, ring, b.o.sizes[i]);
    if (ring != MPI_COMM_NULL)
        MPI_Comm_free(&ring);
    bench_finish();
    return 0;
}

/*
 * What the differential programs of collectives share: sizes, types, operations, what a rank contributes, and what
 * contributions give when they are combined in the order of their ranks.
 */
#ifndef COLL_DIFFERENTIAL_H
#define COLL_DIFFERENTIAL_H
#include "check.h"
#include <stdint.h>

enum {
    BCAST, GATHER, SCATTER, ALLGATHER, ALLTOALL, REDUCE, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, GATHERV, SCATTERV,
    ALLGATHERV, ALLTOALLV, ALLTOALLW, FUNCTIONS, BETWEEN_GROUPS = SCAN
};
static const char *const names[] = {"bcast",     "gather",         "scatter",              "allgather", "alltoall", "reduce",
                                    "allreduce", "reduce_scatter", "reduce_scatter_block", "scan",      "exscan",   "gatherv",
                                    "scatterv",  "allgatherv",     "alltoallv",            "alltoallw"};

static int reduces(int function)
{
    return function >= REDUCE && function <= EXSCAN;
}

/* Bytes per block: nothing, one, a word, a line, odd, around a page, and one more than 1 MiB. */
static const int sizes[] = {0, 1, 4, 8, 13, 64, 100, 1000, 4095, 4096, 4097, 16383, 16385, 65536, (1 << 20) + 1};
enum { SIZES = sizeof sizes / sizeof sizes[0], MOST_BYTES = 6 << 20 };

enum { BYTES, INTS, DOUBLES, GAPS, MAPS, WORDS, TYPES };
static struct type {
    const char *name;
    MPI_Datatype handle;
    size_t size, extent;
    MPI_Op op;
} types[TYPES];

static uint64_t state;

/* splitmix64. */
static uint64_t draw(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Pairs (a, b) stand for x -> a x + b: applying one after the other is associative, and the order matters. */
static void after(void *in, void *inout, int *count, MPI_Datatype *type)
{
    uint32_t *f = in, *g = inout;
    (void)type;
    for (int i = 0; i < 2 * *count; i += 2) {
        g[i + 1] = g[i] * f[i + 1] + g[i + 1];
        g[i] *= f[i];
    }
}

static void make_types(void)
{
    MPI_Datatype gaps, maps;
    MPI_Op op;
    MPI_Type_create_resized(MPI_INT, 0, 2 * (MPI_Aint)sizeof(int), &gaps);
    MPI_Type_contiguous(2, MPI_UINT32_T, &maps);
    MPI_Type_commit(&gaps);
    MPI_Type_commit(&maps);
    MPI_Op_create(after, 0, &op);
    types[BYTES] = (struct type){"bytes", MPI_UINT8_T, 1, 1, MPI_BXOR};
    types[INTS] = (struct type){"ints", MPI_INT, 4, 4, MPI_MAX};
    types[DOUBLES] = (struct type){"doubles", MPI_DOUBLE, 8, 8, MPI_SUM};
    types[GAPS] = (struct type){"ints with gaps", gaps, 4, 8, MPI_OP_NULL};
    types[MAPS] = (struct type){"maps", maps, 8, 8, op};
    /* The same of a predefined type, which goes ways that derived ones do not. */
    types[WORDS] = (struct type){"maps in words", MPI_UINT64_T, 8, 8, op};
}

static void free_types(void)
{
    MPI_Type_free(&types[GAPS].handle);
    MPI_Type_free(&types[MAPS].handle);
    MPI_Op_free(&types[MAPS].op);
}

/* What somebody contributes, without gaps; doubles are small integers, whose sums are exact. */
static void contribute(const struct type *t, uint64_t seed, int who, unsigned char *to, size_t elements)
{
    uint64_t kept = state;
    state = seed + (uint64_t)who * 1000003u;
    for (size_t i = 0; i < elements; i++) {
        uint64_t word = draw();
        double number = (double)(word % 1000);
        memcpy(to + i * t->size, t == &types[DOUBLES] ? (void *)&number : (void *)&word, t->size);
    }
    state = kept;
}

/* A buffer of elements with their gaps. */
static unsigned char *spread(const struct type *t, const unsigned char *packed, size_t elements)
{
    unsigned char *p = check_alloc(elements * t->extent);
    memset(p, 0xee, elements * t->extent);
    for (size_t i = 0; packed != NULL && i < elements; i++)
        memcpy(p + i * t->extent, packed + i * t->size, t->size);
    return p;
}

static void combine(const struct type *t, unsigned char *left_then_result, const unsigned char *right, size_t elements)
{
    for (size_t i = 0; i < elements; i++) {
        unsigned char *a = left_then_result + i * t->size;
        const unsigned char *b = right + i * t->size;
        if (t == &types[BYTES]) {
            *a ^= *b;
        } else if (t == &types[INTS]) {
            int x, y;
            memcpy(&x, a, 4), memcpy(&y, b, 4);
            x = x > y ? x : y;
            memcpy(a, &x, 4);
        } else if (t == &types[DOUBLES]) {
            double x, y;
            memcpy(&x, a, 8), memcpy(&y, b, 8);
            x += y;
            memcpy(a, &x, 8);
        } else {
            uint32_t f[2], g[2];
            memcpy(f, a, 8), memcpy(g, b, 8);
            after(f, g, &(int){1}, NULL);
            memcpy(a, g, 8);
        }
    }
}

/* Contributions of ranks 0 … last, combined in their order, elements begin … begin + n. */
static void combined(const struct type *t, const unsigned char *all, size_t bytes, int last, size_t begin, size_t n, unsigned char *to)
{
    memcpy(to, all + begin * t->size, n * t->size);
    for (int r = 1; r <= last; r++)
        combine(t, to, all + bytes * (size_t)r + begin * t->size, n);
}

/* The first byte that differs; `n` if none does. */
static size_t difference(const unsigned char *got, const unsigned char *want, size_t n)
{
    size_t i = 0;
    while (i < n && got[i] == want[i])
        i++;
    return i;
}
#endif

// covers: MPI_Allreduce MPI_Reduce_local MPI_Type_size
/*
 * Every predefined operation on every C type it is defined for, MPI 5.0 section 6.9.2 to 6.9.4: once across the ranks by
 * MPI_Allreduce, once within a rank by MPI_Reduce_local at lengths around the widths of vector registers. Values are
 * small, so that sums and products are exact in every type and the reference is a plain fold.
 */
#include "check.h"
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

enum { N = 67 }; /* whole vector registers of any type, and a rest */

enum op { SUM, PROD, MIN, MAX, LAND, LOR, LXOR, BAND, BOR, BXOR, OPS };

static const char *const op_names[OPS] = {"SUM", "PROD", "MIN", "MAX", "LAND", "LOR", "LXOR", "BAND", "BOR", "BXOR"};

static MPI_Op op_handle(enum op op)
{
    switch (op) {
    case SUM: return MPI_SUM;
    case PROD: return MPI_PROD;
    case MIN: return MPI_MIN;
    case MAX: return MPI_MAX;
    case LAND: return MPI_LAND;
    case LOR: return MPI_LOR;
    case LXOR: return MPI_LXOR;
    case BAND: return MPI_BAND;
    case BOR: return MPI_BOR;
    default: return MPI_BXOR;
    }
}

/* At most two ranks in eight hold a factor other than 1, so that products fit in eight bits; sums stay below 4 a rank;
 * logical operands are 0, 1 or 2: "true" is not only 1. */
static int small(enum op op, int rank, int k)
{
    if (op == PROD)
        return (rank + k) % 8 == 3 ? 2 : (rank + k) % 8 == 5 ? 3 : 1;
    if (op == LAND)
        return (rank * 5 + k) % 7 != 3 ? 1 + k % 2 : 0;
    return (rank * 3 + k * 5 + rank * k) % 4;
}

struct row {
    const char *name;
    size_t size;
    void (*put)(void *p, int k, int v);                     /* element k := v */
    void (*fold)(enum op op, void *acc, const void *x);     /* acc := acc op x */
    unsigned ops;                                           /* bit set of the operations the type has */
};

#define BIT(op) (1u << (op))
#define ARITHMETIC (BIT(SUM) | BIT(PROD) | BIT(MIN) | BIT(MAX))
#define LOGICAL (BIT(LAND) | BIT(LOR) | BIT(LXOR))
#define BITWISE (BIT(BAND) | BIT(BOR) | BIT(BXOR))

#define PUT(name, type)                                                                                                   \
    static void put_##name(void *p, int k, int v)                                                                         \
    {                                                                                                                     \
        ((type *)p)[k] = (type)v;                                                                                         \
    }

#define INTEGER(name, type)                                                                                               \
    PUT(name, type)                                                                                                       \
    static void fold_##name(enum op op, void *acc, const void *x)                                                         \
    {                                                                                                                     \
        type a = *(type *)acc, b = *(const type *)x;                                                                      \
        *(type *)acc = (type)(op == SUM    ? a + b                                                                        \
                              : op == PROD ? a * b                                                                        \
                              : op == MIN  ? (a < b ? a : b)                                                              \
                              : op == MAX  ? (a > b ? a : b)                                                              \
                              : op == LAND ? (a && b)                                                                     \
                              : op == LOR  ? (a || b)                                                                     \
                              : op == LXOR ? (!a != !b)                                                                   \
                              : op == BAND ? (a & b)                                                                      \
                              : op == BOR  ? (a | b)                                                                      \
                                           : (a ^ b));                                                                    \
    }

#define REAL(name, type)                                                                                                  \
    PUT(name, type)                                                                                                       \
    static void fold_##name(enum op op, void *acc, const void *x)                                                         \
    {                                                                                                                     \
        type a = *(type *)acc, b = *(const type *)x;                                                                      \
        *(type *)acc = op == SUM ? a + b : op == PROD ? a * b : op == MIN ? (a < b ? a : b) : (a > b ? a : b);            \
    }

/* An imaginary part that differs from the real one: (v + (1-v)i). Products of the few factors stay exact. */
#define COMPLEX(name, type, part)                                                                                         \
    static void put_##name(void *p, int k, int v)                                                                         \
    {                                                                                                                     \
        ((part *)p)[2 * k] = (part)v, ((part *)p)[2 * k + 1] = (part)(1 - v);                                             \
    }                                                                                                                     \
    static void fold_##name(enum op op, void *acc, const void *x)                                                         \
    {                                                                                                                     \
        type a = *(type *)acc, b = *(const type *)x;                                                                      \
        *(type *)acc = op == SUM ? a + b : a * b;                                                                         \
    }

INTEGER(schar, signed char)
INTEGER(uchar, unsigned char)
INTEGER(short, short)
INTEGER(ushort, unsigned short)
INTEGER(int, int)
INTEGER(uint, unsigned)
INTEGER(long, long)
INTEGER(ulong, unsigned long)
INTEGER(llong, long long)
INTEGER(ullong, unsigned long long)
INTEGER(aint, MPI_Aint)
INTEGER(count, MPI_Count)
INTEGER(logical, bool)
REAL(float, float)
REAL(double, double)
COMPLEX(cfloat, float complex, float)
COMPLEX(cdouble, double complex, double)

static void compare(const struct row *t, enum op op, const char *call, const void *got, const void *want, int n)
{
    for (int k = 0; k < n; k++)
        if (memcmp((const char *)got + (size_t)k * t->size, (const char *)want + (size_t)k * t->size, t->size) != 0) {
            check_fail(__FILE__, __LINE__, "%s MPI_%s on %s, element %d of %d: the bytes differ from the fold", call, op_names[op],
                       t->name, k, n);
            return;
        }
}

static void one_type(const struct row *t, MPI_Datatype type)
{
    static const int lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, N};
    static double mine[2 * N], all[2 * N], want[2 * N], x[2 * N]; /* doubles for alignment, room for the largest type */
    static int turn;
    int size = -1;
    MPI_Type_size(type, &size);
    CHECK_MSG(size == (int)t->size, "MPI_Type_size of %s: expected %d, got %d", t->name, (int)t->size, size);
    for (enum op op = SUM; op < OPS && size == (int)t->size; op++) {
        if (!(t->ops & BIT(op)))
            continue;
        if (check_ranks > 2 && (turn++ + check_ranks) % 3 != 0) /* a third each with 3, 4 and 8 ranks: time must stay bounded */
            continue;
        for (int k = 0; k < N; k++) {
            t->put(mine, k, small(op, check_rank, k));
            t->put(want, k, small(op, 0, k));
            for (int r = 1; r < check_ranks; r++) {
                t->put(x, k, small(op, r, k));
                t->fold(op, (char *)want + (size_t)k * t->size, (char *)x + (size_t)k * t->size);
            }
        }
        memset(all, 0x5a, sizeof all);
        MPI_Allreduce(mine, all, N, type, op_handle(op), MPI_COMM_WORLD);
        if (check_ranks > 1 || (op != LAND && op != LOR && op != LXOR)) /* alone, nothing is folded to 0 or 1 */
            compare(t, op, "MPI_Allreduce", all, want, N);
        for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
            for (int k = 0; k < N; k++) {
                t->put(x, k, small(op, 1, k)), t->put(all, k, small(op, 2, k)), t->put(want, k, small(op, 2, k));
                if (k < lengths[l])
                    t->fold(op, (char *)want + (size_t)k * t->size, (char *)x + (size_t)k * t->size);
            }
            MPI_Reduce_local(x, all, lengths[l], type, op_handle(op));
            compare(t, op, "MPI_Reduce_local", all, want, N); /* N, not the length: nothing behind it may change */
        }
    }
}

static void all_types(void)
{
    const unsigned integer = ARITHMETIC | LOGICAL | BITWISE;
#define ROW(name, ctype, ops, handle)                                                                                     \
    do {                                                                                                                  \
        const struct row t = {#handle, sizeof(ctype), put_##name, fold_##name, ops};                                      \
        one_type(&t, handle);                                                                                             \
    } while (0)
    ROW(schar, signed char, integer, MPI_SIGNED_CHAR);
    ROW(uchar, unsigned char, integer, MPI_UNSIGNED_CHAR);
    ROW(short, short, integer, MPI_SHORT);
    ROW(ushort, unsigned short, integer, MPI_UNSIGNED_SHORT);
    ROW(int, int, integer, MPI_INT);
    ROW(uint, unsigned, integer, MPI_UNSIGNED);
    ROW(long, long, integer, MPI_LONG);
    ROW(ulong, unsigned long, integer, MPI_UNSIGNED_LONG);
    ROW(llong, long long, integer, MPI_LONG_LONG);
    ROW(ullong, unsigned long long, integer, MPI_UNSIGNED_LONG_LONG);
    ROW(schar, int8_t, integer, MPI_INT8_T);
    ROW(uchar, uint8_t, integer, MPI_UINT8_T);
    ROW(short, int16_t, integer, MPI_INT16_T);
    ROW(ushort, uint16_t, integer, MPI_UINT16_T);
    ROW(int, int32_t, integer, MPI_INT32_T);
    ROW(uint, uint32_t, integer, MPI_UINT32_T);
    ROW(llong, int64_t, integer, MPI_INT64_T);
    ROW(ullong, uint64_t, integer, MPI_UINT64_T);
    ROW(aint, MPI_Aint, ARITHMETIC | BITWISE, MPI_AINT);
    ROW(count, MPI_Count, ARITHMETIC | BITWISE, MPI_COUNT);
    ROW(logical, bool, LOGICAL, MPI_C_BOOL);
    ROW(uchar, unsigned char, BITWISE, MPI_BYTE);
    ROW(float, float, ARITHMETIC, MPI_FLOAT);
    ROW(double, double, ARITHMETIC, MPI_DOUBLE);
    ROW(cfloat, float complex, BIT(SUM) | BIT(PROD), MPI_C_FLOAT_COMPLEX);
    ROW(cdouble, double complex, BIT(SUM) | BIT(PROD), MPI_C_DOUBLE_COMPLEX);
#undef ROW
}

/* The type is ten bytes of value in sixteen of storage: compared as numbers. */
static void long_double(void)
{
    long double mine = 1 + check_rank, sum = 0, most = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &most, 1, MPI_LONG_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    CHECK(sum == (long double)check_ranks * (check_ranks + 1) / 2);
    CHECK(most == check_ranks);
}

/* Value and place; where values are equal the lower place wins (section 6.9.4). */
#define LOCATE(ctype, handle)                                                                                             \
    do {                                                                                                                  \
        struct {                                                                                                          \
            ctype value;                                                                                                  \
            int place;                                                                                                    \
        } mine[8], low[8], high[8];                                                                                       \
        for (int k = 0; k < 8; k++) {                                                                                     \
            mine[k].value = (ctype)((check_rank * 3 + k * 5) % 4);                                                        \
            mine[k].place = 100 + check_ranks - check_rank;                                                               \
        }                                                                                                                 \
        MPI_Allreduce(mine, low, 8, handle, MPI_MINLOC, MPI_COMM_WORLD);                                                  \
        MPI_Allreduce(mine, high, 8, handle, MPI_MAXLOC, MPI_COMM_WORLD);                                                 \
        for (int k = 0; k < 8; k++) {                                                                                     \
            int least = 0, most = 0;                                                                                      \
            for (int r = 1; r < check_ranks; r++) { /* a later rank has a lower place, so it wins ties */                 \
                least = (r * 3 + k * 5) % 4 <= (least * 3 + k * 5) % 4 ? r : least;                                       \
                most = (r * 3 + k * 5) % 4 >= (most * 3 + k * 5) % 4 ? r : most;                                          \
            }                                                                                                             \
            CHECK_MSG(low[k].value == (ctype)((least * 3 + k * 5) % 4) && low[k].place == 100 + check_ranks - least,      \
                      #handle " MPI_MINLOC %d: expected place %d, got %d", k, 100 + check_ranks - least, low[k].place);   \
            CHECK_MSG(high[k].value == (ctype)((most * 3 + k * 5) % 4) && high[k].place == 100 + check_ranks - most,      \
                      #handle " MPI_MAXLOC %d: expected place %d, got %d", k, 100 + check_ranks - most, high[k].place);   \
        }                                                                                                                 \
    } while (0)

int main(int argc, char **argv)
{
    start(&argc, &argv, "coll_blocking_3");
    all_types();
    long_double();
    LOCATE(float, MPI_FLOAT_INT);
    LOCATE(double, MPI_DOUBLE_INT);
    LOCATE(long, MPI_LONG_INT);
    LOCATE(int, MPI_2INT);
    LOCATE(short, MPI_SHORT_INT);
    LOCATE(long double, MPI_LONG_DOUBLE_INT);
    return finish();
}

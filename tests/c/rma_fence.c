// covers: MPI_Win_create MPI_Win_create_c MPI_Win_allocate MPI_Win_allocate_c MPI_Win_free MPI_Win_fence MPI_Put MPI_Put_c MPI_Get MPI_Get_c MPI_Accumulate MPI_Accumulate_c MPI_Get_accumulate MPI_Get_accumulate_c MPI_Fetch_and_op MPI_Compare_and_swap
// ranks: 1 2 3 5
/*
 * Every access between fences: lengths from nothing to many pieces, displacement units, datatypes with gaps at the origin, at the
 * target and at both, each operation, and accumulates of all ranks to the same elements. MPI 5.0 sections 12.3 and 12.5.1.
 */
#include "check.h"

static int next, previous;

/* A put to the next rank and a get from the previous one, of n bytes. */
static void lengths(int n, int allocated)
{
    unsigned char *memory = NULL, *from = check_alloc((size_t)n), *to = check_alloc((size_t)n);
    MPI_Win win;
    MPI_Aint bytes = 2 * (MPI_Aint)n + 16;
    if (allocated)
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    else {
        memory = check_alloc((size_t)bytes);
        MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    }
    memset(memory, 0xee, (size_t)bytes);
    fill(memory + n + 8, (size_t)n, check_rank);
    fill(from, (size_t)n, 100 + check_rank);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(from, n, MPI_BYTE, next, 4, n, MPI_BYTE, win);
    MPI_Get_c(to, n, MPI_BYTE, previous, n + 8, n, MPI_BYTE, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK_BYTES(memory + 4, (size_t)n, 100 + previous);
    CHECK_BYTES(to, (size_t)n, previous);
    CHECK_BYTES(memory + n + 8, (size_t)n, check_rank);
    for (int i = 0; i < 4; i++)
        CHECK(memory[i] == 0xee && memory[n + 4 + i] == 0xee && memory[2 * n + 8 + i] == 0xee);
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);
    if (!allocated)
        free(memory);
    free(from);
    free(to);
}

/* Displacement units differ among the ranks; a rank without memory. */
static void units(void)
{
    int unit = check_rank % 2 ? 4 : 1, count = check_rank == check_ranks - 1 && check_ranks > 2 ? 0 : 16;
    int memory[16], value = 1000 + check_rank;
    MPI_Win win;
    for (int i = 0; i < 16; i++)
        memory[i] = i;
    MPI_Win_create(count ? memory : NULL, count * 4, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    int empty = next == check_ranks - 1 && check_ranks > 2;
    if (!empty)
        MPI_Put(&value, 1, MPI_INT, next, next % 2 ? 5 : 20, 1, MPI_INT, win);
    MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 77, 1, MPI_INT, win);
    MPI_Put(NULL, 0, MPI_INT, next, 0, 0, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK_EQ(memory[5], count ? 1000 + previous : 5);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* Columns of matrices, structures and resized types, on either side. */
static void types(int rows)
{
    MPI_Datatype column, record;
    int columns = 7, many = rows * columns;
    int *memory = check_alloc(sizeof(int) * (size_t)many), *from = check_alloc(sizeof(int) * (size_t)many);
    int *back = check_alloc(sizeof(int) * (size_t)many);
    MPI_Win win;
    MPI_Type_vector(rows, 2, columns, MPI_INT, &column);
    MPI_Type_commit(&column);
    int lengths[2] = {1, 2};
    MPI_Aint places[2] = {4, 12};
    MPI_Datatype parts[2] = {MPI_INT, MPI_INT};
    MPI_Type_create_struct(2, lengths, places, parts, &record);
    MPI_Type_create_resized(record, 0, 28, &parts[0]);
    MPI_Type_free(&record);
    record = parts[0];
    MPI_Type_commit(&record);
    for (int i = 0; i < many; i++)
        memory[i] = -i, from[i] = 10 * i + check_rank, back[i] = 7;
    MPI_Win_create_c(memory, (MPI_Aint)sizeof(int) * many, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    /* two columns from the beginning to columns 3 and 4 there */
    MPI_Put(from, 1, column, next, 3, 1, column, win);
    MPI_Type_free(&column); /* which does not disturb what was begun */
    MPI_Win_fence(0, win);
    for (int i = 0; i < many; i++) {
        int inside = i % columns == 3 || i % columns == 4;
        CHECK_EQ(memory[i], inside ? 10 * (i - 3) + previous : -i);
    }
    MPI_Win_fence(0, win);
    MPI_Get(back, 3 * rows, MPI_INT, previous, 0, rows, record, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 3 * rows; i++) {
        int at = i / 3 * columns + (i % 3 == 0 ? 1 : i % 3 + 2);
        int before = (previous + check_ranks - 1) % check_ranks;
        CHECK_EQ(back[i], at % columns >= 3 ? 10 * (at - 3) + before : -at);
    }
    MPI_Win_fence(0, win);
    MPI_Accumulate(back, 3 * rows, MPI_INT, check_rank, 0, rows, record, MPI_REPLACE, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 3 * rows; i++)
        CHECK_EQ(memory[i / 3 * columns + (i % 3 == 0 ? 1 : i % 3 + 2)], back[i]);
    MPI_Type_free(&record);
    MPI_Win_free(&win);
    free(memory), free(from), free(back);
}

#define COMBINED(TYPE, MPI, OP, EXPRESSION)                                                                               \
    do {                                                                                                                  \
        TYPE memory_[3], value_[3], old_[3];                                                                              \
        for (int i = 0; i < 3; i++) {                                                                                     \
            memory_[i] = (TYPE)(3 + i), value_[i] = (TYPE)(i + 1), old_[i] = 0;                                            \
        }                                                                                                                 \
        MPI_Win win_;                                                                                                     \
        MPI_Win_create(memory_, sizeof memory_, sizeof(TYPE), MPI_INFO_NULL, MPI_COMM_WORLD, &win_);                      \
        MPI_Win_fence(0, win_);                                                                                           \
        MPI_Accumulate(value_, 2, MPI, next, 1, 2, MPI, OP, win_);                                                        \
        MPI_Win_fence(0, win_);                                                                                           \
        TYPE want_[3];                                                                                                    \
        for (int i = 0; i < 3; i++) {                                                                                     \
            TYPE a = (TYPE)(3 + i), b = (TYPE)i;                                                                           \
            (void)a, (void)b;                                                                                             \
            want_[i] = i ? (TYPE)(EXPRESSION) : a;                                                                        \
            CHECK_MSG(memory_[i] == want_[i], "%s of %s, element %d", #OP, #MPI, i);                                      \
        }                                                                                                                 \
        MPI_Win_fence(0, win_);                                                                                           \
        MPI_Get_accumulate(value_, 3, MPI, old_, 3, MPI, previous, 0, 3, MPI, OP, win_);                                  \
        MPI_Win_fence(0, win_);                                                                                           \
        for (int i = 0; i < 3; i++) {                                                                                     \
            TYPE a = want_[i], b = (TYPE)(i + 1);                                                                          \
            (void)a, (void)b;                                                                                             \
            CHECK_MSG(old_[i] == want_[i], "%s of %s, old element %d", #OP, #MPI, i);                                     \
            CHECK_MSG(memory_[i] == (TYPE)(EXPRESSION), "%s of %s, element %d again", #OP, #MPI, i);                      \
        }                                                                                                                 \
        MPI_Win_free(&win_);                                                                                              \
    } while (0)

static void operations(void)
{
    COMBINED(int, MPI_INT, MPI_SUM, a + b);
    COMBINED(signed char, MPI_SIGNED_CHAR, MPI_PROD, a *b);
    COMBINED(short, MPI_SHORT, MPI_MIN, a < b ? a : b);
    COMBINED(unsigned, MPI_UNSIGNED, MPI_MAX, a > b ? a : b);
    COMBINED(long, MPI_LONG, MPI_BAND, a &b);
    COMBINED(unsigned long, MPI_UNSIGNED_LONG, MPI_BOR, a | b);
    COMBINED(unsigned char, MPI_UNSIGNED_CHAR, MPI_BXOR, a ^ b);
    COMBINED(int, MPI_INT, MPI_LAND, a && b);
    COMBINED(int, MPI_INT, MPI_LOR, a || b);
    COMBINED(int, MPI_INT, MPI_LXOR, !a != !b);
    COMBINED(float, MPI_FLOAT, MPI_SUM, a + b);
    COMBINED(double, MPI_DOUBLE, MPI_PROD, a *b);
    COMBINED(long double, MPI_LONG_DOUBLE, MPI_SUM, a + b);
    COMBINED(double, MPI_DOUBLE, MPI_REPLACE, b);
    /* values with their indices have gaps in memory */
    struct {
        double value;
        int index;
    } pair[2] = {{1.5, 10 + check_rank}, {9.5, 20 + check_rank}}, mine[2] = {{5.0, 1}, {5.0, 2}};
    MPI_Win win;
    MPI_Win_create(mine, sizeof mine, sizeof mine[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Accumulate(pair, 2, MPI_DOUBLE_INT, next, 0, 2, MPI_DOUBLE_INT, MPI_MAXLOC, win);
    MPI_Win_fence(0, win);
    CHECK(mine[0].value == 5.0 && mine[0].index == 1 && mine[1].value == 9.5 && mine[1].index == 20 + previous);
    MPI_Win_free(&win);
}

/* All ranks to one element: nothing is lost, and every rank gets another old value. */
static void together(int n)
{
    long *memory, *ones = check_alloc(sizeof(long) * (size_t)n), old = -1, one = 1, none = -5, sum = 0;
    MPI_Win win;
    MPI_Win_allocate_c((MPI_Aint)sizeof(long) * (n + 2), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    for (int i = 0; i < n + 2; i++)
        memory[i] = 0;
    for (int i = 0; i < n; i++)
        ones[i] = 1 + i % 3;
    MPI_Win_fence(0, win);
    for (int target = 0; target < check_ranks; target++)
        MPI_Accumulate_c(ones, n, MPI_LONG, target, 2, n, MPI_LONG, MPI_SUM, win);
    MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 0, MPI_SUM, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < n; i++)
        CHECK_EQ(memory[i + 2], check_ranks * (1 + i % 3));
    MPI_Allreduce(&old, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, check_ranks * (check_ranks - 1) / 2);
    if (check_rank == 0)
        CHECK_EQ(memory[0], check_ranks);
    MPI_Win_fence(0, win);
    MPI_Fetch_and_op(NULL, &old, MPI_LONG, 0, 0, MPI_NO_OP, win);
    MPI_Get_accumulate_c(NULL, 0, MPI_LONG, &none, 1, MPI_LONG, next, 2, 1, MPI_LONG, MPI_NO_OP, win);
    MPI_Win_fence(0, win);
    CHECK_EQ(old, check_ranks);
    CHECK_EQ(none, n > 0 ? check_ranks : -5);
    /* one of them swaps */
    long zero = 0, mine = 100 + check_rank, won = 0, winners = 0;
    MPI_Win_fence(0, win);
    MPI_Compare_and_swap(&mine, &zero, &old, MPI_LONG, check_ranks - 1, 1, win);
    MPI_Win_fence(0, win);
    won = old == 0;
    MPI_Allreduce(&won, &winners, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(winners, 1);
    long winner = won ? mine : old;
    MPI_Bcast(&winner, 1, MPI_LONG, check_ranks - 1, MPI_COMM_WORLD);
    if (check_rank == check_ranks - 1)
        CHECK_EQ(memory[1], winner);
    if (!won)
        CHECK_EQ(old, winner);
    MPI_Win_free(&win);
    free(ones);
}

/* The parts of a message and of another window do not meet. */
static void windows(void)
{
    int memory[4] = {0, 0, 0, 0}, got = -1, value = check_rank;
    MPI_Win win[4];
    for (int i = 0; i < 4; i++)
        MPI_Win_create(&memory[i], sizeof(int), 1, MPI_INFO_NULL, i % 2 ? MPI_COMM_SELF : MPI_COMM_WORLD, &win[i]);
    for (int i = 0; i < 4; i++)
        MPI_Win_fence(0, win[i]);
    for (int i = 0; i < 4; i++) {
        int numbers = 10 * i + check_rank;
        MPI_Put(&numbers, 1, MPI_INT, i % 2 ? 0 : next, 0, 1, MPI_INT, win[i]);
        MPI_Win_fence(0, win[i]);
        CHECK_EQ(memory[i], 10 * i + (i % 2 ? check_rank : previous));
    }
    MPI_Sendrecv(&value, 1, MPI_INT, next, 0, &got, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(got, previous);
    for (int i = 3; i >= 0; i--)
        MPI_Win_free(&win[i]);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "rma_fence");
    next = (check_rank + 1) % check_ranks, previous = (check_rank + check_ranks - 1) % check_ranks;
    static const int sizes[] = {0, 1, 8, 4000, 4096, 4097, 70000, 3000000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        lengths(sizes[i], 0), lengths(sizes[i], 1);
    units();
    types(3);
    types(5000);
    operations();
    together(1);
    together(3000);
    windows();
    return finish();
}

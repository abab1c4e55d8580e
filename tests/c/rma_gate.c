// covers: MPI_Accumulate MPI_Get_accumulate MPI_Fetch_and_op MPI_Compare_and_swap MPI_Win_flush MPI_Info_set
// ranks: 1 2 3 4
// args: short
// args: long
// args: fine
// seconds: 60
/*
 * Accumulates of all ranks and of two threads of each at the same elements, of every size of an element, by every kind of operation, in many
 * windows one after the other (MPI 5.0 sections 12.3.4 and 12.7.1). What is done to an element must not depend on what else is done to the
 * window: short, single elements only; long, somebody combines many elements, or a type that no instruction knows, at some moment, another one
 * in each window; fine, the same with a granularity of 8 bytes. Sums, products, bits and marks are exact.
 *
 * -DSEED_LOST_MISTAKE: one sum adds another number.
 */
#include "threads.h"

enum { WINDOWS = 40, ROUNDS = 200, MANY = 64, RIVALS = 2 };

/* What lies in the window of each rank. */
struct memory {
    long sums[MANY];
    double reals[MANY];
    long double wide;
    struct {
        double value;
        int index;
    } largest;
    long bits, marks, last, owner, guarded, stamp;
    int word, toggled;
    float real;
    unsigned short half, halves[3];
    unsigned char byte;
};

static MPI_Win win;
static int window, long_ones, target;

#define AT(field) ((MPI_Aint)offsetof(struct memory, field))

static void add(const void *value, MPI_Datatype type, MPI_Aint at, MPI_Op op)
{
    MPI_Accumulate(value, 1, type, target, at, 1, type, op, win);
}

/* A number that no other thread of the job has. */
static int party(int thread)
{
    return check_rank * RIVALS + thread;
}

static int parties(void)
{
    return check_ranks * RIVALS;
}

/* Single elements of every size. */
static void short_ones(int thread, int round)
{
    long one = 1, bit = 1L << (party(thread) * ROUNDS + round) % 63, old = -1, stamp = round;
    int word = 3, flip = 1 << party(thread);
    double real = 0.5;
    float small = 1;
    unsigned short half = 7;
    unsigned char byte = 1;
#ifdef SEED_LOST_MISTAKE
    one += party(thread) == 0 && round == 7 && window == 3;
#endif
    add(&one, MPI_LONG, AT(sums[0]), MPI_SUM);
    add(&real, MPI_DOUBLE, AT(reals[0]), MPI_SUM);
    add(&bit, MPI_LONG, AT(bits), MPI_BXOR);
    add(&word, MPI_INT, AT(word), MPI_SUM);
    add(&flip, MPI_INT, AT(toggled), MPI_BXOR);
    add(&small, MPI_FLOAT, AT(real), MPI_SUM);
    add(&half, MPI_UNSIGNED_SHORT, AT(half), MPI_SUM);
    add(&byte, MPI_UNSIGNED_CHAR, AT(byte), MPI_SUM);
    add(&stamp, MPI_LONG, AT(stamp), MPI_MAX);
    MPI_Fetch_and_op(&one, &old, MPI_LONG, target, AT(marks), MPI_SUM, win);
    MPI_Win_flush(target, win);
    CHECK(old >= 0 && old < parties() * ROUNDS);
    /* A lock, and what it guards. */
    long mine = 1 + party(thread), none = 0, value = -1;
    do {
        MPI_Compare_and_swap(&mine, &none, &old, MPI_LONG, target, AT(owner), win);
        MPI_Win_flush(target, win);
        if (old != 0)
            sched_yield();
    } while (old != 0);
    MPI_Get(&value, 1, MPI_LONG, target, AT(guarded), 1, MPI_LONG, win);
    MPI_Win_flush(target, win);
    value++;
    MPI_Put(&value, 1, MPI_LONG, target, AT(guarded), 1, MPI_LONG, win);
    MPI_Win_flush(target, win);
    MPI_Fetch_and_op(&none, &old, MPI_LONG, target, AT(owner), MPI_REPLACE, win);
    MPI_Win_flush(target, win);
    CHECK_EQ(old, mine);
}

/* Many elements, and types of 16 bytes: from the first of them on nobody uses instructions, unless the window is fine. */
static void long_one(int thread, int round)
{
    long ones[MANY], old[MANY];
    double reals[MANY];
    long double wide = 1;
    struct {
        double value;
        int index;
    } largest = {party(thread), round};
    for (int i = 0; i < MANY; i++) {
        ones[i] = 1;
        reals[i] = 0.5;
    }
    switch (round % 4) {
    case 0:
        MPI_Accumulate(ones, MANY, MPI_LONG, target, AT(sums), MANY, MPI_LONG, MPI_SUM, win);
        break;
    case 1:
        MPI_Accumulate(reals, MANY, MPI_DOUBLE, target, AT(reals), MANY, MPI_DOUBLE, MPI_SUM, win);
        break;
    case 2:
        MPI_Get_accumulate(ones, MANY, MPI_LONG, old, MANY, MPI_LONG, target, AT(sums), MANY, MPI_LONG, MPI_SUM, win);
        break;
    default:
        MPI_Accumulate(&wide, 1, MPI_LONG_DOUBLE, target, AT(wide), 1, MPI_LONG_DOUBLE, MPI_SUM, win);
        MPI_Accumulate(&largest, 1, MPI_DOUBLE_INT, target, AT(largest), 1, MPI_DOUBLE_INT, MPI_MAXLOC, win);
    }
    MPI_Win_flush(target, win);
}

/* In this window, from which round on this thread does long ones, too. */
static int first_long(int thread)
{
    return long_ones ? (window * 7 + party(thread) * 11) % (ROUNDS + 10) : ROUNDS;
}

static void *rival(void *number)
{
    int thread = (int)(size_t)number;
    for (int round = 0; round < ROUNDS; round++) {
        short_ones(thread, round);
        if (round >= first_long(thread))
            long_one(thread, round);
    }
    return NULL;
}

/* What rank target must have. */
static void check_memory(const struct memory *memory)
{
    long bits = 0, longs[4] = {0}, all = parties() * ROUNDS;
    int toggled = 0;
    double largest = -1;
    for (int p = 0; p < parties(); p++) {
        int first = long_ones ? (window * 7 + p * 11) % (ROUNDS + 10) : ROUNDS;
        for (int round = 0; round < ROUNDS; round++) {
            bits ^= 1L << (p * ROUNDS + round) % 63;
            toggled ^= 1 << p;
            longs[round % 4] += round >= first;
            if (round >= first && round % 4 == 3)
                largest = p > largest ? p : largest;
        }
    }
    CHECK_EQ(memory->sums[0], all + longs[0] + longs[2]);
    CHECK_EQ(memory->reals[0] * 2, all + longs[1]);
    for (int i = 1; i < MANY; i++) {
        CHECK_EQ(memory->sums[i], longs[0] + longs[2]);
        CHECK_EQ(memory->reals[i] * 2, longs[1]);
    }
    CHECK_EQ(memory->wide, longs[3]);
    CHECK_EQ(memory->largest.value, largest);
    CHECK_EQ(memory->bits, bits);
    CHECK_EQ(memory->word, 3 * all);
    CHECK_EQ(memory->toggled, toggled);
    CHECK_EQ(memory->real, all);
    CHECK_EQ(memory->half, (unsigned short)(7 * all));
    CHECK_EQ(memory->halves[0], 0);
    CHECK_EQ(memory->byte, (unsigned char)all);
    CHECK_EQ(memory->marks, all);
    CHECK_EQ(memory->guarded, all);
    CHECK_EQ(memory->stamp, ROUNDS - 1);
}

int main(int argc, char **argv)
{
    struct memory *memory;
    MPI_Info info;
    start_threads_multiple(&argc, &argv, "rma_gate");
    const char *how = argc > 1 ? argv[1] : "short";
    long_ones = strcmp(how, "short") != 0;
    MPI_Info_create(&info);
    if (strcmp(how, "fine") == 0)
        MPI_Info_set(info, "mpi_accumulate_granularity", "8");
    for (window = 0; window < WINDOWS; window++) {
        pthread_t threads[RIVALS];
        MPI_Win_allocate(sizeof *memory, 1, info, MPI_COMM_WORLD, &memory, &win);
        memset(memory, 0, sizeof *memory);
        memory->largest.value = -1;
        target = window % check_ranks;
        MPI_Win_lock_all(0, win);
        MPI_Win_sync(win);
        MPI_Barrier(MPI_COMM_WORLD);
        for (size_t t = 0; t < RIVALS; t++)
            pthread_create(&threads[t], NULL, rival, (void *)t);
        for (int t = 0; t < RIVALS; t++)
            pthread_join(threads[t], NULL);
        MPI_Win_flush_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_sync(win);
        if (check_rank == target)
            check_memory(memory);
        MPI_Win_unlock_all(win);
        MPI_Win_free(&win);
    }
    MPI_Info_free(&info);
    return finish();
}

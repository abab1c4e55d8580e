// covers: MPI_Get_accumulate MPI_Type_indexed MPI_Type_vector MPI_Win_flush MPI_Win_lock MPI_Win_lock_all
// ranks: 1 2 3 5
// args: allocate
// args: create
// args: given
// seconds: 60
/*
 * All ranks draw tickets by MPI_Get_accumulate from counters of the last rank: blocks that do not lie together, to results that do not either;
 * then all elements at once, then single ones. Nobody gets a ticket twice. MPI_NO_OP only reads, and nothing that is said of the origin
 * means anything then. MPI 5.0 section 12.3.4.
 *
 * -DSEED_TWICE_MISTAKE: one of the ranks adds two at once.
 */
#include "check.h"

enum { COUNTERS = 64, WORDS = 4 * COUNTERS, ROUNDS = 60 };

static MPI_Win win;
static int target;

/* The place of a counter in the memory. */
static int at(int counter)
{
    return 4 * counter + counter % 3;
}

/* The sum of all tickets 0 to n - 1, each drawn once from so many counters. */
static void check_sum(long sum, int counters, long first, long n)
{
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, counters * (first * n + n * (n - 1) / 2));
}

static void draw_blocks(const int *ones)
{
    static int old[2 * COUNTERS], last[COUNTERS];
    int lengths[COUNTERS], places[COUNTERS];
    long sum = 0;
    MPI_Datatype blocks, strided;
    for (int i = 0; i < COUNTERS; i++) {
        lengths[i] = 1;
        places[i] = at(i);
        last[i] = -1;
    }
    MPI_Type_indexed(COUNTERS, lengths, places, MPI_INT, &blocks);
    MPI_Type_commit(&blocks);
    MPI_Type_vector(COUNTERS, 1, 2, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
        MPI_Get_accumulate(ones, COUNTERS, MPI_INT, old, 1, strided, target, 0, 1, blocks, MPI_SUM, win);
        MPI_Win_unlock(target, win);
        for (int i = 0; i < COUNTERS; i++) {
            CHECK(old[2 * i] > last[i]);
            CHECK_EQ(old[2 * i + 1], 0);
            last[i] = old[2 * i];
            sum += old[2 * i];
        }
    }
    check_sum(sum, COUNTERS, 0, (long)ROUNDS * check_ranks);
    MPI_Type_free(&blocks);
    MPI_Type_free(&strided);
}

/* As many elements as are said, all next to one another. */
static void draw_run(const int *ones, int count, long before)
{
    static int old[WORDS];
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Get_accumulate(ones, count, MPI_INT, old, count, MPI_INT, target, at(0), count, MPI_INT, MPI_SUM, win);
        MPI_Win_flush(target, win);
        sum += old[0];
    }
    check_sum(sum, 1, before, (long)ROUNDS * check_ranks);
}

static void only_read(long first)
{
    static int seen[WORDS];
    memset(seen, 0xff, sizeof seen);
    MPI_Get_accumulate(NULL, -7, MPI_DATATYPE_NULL, seen, WORDS, MPI_INT, target, 0, WORDS, MPI_INT, MPI_NO_OP, win);
    MPI_Win_flush(target, win);
    CHECK_EQ(seen[at(0)], first);
    CHECK_EQ(seen[at(1)], (long)ROUNDS * check_ranks * 2);
    CHECK_EQ(seen[at(COUNTERS - 1)], (long)ROUNDS * check_ranks * 2);
    CHECK_EQ(seen[at(COUNTERS - 1) + 1], (long)ROUNDS * check_ranks);
    MPI_Get_accumulate(NULL, 0, MPI_INT, seen, 1, MPI_INT, target, at(0), 1, MPI_INT, MPI_NO_OP, win);
    MPI_Win_flush(target, win);
    CHECK_EQ(seen[0], first);
}

int main(int argc, char **argv)
{
    static int own[WORDS], ones[WORDS];
    int *memory = own, given;
    start(&argc, &argv, "rma_tickets");
    given = argc > 1 && strcmp(argv[1], "given") == 0;
    if (given)
        MPI_Alloc_mem(sizeof own, MPI_INFO_NULL, &memory);
    if (given || (argc > 1 && strcmp(argv[1], "create") == 0))
        MPI_Win_create(memory, sizeof own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    else
        MPI_Win_allocate(sizeof own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    target = check_ranks - 1;
    memset(memory, 0, sizeof own);
    for (int i = 0; i < WORDS; i++)
        ones[i] = 1;
#ifdef SEED_TWICE_MISTAKE
    ones[at(0)] += check_rank == target;
#endif
    MPI_Barrier(MPI_COMM_WORLD);
    long all = (long)ROUNDS * check_ranks;
    MPI_Win_lock_all(0, win);
    draw_run(ones, 1, 0);
    draw_run(ones, 3, all);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == target) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        memset(memory, 0, sizeof own);
        MPI_Win_unlock(target, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    draw_blocks(ones);
    MPI_Win_lock_all(0, win);
    draw_run(ones, WORDS, all);
    /* The gate is shut now. */
    draw_run(ones, 1, 2 * all);
    MPI_Barrier(MPI_COMM_WORLD);
    only_read(3 * all);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (given)
        MPI_Free_mem(memory);
    return finish();
}

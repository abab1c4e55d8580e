// covers: MPI_Accumulate MPI_Fetch_and_op MPI_Get_accumulate MPI_Win_flush MPI_Win_lock_all MPI_Win_unlock_all
// ranks: 1 2 4
// args: allocate
// args: create
// args: create am
// seconds: 60
/*
 * Random updates of a table that all ranks share, in the manner of HPC Challenge's RandomAccess, whose own programs send messages: each
 * update is an exclusive or of one word, some of which also read it. Done twice, all of them are undone, if none was lost or
 * torn, whatever order they came in.
 */
#include "check.h"

enum { WORDS = 1 << 12, UPDATES = 1 << 13, WINDOW = 64 };

static uint64_t *table;

static uint64_t begins(uint64_t index)
{
    return index * 0x9e3779b97f4a7c15u + 1;
}

static void update(MPI_Win win)
{
    static uint64_t values[WINDOW], found[WINDOW];
    uint64_t state = begins((uint64_t)check_rank + 1000);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < UPDATES; i++) {
        int slot = i % WINDOW;
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        values[slot] = state;
        int target = (int)((state >> 40) % (unsigned)check_ranks);
        MPI_Aint word = (MPI_Aint)(state >> 20) & (WORDS - 1);
        if (i % 16 == 3)
            MPI_Fetch_and_op(&values[slot], &found[slot], MPI_UINT64_T, target, word, MPI_BXOR, win);
        else if (i % 16 == 9)
            MPI_Get_accumulate(&values[slot], 1, MPI_UINT64_T, &found[slot], 1, MPI_UINT64_T, target, word, 1, MPI_UINT64_T,
                               MPI_BXOR, win);
        else
            MPI_Accumulate(&values[slot], 1, MPI_UINT64_T, target, word, 1, MPI_UINT64_T, MPI_BXOR, win);
        if (slot == WINDOW - 1)
            MPI_Win_flush_all(win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int changed(void)
{
    int count = 0;
    for (int i = 0; i < WORDS; i++)
        count += table[i] != begins((uint64_t)check_rank * WORDS + (uint64_t)i);
    return count;
}

int main(int argc, char **argv)
{
    int creates = argc > 1 && strcmp(argv[1], "create") == 0;
    MPI_Win win;
    if (argc > 2)
        setenv("OMPI_MCA_osc", argv[2], 1);
    start(&argc, &argv, "rma_random");
    if (creates) {
        table = check_alloc(WORDS * sizeof *table);
        MPI_Win_create(table, WORDS * sizeof *table, sizeof *table, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    } else {
        MPI_Win_allocate(WORDS * sizeof *table, sizeof *table, MPI_INFO_NULL, MPI_COMM_WORLD, &table, &win);
    }
    for (int i = 0; i < WORDS; i++)
        table[i] = begins((uint64_t)check_rank * WORDS + (uint64_t)i);
    MPI_Barrier(MPI_COMM_WORLD);
    update(win);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    CHECK(changed() > WORDS / 2);
    MPI_Win_unlock(check_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    update(win);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    CHECK_EQ(changed(), 0);
    MPI_Win_unlock(check_rank, win);
    MPI_Win_free(&win);
    if (creates)
        free(table);
    return finish();
}

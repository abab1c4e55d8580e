// covers: MPI_Win_allocate_shared MPI_Win_allocate_shared_c MPI_Win_shared_query
// ranks: 1 2 3 6
/*
 * Memory that all processes of a node address: where the parts lie, loads and stores beside accesses, parts without memory.
 * MPI 5.0 section 12.2.3.
 */
#include "check.h"

static MPI_Comm node;
static int rank, ranks;

/* Parts of different lengths, some of them none, next to each other unless asked otherwise. */
static void places(int apart)
{
    MPI_Info info;
    MPI_Win win;
    long *mine = NULL, *at = NULL, *before = NULL;
    MPI_Aint size = -1, longs = rank % 3 == 1 ? 0 : 1000 + rank;
    int unit = -1;
    MPI_Info_create(&info);
    if (apart)
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
    MPI_Win_allocate_shared(longs * (MPI_Aint)sizeof(long), sizeof(long), info, node, &mine, &win);
    MPI_Info_free(&info);
    void *base = NULL;
    int flag = 0;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    CHECK(flag && (longs == 0 || base == mine));
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &base, &flag);
    CHECK(flag && *(int *)base == MPI_WIN_FLAVOR_SHARED);
    for (MPI_Aint i = 0; i < longs; i++)
        mine[i] = rank * 100000 + i;
    MPI_Win_fence(0, win);
    for (int other = 0; other < ranks; other++) {
        MPI_Aint want = other % 3 == 1 ? 0 : 1000 + other;
        MPI_Win_shared_query(win, other, &size, &unit, &at);
        CHECK(size == want * (MPI_Aint)sizeof(long) && unit == (int)sizeof(long));
        for (MPI_Aint i = 0; i < want; i++)
            if (at[i] != other * 100000 + i) {
                CHECK_EQ(at[i], other * 100000 + i);
                break;
            }
        if (!apart && other > 0 && want > 0 && before)
            CHECK(before == at);
        if (want > 0)
            before = at + want;
    }
    MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &at);
    CHECK(size == 1000 * (MPI_Aint)sizeof(long) && at[7] == 7);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* Stores of one process and accesses of another one in turn. */
static void mixed(void)
{
    MPI_Win win;
    int *mine, *next_at, unit, next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks, got = -1;
    MPI_Aint size;
    MPI_Win_allocate_shared_c(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine, &win);
    MPI_Win_shared_query(win, next, &size, &unit, &next_at);
    for (int i = 0; i < 4; i++)
        mine[i] = 0;
    MPI_Barrier(node);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int round = 1; round < 50; round++) {
        int value = round * 10 + rank;
        if (round % 2)
            next_at[0] = value;
        else
            MPI_Put(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win);
        MPI_Win_flush(next, win);
        MPI_Win_sync(win);
        MPI_Barrier(node);
        MPI_Win_sync(win);
        if (round % 3)
            CHECK_EQ(mine[0], round * 10 + previous);
        else {
            MPI_Get(&got, 1, MPI_INT, rank, 0, 1, MPI_INT, win);
            MPI_Win_flush(rank, win);
            CHECK_EQ(got, round * 10 + previous);
        }
        int one = 1;
        MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_flush(0, win);
        MPI_Barrier(node);
        if (rank == 0)
            CHECK_EQ(mine[1], round * ranks);
        MPI_Barrier(node);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* A hint for memory that is aligned to more than pages takes nothing away; where parts need not lie together it is heeded. */
static void aligned(void)
{
    char *at, *theirs;
    MPI_Aint size;
    int unit;
    MPI_Info info;
    MPI_Win win;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "65536");
    for (int i = 0; i < 3; i++) {
        if (i == 2)
            MPI_Info_set(info, "alloc_shared_noncontig", "true");
        if (i == 0)
            MPI_Win_allocate(100, 1, info, node, &at, &win);
        else
            MPI_Win_allocate_shared(100, 1, info, node, &at, &win);
        CHECK(i == 1 || (size_t)at % 65536 == 0);
        MPI_Win_shared_query(win, (rank + 1) % ranks, &size, &unit, &theirs);
        CHECK(size == 100 && theirs != NULL);
        MPI_Win_free(&win);
    }
    MPI_Info_free(&info);
}

/* Each window is gone when it is freed. */
static void again(void)
{
    for (int i = 0; i < 50; i++) {
        MPI_Win win;
        char *mine;
        MPI_Win_allocate_shared(100000, 1, MPI_INFO_NULL, node, &mine, &win);
        memset(mine, rank + i, 100000);
        MPI_Barrier(node);
        CHECK(mine[0] == (char)(rank + i) && mine[99999] == (char)(rank + i));
        MPI_Win_free(&win);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "rma_shared");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank), MPI_Comm_size(node, &ranks);
    places(0);
    places(1);
    mixed();
    again();
    aligned();
    MPI_Comm_free(&node);
    return finish();
}

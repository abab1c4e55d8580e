// covers: MPI_Alloc_mem MPI_Free_mem MPI_Win_create MPI_Win_shared_query MPI_Put MPI_Fetch_and_op
// ranks: 1 2 3
/*
 * Windows of MPI_Win_create over memory of MPI_Alloc_mem: on one node a target need not be inside MPI for an access to happen, other
 * ranks can load and store its memory, and one rank whose memory is other memory makes no difference but that. MPI 5.0 section 12.2.
 */
#include "check.h"

enum { WORDS = 600, HERE = 100, TOLD = 3 };

static int next, before;

/* The memory is in the middle of what was allocated; with `mixed` that of the last rank is the program's. */
static void window(int mixed, int long_one)
{
    MPI_Aint bytes = (long_one ? 300000 : WORDS) * (MPI_Aint)sizeof(long);
    int own = mixed && check_rank == check_ranks - 1;
    long *memory = NULL, *base;
    MPI_Win win;
    if (own)
        memory = check_alloc((size_t)bytes);
    else
        CHECK_CLASS(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory), MPI_SUCCESS);
    base = memory + HERE;
    memset(memory, 0, (size_t)bytes);
    CHECK_CLASS(MPI_Win_create(base, bytes - HERE * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_SUCCESS);
    long *at = NULL, **told = &at;
    int is_set = 0;
    MPI_Win_get_attr(win, MPI_WIN_BASE, told, &is_set);
    CHECK(is_set && at == base);
    MPI_Win_lock_all(0, win);
    long token = 1000 + check_rank, old = -1;
    MPI_Put(&token, 1, MPI_LONG, next, TOLD, 1, MPI_LONG, win);
    MPI_Fetch_and_op(&token, &old, MPI_LONG, next, TOLD + 1, MPI_SUM, win);
    MPI_Put(memory, 20, MPI_LONG, next, TOLD + 2, 20, MPI_LONG, win);
    MPI_Win_flush(next, win);
    CHECK_EQ(old, 0);
    if (!mixed) {
        /* No call of MPI: what comes, comes all the same. */
        for (double end = MPI_Wtime() + 5; *(volatile long *)(base + TOLD + 1) == 0 && MPI_Wtime() < end;)
            ;
        CHECK_EQ(((volatile long *)base)[TOLD], 1000 + before);
        CHECK_EQ(((volatile long *)base)[TOLD + 1], 1000 + before);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(base[TOLD], 1000 + before);
    MPI_Aint size = -1;
    int unit = -1;
    CHECK_CLASS(MPI_Win_shared_query(win, next, &size, &unit, &at), MPI_SUCCESS);
    if (!mixed) {
        CHECK_EQ(size, bytes - HERE * (MPI_Aint)sizeof(long));
        CHECK_EQ(unit, (int)sizeof(long));
        CHECK(at != NULL && at[TOLD] == 1000 + check_rank);
    }
    MPI_Win_free(&win);
    if (own)
        free(memory);
    else
        CHECK_CLASS(MPI_Free_mem(memory), MPI_SUCCESS);
}

/* Some have no memory at all. */
static void nothing(void)
{
    long *memory = NULL, value = 7;
    MPI_Win win;
    if (check_rank == 0)
        MPI_Alloc_mem(sizeof(long), MPI_INFO_NULL, &memory);
    MPI_Win_create(memory, check_rank == 0 ? sizeof(long) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    if (check_rank == check_ranks - 1)
        MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    if (check_rank == 0)
        CHECK_EQ(memory[0], 7);
    MPI_Win_free(&win);
    if (check_rank == 0)
        MPI_Free_mem(memory);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "rma_created");
    next = (check_rank + 1) % check_ranks;
    before = (check_rank + check_ranks - 1) % check_ranks;
    for (int round = 0; round < 3; round++) {
        window(0, round == 1);
        window(1, round == 1);
        nothing();
    }
    return finish();
}

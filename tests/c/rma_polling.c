// covers: MPI_Fetch_and_op MPI_Get MPI_Win_lock MPI_Win_flush MPI_Win_sync MPI_Compare_and_swap
// ranks: 2 4 6
// args: allocate
// args: create
// seconds: 60
/*
 * Ranks that wait in loops of one-sided calls, more of them than cores: each loop gives its core up now and then. Without that
 * every hop of the token takes as long as the system lets a process run, and the test does not end in time. Each loop lets the others'
 * accesses in, too, though it asks nobody but its own rank.
 */
#include "check.h"

enum { ROUNDS = 200, WAYS = 8, FIRST_LOCKING = 6 };

static int *memory, rank, ranks;
static MPI_Win win;

/* Whether the token of this way has come: a look at this rank's own memory. */
static int look(int way, int wanted)
{
    int seen = -1, none = -1;
    switch (way) {
    case 0:
        MPI_Fetch_and_op(NULL, &seen, MPI_INT, rank, (MPI_Aint)way, MPI_NO_OP, win);
        MPI_Win_flush(rank, win);
        return seen == wanted;
    case 1:
        MPI_Get(&seen, 1, MPI_INT, rank, (MPI_Aint)way, 1, MPI_INT, win);
        MPI_Win_flush(rank, win);
        return seen == wanted;
    case 2:
        MPI_Win_sync(win);
        return *(volatile int *)(memory + way) == wanted;
    case 3:
        MPI_Compare_and_swap(&none, &none, &seen, MPI_INT, rank, (MPI_Aint)way, win);
        MPI_Win_flush_local(rank, win);
        return seen == wanted;
    case 4:
        MPI_Get_accumulate(NULL, 0, MPI_INT, &seen, 1, MPI_INT, rank, (MPI_Aint)way, 1, MPI_INT, MPI_NO_OP, win);
        MPI_Win_flush(rank, win);
        return seen == wanted;
    case 5: {
        MPI_Request request;
        MPI_Rget(&seen, 1, MPI_INT, rank, (MPI_Aint)way, 1, MPI_INT, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return seen == wanted;
    }
    default:
        MPI_Win_lock(way == FIRST_LOCKING ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, rank, 0, win);
        MPI_Get(&seen, 1, MPI_INT, rank, (MPI_Aint)way, 1, MPI_INT, win);
        MPI_Win_unlock(rank, win);
        return seen == wanted;
    }
}

static void pass_on(int way, int token, int next)
{
    if (way >= FIRST_LOCKING)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
    MPI_Accumulate(&token, 1, MPI_INT, next, (MPI_Aint)way, 1, MPI_INT, MPI_REPLACE, win);
    if (way >= FIRST_LOCKING)
        MPI_Win_unlock(next, win);
    else
        MPI_Win_flush(next, win);
}

/* The token goes round; each rank waits for it by looking. */
static void ring(int way)
{
    int next = (rank + 1) % ranks;
    for (int round = 1; round <= ROUNDS; round++) {
        if (rank > 0)
            while (!look(way, round))
                ;
        pass_on(way, round, next);
        if (rank == 0)
            while (!look(way, round))
                ;
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "rma_polling");
    rank = check_rank;
    ranks = check_ranks;
    int creates = argc > 1 && strcmp(argv[1], "create") == 0;
    if (creates) {
        memory = check_alloc(WAYS * sizeof(int));
        memset(memory, 0, WAYS * sizeof(int));
        MPI_Win_create(memory, WAYS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    } else {
        MPI_Win_allocate(WAYS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        memset(memory, 0, WAYS * sizeof(int));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int way = 0; way < WAYS; way++) {
        if (way == FIRST_LOCKING)
            MPI_Win_unlock_all(win);
        ring(way);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_EQ(memory[way], ROUNDS);
    }
    MPI_Win_free(&win);
    if (creates)
        free(memory);
    return finish();
}

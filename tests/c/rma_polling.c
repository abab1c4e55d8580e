// covers: MPI_Fetch_and_op MPI_Get MPI_Win_lock MPI_Win_flush MPI_Win_sync MPI_Compare_and_swap
// ranks: 2 4 6
// seconds: 60
/*
 * Ranks that wait in loops of one-sided calls, more of them than cores: each loop gives its core up now and then. Without that
 * every hop of the token takes as long as the system lets a process run, and the test does not end in time.
 */
#include "check.h"

enum { ROUNDS = 200, WAYS = 6 };

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
    default: {
        MPI_Request request;
        MPI_Rget(&seen, 1, MPI_INT, rank, (MPI_Aint)way, 1, MPI_INT, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return seen == wanted;
    }
    }
}

/* The token goes round; each rank waits for it by looking. */
static void ring(int way)
{
    int next = (rank + 1) % ranks, token;
    for (int round = 1; round <= ROUNDS; round++) {
        if (rank > 0)
            while (!look(way, round))
                ;
        token = round;
        MPI_Accumulate(&token, 1, MPI_INT, next, (MPI_Aint)way, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Win_flush(next, win);
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
    MPI_Win_allocate(WAYS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, WAYS * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int way = 0; way < WAYS; way++) {
        ring(way);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_EQ(memory[way], ROUNDS);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    return finish();
}

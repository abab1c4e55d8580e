// covers: MPI_Win_lock_all MPI_Win_unlock_all MPI_Win_lock MPI_Win_unlock MPI_Get MPI_Accumulate
// ranks: 4 5
// seconds: 60
// args: allocate
// args: create
/*
 * Some ranks lock all, others one at a time, alone: locks are granted in the order in which they were asked for, and yet nobody
 * waits for ever, since nobody holds one and waits for a lower one. MPI 5.0 section 12.5.3.
 */
#include "check.h"

enum { ROUNDS = 300 };

int main(int argc, char **argv)
{
    static int own, one = 1;
    int *memory = &own, seen, created;
    MPI_Win win;
    start(&argc, &argv, "rma_lock_all");
    created = argc > 1 && strcmp(argv[1], "create") == 0;
    if (created)
        MPI_Win_create(memory, sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    else
        MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    *memory = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS; i++) {
        int target = (check_rank + i) % 2;
        if (check_rank < 2) {
            MPI_Win_lock_all(0, win);
            MPI_Get(&seen, 1, MPI_INT, target, 0, 1, MPI_INT, win);
            MPI_Win_unlock_all(win);
        } else {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
            MPI_Accumulate(&one, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win);
            MPI_Win_unlock(target, win);
        }
        /* One rank locks all of them alone, in their order, beside those that lock all. */
        if (check_rank == check_ranks - 1 && i % 10 == 0) {
            for (int rank = 0; rank < check_ranks; rank++)
                MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
            for (int rank = 0; rank < check_ranks; rank++)
                MPI_Win_unlock(rank, win);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    seen = *memory;
    MPI_Win_unlock(check_rank, win);
    MPI_Allreduce(MPI_IN_PLACE, &seen, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(seen, (check_ranks - 2) * ROUNDS);
    MPI_Win_free(&win);
    return finish();
}

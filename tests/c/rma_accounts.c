// covers: MPI_Win_lock_all MPI_Win_unlock_all MPI_Win_lock MPI_Win_unlock MPI_Get MPI_Put MPI_Win_flush
// ranks: 2 3 5
// args: allocate
// args: create
// seconds: 60
/*
 * Accounts on all ranks: some calls move money between two of them under exclusive locks, others add all accounts up under MPI_Win_lock_all, at
 * random and at the same time. No sum may show money on its way. MPI 5.0 section 12.5.3.
 *
 * -DSEED_GAIN_MISTAKE: who gets money gets too much.
 */
#include "check.h"

enum { ACCOUNTS = 16, ROUNDS = 300, EACH = 1000 };

static MPI_Win win;

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1103515245 + 12345;
    return *seed >> 8;
}

static void audit(void)
{
    static long seen[64][ACCOUNTS];
    long sum = 0;
    MPI_Win_lock_all(0, win);
    for (int rank = 0; rank < check_ranks; rank++)
        MPI_Get(seen[rank], ACCOUNTS, MPI_LONG, rank, 0, ACCOUNTS, MPI_LONG, win);
    MPI_Win_flush_all(win);
    for (int rank = 0; rank < check_ranks; rank++)
        for (int i = 0; i < ACCOUNTS; i++)
            sum += seen[rank][i];
    MPI_Win_unlock_all(win);
    CHECK_EQ(sum, (long)EACH * ACCOUNTS * check_ranks);
}

/* Both ranks are locked in ascending order, so that nobody waits in a circle. */
static void move(int from, int to, int account, long amount)
{
    long left, right;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, from < to ? from : to, 0, win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, from < to ? to : from, 0, win);
    MPI_Get(&left, 1, MPI_LONG, from, account, 1, MPI_LONG, win);
    MPI_Get(&right, 1, MPI_LONG, to, account, 1, MPI_LONG, win);
    MPI_Win_flush(from, win);
    MPI_Win_flush(to, win);
    left -= amount;
    right += amount;
#ifdef SEED_GAIN_MISTAKE
    right++;
#endif
    MPI_Put(&left, 1, MPI_LONG, from, account, 1, MPI_LONG, win);
    MPI_Win_flush(from, win);
    MPI_Put(&right, 1, MPI_LONG, to, account, 1, MPI_LONG, win);
    MPI_Win_unlock(to, win);
    MPI_Win_unlock(from, win);
}

int main(int argc, char **argv)
{
    static long own[ACCOUNTS];
    long *accounts = own;
    unsigned seed;
    start(&argc, &argv, "rma_accounts");
    seed = (unsigned)check_rank * 77 + 5;
    if (argc > 1 && strcmp(argv[1], "create") == 0)
        MPI_Win_create(own, sizeof own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    else
        MPI_Win_allocate(sizeof own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &accounts, &win);
    for (int i = 0; i < ACCOUNTS; i++)
        accounts[i] = EACH;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        int from = (int)(next(&seed) % (unsigned)check_ranks), to = (int)(next(&seed) % (unsigned)check_ranks);
        if (from == to || next(&seed) % 2)
            audit();
        else
            move(from, to, (int)(next(&seed) % ACCOUNTS), round);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    audit();
    MPI_Win_free(&win);
    return finish();
}

// covers: MPI_Win_lock MPI_Win_unlock MPI_Win_lock_all MPI_Win_unlock_all MPI_Win_flush MPI_Win_flush_all MPI_Win_flush_local MPI_Win_flush_local_all MPI_Win_sync MPI_Rput MPI_Rput_c MPI_Rget MPI_Rget_c MPI_Raccumulate MPI_Raccumulate_c MPI_Rget_accumulate MPI_Rget_accumulate_c
// ranks: 1 2 4 8
/*
 * Passive targets: exclusive locks exclude, shared ones do not, whatever is flushed is there, requests complete, and the
 * accumulates of one process to one element keep their order. MPI 5.0 sections 12.3.5, 12.5.3, 12.5.4 and 12.7.
 */
#include "check.h"

enum { ROUNDS = 40, LONG = 20000 };

static MPI_Win win;
static long *memory;

static void make(int longs)
{
    MPI_Win_allocate((MPI_Aint)sizeof(long) * longs, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
    memset(memory, 0, sizeof(long) * (size_t)longs);
    MPI_Win_unlock(check_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A counter that is read, raised and written back: not one step may be lost. */
static void exclusive(int assertion)
{
    make(2);
    for (int round = 0; round < ROUNDS; round++)
        for (int target = 0; target < check_ranks; target += 2) {
            long value[2] = {-1, -1};
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, assertion, win);
            MPI_Get(value, 2, MPI_LONG, target, 0, 2, MPI_LONG, win);
            MPI_Win_flush(target, win);
            CHECK_EQ(value[1], 3 * value[0]);
            value[0]++, value[1] += 3;
            MPI_Put(value, 2, MPI_LONG, target, 0, 2, MPI_LONG, win);
            MPI_Win_unlock(target, win);
        }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    CHECK_EQ(memory[0], check_rank % 2 ? 0 : ROUNDS * check_ranks);
    MPI_Win_unlock(check_rank, win);
    MPI_Win_free(&win);
}

/* All hold shared locks of all at the same time: each waits until the others have theirs. */
static void shared(void)
{
    long one = 1, seen = 0;
    make(1);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
    while (seen < check_ranks) {
        MPI_Fetch_and_op(NULL, &seen, MPI_LONG, 0, 0, MPI_NO_OP, win);
        MPI_Win_flush(0, win);
    }
    MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
}

static void lock_all(int assertion)
{
    long value = 100 + check_rank, got = -1;
    int next = (check_rank + 1) % check_ranks, previous = (check_rank + check_ranks - 1) % check_ranks;
    make(check_ranks + 1);
    MPI_Win_lock_all(assertion, win);
    for (int target = 0; target < check_ranks; target++)
        MPI_Put(&value, 1, MPI_LONG, target, check_rank, 1, MPI_LONG, win);
    MPI_Win_flush_local_all(win);
    value = -1; /* which may be used again */
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    for (int origin = 0; origin < check_ranks; origin++)
        CHECK_EQ(memory[origin], 100 + origin);
    MPI_Get(&got, 1, MPI_LONG, next, previous, 1, MPI_LONG, win);
    MPI_Win_flush_local(next, win);
    CHECK_EQ(got, 100 + previous);
    MPI_Win_flush(MPI_PROC_NULL, win);
    MPI_Win_unlock_all(win);
    MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win);
    MPI_Win_unlock(MPI_PROC_NULL, win);
    MPI_Win_free(&win);
}

/* Two flags that are replaced again and again: the second one is never ahead of the first one. */
static void order(void)
{
    long both[2] = {0, 0};
    make(2);
    MPI_Win_lock_all(0, win);
    if (check_rank == 0)
        for (long turn = 1; turn <= 10 * ROUNDS; turn++) {
            long twice[2] = {turn, turn};
            int target = check_ranks - 1;
            MPI_Accumulate(twice, 2, MPI_LONG, target, 0, 2, MPI_LONG, MPI_REPLACE, win);
            long old = -1;
            MPI_Get_accumulate(NULL, 0, MPI_LONG, &old, 1, MPI_LONG, target, 1, 1, MPI_LONG, MPI_NO_OP, win);
            if (turn % 16 == 0)
                MPI_Win_flush(target, win);
            else
                MPI_Win_flush_local(target, win);
            CHECK_EQ(old, turn);
        }
    else
        while (both[0] < 10 * ROUNDS) {
            MPI_Get_accumulate(NULL, 0, MPI_LONG, both, 2, MPI_LONG, check_ranks - 1, 0, 2, MPI_LONG, MPI_NO_OP, win);
            MPI_Win_flush(check_ranks - 1, win);
        }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* Requests, short and long ones, waited for together, and one that is tested. */
static void requests(int n)
{
    int target = (check_rank + 1) % check_ranks, origin = (check_rank + check_ranks - 1) % check_ranks;
    size_t bytes = sizeof(long) * (size_t)n;
    long *from = check_alloc(bytes), *back = check_alloc(bytes), *old = check_alloc(bytes), *sum = check_alloc(bytes);
    MPI_Request request[4];
    MPI_Status status;
    make(2 * n);
    fill(from, bytes, check_rank);
    MPI_Win_lock_all(0, win);
    MPI_Rput(from, n, MPI_LONG, target, 0, n, MPI_LONG, win, &request[0]);
    MPI_Wait(&request[0], &status);
    CHECK(request[0] == MPI_REQUEST_NULL);
    MPI_Win_flush(target, win);
    MPI_Rget_c(back, n, MPI_LONG, target, 0, n, MPI_LONG, win, &request[1]);
    MPI_Wait(&request[1], &status);
    CHECK_BYTES(back, bytes, check_rank);
    for (int i = 0; i < n; i++)
        sum[i] = i, old[i] = -7;
    MPI_Raccumulate(sum, n, MPI_LONG, target, n, n, MPI_LONG, MPI_SUM, win, &request[0]);
    MPI_Raccumulate_c(sum, n, MPI_LONG, target, n, n, MPI_LONG, MPI_SUM, win, &request[1]);
    MPI_Rget_accumulate(sum, n, MPI_LONG, old, n, MPI_LONG, target, n, n, MPI_LONG, MPI_SUM, win, &request[2]);
    MPI_Rget_accumulate_c(NULL, 0, MPI_LONG, back, n, MPI_LONG, target, n, n, MPI_LONG, MPI_NO_OP, win, &request[3]);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        if (old[i] != 2 * i || back[i] != 3 * i) {
            CHECK_EQ(old[i], 2 * i);
            CHECK_EQ(back[i], 3 * i);
            break;
        }
    MPI_Rput_c(from, n, MPI_LONG, MPI_PROC_NULL, 0, n, MPI_LONG, win, &request[0]);
    MPI_Rget(back, 0, MPI_LONG, target, 0, 0, MPI_LONG, win, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Rput(from, n, MPI_LONG, target, 0, n, MPI_LONG, win, &request[0]);
    for (int done = 0; !done;)
        MPI_Test(&request[0], &done, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    CHECK_BYTES(memory, bytes, origin);
    MPI_Win_unlock(check_rank, win);
    MPI_Win_free(&win);
    free(from), free(back), free(old), free(sum);
}

/* A process that looks at its own memory until another one has written there, and calls nothing but a flush or MPI_Win_sync. */
static void looking(int how)
{
    int next = (check_rank + 1) % check_ranks;
    long value = 7;
    make(1);
    MPI_Win_lock_all(0, win);
    if (check_rank == 0)
        MPI_Put(&value, 1, MPI_LONG, next, 0, 1, MPI_LONG, win), MPI_Win_flush(next, win);
    while (((volatile long *)memory)[0] != 7)
        if (how == 0)
            MPI_Win_sync(win);
        else if (how == 1)
            MPI_Win_flush(check_rank, win);
        else
            MPI_Win_flush_local_all(win);
    if (check_rank != 0)
        MPI_Put(&value, 1, MPI_LONG, next, 0, 1, MPI_LONG, win), MPI_Win_flush(next, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* Many accesses without a flush, and a rank that makes no call while they come. */
static void many(void)
{
    long one = 1;
    make(1);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int i = 0; i < 2000; i++)
        MPI_Accumulate(&one, 1, MPI_LONG, i % check_ranks, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    long want = 0;
    for (int i = 0; i < 2000; i++)
        want += i % check_ranks == check_rank;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
    CHECK_EQ(memory[0], want * check_ranks);
    MPI_Win_unlock(check_rank, win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "rma_passive");
    exclusive(0);
    shared();
    lock_all(0);
    lock_all(MPI_MODE_NOCHECK);
    order();
    requests(1);
    requests(LONG);
    many();
    for (int how = 0; how < 3; how++)
        looking(how);
    return finish();
}

// covers: MPI_Fetch_and_op MPI_Compare_and_swap MPI_Accumulate MPI_Win_flush MPI_Win_lock
// ranks: 1 2 4
/*
 * Atomicity, with threads of all ranks at the same elements: every fetched value is another one, none is lost, a lock made of
 * compare and swap excludes. MPI 5.0 sections 12.6 and 12.7.1.
 */
#include "threads.h"

enum { ROUNDS = 150 };

static MPI_Win win, own[THREADS];
static long *memory, *seen[THREADS];

/* The counter at element 0, the lock at 1, what it guards at 2. */
static void fetch(int thread)
{
    long one = 1;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Fetch_and_op(&one, &seen[thread][i], MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
    }
}

static void swap(int thread)
{
    long zero = 0, mine = 1 + check_rank * THREADS + thread, old;
    for (int i = 0; i < ROUNDS / 10; i++) {
        do {
            MPI_Compare_and_swap(&mine, &zero, &old, MPI_LONG, check_ranks - 1, 1, win);
            MPI_Win_flush(check_ranks - 1, win);
        } while (old != 0);
        long value = -1;
        MPI_Get(&value, 1, MPI_LONG, check_ranks - 1, 2, 1, MPI_LONG, win);
        MPI_Win_flush(check_ranks - 1, win);
        value++;
        MPI_Put(&value, 1, MPI_LONG, check_ranks - 1, 2, 1, MPI_LONG, win);
        MPI_Win_flush(check_ranks - 1, win);
        MPI_Compare_and_swap(&zero, &mine, &old, MPI_LONG, check_ranks - 1, 1, win);
        MPI_Win_flush(check_ranks - 1, win);
        if (old != mine)
            CHECK_EQ(old, mine);
    }
}

/* Sums of both kinds of functions at one element. */
static void add(int thread)
{
    long one = 1, old;
    for (int i = 0; i < ROUNDS; i++) {
        int target = (check_rank + thread + i) % check_ranks;
        if (i % 2)
            MPI_Accumulate(&one, 1, MPI_LONG, target, 3, 1, MPI_LONG, MPI_SUM, win);
        else {
            MPI_Get_accumulate(&one, 1, MPI_LONG, &old, 1, MPI_LONG, target, 3, 1, MPI_LONG, MPI_SUM, win);
            MPI_Win_flush_local(target, win);
        }
    }
}

/* Every thread has a window of its own, with locks. */
static void alone(int thread)
{
    long value;
    for (int i = 0; i < ROUNDS / 5; i++) {
        int target = i % check_ranks;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, own[thread]);
        MPI_Get(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, own[thread]);
        MPI_Win_flush(target, own[thread]);
        value++;
        MPI_Put(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, own[thread]);
        MPI_Win_unlock(target, own[thread]);
    }
}

static void *work(void *number)
{
    int thread = (int)(size_t)number;
    fetch(thread);
    swap(thread);
    add(thread);
    alone(thread);
    return NULL;
}

static void counted(void)
{
    int many = check_ranks * THREADS * ROUNDS;
    int *times = check_alloc(sizeof(int) * (size_t)many);
    memset(times, 0, sizeof(int) * (size_t)many);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < ROUNDS; i++) {
            CHECK(seen[t][i] >= 0 && seen[t][i] < many);
            if (seen[t][i] >= 0 && seen[t][i] < many)
                times[seen[t][i]]++;
        }
    MPI_Allreduce(MPI_IN_PLACE, times, many, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < many; i++)
        if (times[i] != 1) {
            CHECK_MSG(0, "value %d was fetched %d times", i, times[i]);
            break;
        }
    free(times);
}

int main(int argc, char **argv)
{
    int level;
    long *parts[THREADS], sum = 0, want;
    check_name = "rma_threads";
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_ranks);
    CHECK_EQ(level, MPI_THREAD_MULTIPLE);
    for (int created = 0; created < 2; created++) {
        memory = check_alloc(6 * sizeof(long));
        if (created)
            MPI_Win_create(memory, 6 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        else {
            free(memory);
            MPI_Win_allocate(6 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        }
        memset(memory, 0, 6 * sizeof(long));
        for (int t = 0; t < THREADS; t++) {
            MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &parts[t], &own[t]);
            *parts[t] = 0;
            seen[t] = check_alloc(sizeof(long) * ROUNDS);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock_all(0, win);
        pthread_t threads[THREADS];
        for (size_t t = 0; t < THREADS; t++)
            pthread_create(&threads[t], NULL, work, (void *)t);
        for (int t = 0; t < THREADS; t++)
            pthread_join(threads[t], NULL);
        MPI_Win_unlock_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
        counted();
        if (check_rank == 0)
            CHECK_EQ(memory[0], check_ranks * THREADS * ROUNDS);
        if (check_rank == check_ranks - 1)
            CHECK_EQ(memory[2], check_ranks * THREADS * (ROUNDS / 10));
        MPI_Allreduce(&memory[3], &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(sum, check_ranks * THREADS * ROUNDS);
        for (int t = 0; t < THREADS; t++) {
            want = 0;
            for (int i = 0; i < ROUNDS / 5; i++)
                want += i % check_ranks == check_rank;
            MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, own[t]);
            CHECK_EQ(*parts[t], want * check_ranks);
            MPI_Win_unlock(check_rank, own[t]);
            MPI_Win_free(&own[t]);
            free(seen[t]);
        }
        MPI_Win_free(&win);
        if (created)
            free(memory);
    }
    return finish();
}

// covers: MPI_Win_start MPI_Win_complete MPI_Win_post MPI_Win_wait MPI_Win_test
// ranks: 1 2 3 6
/*
 * Epochs of groups: a ring, one target with all others, both at the same time, windows that overlap in time, and epochs that
 * follow each other without a barrier. MPI 5.0 section 12.5.2.
 */
#include "check.h"

enum { ROUNDS = 30, LONG = 5000 };

static MPI_Group world;

static MPI_Group of(int rank)
{
    MPI_Group group;
    MPI_Group_incl(world, 1, &rank, &group);
    return group;
}

static void wait_or_test(MPI_Win win, int round)
{
    int done = 0;
    if (round % 2)
        while (!done)
            MPI_Win_test(win, &done);
    else
        MPI_Win_wait(win);
}

/* Every rank is an origin of the next one and a target of the previous one. */
static void ring(int n)
{
    int next = (check_rank + 1) % check_ranks, previous = (check_rank + check_ranks - 1) % check_ranks;
    size_t bytes = sizeof(int) * (size_t)n;
    int *memory = check_alloc(bytes), *from = check_alloc(bytes), *got = check_alloc(bytes);
    MPI_Group targets = of(next), origins = of(previous);
    MPI_Win win;
    MPI_Win_create(memory, (MPI_Aint)bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int round = 0; round < ROUNDS; round++) {
        fill(memory, bytes, 3 * check_rank + round);
        fill(from, bytes, 1000 + check_rank + round);
        MPI_Win_post(origins, 0, win);
        MPI_Win_start(targets, 0, win);
        if (round % 3 == 0)
            MPI_Get(got, n, MPI_INT, next, 0, n, MPI_INT, win);
        else
            MPI_Put(from, n, MPI_INT, next, 0, n, MPI_INT, win);
        MPI_Win_complete(win);
        wait_or_test(win, round);
        if (round % 3 == 0)
            CHECK_BYTES(got, bytes, 3 * next + round);
        CHECK_BYTES(memory, bytes, round % 3 ? 1000 + previous + round : 3 * check_rank + round);
    }
    MPI_Win_free(&win);
    MPI_Group_free(&targets), MPI_Group_free(&origins);
    free(memory), free(from), free(got);
}

/* All others add to the memory of one, which changes from round to round; nobody waits for a barrier. */
static void star(void)
{
    long memory = 0, one = 1;
    MPI_Win win;
    MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int round = 0; round < ROUNDS; round++) {
        int target = round % check_ranks;
        MPI_Group alone = of(target), others;
        MPI_Group_excl(world, 1, &target, &others);
        if (check_rank == target) {
            MPI_Win_post(others, 0, win);
            wait_or_test(win, round);
            CHECK_EQ(memory, (check_ranks - 1) * (round / check_ranks + 1));
        } else {
            MPI_Win_start(alone, 0, win);
            MPI_Accumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, win);
            MPI_Win_complete(win);
        }
        MPI_Group_free(&alone), MPI_Group_free(&others);
    }
    MPI_Win_free(&win);
}

/* An origin that is several epochs ahead of another one; empty epochs; MPI_Win_test that says no first. */
static void ahead(void)
{
    int memory[4] = {0, 0, 0, 0}, flag = 1, value = 5;
    MPI_Win win[2];
    for (int i = 0; i < 2; i++)
        MPI_Win_create(&memory[2 * i], 2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win[i]);
    MPI_Win_start(MPI_GROUP_EMPTY, 0, win[0]);
    MPI_Win_complete(win[0]);
    MPI_Win_post(MPI_GROUP_EMPTY, 0, win[0]);
    MPI_Win_test(win[0], &flag);
    CHECK_EQ(flag, 1);
    if (check_ranks > 1 && check_rank < 2) {
        MPI_Group peer = of(1 - check_rank);
        if (check_rank == 0) {
            MPI_Win_post(peer, 0, win[0]);
            MPI_Win_test(win[0], &flag);
            CHECK_EQ(flag, 0);
            MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
            MPI_Win_start(peer, 0, win[1]);
            MPI_Put(&value, 1, MPI_INT, 1, 1, 1, MPI_INT, win[1]);
            MPI_Win_complete(win[1]);
            MPI_Win_wait(win[0]);
            CHECK_EQ(memory[0], 5);
        } else {
            MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Win_start(peer, 0, win[0]);
            MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win[0]);
            MPI_Win_post(peer, MPI_MODE_NOSTORE, win[1]);
            MPI_Win_complete(win[0]);
            MPI_Win_wait(win[1]);
            CHECK_EQ(memory[3], 5);
        }
        MPI_Group_free(&peer);
    }
    MPI_Win_free(&win[1]);
    MPI_Win_free(&win[0]);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "rma_groups");
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    ring(1);
    ring(LONG);
    star();
    ahead();
    MPI_Group_free(&world);
    return finish();
}

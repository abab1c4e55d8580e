// covers: MPI_Win_allocate MPI_Put MPI_Put_c MPI_Get MPI_Rput MPI_Rget MPI_Win_lock MPI_Win_lock_all MPI_Win_flush MPI_Fetch_and_op MPI_Win_shared_query MPI_Win_shared_query_c
// ranks: 1 2 4
// seconds: 60
/*
 * A window of MPI_Win_allocate over several nodes (tier nodes runs this so): processes of a node reach each other's memory while its
 * owner computes, locks keep the others out whichever way data travels, and accumulates of all nodes are atomic.
 */
#include "check.h"
#include <unistd.h>

enum { LONG = 40000, ROUNDS = 40 };

static MPI_Win win;
static long *memory;
static MPI_Comm node;
static int place, here, *world; /* rank and number of ranks of the node, and which ranks they are */

static void find_node(void)
{
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &place);
    MPI_Comm_size(node, &here);
    world = check_alloc(sizeof(int) * (size_t)here);
    MPI_Allgather(&check_rank, 1, MPI_INT, world, 1, MPI_INT, node);
}

/* A neighbour's memory, as the program sees it: mapped for processes of the node, and not for others. */
static void query(void)
{
    long *theirs, *same;
    MPI_Aint size, large_size, large_unit;
    int unit;
    memory[0] = 1000 + check_rank;
    MPI_Win_fence(0, win);
    for (int rank = 0, near = 0; rank < check_ranks; rank++) {
        MPI_Win_shared_query(win, rank, &size, &unit, &theirs);
        MPI_Win_shared_query_c(win, rank, &large_size, &large_unit, &same);
        CHECK(size == large_size && unit == large_unit && theirs == same);
        if (near < here && world[near] == rank) {
            near++;
            CHECK(size == LONG * sizeof(long) && theirs != NULL && theirs[0] == 1000 + rank);
        } else
            CHECK(size == 0 && theirs == NULL);
    }
    MPI_Win_fence(0, win);
    memory[0] = 0;
    MPI_Win_fence(0, win);
}

/* Puts to a neighbour that makes no call of MPI until they are there. */
static void computes(void)
{
    int next = world[(place + 1) % here];
    MPI_Request request;
    MPI_Win_lock_all(0, win);
    /* All know now that they have the locks. */
    MPI_Put(&(long){0}, 1, MPI_LONG, next, 1, 1, MPI_LONG, win);
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long round = 1; here > 1 && round <= 3; round++) {
        if (place != 0) {
            volatile long *word = memory + 1;
            double end = MPI_Wtime() + 20;
            while (*word < round && MPI_Wtime() < end)
                usleep(10);
            CHECK_EQ(*word, round);
        }
        if (round == 3) {
            MPI_Rput(&round, 1, MPI_LONG, next, 1, 1, MPI_LONG, win, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else
            MPI_Put(&round, 1, MPI_LONG, next, 1, 1, MPI_LONG, win);
        MPI_Win_flush(next, win);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int round = 1; here == 1 && round <= 3; round++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
}

/* What is read under a lock is what one rank wrote; every length goes its own way. */
static void locks(int elements)
{
    static long copy[LONG];
    int torn = 0;
    MPI_Win_fence(0, win);
    memset(memory, 0, LONG * sizeof(long));
    MPI_Win_fence(0, win);
    for (int round = 0; round < ROUNDS; round++) {
        int target = round % 2 ? 0 : check_ranks - 1;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        MPI_Get(copy, elements, MPI_LONG, target, 0, elements, MPI_LONG, win);
        MPI_Win_flush(target, win);
        long first = copy[0];
        for (int i = 0; i < elements; i++) {
            torn += copy[i] != first;
            copy[i] = first + 1;
        }
        MPI_Put(copy, elements, MPI_LONG, target, 0, elements, MPI_LONG, win);
        MPI_Win_unlock(target, win);
    }
    CHECK_EQ(torn, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    long expected = check_ranks == 1 ? ROUNDS : check_rank == 0 || check_rank == check_ranks - 1 ? ROUNDS / 2 * check_ranks : 0;
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    CHECK_EQ(memory[0], expected);
    CHECK_EQ(memory[elements - 1], expected);
    MPI_Win_unlock(check_rank, win);
}

/* Short puts, each with a lock of its own, and a get without a flush in between. */
static void one_by_one(void)
{
    MPI_Win_fence(0, win);
    memset(memory, 0, LONG * sizeof(long));
    MPI_Win_fence(0, win);
    for (long round = 1; round <= ROUNDS; round++)
        for (int target = 0; target < check_ranks; target++) {
            long seen = -1;
            MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
            MPI_Put_c(&round, 1, MPI_LONG, target, check_rank, 1, MPI_LONG, win);
            MPI_Win_unlock(target, win);
            MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
            MPI_Get(&seen, 1, MPI_LONG, target, check_rank, 1, MPI_LONG, win);
            MPI_Win_unlock(target, win);
            if (seen != round)
                CHECK_EQ(seen, round);
        }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void counts(void)
{
    MPI_Win_fence(0, win);
    memory[0] = 0;
    MPI_Win_fence(0, win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 10 * ROUNDS; i++) {
        long one = 1, old = -1, seen;
        MPI_Request request;
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Rget(&seen, 1, MPI_LONG, 0, LONG - 1, 1, MPI_LONG, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Win_flush(0, win);
        if (old < i || old >= 10 * ROUNDS * check_ranks)
            CHECK_EQ(old, i);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    CHECK_EQ(memory[0], check_rank == 0 ? 10 * ROUNDS * check_ranks : 0);
    MPI_Win_unlock(check_rank, win);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "rma_nodes");
    find_node();
    CHECK_CLASS(MPI_Win_allocate(LONG * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win),
                MPI_SUCCESS);
    query();
    computes();
    locks(7);
    locks(300);
    locks(LONG);
    one_by_one();
    counts();
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
    free(world);
    return finish();
}

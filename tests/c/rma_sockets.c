// covers: MPI_Win_allocate_shared MPI_Win_allocate MPI_Win_create MPI_Win_shared_query MPI_Comm_split_type MPI_Win_lock MPI_Win_start MPI_Win_wait
// ranks: 1 2 4
/*
 * The processes of a node share memory for windows whatever transport carries their messages: here sockets only. Windows of other memory
 * work by messages. MPI 5.0 sections 7.4.2 and 12.2.3.
 */
#define _GNU_SOURCE
#include "check.h"

static void shared(MPI_Comm node)
{
    int rank, ranks, unit;
    long *base, *theirs;
    MPI_Aint size;
    MPI_Win win;
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &ranks);
    CHECK_CLASS(MPI_Win_allocate_shared(4 * sizeof(long), sizeof(long), MPI_INFO_NULL, node, &base, &win), MPI_SUCCESS);
    if (win == MPI_WIN_NULL)
        return;
    for (int i = 0; i < 4; i++)
        base[i] = rank * 10 + i;
    MPI_Win_fence(0, win);
    for (int other = 0; other < ranks; other++) {
        MPI_Win_shared_query(win, other, &size, &unit, &theirs);
        CHECK(size == 4 * sizeof(long) && theirs[3] == other * 10 + 3);
    }
    MPI_Win_fence(0, win);
    for (int i = 0; i < 20; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Win_shared_query(win, 0, &size, &unit, &theirs);
        theirs[0]++;
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(node);
    if (rank == 0)
        CHECK_EQ(base[0], 20 * ranks);
    MPI_Win_free(&win);
}

static void messages(void)
{
    enum { MANY = 100000 };
    static long memory[MANY], values[MANY], old[MANY];
    int next = (check_rank + 1) % check_ranks, previous = (check_rank + check_ranks - 1) % check_ranks;
    MPI_Group all, to, from;
    MPI_Win win;
    for (int i = 0; i < MANY; i++)
        values[i] = check_rank + i, memory[i] = -1;
    MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
    for (int i = 0; i < 1000; i++)
        MPI_Put(values + i, 1, MPI_LONG, next, i, 1, MPI_LONG, win);
    MPI_Put(values + 1000, MANY - 1000, MPI_LONG, next, 1000, MANY - 1000, MPI_LONG, win);
    MPI_Win_unlock(next, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++)
        if (memory[i] != previous + i) {
            CHECK_EQ(memory[i], previous + i);
            break;
        }
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &next, &to);
    MPI_Group_incl(all, 1, &previous, &from);
    MPI_Win_post(from, 0, win);
    MPI_Win_start(to, 0, win);
    MPI_Get(old, MANY, MPI_LONG, next, 0, MANY, MPI_LONG, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    CHECK(old[0] == check_rank && old[MANY - 1] == check_rank + MANY - 1);
    MPI_Group_free(&all), MPI_Group_free(&to), MPI_Group_free(&from);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Comm node;
    check_name = "rma_sockets";
    setenv("OMPI_MCA_btl", "tcp,self", 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
    shared(node);
    messages();
    MPI_Comm_free(&node);
    return finish();
}

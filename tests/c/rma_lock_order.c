// covers: MPI_Win_lock MPI_Win_unlock MPI_Init_thread
// ranks: 2
// args: am
// args: sm,cma
// seconds: 60
/*
 * Each thread takes its locks in the order in which it asks for them, whatever other threads of its process ask for. Rank 1 holds the lock
 * of its memory in the first window. A thread of rank 0 asks for that one, another thread for one that is free, then the first thread for
 * one in a third window, which it must not get before the first. So rank 1 gets that one, and gives both back. Meanwhile the other thread goes on.
 * MPI 5.0 sections 11.6 and 12.5.3. The argument: the components of framework osc that may serve.
 */
#include "threads.h"

static MPI_Win win[3];
static pthread_barrier_t begun;

static long get_of_1(MPI_Win from)
{
    long value = -1;
    MPI_Get(&value, 1, MPI_LONG, 1, 0, 1, MPI_LONG, from);
    MPI_Win_flush(1, from);
    return value;
}

static void *two_in_order(void *none)
{
    (void)none;
    pthread_barrier_wait(&begun);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win[0]);
    /* The other thread wants its first lock meanwhile. Where it does not, this finds less. */
    usleep(200000);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win[2]);
    CHECK_EQ(get_of_1(win[0]), 10);
    CHECK_EQ(get_of_1(win[2]), 12);
    MPI_Win_unlock(1, win[2]);
    MPI_Win_unlock(1, win[0]);
    return NULL;
}

/* Nobody else wants it: rank 1 lets the other thread have its locks when it has heard of this. By then that one has asked for both. */
static void *one(void *none)
{
    int done = 1;
    (void)none;
    pthread_barrier_wait(&begun);
    usleep(100000);
    for (int i = 0; i < 2; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win[1]);
        CHECK_EQ(get_of_1(win[1]), 11);
        MPI_Win_unlock(1, win[1]);
    }
    usleep(300000);
    MPI_Send(&done, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    return NULL;
}

static void both(void)
{
    pthread_t ids[2];
    pthread_barrier_init(&begun, NULL, 2);
    if (pthread_create(&ids[0], NULL, two_in_order, NULL) != 0 || pthread_create(&ids[1], NULL, one, NULL) != 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int t = 0; t < 2; t++)
        pthread_join(ids[t], NULL);
    pthread_barrier_destroy(&begun);
}

static void holder(void)
{
    int done = 0;
    MPI_Recv(&done, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win[2]);
    MPI_Win_unlock(1, win[2]);
    MPI_Win_unlock(1, win[0]);
}

int main(int argc, char **argv)
{
    static long memory[3] = {10, 11, 12};
    if (argc > 1)
        setenv("OMPI_MCA_osc", argv[1], 1);
    start_threads_multiple(&argc, &argv, "rma_lock_order");
    for (int i = 0; i < 3; i++)
        MPI_Win_create(&memory[i], sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win[i]);
    if (check_rank == 1)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        both();
    else
        holder();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        MPI_Win_free(&win[i]);
    return finish();
}

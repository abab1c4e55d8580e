// covers: MPI_Put MPI_Fetch_and_op MPI_Win_flush MPI_Win_lock MPI_Win_unlock MPI_Win_create MPI_Win_free
// ranks: 2 3
// args: self,tcp
// args: self,sm
// seconds: 60
/*
 * `osc_am_progress`: accesses by messages to ranks that compute outside MPI are done all the same, also while a rank takes part in
 * messages of its own. The library's thread calls no function of the program's, and is no more when the last window is. The argument is the transports.
 */
#define _GNU_SOURCE
#include "check.h"
#include "thread_count.h"
#include <unistd.h>

/* Computes until the word is there: no call of MPI but MPI_Wtime, which looks at a clock. */
static int comes(volatile long *word, long wanted)
{
    for (double end = MPI_Wtime() + 20; *word < wanted && MPI_Wtime() < end;)
        ;
    return *word >= wanted;
}

static pid_t program; /* the thread that the program knows */
static int calls, elsewhere;

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    calls++;
    elsewhere += gettid() != program;
    for (int i = 0; i < *count; i++)
        ((long *)inout)[i] += ((long *)in)[i];
}

/* Functions of the program's run in its own threads, though what they wait for arrives while it computes. */
static void own_functions(void)
{
    MPI_Op op;
    program = gettid();
    MPI_Op_create(add, 0, &op);
    for (long round = 0; round < 10; round++) {
        long mine = check_rank + round, sum = -1;
        MPI_Request request;
        MPI_Iallreduce(&mine, &sum, 1, MPI_LONG, op, MPI_COMM_WORLD, &request);
        usleep(8000);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK_EQ(sum, check_ranks * round + check_ranks * (check_ranks - 1) / 2);
    }
    /* Some ranks may leave all of it to others. */
    int all = 0;
    MPI_Allreduce(&calls, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all > 0);
    CHECK_EQ(elsewhere, 0);
    MPI_Op_free(&op);
}

int main(int argc, char **argv)
{
    setenv("OMPI_MCA_osc", "am", 1);
    setenv("OMPI_MCA_osc_am_progress", "2000", 1);
    setenv("OMPI_MCA_btl", argc > 1 ? argv[1] : "self,tcp", 1);
    start(&argc, &argv, "rma_progress");
    int before = thread_count(), next = (check_rank + 1) % check_ranks;
    static long memory[1000], many[1000];
    MPI_Win win, other;
    CHECK_CLASS(MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_create(many, sizeof many, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &other), MPI_SUCCESS);
    CHECK_EQ(thread_count(), before + 1);
    for (long round = 1; round <= 20; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank != 0) {
            /* The second value comes only when the first put was flushed, while this rank is still outside. */
            CHECK(comes(memory + check_rank, 2 * round - 1));
            CHECK(comes(memory + check_rank, 2 * round));
            continue;
        }
        for (int turn = 1; turn >= 0; turn--)
            for (int target = 1; target < check_ranks; target++) {
                long value = 2 * round - turn, one = 1, old = -1;
                MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
                MPI_Fetch_and_op(&one, &old, MPI_LONG, target, 0, MPI_SUM, win);
                MPI_Win_flush(target, win);
                CHECK_EQ(old, 2 * round - turn - 1);
                MPI_Put(&value, 1, MPI_LONG, target, target, 1, MPI_LONG, win);
                MPI_Win_unlock(target, win);
            }
    }
    own_functions();
    /* The thread and the program at the same time. */
    MPI_Win_lock_all(0, other);
    for (int i = 0; i < 300; i++) {
        long one = 1, sent = i, got = -1;
        MPI_Accumulate(&one, 1, MPI_LONG, i % check_ranks, i, 1, MPI_LONG, MPI_SUM, other);
        MPI_Sendrecv(&sent, 1, MPI_LONG, next, i, &got, 1, MPI_LONG, (check_rank + check_ranks - 1) % check_ranks, i,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (got != i)
            CHECK_EQ(got, i);
        if (i % 50 == 0)
            usleep(3000);
    }
    MPI_Win_unlock_all(other);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 300; i++)
        if (many[i] != (i % check_ranks == check_rank ? check_ranks : 0))
            CHECK_EQ(many[i], i % check_ranks == check_rank ? check_ranks : 0);
    MPI_Win_free(&win);
    CHECK_EQ(thread_count(), before + 1);
    MPI_Win_free(&other);
    /* The system lists a thread for a moment after it was joined. */
    for (int i = 0; i < 5000 && thread_count() != before; i++)
        usleep(1000);
    CHECK_EQ(thread_count(), before);
    return finish();
}

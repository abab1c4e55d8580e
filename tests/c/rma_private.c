// covers: MPI_Win_create MPI_Win_create_dynamic MPI_Win_attach MPI_Win_detach MPI_Put MPI_Get MPI_Accumulate MPI_Get_accumulate MPI_Fetch_and_op MPI_Compare_and_swap
// ranks: 1 2 3 5
// args: cma
// args: refuse
// args: fallback
// seconds: 60
/*
 * Windows over private memory of the processes of a node, MPI 5.0 sections 12.2.1 and 12.2.4, by copies of the system: a target need
 * not be inside MPI for an access to happen. `refuse`: the system refuses such copies (a seccomp filter), and the component serves no
 * window. `fallback`: likewise, and another component serves all of it.
 */
#define _GNU_SOURCE
#include "check.h"
#include "refuse.h"
#include <sys/uio.h>
#include <unistd.h>

enum { PIECES = 300, LONG = 200000, ROUNDS = 200 };

static int next, before, outside;

/* Waits for a word outside of MPI, where the other ranks can change it all the same. */
static int comes(volatile long *word, long wanted)
{
    for (double end = MPI_Wtime() + 10; *word != wanted && MPI_Wtime() < end;)
        usleep(100);
    return *word == wanted;
}

static MPI_Win made(void *memory, size_t bytes, int unit)
{
    MPI_Win win = MPI_WIN_NULL;
    CHECK_CLASS(MPI_Win_create(memory, (MPI_Aint)bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_SUCCESS);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    return win;
}

static void no_calls(void)
{
    long *memory = check_alloc(sizeof(long) * 8), token = 100 + check_rank, one = 5, old = -1;
    memset(memory, 0, sizeof(long) * 8);
    MPI_Win win = made(memory + 1, sizeof(long) * 7, sizeof(long));
    MPI_Win_lock_all(0, win);
    MPI_Put(&token, 1, MPI_LONG, next, 1, 1, MPI_LONG, win);
    MPI_Accumulate(&one, 1, MPI_LONG, next, 2, 1, MPI_LONG, MPI_SUM, win);
    MPI_Fetch_and_op(&one, &old, MPI_LONG, next, 2, MPI_SUM, win);
    MPI_Win_flush(next, win);
    CHECK_EQ(old, 5);
    MPI_Compare_and_swap(&token, &(long){10}, &old, MPI_LONG, next, 2, win);
    MPI_Win_flush(next, win);
    CHECK_EQ(old, 10);
    if (outside) {
        CHECK(comes(memory + 2, 100 + before));
        CHECK(comes(memory + 3, 100 + before));
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(memory[2], 100 + before);
    CHECK_EQ(memory[3], 100 + before);
    MPI_Win_free(&win);
    free(memory);
}

/* Every third element there, every second one here, more of them than one call of the system takes, and than one portion. */
static void gaps(int count)
{
    int *memory = check_alloc(sizeof(int) * 3 * (size_t)count), *here = check_alloc(sizeof(int) * 2 * (size_t)count);
    int *back = check_alloc(sizeof(int) * 2 * (size_t)count);
    MPI_Datatype third, second;
    MPI_Type_vector(count, 1, 3, MPI_INT, &third);
    MPI_Type_vector(count, 1, 2, MPI_INT, &second);
    MPI_Type_commit(&third), MPI_Type_commit(&second);
    for (int i = 0; i < 3 * count; i++)
        memory[i] = -1;
    for (int i = 0; i < 2 * count; i++)
        here[i] = check_rank * 7 + i, back[i] = -2;
    MPI_Win win = made(memory, sizeof(int) * 3 * (size_t)count, sizeof(int));
    MPI_Win_fence(0, win);
    MPI_Put(here, 1, second, next, 0, 1, third, win);
    MPI_Win_fence(0, win);
    for (int i = 0, wrong = 0; i < 3 * count && wrong < 3; i++)
        if (memory[i] != (i % 3 || i / 3 >= count ? -1 : before * 7 + i / 3 * 2)) {
            CHECK_MSG(0, "element %d of %d is %d", i, count, memory[i]);
            wrong++;
        }
    MPI_Win_fence(0, win);
    MPI_Accumulate(here, 1, second, next, 0, 1, third, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Get(back, 1, second, next, 0, 1, third, win);
    MPI_Win_fence(0, win);
    for (int i = 0, wrong = 0; i < 2 * count && wrong < 3; i++)
        if (back[i] != (i % 2 || i / 2 >= count ? -2 : 2 * (check_rank * 7 + i))) {
            CHECK_MSG(0, "element %d of %d came back as %d", i, count, back[i]);
            wrong++;
        }
    MPI_Win_free(&win);
    MPI_Type_free(&third), MPI_Type_free(&second);
    free(memory), free(here), free(back);
}

/* A type whose elements have gaps of their own. */
static void pairs(void)
{
    struct pair {
        double value;
        int rank;
    } memory[3] = {{9e9, -1}, {9e9, -1}, {9e9, -1}}, mine = {100.0 - check_rank, check_rank}, old = {0, 0};
    MPI_Win win = made(memory, sizeof memory, sizeof memory[0]);
    MPI_Win_fence(0, win);
    for (int target = 0; target < check_ranks; target++)
        MPI_Accumulate(&mine, 1, MPI_DOUBLE_INT, target, 1, 1, MPI_DOUBLE_INT, MPI_MINLOC, win);
    MPI_Win_fence(0, win);
    MPI_Get_accumulate(NULL, 0, MPI_DOUBLE_INT, &old, 1, MPI_DOUBLE_INT, next, 1, 1, MPI_DOUBLE_INT, MPI_NO_OP, win);
    MPI_Win_fence(0, win);
    CHECK(old.value == 101.0 - check_ranks && old.rank == check_ranks - 1);
    CHECK(memory[0].rank == -1 && memory[2].rank == -1 && memory[1].rank == check_ranks - 1);
    MPI_Win_free(&win);
}

/* Accumulates of all ranks, the owner's among them, and a counter under an exclusive lock. */
static void together(void)
{
    long *memory = check_alloc(2 * sizeof(long)), one = 1, old, sum = 0, all = 0;
    memory[0] = memory[1] = 0;
    MPI_Win win = made(memory, 2 * sizeof(long), sizeof(long));
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        sum += old;
    }
    MPI_Win_unlock_all(win);
    for (int i = 0; i < ROUNDS / 10; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&old, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        old++;
        MPI_Put(&old, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    long n = (long)ROUNDS * check_ranks;
    CHECK_EQ(all, n * (n - 1) / 2);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    if (check_rank == 0) {
        CHECK_EQ(memory[0], n);
        CHECK_EQ(memory[1], (long)ROUNDS / 10 * check_ranks);
    }
    MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
    free(memory);
}

/* The class of a put and the flush after it: one of them tells what went wrong. */
static int put(MPI_Win win, const long *from, int count, MPI_Aint at)
{
    int putting = MPI_Put(from, count, MPI_LONG, next, at, count, MPI_LONG, win);
    int flushing = MPI_Win_flush(next, win);
    return error_class(putting != MPI_SUCCESS ? putting : flushing);
}

static void attached(void)
{
    long *memory = check_alloc(sizeof(long) * 3 * PIECES), from[4] = {1, 2, 3, 4};
    MPI_Aint mine, theirs;
    MPI_Win win;
    memset(memory, 0, sizeof(long) * 3 * PIECES);
    CHECK_CLASS(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_SUCCESS);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Get_address(memory, &mine);
    MPI_Sendrecv(&mine, 1, MPI_AINT, before, 0, &theirs, 1, MPI_AINT, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_lock_all(0, win);
    CHECK_EQ(put(win, from, 1, theirs), MPI_ERR_RMA_RANGE);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < PIECES; i++)
        CHECK_CLASS(MPI_Win_attach(win, memory + 3 * i, 2 * sizeof(long)), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_attach(win, memory + 1, sizeof(long)), MPI_ERR_RMA_ATTACH);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < PIECES; i++)
        CHECK_EQ(put(win, from, 2, theirs + 3 * i * (MPI_Aint)sizeof(long)), MPI_SUCCESS);
    CHECK_EQ(put(win, from, 3, theirs), MPI_ERR_RMA_RANGE);
    CHECK_EQ(put(win, from, 1, theirs - (MPI_Aint)sizeof(long)), MPI_ERR_RMA_RANGE);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(memory[3 * PIECES - 3] == 1 && memory[3 * PIECES - 2] == 2 && memory[2] == 0);
    /* The gap is closed, and what was the first piece goes. */
    CHECK_CLASS(MPI_Win_attach(win, memory + 5, sizeof(long)), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_detach(win, memory), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_detach(win, memory), MPI_ERR_BASE);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(put(win, from, 4, theirs + 3 * (MPI_Aint)sizeof(long)), MPI_SUCCESS);
    CHECK_EQ(put(win, from, 1, theirs), MPI_ERR_RMA_RANGE);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(memory[3] == 1 && memory[4] == 2 && memory[5] == 3 && memory[6] == 4 && memory[7] == 2);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(memory);
}

/* Whether the system copies between these processes: then the component must serve them. */
static int copies(void)
{
    long mine[2] = {(long)getpid(), (long)(size_t)mine}, theirs[2], got = 0;
    MPI_Sendrecv(mine, 2, MPI_LONG, before, 0, theirs, 2, MPI_LONG, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    struct iovec here = {&got, sizeof got}, there = {(void *)theirs[1], sizeof got};
    int works = process_vm_readv((pid_t)theirs[0], &here, 1, &there, 1, 0) == (ssize_t)sizeof got && got == theirs[0];
    MPI_Allreduce(MPI_IN_PLACE, &works, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return works;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "cma";
    int refused = strcmp(how, "cma") != 0;
    if (strcmp(how, "fallback") != 0)
        setenv("OMPI_MCA_osc", "cma", 1);
    if (refused)
        refuse_copies(1, 1);
    start(&argc, &argv, "rma_private");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    next = (check_rank + 1) % check_ranks;
    before = (check_rank + check_ranks - 1) % check_ranks;
    if (check_ranks > 1 && strcmp(how, "fallback") != 0 && !copies()) {
        long memory;
        MPI_Win win;
        CHECK_CLASS(MPI_Win_create(&memory, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_UNSUPPORTED_OPERATION);
        CHECK_CLASS(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_UNSUPPORTED_OPERATION);
        return finish();
    }
    outside = !refused;
    for (int round = 0; round < 3; round++) {
        no_calls();
        gaps(1), gaps(PIECES), gaps(round == 1 ? LONG : 65);
        pairs();
        together();
        attached();
    }
    return finish();
}

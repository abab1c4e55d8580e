// covers: MPI_Win_create MPI_Put MPI_Accumulate MPI_Get_accumulate MPI_Compare_and_swap MPI_Win_fence MPI_Win_lock MPI_Win_unlock MPI_Win_start MPI_Win_complete MPI_Win_free MPI_Win_attach
// ranks: 1 2 3
/*
 * Mistakes: each gives the standard's class, and the window works on. MPI 5.0 sections 9.3 and 12.9.
 */
#include "check.h"

static MPI_Win win;
static int memory[8];

static void sum(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
}

/* That everything still works. */
static void works(void)
{
    int value = check_rank + 50, next = (check_rank + 1) % check_ranks;
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_INT, next, 1, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK_EQ(memory[1], (check_rank + check_ranks - 1) % check_ranks + 50);
}

static void arguments(void)
{
    int value[16] = {0}, far = check_ranks;
    double real = 1;
    MPI_Op op;
    MPI_Win other;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other), MPI_ERR_SIZE);
    CHECK_CLASS(MPI_Win_create(memory, 8, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &other), MPI_ERR_DISP);
    CHECK_CLASS(MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, MPI_COMM_NULL, &other), MPI_ERR_COMM);
    MPI_Win_fence(0, win);
    CHECK_CLASS(MPI_Put(value, 1, MPI_INT, far, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Put(value, 1, MPI_INT, MPI_ANY_SOURCE, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Put(value, -1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Put(value, 1, MPI_INT, 0, -1, 1, MPI_INT, win), MPI_ERR_DISP);
    CHECK_CLASS(MPI_Put(value, 1, MPI_INT, 0, 8, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Put(value, 9, MPI_INT, 0, 0, 9, MPI_INT, win), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Get(value, 2, MPI_INT, 0, 7, 2, MPI_INT, win), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Put(value, 3, MPI_INT, 0, 0, 2, MPI_INT, win), MPI_ERR_TRUNCATE);
    CHECK_CLASS(MPI_Put(NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Put(value, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Accumulate(value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_MAXLOC, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(&real, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_BAND, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(value, 0, MPI_INT, 0, 0, 0, MPI_BYTE, MPI_SUM, win), MPI_SUCCESS); /* nothing of any type */
    CHECK_CLASS(MPI_Accumulate(&real, 1, MPI_DOUBLE, 0, 0, 2, MPI_INT, MPI_SUM, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Accumulate(value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win), MPI_ERR_OP);
    MPI_Op_create(sum, 1, &op);
    CHECK_CLASS(MPI_Accumulate(value, 1, MPI_INT, 0, 0, 1, MPI_INT, op, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Get_accumulate(value, 1, MPI_INT, value + 1, 1, MPI_INT, 0, 0, 1, MPI_INT, op, win), MPI_ERR_OP);
    MPI_Op_free(&op);
    CHECK_CLASS(MPI_Compare_and_swap(&real, &real, &real, MPI_DOUBLE, 0, 0, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Win_attach(win, memory, 4), MPI_ERR_RMA_FLAVOR);
    CHECK_CLASS(MPI_Win_fence(1, win), MPI_ERR_ASSERT);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

static void epochs(void)
{
    int value = 1, flag;
    MPI_Group group, strange;
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_test(win, &flag), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock(7, 0, 0, win), MPI_ERR_LOCKTYPE);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, check_ranks, 0, win), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOPUT, win), MPI_ERR_ASSERT);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    CHECK_CLASS(MPI_Win_start(group, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    MPI_Win_unlock(check_rank, win);
    works();
    MPI_Win_fence(0, win);
    CHECK_CLASS(MPI_Rput(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Put(&value, 1, MPI_INT, check_rank, 0, 1, MPI_INT, win);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (check_ranks > 1) {
        /* A window of this process alone, and a group with others. */
        MPI_Win alone;
        MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_SELF, &alone);
        MPI_Win_set_errhandler(alone, MPI_ERRORS_RETURN);
        CHECK_CLASS(MPI_Win_start(group, 0, alone), MPI_ERR_GROUP);
        CHECK_CLASS(MPI_Win_post(group, 0, alone), MPI_ERR_GROUP);
        MPI_Win_free(&alone);
    }
    MPI_Comm_group(MPI_COMM_SELF, &strange);
    MPI_Win_post(strange, 0, win);
    CHECK_CLASS(MPI_Win_post(strange, 0, win), MPI_ERR_RMA_SYNC);
    MPI_Win_start(strange, 0, win);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, (check_rank + 1) % check_ranks, 0, 1, MPI_INT, win),
                check_ranks > 1 ? MPI_ERR_RMA_SYNC : MPI_SUCCESS);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&strange), MPI_Group_free(&group);
    works();
}

static void stale(void)
{
    int value = 1;
    MPI_Win copy = win;
    MPI_Win_free(&win);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, copy), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_free(&copy), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
}

static void no_locks(void)
{
    MPI_Info info;
    MPI_Win quiet;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Win_create(memory, sizeof memory, 1, info, MPI_COMM_WORLD, &quiet);
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(quiet, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, quiet), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, quiet), MPI_ERR_RMA_SYNC);
    MPI_Win_free(&quiet);
}

/* Memory that is locked by its own process is not exposed, and the other way round. */
static void locked_and_exposed(void)
{
    MPI_Group self;
    MPI_Comm_group(MPI_COMM_SELF, &self);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
    CHECK_CLASS(MPI_Win_post(self, 0, win), MPI_ERR_RMA_SYNC);
    MPI_Win_unlock(check_rank, win);
    MPI_Win_post(self, 0, win);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    MPI_Win_start(self, 0, win);
    CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&self);
    works();
}

/* A fence is due before the window ends, if something was accessed after the last one. */
static void free_in_epoch(void)
{
    int value = 1;
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_INT, check_rank, 0, 1, MPI_INT, win);
    CHECK_CLASS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    CHECK(win != MPI_WIN_NULL);
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    MPI_Win_fence(0, win);
    works();
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "rma_errors");
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    arguments();
    works();
    epochs();
    locked_and_exposed();
    free_in_epoch();
    no_locks();
    stale();
    return finish();
}

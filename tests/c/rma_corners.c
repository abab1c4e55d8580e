// covers: MPI_Get_accumulate MPI_Rget_accumulate MPI_Rget MPI_Cancel MPI_Request_free MPI_Win_allocate MPI_Win_attach MPI_Win_create MPI_Win_fence MPI_Win_lock
// ranks: 1 2 3
// args: sm,cma
// args: am
/*
 * Corners of the chapter: arguments that say nothing with MPI_NO_OP, requests that nobody may cancel, more memory than there is, an
 * access over two pieces of memory, or that ends within an element, memory that nobody writes, reads that fail, many windows at once, two locks at once. MPI 5.0 sections 12.2 to 12.5. The argument: the
 * components of framework osc that may serve.
 */
#include "check.h"
#include <unistd.h>

enum { WINDOWS = 600, LONGEST = 100000 };

static int next, by_messages;

static void no_op(MPI_Win win, long *memory)
{
    long old = -1, again = -1;
    MPI_Request request;
    memory[0] = 70 + check_rank;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    CHECK_CLASS(MPI_Get_accumulate(NULL, -5, MPI_DATATYPE_NULL, &old, 1, MPI_LONG, next, 0, 1, MPI_LONG, MPI_NO_OP, win), MPI_SUCCESS);
    MPI_Win_flush(next, win);
    CHECK_EQ(old, 70 + next);
    CHECK_CLASS(MPI_Rget_accumulate_c(NULL, -5, MPI_DATATYPE_NULL, &again, 1, MPI_LONG, next, 0, 1, MPI_LONG, MPI_NO_OP, win, &request),
                MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQ(again, 70 + next);
    CHECK_CLASS(MPI_Get_accumulate(&old, -5, MPI_LONG, &again, 1, MPI_LONG, next, 0, 1, MPI_LONG, MPI_SUM, win), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Get_accumulate(&old, 1, MPI_DATATYPE_NULL, &again, 1, MPI_LONG, next, 0, 1, MPI_LONG, MPI_SUM, win), MPI_ERR_TYPE);
    MPI_Win_unlock_all(win);
    /* The others may still read what comes after this overwrites. */
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Section 12.3.5: it is erroneous to cancel or to free a request of an access. */
static void requests(MPI_Win win, long *memory)
{
    long old = -1;
    MPI_Request request, copy;
    memory[0] = 90 + check_rank;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    MPI_Rget(&old, 1, MPI_LONG, next, 0, 1, MPI_LONG, win, &request);
    if (by_messages && check_ranks > 1) {
        /* It is under way: its answer comes in a later call. */
        copy = request;
        CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
        CHECK(request == copy);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQ(old, 90 + next);
    MPI_Win_unlock(next, win);
}

/* Pages of this process: all, and those in memory. */
static void resident(long pages[2])
{
    FILE *from = fopen("/proc/self/statm", "r");
    CHECK(from != NULL && fscanf(from, "%ld %ld", &pages[0], &pages[1]) == 2);
    if (from != NULL)
        fclose(from);
}

static void too_much(void)
{
    char *base = NULL;
    MPI_Win win;
    CHECK_CLASS(MPI_Win_allocate((MPI_Aint)1 << 46, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_NO_MEM);
    CHECK(win == MPI_WIN_NULL);
    /* One of them alone asks for too much; all are told. */
    CHECK_CLASS(MPI_Win_allocate(check_rank == 0 ? (MPI_Aint)1 << 46 : 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_NO_MEM);
    CHECK_CLASS(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_SUCCESS);
    MPI_Win_free(&win);
}

/* The class of a put under a lock: the put tells what is wrong, or the end of the lock where only the target knows. */
static int put(MPI_Win win, const long *from, int count, MPI_Aint at)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
    int putting = MPI_Put(from, count, MPI_LONG, next, at, count, MPI_LONG, win);
    int unlocking = MPI_Win_unlock(next, win);
    return error_class(putting != MPI_SUCCESS ? putting : unlocking);
}

/* Pieces that follow each other are one place. */
static void adjacent(void)
{
    static long memory[12];
    long values[6] = {1, 2, 3, 4, 5, 6};
    MPI_Aint at, theirs;
    MPI_Win win;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    memset(memory, 0, sizeof memory);
    MPI_Win_attach(win, memory + 8, 4 * sizeof(long));
    MPI_Win_attach(win, memory, 4 * sizeof(long));
    MPI_Win_attach(win, memory + 4, 2 * sizeof(long));
    MPI_Get_address(memory, &at);
    MPI_Sendrecv(&at, 1, MPI_AINT, (check_rank + check_ranks - 1) % check_ranks, 0, &theirs, 1, MPI_AINT, next, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK_EQ(put(win, values, 4, theirs + 2 * (MPI_Aint)sizeof(long)), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(memory[1] == 0 && memory[2] == 1 && memory[5] == 4 && memory[6] == 0);
    /* There is a gap behind them. */
    CHECK_EQ(put(win, values, 6, theirs + 3 * (MPI_Aint)sizeof(long)), MPI_ERR_RMA_RANGE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(win, memory + 4);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(put(win, values, 4, theirs + 2 * (MPI_Aint)sizeof(long)), MPI_ERR_RMA_RANGE);
    MPI_Win_free(&win);
}

/* A fence that tells what went wrong is one all the same, on all ranks. */
static void failing_fence(void)
{
    long value = 3;
    int putting = MPI_SUCCESS;
    MPI_Win win;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, win);
    if (check_rank == 0)
        putting = MPI_Put(&value, 1, MPI_LONG, next, 8192, 1, MPI_LONG, win);
    int fencing = MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK_EQ(error_class(putting != MPI_SUCCESS ? putting : fencing), check_rank == 0 ? MPI_ERR_RMA_RANGE : MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_unlock(check_rank, win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_free(&win), MPI_SUCCESS);
}

/* So is the end of an epoch of MPI_Win_start. */
static void failing_complete(void)
{
    long value = 3;
    int previous = (check_rank + check_ranks - 1) % check_ranks;
    MPI_Win win;
    MPI_Group all, origin, target;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &previous, &origin), MPI_Group_incl(all, 1, &next, &target);
    for (int gets = 0; gets < 2; gets++) {
        MPI_Win_post(origin, 0, win);
        MPI_Win_start(target, 0, win);
        int access = gets ? MPI_Get(&value, 1, MPI_LONG, next, 8192, 1, MPI_LONG, win) : MPI_Put(&value, 1, MPI_LONG, next, 8192, 1, MPI_LONG, win);
        int completing = MPI_Win_complete(win);
        CHECK_EQ(error_class(access != MPI_SUCCESS ? access : completing), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Win_wait(win), MPI_SUCCESS);
    }
    MPI_Group_free(&all), MPI_Group_free(&origin), MPI_Group_free(&target);
    CHECK_CLASS(MPI_Win_free(&win), MPI_SUCCESS);
}

/* What the target could not read is told where the answer has to be: by the request, or by the next call that completes accesses here; once.
 * How: 0 MPI_Get, 1 MPI_Get_accumulate without an operation, 2 with one, 3 MPI_Compare_and_swap. */
static void failing_read(MPI_Win win, int how, int longs, int requested, MPI_Datatype layout, MPI_Aint at)
{
    static long old[LONGEST], from[LONGEST];
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Op op = how == 2 ? MPI_SUM : MPI_NO_OP;
    int code, completing, said, count = layout == MPI_LONG ? longs : 1;
    memset(old, 0x11, sizeof old);
    switch (how) {
    case 0:
        code = requested ? MPI_Rget(old, longs, MPI_LONG, next, at, count, layout, win, &request)
                         : MPI_Get(old, longs, MPI_LONG, next, at, count, layout, win);
        break;
    case 3:
        code = MPI_Compare_and_swap(from, from, old, MPI_LONG, next, at, win);
        break;
    default:
        code = requested ? MPI_Rget_accumulate(from, longs, MPI_LONG, old, longs, MPI_LONG, next, at, count, layout, op, win, &request)
                         : MPI_Get_accumulate(from, longs, MPI_LONG, old, longs, MPI_LONG, next, at, count, layout, op, win);
    }
    completing = requested ? MPI_Wait(&request, MPI_STATUS_IGNORE) : MPI_Win_flush_local(next, win);
    said = error_class(code != MPI_SUCCESS ? code : completing);
    CHECK_MSG(said == MPI_ERR_RMA_RANGE, "read %d of %d longs%s: class %d", how, longs, requested ? " by a request" : "", said);
    CHECK_MSG(code == MPI_SUCCESS || completing == MPI_SUCCESS, "read %d of %d longs is told twice", how, longs);
    for (int i = 0; i < longs; i++)
        CHECK(old[i] == 0x1111111111111111);
    CHECK_CLASS(MPI_Win_flush(next, win), MPI_SUCCESS);
}

static void failing_reads(void)
{
    static const int lengths[] = {1, 40, 2000, LONGEST / 2};
    static long memory[4];
    static int places[LONGEST / 2];
    long old = 0;
    MPI_Aint mine, theirs;
    MPI_Win win;
    /* It is the window's handler that is asked. */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_attach(win, memory, sizeof memory);
    MPI_Get_address(memory, &mine);
    memory[0] = 60 + check_rank;
    MPI_Sendrecv(&mine, 1, MPI_AINT, (check_rank + check_ranks - 1) % check_ranks, 0, &theirs, 1, MPI_AINT, next, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < LONGEST / 2; i++)
        places[i] = 3 * i + i % 2;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < (int)(sizeof lengths / sizeof *lengths); i++) {
        MPI_Datatype layout;
        /* Its description is long, too. */
        MPI_Type_create_indexed_block(lengths[i], 1, places, MPI_LONG, &layout);
        MPI_Type_commit(&layout);
        for (int how = 0; how < 3; how++)
            for (int requested = 0; requested < 2; requested++) {
                failing_read(win, how, lengths[i], requested, MPI_LONG, 8192);
                failing_read(win, how, lengths[i], requested, layout, 8192);
            }
        MPI_Type_free(&layout);
    }
    failing_read(win, 3, 1, 0, MPI_LONG, 8192);
    MPI_Get(&old, 1, MPI_LONG, next, theirs, 1, MPI_LONG, win);
    CHECK_CLASS(MPI_Win_unlock_all(win), MPI_SUCCESS);
    CHECK_EQ(old, 60 + next);
    CHECK_CLASS(MPI_Win_free(&win), MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

/* Puts to the next rank's part of a window. */
static void fenced_puts(MPI_Win win, int puts)
{
    static long value = 5;
    for (int i = 0; i < puts; i++) {
        MPI_Win_fence(0, win);
        MPI_Put(&value, 1, MPI_LONG, next, 0, 1, MPI_LONG, win);
        MPI_Win_fence(0, win);
    }
}

/* A window that rests costs the others nothing: passes of progress do not look at it, whatever was done with it before. */
static void many(void)
{
    enum { PUTS = 50, PASSES = 1000 };
    static long memory[WINDOWS];
    static MPI_Win win[WINDOWS];
    unsigned long long before, after;
    int index, count;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    CHECK_CLASS(MPI_T_pvar_get_index("osc_am_polled", MPI_T_PVAR_CLASS_COUNTER, &index), MPI_SUCCESS);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
    MPI_T_pvar_start(session, handle);
    for (int i = 0; i < WINDOWS; i++) {
        MPI_Win_create(memory + i, sizeof(long), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win[i]);
        fenced_puts(win[i], 1);
        CHECK_EQ(memory[i], 5);
    }
    fenced_puts(win[0], PUTS);
    MPI_T_pvar_read(session, handle, &before);
    for (int i = 0; i < PASSES; i++)
        MPI_Win_sync(win[0]);
    MPI_T_pvar_read(session, handle, &after);
    CHECK_MSG(after - before <= PASSES, "%d passes looked at windows %llu times; %d windows rest", PASSES, after - before, WINDOWS);
    if (by_messages && check_ranks > 1)
        CHECK_MSG(before > 0, "no window was looked at while it was used");
    MPI_T_pvar_handle_free(session, &handle);
    MPI_T_pvar_session_free(&session);
    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_free(&win[i]);
}

/* A put or a get may end within an element of the longer side's datatype, as a message may. Section 12.3.1. */
static void within_element(MPI_Win win, long *memory)
{
    enum { ELEMENTS = 5, VALUES = 3 };
    static long got[4 * ELEMENTS];
    long from[VALUES] = {1, 2, 3};
    MPI_Datatype two;
    MPI_Type_vector(2, 1, 2, MPI_LONG, &two);
    MPI_Type_commit(&two);
    memset(memory, -1, 4 * ELEMENTS * sizeof(long)), memset(got, -1, sizeof got);
    MPI_Win_fence(0, win);
    CHECK_CLASS(MPI_Put(from, VALUES, MPI_LONG, next, 0, ELEMENTS, two, win), MPI_SUCCESS);
    MPI_Win_fence(0, win);
    CHECK(memory[0] == 1 && memory[1] == -1 && memory[2] == 2 && memory[3] == 3 && memory[4] == -1 && memory[5] == -1);
    CHECK_CLASS(MPI_Get(got, ELEMENTS, two, next, 1, VALUES, MPI_LONG, win), MPI_SUCCESS);
    MPI_Win_fence(0, win);
    CHECK(got[0] == -1 && got[1] == -1 && got[2] == 2 && got[3] == 3 && got[4] == -1 && got[5] == -1);
    CHECK_CLASS(MPI_Put(from, ELEMENTS, two, next, 0, VALUES, MPI_LONG, win), MPI_ERR_TRUNCATE);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Type_free(&two);
}

/* Memory of a window that nobody writes costs none, also where it is aligned to more than a page. */
static void sparse(const char *alignment)
{
    enum { MIB = 1 << 20, ALL = 256, MOST = 32 };
    long before[2], after[2], freed[2];
    char *base;
    MPI_Info info;
    MPI_Win win;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", alignment);
    resident(before);
    MPI_Win_allocate((MPI_Aint)ALL * MIB, 1, info, MPI_COMM_WORLD, &base, &win);
    CHECK(base[0] == 0 && base[(size_t)ALL * MIB - 1] == 0);
    CHECK_MSG(!by_messages || (size_t)base % strtoul(alignment, NULL, 10) == 0, "%p is no multiple of %s", (void *)base, alignment);
    resident(after);
    CHECK_MSG((after[1] - before[1]) * sysconf(_SC_PAGESIZE) < MOST * MIB, "%ld pages of a window of %d MiB were written",
              after[1] - before[1], ALL);
    MPI_Win_free(&win);
    resident(freed);
    CHECK_MSG(!by_messages || (after[0] - freed[0]) * sysconf(_SC_PAGESIZE) >= (MPI_Aint)ALL * MIB, "%ld pages of %d MiB went with the window",
              after[0] - freed[0], ALL);
    MPI_Info_free(&info);
}

/* Everybody takes locks of two ranks in ascending order, and uses them in descending order. */
static void two_locks(MPI_Win win, long *memory)
{
    long one = 1;
    memory[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 50; i++)
        for (int low = 0; low < check_ranks; low++)
            for (int high = low + 1; high < check_ranks; high++) {
                MPI_Win_lock(MPI_LOCK_EXCLUSIVE, low, 0, win);
                MPI_Win_lock(MPI_LOCK_EXCLUSIVE, high, 0, win);
                MPI_Accumulate(&one, 1, MPI_LONG, high, 1, 1, MPI_LONG, MPI_SUM, win);
                MPI_Win_flush(high, win);
                MPI_Accumulate(&one, 1, MPI_LONG, low, 1, 1, MPI_LONG, MPI_SUM, win);
                MPI_Win_unlock(low, win);
                MPI_Win_unlock(high, win);
            }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(memory[1], 50 * check_ranks * (check_ranks - 1));
}

int main(int argc, char **argv)
{
    static long memory[20];
    int provided;
    MPI_Win win;
    check_name = "rma_corners";
    by_messages = argc > 1 && strcmp(argv[1], "am") == 0;
    if (argc > 1)
        setenv("OMPI_MCA_osc", argv[1], 1);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_ranks);
    next = (check_rank + 1) % check_ranks;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    no_op(win, memory);
    requests(win, memory);
    two_locks(win, memory);
    within_element(win, memory);
    MPI_Win_free(&win);
    too_much();
    sparse("4096");
    sparse("2097152");
    adjacent();
    failing_fence();
    failing_complete();
    failing_reads();
    many();
    MPI_T_finalize();
    return finish();
}

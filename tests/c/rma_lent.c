// covers: MPI_Put MPI_Accumulate MPI_Rput MPI_Raccumulate MPI_Win_flush_local MPI_Win_create MPI_Win_create_dynamic
// ranks: 2 3
// args: lent
// args: sent
// seconds: 60
/*
 * Accumulates that no packet holds, and puts to dynamic windows: the target copies them from where they are, if the system lets it (`sent`: it must not), and a
 * buffer that was completed here may be changed at once. What the target refuses is told, and its memory unchanged. MPI 5.0 sections
 * 12.3.5 and 12.5.4.
 *
 * -DSEED_EARLY_MISTAKE: the buffer is changed before the access is complete here.
 */
#include "check.h"

enum { MOST = 40000, ROUNDS = 20, SHORT = 8 };

static int next, previous;
static long from[MOST];

/* Copies that the PML has made of memory of peers. */
static unsigned long long copies(void)
{
    static MPI_T_pvar_session session;
    static MPI_T_pvar_handle handle;
    static int index = -1, count;
    unsigned long long value = 0;
    if (index < 0) {
        CHECK_CLASS(MPI_T_pvar_get_index("pml_ob1_received_by_single_copy", MPI_T_PVAR_CLASS_COUNTER, &index), MPI_SUCCESS);
        MPI_T_pvar_session_create(&session);
        MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
        MPI_T_pvar_start(session, handle);
    }
    MPI_T_pvar_read(session, handle, &value);
    return value;
}

static void number(int longs, long seed)
{
    for (int i = 0; i < longs; i++)
        from[i] = seed + i;
}

/* Of `longs` longs to the next rank, in one of four ways. */
static void access(MPI_Win win, int longs, MPI_Aint at, int way, long seed)
{
    MPI_Request request;
    number(longs, seed);
    switch (way) {
    case 0:
        MPI_Put(from, longs, MPI_LONG, next, at, longs, MPI_LONG, win);
        break;
    case 1:
        MPI_Accumulate(from, longs, MPI_LONG, next, at, longs, MPI_LONG, MPI_SUM, win);
        break;
    case 2:
        MPI_Rput(from, longs, MPI_LONG, next, at, longs, MPI_LONG, win, &request);
        break;
    default:
        MPI_Raccumulate(from, longs, MPI_LONG, next, at, longs, MPI_LONG, MPI_SUM, win, &request);
    }
#ifdef SEED_EARLY_MISTAKE
    number(longs, -1);
#endif
    if (way < 2)
        MPI_Win_flush_local(next, win);
    else
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    number(longs, -7777);
}

static void right(int lent)
{
    static const int lengths[] = {600, 1024, 5000, MOST};
    long *memory = malloc(MOST * sizeof(long));
    unsigned long long before;
    MPI_Win win;
    MPI_Win_create(memory, MOST * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    /* The first one asks whether the target can. */
    access(win, MOST, 0, 0, 5);
    MPI_Win_flush(next, win);
    MPI_Barrier(MPI_COMM_WORLD);
    before = copies();
    for (int round = 0; round < ROUNDS; round++) {
        int way = round % 4, longs = lengths[round / 4 % 4];
        for (int i = 0; i < MOST; i++)
            memory[i] = i;
        MPI_Barrier(MPI_COMM_WORLD);
        access(win, longs, 0, way, 1000 * round + check_rank);
        MPI_Win_flush(next, win);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < longs; i++) {
            long sent = 1000 * round + previous + i;
            if (memory[i] != (way % 2 ? sent + i : sent)) {
                CHECK_MSG(0, "way %d, %d longs: element %d is %ld", way, longs, i, memory[i]);
                break;
            }
        }
        CHECK(longs == MOST || memory[longs] == longs);
        /* So short ones are not copied by the system when they are messages. Puts to a window of one piece the origin copies. */
        if (round == SHORT - 1)
            CHECK_MSG(copies() - before == (lent ? SHORT / 2 : 0), "%llu copies of %d accesses", copies() - before, SHORT / 2);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(memory);
}

static void refused(int lent)
{
    static long memory[1000];
    MPI_Aint at, theirs;
    MPI_Win win;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_attach(win, memory, sizeof memory);
    MPI_Get_address(memory, &at);
    MPI_Sendrecv(&at, 1, MPI_AINT, previous, 0, &theirs, 1, MPI_AINT, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    unsigned long long before = copies();
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 4; i++) {
        number(1000, 90);
        CHECK_CLASS(MPI_Put(from, 1000, MPI_LONG, next, theirs, 1000, MPI_LONG, win), MPI_SUCCESS);
        CHECK_CLASS(MPI_Win_flush(next, win), MPI_SUCCESS);
        MPI_Put(from, 1000, MPI_LONG, next, theirs + 8, 1000, MPI_LONG, win);
        int local = MPI_Win_flush_local(next, win), all = MPI_Win_flush(next, win);
        CHECK_EQ(error_class(local != MPI_SUCCESS ? local : all), MPI_ERR_RMA_RANGE);
        CHECK(local == MPI_SUCCESS || all == MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* The first one asks whether the target can. */
    CHECK_MSG(copies() - before == (lent ? 3 : 0), "%llu copies of 4 puts", copies() - before);
    CHECK(memory[0] == 90 && memory[999] == 90 + 999);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    int provided, lent = argc > 1 && strcmp(argv[1], "lent") == 0;
    check_name = "rma_lent";
    setenv("OMPI_MCA_osc", "am", 1);
    if (!lent)
        setenv("OMPI_MCA_smsc", "map", 1);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    start(&argc, &argv, "rma_lent");
    next = (check_rank + 1) % check_ranks, previous = (check_rank + check_ranks - 1) % check_ranks;
    right(lent);
    refused(lent);
    MPI_T_finalize();
    return finish();
}

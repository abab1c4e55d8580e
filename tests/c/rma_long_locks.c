// covers: MPI_Win_lock MPI_Win_unlock MPI_Win_create MPI_Put MPI_Get MPI_Win_flush_local
// ranks: 1 2 4
// args: am 20000
// args: am 200000
// args: sm,cma 200000
// seconds: 60
/*
 * A lock of memory that one process has alone keeps the puts of others out, however long they are: what one reads under it stays, and
 * what several write is never torn. So does that of the process whose memory it is. MPI 5.0 section 12.5.3. The arguments: the components
 * of framework osc that may serve, and the bytes of a put.
 *
 * -DSEED_EARLY_MISTAKE: the others write without a lock.
 */
#include "check.h"

enum { ROUNDS = 30 };
/* So long one looks whether another one's put comes. */
static const double LOOKS_S = 0.2;

#ifdef SEED_EARLY_MISTAKE
enum { ASSERTION = MPI_MODE_NOCHECK };
#else
enum { ASSERTION = 0 };
#endif

static MPI_Win win;
static unsigned char *memory, *values;
static int bytes;

/* Index of the first byte that is not the value; `bytes` if there is none. */
static int differs(const unsigned char *at, int value)
{
    int i = 0;
    while (i < bytes && at[i] == value)
        i++;
    return i;
}

static void put(int value, int is_local_first)
{
    memset(values, value, (size_t)bytes);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, ASSERTION, win);
    MPI_Put(values, bytes, MPI_BYTE, 0, 0, bytes, MPI_BYTE, win);
    if (is_local_first)
        MPI_Win_flush_local(0, win);
    MPI_Win_unlock(0, win);
}

static void get(void)
{
    memset(values, 255, (size_t)bytes);
    MPI_Get(values, bytes, MPI_BYTE, 0, 0, bytes, MPI_BYTE, win);
    MPI_Win_flush(0, win);
}

/* The holder lets the others go on when it has the lock, and looks many times, inside MPI, while they want to put. */
static void stays(int holder)
{
    int at = bytes;
    if (check_rank == holder) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        if (holder == 0)
            memset(memory, 1, (size_t)bytes);
        else {
            memset(values, 1, (size_t)bytes);
            MPI_Put(values, bytes, MPI_BYTE, 0, 0, bytes, MPI_BYTE, win);
            MPI_Win_flush(0, win);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank != holder && (check_rank > 0 || holder == 0))
        put(2, check_rank == 2);
    else if (check_rank == holder) {
        int flag;
        for (double end = MPI_Wtime() + LOOKS_S; MPI_Wtime() < end && at == bytes;) {
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
            if (holder > 0)
                get();
            else
                MPI_Win_sync(win);
            at = differs(holder > 0 ? values : memory, 1);
        }
        CHECK_MSG(at == bytes, "byte %d of %d was put while rank %d had the memory alone", at, bytes, holder);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0 && check_ranks > holder + 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        CHECK_EQ(differs(memory, 2), bytes);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All write all of it, each a value of its own, and find some rank's value everywhere. */
static void is_not_torn(void)
{
    int torn = 0;
    for (int i = 0; i < ROUNDS; i++) {
        put(3 + check_rank, i % 2);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        get();
        MPI_Win_unlock(0, win);
        torn += values[0] < 3 || differs(values, values[0]) < bytes;
    }
    CHECK_EQ(torn, 0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        setenv("OMPI_MCA_osc", argv[1], 1);
    bytes = argc > 2 ? atoi(argv[2]) : 20000;
    start(&argc, &argv, "rma_long_locks");
    memory = check_alloc((size_t)bytes), values = check_alloc((size_t)bytes);
    MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int holder = 0; holder < check_ranks && holder < 2; holder++)
        stays(holder);
    is_not_torn();
    MPI_Win_free(&win);
    free(memory), free(values);
    return finish();
}

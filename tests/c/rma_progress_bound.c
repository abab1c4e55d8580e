// covers: MPI_Put MPI_Get MPI_Accumulate MPI_Win_flush MPI_Win_create
// ranks: 2
// args: self,tcp
// args: self,sm
// args: off
// seconds: 100
/*
 * How long an access by messages waits for a target that computes outside MPI: as long as `osc_am_progress` says, also where the data is
 * long and comes in many messages. The target computes until rank 0 has flushed and then put a word. With `off`, nothing is set: there
 * is no thread, and nothing happens before the target calls MPI. Else the argument is the transports. MPI 5.0 section 12.7.3.
 */
#include "check.h"
#include "thread_count.h"

enum { SHORT = 1, LONG = 1 << 19, COMBINED = 1 << 17, LIMIT_MS = 100 };
enum kind { PUT, GET, ACCUMULATE };

static long memory[1 + LONG], data[LONG];
static int target; /* the last rank: with several nodes it is on another one than rank 0 */

/* Computes until the word is there: no call of MPI but MPI_Wtime, which looks at a clock. */
static int comes(volatile long *word, long wanted, double seconds)
{
    for (double end = MPI_Wtime() + seconds; *word != wanted && MPI_Wtime() < end;)
        ;
    return *word == wanted;
}

static void put_word(MPI_Win win, long value)
{
    MPI_Put(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
    MPI_Win_flush(target, win);
}

/* Milliseconds of one access of rank 0 and its flush, while the target computes. */
static double delay(MPI_Win win, enum kind kind, int longs)
{
    static long round;
    double begin = MPI_Wtime(), ms;
    round++;
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == target)
        CHECK(comes(memory, round, 20));
    if (check_rank != 0)
        return 0;
    if (kind == PUT)
        MPI_Put(data, longs, MPI_LONG, target, 1, longs, MPI_LONG, win);
    else if (kind == GET)
        MPI_Get(data, longs, MPI_LONG, target, 1, longs, MPI_LONG, win);
    else
        MPI_Accumulate(data, longs, MPI_LONG, target, 1, longs, MPI_LONG, MPI_SUM, win);
    MPI_Win_flush(target, win);
    ms = 1e3 * (MPI_Wtime() - begin);
    put_word(win, round);
    return ms;
}

/* The least delay of a few: what else runs on the machine makes single ones longer. */
static void bounded(MPI_Win win, enum kind kind, int longs)
{
    double least = 1e9;
    for (int i = 0; i < 4; i++) {
        double ms = delay(win, kind, longs);
        least = ms < least ? ms : least;
    }
    CHECK_MSG(check_rank != 0 || least < 1.5 * LIMIT_MS, "access %d of %d longs: %.1f ms, limit %d", kind, longs, least, LIMIT_MS);
}

static void never(MPI_Win win)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        put_word(win, 1);
    else
        CHECK(!comes(memory, 1, 0.5));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == target)
        CHECK_EQ(memory[0], 1);
}

int main(int argc, char **argv)
{
    int on = argc > 1 && strcmp(argv[1], "off") != 0;
    char limit_us[20];
    snprintf(limit_us, sizeof limit_us, "%d", 1000 * LIMIT_MS);
    setenv("OMPI_MCA_osc", "am", 1);
    if (on) {
        setenv("OMPI_MCA_osc_am_progress", limit_us, 1);
        setenv("OMPI_MCA_btl", argv[1], 1);
    }
    start(&argc, &argv, "rma_progress_bound");
    target = check_ranks - 1;
    int before = thread_count();
    MPI_Win win;
    CHECK_CLASS(MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_SUCCESS);
    CHECK_EQ(thread_count(), before + on);
    MPI_Win_lock_all(0, win);
    if (on) {
        bounded(win, PUT, SHORT);
        bounded(win, PUT, LONG);
        bounded(win, GET, LONG);
        bounded(win, ACCUMULATE, COMBINED);
    } else {
        never(win);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    return finish();
}

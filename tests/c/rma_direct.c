// covers: MPI_Put MPI_Get MPI_Rput MPI_Rget MPI_Win_lock MPI_Win_flush MPI_Win_fence MPI_Win_start MPI_Win_create
// ranks: 2 3
// args: direct
// args: messages
// seconds: 60
/*
 * Puts and gets of some KiB to memory that no process has mapped: the origin copies by itself if the system lets it (`messages`: it must
 * not), and then also while the target computes outside MPI. Nothing is copied before a lock is granted. MPI 5.0 sections 12.5.3 and 12.7.
 */
#include "check.h"

enum { LONGS = 1024, ROUNDS = 200, AT = 3 };

static long memory[AT + LONGS], data[LONGS];
static int next, previous;

static void number(long *longs, long value)
{
    for (int i = 0; i < LONGS; i++)
        longs[i] = value + i;
}

static void expect(const long *longs, long value, const char *what)
{
    for (int i = 0; i < LONGS; i++)
        if (longs[i] != value + i) {
            CHECK_MSG(0, "%s: element %d is %ld, not %ld", what, i, longs[i], value + i);
            return;
        }
}

/* Computes until the word is there: no call of MPI but MPI_Wtime, which looks at a clock. */
static int comes(volatile long *word, long wanted)
{
    for (double end = MPI_Wtime() + 20; *word != wanted && MPI_Wtime() < end;)
        ;
    return *word == wanted;
}

/* The first long access of each target is a message, with which it is asked where its memory lies. */
static void learn(MPI_Win win)
{
    for (int target = 0; target < check_ranks; target++) {
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
        MPI_Get(data, LONGS, MPI_LONG, target, AT, LONGS, MPI_LONG, win);
        MPI_Win_unlock(target, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 accesses the others' memory, which compute until they see the last of it. */
static void computing(MPI_Win win)
{
    MPI_Request request;
    MPI_Win_lock_all(0, win);
    /* So it is known that all locks are granted. */
    for (int target = 0; target < check_ranks; target++)
        MPI_Get(data, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
    MPI_Win_flush_all(win);
    for (long round = 1; round <= 10; round++) {
        number(memory + AT, 7000 * round + check_rank);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int target = 1; target < check_ranks && check_rank == 0; target++) {
            if (round % 2) {
                MPI_Get(data, LONGS, MPI_LONG, target, AT, LONGS, MPI_LONG, win);
                MPI_Win_flush(target, win);
            } else {
                MPI_Rget(data, LONGS, MPI_LONG, target, AT, LONGS, MPI_LONG, win, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            }
            expect(data, 7000 * round + target, "read");
            number(data, -round);
            if (round % 2) {
                MPI_Put(data, LONGS, MPI_LONG, target, AT, LONGS, MPI_LONG, win);
            } else {
                MPI_Rput(data, LONGS, MPI_LONG, target, AT, LONGS, MPI_LONG, win, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            }
            MPI_Win_flush(target, win);
        }
        if (check_rank != 0) {
            CHECK(comes(memory + AT + LONGS - 1, -round + LONGS - 1));
            expect(memory + AT, -round, "written");
        }
    }
    MPI_Win_unlock_all(win);
}

/* All ranks add to the same memory under its lock, and nothing is lost. */
static void alone(MPI_Win win)
{
    number(memory + AT, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(data, LONGS, MPI_LONG, 0, AT, LONGS, MPI_LONG, win);
        MPI_Win_flush(0, win);
        for (int k = 0; k < LONGS; k++)
            data[k]++;
        MPI_Put(data, LONGS, MPI_LONG, 0, AT, LONGS, MPI_LONG, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        expect(memory + AT, (long)ROUNDS * check_ranks, "under locks");
}

/* The put is the first access behind the lock: it must not come before the lock of another rank has ended. */
static void behind(MPI_Win win)
{
    for (int i = 0; i < 20; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == 1) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
            number(memory + AT, i);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == 1) {
            for (double end = MPI_Wtime() + 0.002; MPI_Wtime() < end;)
                expect(memory + AT, i, "locked alone");
            MPI_Win_unlock(1, win);
        } else if (check_rank == 0) {
            number(data, -i);
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
            MPI_Put(data, LONGS, MPI_LONG, 1, AT, LONGS, MPI_LONG, win);
            MPI_Win_unlock(1, win);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == 1)
            expect(memory + AT, -i, "after the lock");
    }
}

static void together(MPI_Win win)
{
    MPI_Group all, to, from;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &next, &to);
    MPI_Group_incl(all, 1, &previous, &from);
    for (int i = 0; i < ROUNDS; i++) {
        number(data, i * 5 + check_rank);
        MPI_Win_fence(0, win);
        MPI_Put(data, LONGS, MPI_LONG, next, AT, LONGS, MPI_LONG, win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        expect(memory + AT, i * 5 + previous, "fence");
        number(memory + AT, i * 3 + check_rank);
        MPI_Win_post(from, 0, win);
        MPI_Win_start(to, 0, win);
        MPI_Get(data, LONGS, MPI_LONG, next, AT, LONGS, MPI_LONG, win);
        MPI_Win_complete(win);
        expect(data, i * 3 + next, "started");
        MPI_Win_wait(win);
    }
    MPI_Group_free(&all), MPI_Group_free(&to), MPI_Group_free(&from);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int direct = argc > 1 && strcmp(argv[1], "direct") == 0;
    setenv("OMPI_MCA_osc", "am", 1);
    if (!direct)
        setenv("OMPI_MCA_smsc", "map", 1);
    start(&argc, &argv, "rma_direct");
    next = (check_rank + 1) % check_ranks, previous = (check_rank + check_ranks - 1) % check_ranks;
    CHECK_CLASS(MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_SUCCESS);
    alone(win);
    learn(win);
    if (direct)
        computing(win);
    behind(win);
    alone(win);
    together(win);
    MPI_Win_free(&win);
    return finish();
}

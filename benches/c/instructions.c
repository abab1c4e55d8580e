/*
 * What a call costs in instructions, for callgrind: `cargo xtask test instructions`. Each function below calls one MPI
 * function CALLS times and nothing else, so that the profile's edge from it is that function's inclusive cost.
 *
 * No waiting is counted: the ranks take turns outside of MPI, through two pipes in the file system, so that every message
 * has arrived before its receive is called, and none before the calls that are in vain. The first turn is not counted; it sets up what is set up lazily.
 *
 *   mpirun -n 2 instructions FOLDER        (a folder for the pipes)
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CALLS 16 /* fewer than a ring holds */
#define TURNS 8
#define TAG 17
#define APART __attribute__((noinline, noclone))

static char buffer[CALLS][4096];
static MPI_Request requests[CALLS];
static MPI_Comm comm;
static MPI_Datatype gaps; /* blocks of 8 bytes, 8 bytes apart, 64 bytes in all */

/* What is sent in turn: bytes, or one of `gaps`; the last is sent by MPI_Isend. */
enum { GAPS = 3, NONBLOCKING = 4, KINDS };
static const int SIZES[KINDS] = {0, 8, 512, 64, 8};

APART static void warm_send(int kind, int peer)
{
    for (int i = 0; i < CALLS; i++)
        MPI_Send(buffer[i], kind == GAPS ? 1 : SIZES[kind], kind == GAPS ? gaps : MPI_BYTE, peer, TAG, comm);
}

APART static void warm_recv(int kind, int peer)
{
    for (int i = 0; i < CALLS; i++)
        MPI_Recv(buffer[i], kind == GAPS ? 1 : SIZES[kind], kind == GAPS ? gaps : MPI_BYTE, peer, TAG, comm, MPI_STATUS_IGNORE);
}

/* Each call stands alone in the profile: what happens every so many calls shows beside what always happens. */
#define FOUR(call, at) call(at) call(at + 1) call(at + 2) call(at + 3)
#define EACH(call) FOUR(call, 0) FOUR(call, 4) FOUR(call, 8) FOUR(call, 12)

/* Keeps the last call from becoming a jump, and two functions with the same body from becoming one. */
#define END(name) __asm__ volatile("# " name)

#define PAIR(size)                                                                                                              \
    APART static void count_send_##size(int peer)                                                                               \
    {                                                                                                                           \
        EACH(SEND_##size)                                                                                                       \
        END("send");                                                                                                            \
    }                                                                                                                           \
    APART static void count_recv_##size(int peer)                                                                               \
    {                                                                                                                           \
        EACH(RECV_##size)                                                                                                       \
        END("recv");                                                                                                            \
    }
#define SEND(i, size) MPI_Send(buffer[i], size, MPI_BYTE, peer, TAG, comm);
#define RECV(i, size) MPI_Recv(buffer[i], size, MPI_BYTE, peer, TAG, comm, MPI_STATUS_IGNORE);
#define SEND_0(i) SEND(i, 0)
#define RECV_0(i) RECV(i, 0)
#define SEND_8(i) SEND(i, 8)
#define RECV_8(i) RECV(i, 8)
#define SEND_512(i) SEND(i, 512)
#define RECV_512(i) RECV(i, 512)
#define SEND_gaps(i) MPI_Send(buffer[i], 1, gaps, peer, TAG, comm);
#define RECV_gaps(i) MPI_Recv(buffer[i], 1, gaps, peer, TAG, comm, MPI_STATUS_IGNORE);
PAIR(0)
PAIR(8)
PAIR(512)
PAIR(gaps)

APART static void count_isend_8(int peer)
{
#define ISEND(i) MPI_Isend(buffer[i], 8, MPI_BYTE, peer, TAG, comm, &requests[i]);
    EACH(ISEND)
    END("isend");
}

APART static void count_irecv_8(int peer)
{
#define IRECV(i) MPI_Irecv(buffer[i], 8, MPI_BYTE, peer, TAG, comm, &requests[i]);
    EACH(IRECV)
    END("irecv");
}

/* One call for CALLS requests. */
APART static void count_waitall_of_isends(void)
{
    MPI_Waitall(CALLS, requests, MPI_STATUSES_IGNORE);
    END("isends");
}

APART static void count_waitall_of_irecvs(void)
{
    MPI_Waitall(CALLS, requests, MPI_STATUSES_IGNORE);
    END("irecvs");
}

/* Nothing has come for these, nor will it: `found` stays 0. */
static int found;

static void look(int i)
{
    int flag, index;
    MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE), found += flag;
    MPI_Testany(4, requests, &index, &flag, MPI_STATUS_IGNORE), found += flag;
    MPI_Iprobe(MPI_ANY_SOURCE, TAG, comm, &flag, MPI_STATUS_IGNORE), found += flag;
}

APART static void count_vain_test(void)
{
    int flags[CALLS];
#define TEST(i) MPI_Test(&requests[i], &flags[i], MPI_STATUS_IGNORE);
    EACH(TEST)
    for (int i = 0; i < CALLS; i++)
        found += flags[i];
}

APART static void count_vain_testany(void)
{
    int flags[CALLS], indices[CALLS];
#define TESTANY(i) MPI_Testany(4, requests, &indices[i], &flags[i], MPI_STATUS_IGNORE);
    EACH(TESTANY)
    for (int i = 0; i < CALLS; i++)
        found += flags[i];
}

APART static void count_vain_iprobe(void)
{
    int flags[CALLS];
#define IPROBE(i) MPI_Iprobe(MPI_ANY_SOURCE, TAG, comm, &flags[i], MPI_STATUS_IGNORE);
    EACH(IPROBE)
    for (int i = 0; i < CALLS; i++)
        found += flags[i];
}

static void in_vain(int peer)
{
    for (int i = 0; i < CALLS; i++)
        MPI_Irecv(buffer[i], 8, MPI_BYTE, peer, TAG + 1, comm, &requests[i]);
    for (int i = 0; i < CALLS; i++)
        look(i);
    for (int turn = 1; turn < TURNS; turn++)
        count_vain_test(), count_vain_testany(), count_vain_iprobe();
    for (int i = 0; i < CALLS; i++)
        MPI_Cancel(&requests[i]);
    MPI_Waitall(CALLS, requests, MPI_STATUSES_IGNORE);
    if (found != 0) {
        fprintf(stderr, "instructions: %d messages that nobody sent\n", found);
        MPI_Abort(comm, 1);
    }
}

/* Calls at a window whose memory both processes map: the target has no part in them. */
static MPI_Win win;
static long *memory, values[CALLS], results[CALLS];
/* One of doubles, and one for each lock that is taken alone before the next one is. */
static MPI_Win sums_win, lock_wins[CALLS];
static double *sums, terms[CALLS];

APART static void count_put_8(int peer)
{
#define PUT(i) MPI_Put(&values[i], 1, MPI_LONG, peer, i, 1, MPI_LONG, win);
    EACH(PUT)
    END("put");
}

APART static void count_get_8(int peer)
{
#define GET(i) MPI_Get(&results[i], 1, MPI_LONG, peer, i, 1, MPI_LONG, win);
    EACH(GET)
    END("get");
}

APART static void count_win_flush(int peer)
{
#define FLUSH(i) MPI_Win_flush(peer, win);
    EACH(FLUSH)
    END("flush");
}

APART static void count_fetch_and_op(int peer)
{
#define FETCH(i) MPI_Fetch_and_op(&values[i], &results[i], MPI_LONG, peer, i, MPI_SUM, win);
    EACH(FETCH)
    END("fetch");
}

APART static void count_compare_and_swap(int peer)
{
    static const long zero = 0;
#define SWAP(i) MPI_Compare_and_swap(&zero, &values[i], &results[i], MPI_LONG, peer, i, win);
    EACH(SWAP)
    END("swap");
}

APART static void count_accumulate_double(int peer)
{
#define ACCUMULATE(i) MPI_Accumulate(&terms[i], 1, MPI_DOUBLE, peer, i, 1, MPI_DOUBLE, MPI_SUM, sums_win);
    EACH(ACCUMULATE)
    END("accumulate");
}

APART static void count_win_lock(int peer)
{
#define LOCK(i) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, lock_wins[i]);
    EACH(LOCK)
    END("lock");
}

APART static void count_win_unlock(int peer)
{
#define UNLOCK(i) MPI_Win_unlock(peer, lock_wins[i]);
    EACH(UNLOCK)
    END("unlock");
}

static void warm_window(int peer)
{
    MPI_Put(values, 1, MPI_LONG, peer, 0, 1, MPI_LONG, win);
    MPI_Win_flush(peer, win);
    MPI_Get(results, 1, MPI_LONG, peer, 0, 1, MPI_LONG, win);
    MPI_Fetch_and_op(values, results, MPI_LONG, peer, 0, MPI_SUM, win);
    MPI_Compare_and_swap(values, values, results, MPI_LONG, peer, 0, win);
    MPI_Win_flush(peer, win);
}

/* Puts what is there, adds it, and finds the sum. */
static void at_window(int peer)
{
    MPI_Win_lock_all(0, win);
    warm_window(peer);
    for (int turn = 1; turn < TURNS; turn++) {
        for (int i = 0; i < CALLS; i++)
            values[i] = turn * CALLS + i;
        count_put_8(peer), count_win_flush(peer), count_fetch_and_op(peer), count_compare_and_swap(peer);
        count_win_flush(peer), count_get_8(peer);
        MPI_Win_flush(peer, win);
        for (int i = 0; i < CALLS; i++)
            if (results[i] != 2 * values[i]) {
                fprintf(stderr, "instructions: %ld at the window, not %ld\n", results[i], 2 * values[i]);
                MPI_Abort(comm, 1);
            }
    }
    MPI_Win_unlock_all(win);
    MPI_Win_lock_all(0, sums_win);
    MPI_Accumulate(terms, 1, MPI_DOUBLE, peer, 0, 1, MPI_DOUBLE, MPI_SUM, sums_win);
    for (int turn = 1; turn < TURNS; turn++) {
        for (int i = 0; i < CALLS; i++)
            terms[i] = i;
        count_accumulate_double(peer);
        MPI_Win_flush(peer, sums_win);
    }
    double sum = 0;
    MPI_Get(&sum, 1, MPI_DOUBLE, peer, CALLS - 1, 1, MPI_DOUBLE, sums_win);
    MPI_Win_unlock_all(sums_win);
    if (sum != (TURNS - 1) * (CALLS - 1)) {
        fprintf(stderr, "instructions: the sum at the window is %g\n", sum);
        MPI_Abort(comm, 1);
    }
    for (int i = 0; i < CALLS; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, lock_wins[i]);
        MPI_Win_unlock(peer, lock_wins[i]);
    }
    for (int turn = 1; turn < TURNS; turn++)
        count_win_lock(peer), count_win_unlock(peer);
}

static FILE *to, *from;

static void say(void)
{
    if (fputc('.', to) == EOF || fflush(to) != 0)
        exit(3);
}

static void hear(void)
{
    if (fgetc(from) == EOF)
        exit(4);
}

static void sender(int peer)
{
    static void (*const COUNTED[])(int) = {count_send_0, count_send_8, count_send_512, count_send_gaps};
    for (int kind = 0; kind < KINDS; kind++) {
        for (int turn = 0; turn < TURNS; turn++) {
            for (int i = 0; i < CALLS; i++)
                memset(buffer[i], turn * CALLS + i, sizeof buffer[i]);
            if (turn == 0)
                warm_send(kind, peer);
            else if (kind == NONBLOCKING)
                count_isend_8(peer), count_waitall_of_isends();
            else
                COUNTED[kind](peer);
            say();
            hear();
        }
    }
}

static void receiver(int peer)
{
    static void (*const COUNTED[])(int) = {count_recv_0, count_recv_8, count_recv_512, count_recv_gaps};
    for (int kind = 0; kind < KINDS; kind++) {
        for (int turn = 0; turn < TURNS; turn++) {
            hear();
            memset(buffer, 0, sizeof buffer);
            if (turn == 0)
                warm_recv(kind, peer);
            else if (kind == NONBLOCKING)
                count_irecv_8(peer), count_waitall_of_irecvs();
            else
                COUNTED[kind](peer);
            for (int i = 0; i < CALLS; i++)
                for (int k = 0; k < SIZES[kind]; k++)
                    if (buffer[i][kind == GAPS ? k + k / 8 * 8 : k] != (char)(turn * CALLS + i)) {
                        fprintf(stderr, "instructions: message %d of turn %d is wrong\n", i, turn);
                        MPI_Abort(comm, 1);
                    }
            say();
        }
    }
}

/*
 * LISTENS: the same while a tool listens to transports, which tells nothing while these messages travel, and after one has asked for what
 * it looks at no more.
 */
#ifdef LISTENS
static void told(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    (void)instance, (void)registration, (void)safety;
    ++*(int *)data;
}

static int connected;

static void listen_to_transports(void)
{
    int provided, index;
    MPI_T_event_registration registration;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_event_get_index("btl_connected", &index);
    if (MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration) != MPI_SUCCESS)
        exit(5);
    MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &connected, told);
}

static void measure_and_stop(void)
{
    int index, count;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_index("pml_messages_sent", MPI_T_PVAR_CLASS_COUNTER, &index);
    if (MPI_T_pvar_handle_alloc(session, index, &world, &handle, &count) != MPI_SUCCESS)
        exit(5);
    MPI_T_pvar_handle_free(session, &handle);
    MPI_T_pvar_handle_alloc(session, index, &world, &handle, &count);
    MPI_T_pvar_session_free(&session);
}
#endif

int main(int argc, char **argv)
{
    char path[2][4096];
    int rank, ranks;
#ifdef LISTENS
    listen_to_transports();
#endif
    MPI_Init(&argc, &argv);
#ifdef LISTENS
    measure_and_stop();
#endif
    comm = MPI_COMM_WORLD;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (argc != 2 || ranks != 2) {
        fprintf(stderr, "usage: mpirun -n 2 instructions FOLDER\n");
        MPI_Abort(comm, 2);
    }
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/turn.%d", argv[1], i);
        if (rank == 0 && mkfifo(path[i], 0600) != 0) {
            perror(path[i]);
            MPI_Abort(comm, 1);
        }
    }
    MPI_Type_vector(8, 8, 16, MPI_BYTE, &gaps);
    MPI_Type_commit(&gaps);
    if (rank == 1)
        in_vain(0);
    /* Each open waits for the other side; in this order nobody waits for ever. */
    if (rank == 0) {
        to = fopen(path[0], "w");
        from = fopen(path[1], "r");
    } else {
        from = fopen(path[0], "r");
        to = fopen(path[1], "w");
    }
    if (to == NULL || from == NULL) {
        perror("turn");
        MPI_Abort(comm, 1);
    }
    if (rank == 0)
        sender(1);
    else
        receiver(0);
    MPI_Win_allocate(sizeof values, sizeof *values, MPI_INFO_NULL, comm, &memory, &win);
    MPI_Win_allocate(sizeof terms, sizeof *terms, MPI_INFO_NULL, comm, &sums, &sums_win);
    memset(sums, 0, sizeof terms);
    for (int i = 0; i < CALLS; i++) {
        long *unused;
        MPI_Win_allocate(sizeof *unused, 1, MPI_INFO_NULL, comm, &unused, &lock_wins[i]);
    }
    MPI_Barrier(comm);
    if (rank == 0)
        at_window(1);
    MPI_Win_free(&win), MPI_Win_free(&sums_win);
    for (int i = 0; i < CALLS; i++)
        MPI_Win_free(&lock_wins[i]);
    MPI_Type_free(&gaps);
#ifdef LISTENS
    if (connected == 0) {
        fprintf(stderr, "instructions: nobody told that the other rank is reached\n");
        MPI_Abort(comm, 1);
    }
#endif
    MPI_Finalize();
    return 0;
}

// covers: MPI_Isend MPI_Irecv MPI_Waitall MPI_Ssend MPI_Send_init MPI_Recv_init MPI_Startall MPI_Mprobe MPI_Imrecv MPI_Sendrecv MPI_Test MPI_Cancel
// args:
// args: refuse
// args: plain shareable
// args: plain mixed
// seconds: 240
/*
 * Long messages, MPI 5.0 sections 3.5 to 3.8, where both ends of a node copy a part: every byte arrives once, from buffers
 * that were just written, at odd sizes and addresses, in both directions at once, with many under way, whether the sender
 * is inside MPI or elsewhere, and nothing is written beside what was wanted. `refuse`: the system refuses to copy between
 * processes (a seccomp filter), and all must be as before. `no-reads`, `no-writes`: it
 * refuses one kind of copy, and only when peers have found each other. `endless`: traffic that only ends with a killed rank.
 * Then `shareable`: the messages lie in memory of MPI_Alloc_mem; `mixed`: every other buffer does.
 */
#define _GNU_SOURCE
#include "check.h"
#include "refuse.h"
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { GUARD = 64, GUARD_BYTE = 0x5c };

static const int SIZES[] = {8191,   8193,   16384,  24577,   32767,   32768,   32769,   40961,   65535,  65536,
                            65537,  98305,  131071, 131073,  200003,  262143,  262144,  262145,  500009, 1048575,
                            1048576, 1048577, 2097151, 3000017, 4194304, 4194305, 6000011, 16777217};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0], LARGEST = 16777217 + 4096 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Outside of MPI for a while, without giving the core away. */
static void elsewhere(double time)
{
    volatile double sink = 0;
    for (double end = seconds() + time; seconds() < end;)
        sink += 1;
}

/* Which memory a buffer is of, noted before it. */
enum { PRIVATE, SHAREABLE, MIXED, NOTE = 64 };
static int memory_kind = PRIVATE;

static void *memory(size_t bytes)
{
    static unsigned turn;
    int kind = memory_kind == MIXED ? (int)(turn++ / 2 + (unsigned)check_rank) % 2 : memory_kind;
    unsigned char *p;
    if (kind == PRIVATE)
        p = check_alloc(bytes + NOTE);
    else
        CHECK_CLASS(MPI_Alloc_mem((MPI_Aint)(bytes + NOTE), MPI_INFO_NULL, &p), MPI_SUCCESS);
    p[0] = (unsigned char)kind;
    return p + NOTE;
}

static void release(void *of_memory)
{
    unsigned char *p = (unsigned char *)of_memory - NOTE;
    if (p[0] == PRIVATE)
        free(p);
    else
        CHECK_CLASS(MPI_Free_mem(p), MPI_SUCCESS);
}

/* A place for n bytes with guards around it; `odd` moves it off every alignment. */
struct room {
    unsigned char *all, *at;
    size_t n;
};

static struct room room(size_t n, size_t odd)
{
    struct room r = {memory(n + odd + 2 * GUARD), NULL, n};
    r.at = r.all + GUARD + odd;
    memset(r.all, GUARD_BYTE, n + odd + 2 * GUARD);
    return r;
}

static void check_guards(const struct room *r)
{
    for (int i = 0; i < GUARD; i++) {
        CHECK_EQ(r->at[-1 - i], GUARD_BYTE);
        CHECK_EQ(r->at[r->n + (size_t)i], GUARD_BYTE);
    }
}

/* With the peer: every size in both directions at once, from a buffer that is written just before. */
static void both_ways(int peer)
{
    struct room out = room(LARGEST, 3), in = room(LARGEST, 11);
    for (int k = 0; k < SIZE_COUNT; k++) {
        int n = SIZES[k], seed = check_rank * 100 + k;
        MPI_Request q[2];
        MPI_Status s[2];
        fill(out.at, (size_t)n, seed);
        memset(in.at, 0, (size_t)n);
        memset(in.at + n, GUARD_BYTE, GUARD);
#ifdef SEED_LOST_BYTE_MISTAKE
        out.at[n / 2 + 4096 < n ? n / 2 + 4096 : n / 2] ^= 1;
#endif
        MPI_Irecv(in.at, n, MPI_BYTE, peer, k, MPI_COMM_WORLD, &q[0]);
        MPI_Isend(out.at, n, MPI_BYTE, peer, k, MPI_COMM_WORLD, &q[1]);
        MPI_Waitall(2, q, s);
        CHECK_STATUS(s[0], peer, k, n);
        CHECK_BYTES(in.at, (size_t)n, peer * 100 + k);
        CHECK_BYTES(out.at, (size_t)n, seed);
        CHECK_EQ(in.at[n], GUARD_BYTE);
        CHECK_EQ(in.at[-1], GUARD_BYTE);
    }
    release(out.all);
    release(in.all);
}

/* One way and the other; now and then a side is elsewhere when it is needed, for as long as a part of the copy takes. */
static void late_sides(int peer)
{
    enum { ROUNDS = 240, N = 300007, TAIL = 256 };
    struct room r = room(N, 5);
    unsigned state = 12345;
    for (int k = 0; k < ROUNDS; k++) {
        MPI_Request q;
        int sends = (k & 1) == (check_rank < peer), done = 0;
        double sender_late, receiver_late;
        state = state * 1103515245u + 12345u;
        sender_late = (double)(state >> 16 & 63) * 1e-6 * (k % 3);
        receiver_late = (double)(state >> 22 & 63) * 1e-6 * (k % 2);
        if (sends) {
            fill(r.at, N, k);
            MPI_Isend(r.at, N, MPI_BYTE, peer, 7, MPI_COMM_WORLD, &q);
            elsewhere(sender_late);
        } else {
            memset(r.at, 0, N);
            MPI_Irecv(r.at, N, MPI_BYTE, peer, 7, MPI_COMM_WORLD, &q);
            elsewhere(receiver_late);
        }
        while (!done) {
            MPI_Test(&q, &done, MPI_STATUS_IGNORE);
            if (k % 5 == 4)
                elsewhere(3e-6);
        }
        if (!sends && k % 4 > 1) {
            /* Complete means that nobody writes any more: a part that was copied twice would land here, its end last. */
            memset(r.at + N - TAIL, 0x77, TAIL);
            elsewhere(6e-5);
            for (int i = N - TAIL; i < N; i++)
                CHECK_EQ(r.at[i], 0x77);
            CHECK_BYTES(r.at, N - TAIL, k);
        } else {
            CHECK_BYTES(r.at, N, k);
        }
        MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, 8, NULL, 0, MPI_BYTE, peer, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_guards(&r);
    }
    release(r.all);
}

static volatile sig_atomic_t told;

static void on_signal(int number)
{
    (void)number;
    told = 1;
}

/* The receiver needs nothing of a sender that is elsewhere until the receive is done. */
static void absent_sender(int peer)
{
    enum { N = 1500001 };
    unsigned char *p = memory(N);
    if (check_rank < peer) {
        MPI_Request q;
        int pid = getpid();
        told = 0;
        signal(SIGUSR1, on_signal);
        fill(p, N, 9);
        MPI_Send(&pid, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
        MPI_Isend(p, N, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &q);
        for (double end = seconds() + 60; !told && seconds() < end;)
            elsewhere(1e-5);
        CHECK_MSG(told, "the message was not received while its sender was outside of MPI");
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        signal(SIGUSR1, SIG_DFL);
    } else {
        int pid = 0;
        MPI_Recv(&pid, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(p, N, MPI_BYTE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_BYTES(p, N, 9);
        if (pid > 1)
            kill(pid, SIGUSR1);
    }
    release(p);
}

/* More under way at once than there can be shared work for, of mixed sizes, received in another order than sent. */
static void many(int peer)
{
    enum { COUNT = 150 };
    struct room out[COUNT], in[COUNT];
    MPI_Request q[2 * COUNT];
    for (int k = 0; k < COUNT; k++) {
        size_t n = (size_t)(33001 + k * 1237);
        out[k] = room(n, (size_t)k % 7);
        in[k] = room(n, (size_t)k % 5);
        fill(out[k].at, n, check_rank * 3 + k);
    }
    for (int k = COUNT - 1; k >= 0; k--)
        MPI_Irecv(in[k].at, (int)in[k].n, MPI_BYTE, peer, k, MPI_COMM_WORLD, &q[k]);
    for (int k = 0; k < COUNT; k++)
        MPI_Isend(out[k].at, (int)out[k].n, MPI_BYTE, peer, k, MPI_COMM_WORLD, &q[COUNT + k]);
    MPI_Waitall(2 * COUNT, q, MPI_STATUSES_IGNORE);
    for (int k = 0; k < COUNT; k++) {
        CHECK_BYTES(in[k].at, in[k].n, peer * 3 + k);
        check_guards(&in[k]);
        release(in[k].all);
        release(out[k].all);
    }
}

/* More long messages that nobody waits for than a library wants to keep parts of, received from the last to the first. */
static void crowd(int peer)
{
    enum { COUNT = 300, BYTES = 33001 };
    struct room out = room(BYTES, 1), in = room(BYTES, 2);
    MPI_Request q[COUNT];
    int token = 0;
    fill(out.at, BYTES, 9);
    for (int k = 0; k < COUNT; k++) {
        MPI_Isend(out.at, BYTES, MPI_BYTE, peer, 1000 + k, MPI_COMM_WORLD, &q[k]);
        /* Behind it and those before it: they are there and nobody waits for them. */
        if (k % 10 == 9)
            MPI_Sendrecv_replace(&token, 1, MPI_INT, peer, 999, peer, 999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int k = COUNT; k-- > 0;) {
        MPI_Status s;
        memset(in.at, 0, BYTES);
        MPI_Recv(in.at, BYTES, MPI_BYTE, peer, 1000 + k, MPI_COMM_WORLD, &s);
        CHECK_STATUS(s, peer, 1000 + k, BYTES);
        CHECK_BYTES(in.at, BYTES, 9);
    }
    MPI_Waitall(COUNT, q, MPI_STATUSES_IGNORE);
    check_guards(&in);
    release(out.all);
    release(in.all);
}

/* A receive that is too short gets what fits and an error; so does one that is much too short; one of nothing, too. */
static void truncation(int peer)
{
    static const int WANTED[] = {999999, 700001, 40000, 100, 0};
    enum { N = 1000000 };
    struct room r = room(N, 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int k = 0; k < 5; k++) {
        if (check_rank < peer) {
            fill(r.at, N, k);
            MPI_Send(r.at, N, MPI_BYTE, peer, 3, MPI_COMM_WORLD);
        } else {
            int n = WANTED[k];
            memset(r.at, GUARD_BYTE, N);
            CHECK_CLASS(MPI_Recv(r.at, n, MPI_BYTE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
            CHECK_BYTES(r.at, (size_t)n, k);
            for (int i = n; i < N; i++)
                if (r.at[i] != GUARD_BYTE) {
                    CHECK_EQ(r.at[i], GUARD_BYTE);
                    break;
                }
        }
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    release(r.all);
}

/* Synchronous, persistent, matched and cancelled ones. */
static void kinds(int peer)
{
    enum { N = 260003, ROUNDS = 6 };
    struct room out = room(N, 2), in = room(N, 9);
    MPI_Request q[2], never;
    MPI_Message message;
    MPI_Status s;
    int cancelled = 0;
    MPI_Send_init(out.at, N, MPI_BYTE, peer, 4, MPI_COMM_WORLD, &q[0]);
    MPI_Recv_init(in.at, N, MPI_BYTE, peer, 4, MPI_COMM_WORLD, &q[1]);
    for (int k = 0; k < ROUNDS; k++) {
        fill(out.at, N, k + check_rank);
        memset(in.at, 0, N);
        MPI_Startall(2, q);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        CHECK_BYTES(in.at, N, k + peer);
    }
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
    for (int turn = 0; turn < 2; turn++) {
        if ((turn == 0) == (check_rank < peer)) {
            fill(out.at, N, 50 + turn);
            MPI_Ssend(out.at, N, MPI_BYTE, peer, 5, MPI_COMM_WORLD);
        } else {
            memset(in.at, 0, N);
            MPI_Irecv(in.at, N, MPI_BYTE, peer, 99, MPI_COMM_WORLD, &never);
            MPI_Mprobe(peer, 5, MPI_COMM_WORLD, &message, &s);
            CHECK_STATUS(s, peer, 5, N);
            MPI_Imrecv(in.at, N, MPI_BYTE, &message, &q[0]);
            MPI_Wait(&q[0], &s);
            CHECK_STATUS(s, peer, 5, N);
            CHECK_BYTES(in.at, N, 50 + turn);
            MPI_Cancel(&never);
            MPI_Wait(&never, &s);
            MPI_Test_cancelled(&s, &cancelled);
            CHECK(cancelled);
        }
    }
    check_guards(&in);
    release(out.all);
    release(in.all);
}

/* Data with gaps at either end or both, data that does not begin where its buffer does, and messages to oneself. */
static void shapes(int peer)
{
    enum { ROWS = 5000, ROW = 24, GAP = 40, N = ROWS * ROW };
    MPI_Datatype gaps, moved;
    MPI_Aint by = 77;
    int length = N;
    unsigned char *wide = memory((size_t)ROWS * GAP), *flat = memory(N + 77), *back = memory(N + 77);
    MPI_Type_vector(ROWS, ROW, GAP, MPI_BYTE, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Type_create_hindexed(1, &length, &by, MPI_BYTE, &moved);
    MPI_Type_commit(&moved);
    for (int k = 0; k < 8; k++) {
        int from_gaps = k & 1, to_gaps = k >> 1 & 1;
        fill(flat, N, k);
        memset(wide, 0x11, (size_t)ROWS * GAP);
        if ((k >> 2 & 1) == (check_rank < peer)) {
            for (int i = 0; i < ROWS; i++)
                memcpy(wide + (size_t)i * GAP, flat + (size_t)i * ROW, ROW);
            if (from_gaps)
                MPI_Send(wide, 1, gaps, peer, 6, MPI_COMM_WORLD);
            else
                MPI_Send(flat, N, MPI_BYTE, peer, 6, MPI_COMM_WORLD);
        } else if (to_gaps) {
            MPI_Recv(wide, 1, gaps, peer, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < ROWS; i++) {
                CHECK(memcmp(wide + (size_t)i * GAP, flat + (size_t)i * ROW, ROW) == 0);
                CHECK(i == ROWS - 1 || wide[(size_t)i * GAP + ROW] == 0x11);
            }
        } else {
            memset(back, 0, N);
            MPI_Recv(back, N, MPI_BYTE, peer, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_BYTES(back, N, k);
        }
    }
    memset(back, 0x22, N + 77);
    memset(flat, 0x33, 77);
    fill(flat + 77, N, 4);
    MPI_Sendrecv(flat, 1, moved, peer, 6, back, 1, moved, peer, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_BYTES(back + 77, N, 4);
    CHECK(back[0] == 0x22 && back[76] == 0x22);
    memset(back, 0x22, N + 77);
    MPI_Sendrecv(flat, 1, moved, check_rank, 6, back, 1, moved, check_rank, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_BYTES(back + 77, N, 4);
    CHECK(back[76] == 0x22);
    MPI_Type_free(&gaps);
    MPI_Type_free(&moved);
    release(wide);
    release(flat);
    release(back);
}

/* Everybody to everybody at once. */
static void all_to_all(void)
{
    enum { N = 150001 };
    unsigned char *out = memory((size_t)check_ranks * N), *in = memory((size_t)check_ranks * N);
    MPI_Request *q = check_alloc(2 * (size_t)check_ranks * sizeof *q);
    for (int turn = 0; turn < 5; turn++) {
        for (int r = 0; r < check_ranks; r++) {
            fill(out + (size_t)r * N, N, check_rank * 17 + r + turn);
            MPI_Irecv(in + (size_t)r * N, N, MPI_BYTE, r, turn, MPI_COMM_WORLD, &q[2 * r]);
        }
        for (int r = 0; r < check_ranks; r++)
            MPI_Isend(out + (size_t)r * N, N, MPI_BYTE, r, turn, MPI_COMM_WORLD, &q[2 * r + 1]);
        MPI_Waitall(2 * check_ranks, q, MPI_STATUSES_IGNORE);
        for (int r = 0; r < check_ranks; r++)
            CHECK_BYTES(in + (size_t)r * N, N, r * 17 + check_rank + turn);
    }
    release(out);
    release(in);
    free(q);
}

/* Until somebody is killed: the last rank kills itself after a while. */
static void endless(int peer)
{
    enum { N = 8 << 20 };
    unsigned char *out = memory(N), *in = memory(N);
    double end = seconds() + 0.3;
    fill(out, N, check_rank);
    for (;;) {
        MPI_Request q[2];
        MPI_Irecv(in, N, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &q[0]);
        MPI_Isend(out, N, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &q[1]);
        if (check_rank == check_ranks - 1 && seconds() > end)
            raise(SIGKILL);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int refused = argc > 1 && strcmp(argv[1], "refuse") == 0, copied = argc > 1 && strcmp(argv[1], "copied") == 0, peer;
    if (refused)
        refuse_copies(1, 1);
    start(&argc, &argv, "pt2pt_single_copy");
    if (argc > 2)
        memory_kind = strcmp(argv[2], "mixed") == 0 ? MIXED : SHAREABLE;
    if (argc > 1 && strcmp(argv[1], "no-reads") == 0)
        refuse_copies(1, 0);
    if (argc > 1 && strcmp(argv[1], "no-writes") == 0)
        refuse_copies(0, 1);
    peer = check_rank ^ 1;
    if (argc > 1 && strcmp(argv[1], "endless") == 0 && peer < check_ranks)
        endless(peer);
    all_to_all();
    if (peer < check_ranks) {
        both_ways(peer);
        late_sides(peer);
        many(peer);
        crowd(peer);
        truncation(peer);
        kinds(peer);
        shapes(peer);
        if (copied)
            absent_sender(peer);
    }
    return finish();
}

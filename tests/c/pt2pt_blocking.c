// covers: MPI_Send MPI_Recv MPI_Ssend MPI_Rsend MPI_Sendrecv MPI_Sendrecv_replace MPI_Isend MPI_Irecv MPI_Wait MPI_Get_count MPI_Get_elements MPI_Comm_get_attr MPI_Comm_set_errhandler
/*
 * Blocking point-to-point communication, MPI 5.0 sections 3.2 (send, receive, status), 3.4 (modes), 3.5 (order),
 * 3.10 (send-receive, MPI_PROC_NULL). The sizes straddle the places where a library changes its path: inline in a
 * cache line, eager, several fragments, rendezvous.
 */
#include "check.h"

static const int sizes[] = {0, 1, 8, 56, 57, 64, 100, 1000, 4095, 4096, 4097, 8192, 65536, (1 << 20) + 1};
enum { SIZES = sizeof sizes / sizeof sizes[0], LARGEST = (1 << 20) + 1, GUARD = 64 };

static unsigned char *out, *in;
static int next, previous;

/* The bytes behind the message must survive: a receive writes what was sent and not the room it was given. */
static void clear_in(int n)
{
    memset(in, 0xee, (size_t)n + GUARD);
}

#define CHECK_GUARD(n) check_guard(n, __LINE__)

static void check_guard(int n, int line)
{
    for (int i = n; i < n + GUARD; i++)
        if (in[i] != 0xee) {
            check_fail(__FILE__, line, "byte %d behind a receive buffer of %d was written", i - n, n);
            return;
        }
}

static void receive_from_previous(int n, int tag)
{
    MPI_Status s;
    s.MPI_ERROR = 4711; /* a call that returns one status leaves this field alone, section 3.2.5 */
    clear_in(n);
    MPI_Recv(in, n + GUARD, MPI_BYTE, previous, tag, MPI_COMM_WORLD, &s);
    CHECK_STATUS(s, previous, tag, n);
    CHECK_EQ(s.MPI_ERROR, 4711);
    CHECK_BYTES(in, (size_t)n, previous + n);
    CHECK_GUARD(n);
}

/* Even ranks send first, odd ranks receive first; also right for an odd number of ranks, where the ring has one place
 * with two senders in a row. A rank alone cannot use blocking sends to itself. */
static void modes(void)
{
    static int (*const sends[])(const void *, int, MPI_Datatype, int, int, MPI_Comm) = {MPI_Send, MPI_Ssend};
    for (int mode = 0; mode < 2 && check_ranks > 1; mode++)
        for (int i = 0; i < SIZES; i++) {
            fill(out, (size_t)sizes[i], check_rank + sizes[i]);
            if (check_rank % 2 == 0)
                sends[mode](out, sizes[i], MPI_BYTE, next, 100 + i, MPI_COMM_WORLD);
            receive_from_previous(sizes[i], 100 + i);
            if (check_rank % 2 != 0)
                sends[mode](out, sizes[i], MPI_BYTE, next, 100 + i, MPI_COMM_WORLD);
        }
}

/* A ready send is right only when the receive stands: the receiver posts it and then says so. */
static void ready(void)
{
    for (int i = 0; i < SIZES && check_ranks > 1; i += 3) {
        MPI_Request q, go;
        MPI_Status s;
        clear_in(sizes[i]);
        fill(out, (size_t)sizes[i], check_rank + sizes[i]);
        MPI_Irecv(in, sizes[i], MPI_BYTE, previous, 7, MPI_COMM_WORLD, &q);
        MPI_Isend(NULL, 0, MPI_BYTE, previous, 8, MPI_COMM_WORLD, &go);
        MPI_Recv(NULL, 0, MPI_BYTE, next, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Rsend(out, sizes[i], MPI_BYTE, next, 7, MPI_COMM_WORLD);
        MPI_Wait(&go, MPI_STATUS_IGNORE);
        MPI_Wait(&q, &s);
        CHECK_STATUS(s, previous, 7, sizes[i]);
        CHECK_BYTES(in, (size_t)sizes[i], previous + sizes[i]);
    }
}

static void send_receive(void)
{
    for (int i = 0; i < SIZES; i++) {
        int n = sizes[i];
        MPI_Status s;
        fill(out, (size_t)n, check_rank + n);
        clear_in(n);
        MPI_Sendrecv(out, n, MPI_BYTE, next, 3, in, n + GUARD, MPI_BYTE, previous, 3, MPI_COMM_WORLD, &s);
        CHECK_STATUS(s, previous, 3, n);
        CHECK_BYTES(in, (size_t)n, previous + n);
        CHECK_GUARD(n);
        MPI_Sendrecv_replace(out, n, MPI_BYTE, next, 4, previous, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
        CHECK_STATUS(s, previous, 4, n);
        CHECK_BYTES(out, (size_t)n, previous + n);
    }
}

/* Messages of one tag must arrive in the order sent, although neighbours in the stream take different paths. */
static void order(void)
{
    static const int mix[] = {8, 70000, 0, 4096, 57, 300000, 1, 8192};
    for (int i = 0; i < 64 && check_ranks > 1; i++) {
        int n = mix[i % 8];
        MPI_Status s;
        if (check_rank == 0) {
            fill(out, (size_t)n, i);
            MPI_Send(out, n, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
        } else if (check_rank == 1) {
            int any = i % 3 == 1;
            MPI_Recv(in, LARGEST, MPI_BYTE, any ? MPI_ANY_SOURCE : 0, i % 3 == 2 ? MPI_ANY_TAG : 5, MPI_COMM_WORLD, &s);
            CHECK_STATUS(s, 0, 5, n);
            CHECK_BYTES(in, (size_t)n, i);
        }
    }
}

/* MPI_TAG_UB is at least 32767 (section 9.1.2), and that value itself is a tag one may use. */
static void tags(void)
{
    int *upper = NULL, flag = 0, list[4] = {0, 1, 32767, 0};
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper, &flag);
    CHECK(flag);
    CHECK(flag && *upper >= 32767);
    list[3] = flag ? *upper : 32767;
    for (int i = 0; i < 4; i++) {
        int sent = 1000 * i + check_rank, got = -1;
        MPI_Status s;
        MPI_Sendrecv(&sent, 1, MPI_INT, next, list[i], &got, 1, MPI_INT, previous, i % 2 ? MPI_ANY_TAG : list[i], MPI_COMM_WORLD, &s);
        CHECK_EQ(got, 1000 * i + previous);
        CHECK_EQ(s.MPI_TAG, list[i]);
        CHECK_EQ(s.MPI_SOURCE, previous);
    }
}

static void any_source(void)
{
    for (int round = 0; round < 3; round++) {
        int seen = 0, sent[3] = {check_rank, round, check_rank * round}, got[3];
        if (check_rank != 0)
            MPI_Send(sent, 3, MPI_INT, 0, 10 * round + check_rank, MPI_COMM_WORLD);
        for (int i = 1; i < check_ranks && check_rank == 0; i++) {
            MPI_Status s;
            int count = -1;
            MPI_Recv(got, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
            MPI_Get_count(&s, MPI_INT, &count);
            CHECK_EQ(count, 3);
            CHECK_EQ(s.MPI_SOURCE, got[0]);
            CHECK_EQ(s.MPI_TAG, 10 * got[1] + got[0]);
            CHECK_EQ(got[2], got[0] * got[1]);
            seen += got[1] == round;
        }
        /* A rank may run ahead by rounds, but no message may be lost or doubled: hence a tight end of each round. */
        if (check_rank == 0) {
            CHECK_EQ(seen, check_ranks - 1);
            for (int r = 1; r < check_ranks; r++)
                MPI_Send(NULL, 0, MPI_BYTE, r, 99, MPI_COMM_WORLD);
        } else {
            MPI_Recv(NULL, 0, MPI_BYTE, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

static void proc_null(void)
{
    int value = 42;
    MPI_Status s;
    memset(&s, 0x55, sizeof s);
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &s);
    CHECK_EQ(value, 42);
    CHECK_STATUS(s, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    MPI_Sendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &s);
    CHECK_EQ(value, 42);
    CHECK_STATUS(s, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}

static void to_self(void)
{
    MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < SIZES; i += c + 1) {
            int n = sizes[i], me = c == 0 ? check_rank : 0;
            MPI_Request q;
            MPI_Status s;
            fill(out, (size_t)n, n + c);
            clear_in(n);
            MPI_Isend(out, n, MPI_BYTE, me, 6, comms[c], &q);
            MPI_Recv(in, n + GUARD, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : me, 6, comms[c], &s);
            MPI_Wait(&q, MPI_STATUS_IGNORE);
            CHECK_STATUS(s, me, 6, n);
            CHECK_BYTES(in, (size_t)n, n + c);
            CHECK_GUARD(n);
        }
}

/* Three integers received as pairs: one whole pair and a half, which MPI_Get_count must refuse to call a number. */
static void counts(void)
{
    int sent[4] = {1, 2, 3, 4}, got[8];
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int n = 0; n <= 4; n++) {
        int whole = -1, elements = -1;
        MPI_Status s;
        MPI_Sendrecv(sent, n, MPI_INT, next, 2, got, 4, pair, previous, 2, MPI_COMM_WORLD, &s);
        MPI_Get_count(&s, pair, &whole);
        MPI_Get_elements(&s, pair, &elements);
        CHECK_EQ(whole, n % 2 ? MPI_UNDEFINED : n / 2);
        CHECK_EQ(elements, n);
    }
    MPI_Type_free(&pair);
}

/* Too long a message: class MPI_ERR_TRUNCATE at the receiver, nothing behind its buffer touched, the sender
 * completes, and the communicator goes on (section 3.2.4). Both the eager and the rendezvous path. */
static void truncation(void)
{
    static const int too_long[] = {11, 100, 5000, 200000};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 4; i++) {
        int token = i, got = -1;
        MPI_Request q;
        fill(out, (size_t)too_long[i], i);
        clear_in(10);
        MPI_Isend(out, too_long[i], MPI_BYTE, next, 20, MPI_COMM_WORLD, &q);
        CHECK_CLASS(MPI_Recv(in, 10, MPI_BYTE, previous, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
        if (!library_is("Open MPI")) /* 4.1 stores the whole of a long message */
            CHECK_GUARD(10);
        CHECK_CLASS(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_SUCCESS);
        MPI_Sendrecv(&token, 1, MPI_INT, next, 21, &got, 1, MPI_INT, previous, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(got, i);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "pt2pt_blocking");
    next = (check_rank + 1) % check_ranks;
    previous = (check_rank + check_ranks - 1) % check_ranks;
    out = check_alloc(LARGEST + GUARD);
    in = check_alloc(LARGEST + GUARD);
    modes();
    ready();
    send_receive();
    order();
    tags();
    any_source();
    proc_null();
    to_self();
    counts();
    truncation();
    free(out);
    free(in);
    return finish();
}

// covers: MPI_Isend MPI_Irecv MPI_Issend MPI_Wait MPI_Waitall MPI_Waitany MPI_Waitsome MPI_Test MPI_Testall MPI_Testany MPI_Testsome MPI_Request_free MPI_Request_get_status MPI_Cancel MPI_Test_cancelled
/*
 * Nonblocking point-to-point communication, MPI 5.0 sections 3.7 (requests and their completion), 3.5 (matching order of
 * posted receives), 3.8.4 (cancel). Every rank talks to its right neighbour in a ring, which at one rank is itself.
 */
#include "check.h"

static int next, previous;

static const int sizes[] = {0, 1, 8, 56, 57, 64, 100, 1000, 4095, 4096, 4097, 8192, 65536, (1 << 20) + 1};
enum { SIZES = sizeof sizes / sizeof sizes[0], MANY = 2000, SET = 12 };

/* After this, everything the neighbour sent before its own call is at least on its way ahead of the token. */
static void token(void)
{
    int mine = check_rank, got = -1;
    MPI_Sendrecv(&mine, 1, MPI_INT, next, 999, &got, 1, MPI_INT, previous, 999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(got, previous);
}

static void check_empty(const MPI_Status *s, int line)
{
    int count = -1, cancelled = -1;
    MPI_Get_count(s, MPI_INT, &count);
    MPI_Test_cancelled(s, &cancelled);
    if (s->MPI_SOURCE != MPI_ANY_SOURCE || s->MPI_TAG != MPI_ANY_TAG || count != 0 || cancelled != 0)
        check_fail(__FILE__, line, "expected the empty status (source %d tag %d count 0 not cancelled), got %d %d %d %d",
                   MPI_ANY_SOURCE, MPI_ANY_TAG, s->MPI_SOURCE, s->MPI_TAG, count, cancelled);
}

/* 2000 sends in flight, meeting receives posted in another order of tags. */
static void many_outstanding(void)
{
    int *sent = check_alloc(MANY * sizeof(int)), *got = check_alloc(MANY * sizeof(int));
    MPI_Request *q = check_alloc(2 * MANY * sizeof *q);
    MPI_Status *s = check_alloc(2 * MANY * sizeof *s);
    for (int i = 0; i < MANY; i++) {
        int tag = (int)((long long)i * 777 % MANY); /* 777 and 2000 have no common factor: a permutation */
        got[i] = -1;
        MPI_Irecv(&got[i], 1, MPI_INT, previous, tag, MPI_COMM_WORLD, &q[i]);
    }
    for (int i = 0; i < MANY; i++) {
        sent[i] = check_rank * MANY + i;
        MPI_Isend(&sent[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &q[MANY + i]);
    }
    MPI_Waitall(2 * MANY, q, s);
    for (int i = 0; i < MANY; i++) {
        int tag = (int)((long long)i * 777 % MANY);
        CHECK_EQ(got[i], previous * MANY + tag);
        CHECK_EQ(s[i].MPI_SOURCE, previous);
        CHECK_EQ(s[i].MPI_TAG, tag);
        CHECK(q[i] == MPI_REQUEST_NULL && q[MANY + i] == MPI_REQUEST_NULL);
    }
    free(sent), free(got), free(q), free(s);
}

/* All sizes arrive before any receive is posted, and are fetched last to first. */
static void unexpected(void)
{
    MPI_Request q[SIZES];
    unsigned char *out[SIZES], *in = check_alloc((1 << 20) + 1);
    for (int i = 0; i < SIZES; i++) {
        out[i] = check_alloc((size_t)sizes[i]);
        fill(out[i], (size_t)sizes[i], check_rank + i);
        MPI_Isend(out[i], sizes[i], MPI_BYTE, next, i, MPI_COMM_WORLD, &q[i]);
    }
    token();
    for (int i = SIZES - 1; i >= 0; i--) {
        MPI_Status s;
        MPI_Recv(in, (1 << 20) + 1, MPI_BYTE, i % 2 ? previous : MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &s);
        CHECK_STATUS(s, previous, i, sizes[i]);
        CHECK_BYTES(in, (size_t)sizes[i], previous + i);
    }
    MPI_Waitall(SIZES, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < SIZES; i++)
        free(out[i]);
    free(in);
}

/* A message goes to the first posted receive that matches, wildcard or not. */
static void posted_order(void)
{
    int got[4] = {-1, -1, -1, -1}, sent[4] = {0, 1, 2, 3};
    const int source[4] = {MPI_ANY_SOURCE, previous, MPI_ANY_SOURCE, previous}, tag[4] = {1, 1, MPI_ANY_TAG, MPI_ANY_TAG};
    MPI_Request q[8];
    for (int i = 0; i < 4; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, source[i], tag[i], MPI_COMM_WORLD, &q[i]);
    for (int i = 0; i < 4; i++)
        MPI_Isend(&sent[i], 1, MPI_INT, next, 1, MPI_COMM_WORLD, &q[4 + i]);
    MPI_Waitall(8, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(got[i], i);
}

/* A synchronous send must not complete before its receive has started, however short the message. */
static void synchronous(void)
{
    for (int i = 0; i < SIZES; i += 4) {
        unsigned char *out = check_alloc((size_t)sizes[i]), *in = check_alloc((size_t)sizes[i]);
        MPI_Request q;
        int flag = 0;
        fill(out, (size_t)sizes[i], check_rank);
        MPI_Issend(out, sizes[i], MPI_BYTE, next, 50, MPI_COMM_WORLD, &q);
        for (int t = 0; t < 50 && !flag; t++)
            MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
        CHECK_MSG(!flag, "MPI_Issend of %d bytes completed before the receive was posted", sizes[i]);
        token();
        MPI_Recv(in, sizes[i], MPI_BYTE, previous, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        CHECK(q == MPI_REQUEST_NULL);
        CHECK_BYTES(in, (size_t)sizes[i], previous);
        free(out), free(in);
    }
}

/* One set of receives, completed by each of the eight calls in turn. Returns how many requests the call completed,
 * their places in `where` and their statuses in `s`. */
static int complete(int how, MPI_Request *q, int *where, MPI_Status *s)
{
    int n = 0, flag = 0;
    switch (how) {
    case 0:
        MPI_Waitany(SET, q, where, s);
        return 1;
    case 1:
        while (!flag)
            MPI_Testany(SET, q, where, &flag, s);
        return 1;
    case 2:
        MPI_Waitsome(SET, q, &n, where, s);
        CHECK_MSG(n >= 1 && n <= SET, "MPI_Waitsome completed %d of %d", n, SET);
        return n;
    case 3:
        while (n == 0)
            MPI_Testsome(SET, q, &n, where, s);
        return n;
    case 4:
    case 5:
        if (how == 4)
            MPI_Waitall(SET, q, s);
        while (how == 5 && !flag)
            MPI_Testall(SET, q, &flag, s);
        for (n = 0; n < SET; n++)
            where[n] = n;
        return SET;
    default:
        for (n = 0; n < SET && q[n] == MPI_REQUEST_NULL;)
            n++;
        if (how == 6)
            MPI_Wait(&q[n], s);
        while (how == 7 && !flag)
            MPI_Test(&q[n], &flag, s);
        where[0] = n;
        return 1;
    }
}

static void completion_calls(void)
{
    for (int how = 0; how < 8; how++) {
        MPI_Request in[SET], out[SET];
        MPI_Status s[SET];
        int sent[SET][2], got[SET][2], where[SET], done[SET] = {0}, left = SET;
        for (int i = 0; i < SET; i++)
            MPI_Irecv(got[i], 2, MPI_INT, previous, 60 + i, MPI_COMM_WORLD, &in[i]);
        for (int i = SET - 1; i >= 0; i--) {
            sent[i][0] = check_rank, sent[i][1] = i;
            MPI_Isend(sent[i], 1 + i % 2, MPI_INT, next, 60 + i, MPI_COMM_WORLD, &out[i]);
        }
        while (left > 0) {
            int n = complete(how, in, where, s);
            for (int k = 0; k < n && k < SET; k++) {
                int i = where[k], count = -1;
                CHECK_MSG(i >= 0 && i < SET && !done[i], "call %d: index %d out of range or completed twice", how, i);
                if (i < 0 || i >= SET)
                    return;
                done[i] = 1, left--;
                MPI_Get_count(&s[k], MPI_INT, &count);
                CHECK_EQ(count, 1 + i % 2);
                CHECK_EQ(s[k].MPI_SOURCE, previous);
                CHECK_EQ(s[k].MPI_TAG, 60 + i);
                CHECK_EQ(got[i][0], previous);
                CHECK(count < 2 || got[i][1] == i);
                CHECK(in[i] == MPI_REQUEST_NULL);
            }
        }
        MPI_Waitall(SET, out, MPI_STATUSES_IGNORE);
    }
}

/* What is defined for requests that are not there, section 3.7.3 and 3.7.5. */
static void null_requests(void)
{
    MPI_Request q[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s[3];
    int flag = 0, index = 0, n = 0, where[3];
    memset(s, 0x55, sizeof s);
    MPI_Wait(&q[0], &s[0]);
    check_empty(&s[0], __LINE__);
    memset(s, 0x55, sizeof s);
    MPI_Test(&q[0], &flag, &s[0]);
    CHECK(flag);
    check_empty(&s[0], __LINE__);
    memset(s, 0x55, sizeof s);
    MPI_Waitany(3, q, &index, &s[0]);
    CHECK_EQ(index, MPI_UNDEFINED);
    check_empty(&s[0], __LINE__);
    flag = index = 0;
    MPI_Testany(3, q, &index, &flag, &s[0]);
    CHECK(flag);
    CHECK_EQ(index, MPI_UNDEFINED);
    MPI_Waitsome(3, q, &n, where, s);
    CHECK_EQ(n, MPI_UNDEFINED);
    n = 0;
    MPI_Testsome(3, q, &n, where, s);
    CHECK_EQ(n, MPI_UNDEFINED);
    memset(s, 0x55, sizeof s);
    MPI_Waitall(3, q, s);
    for (int i = 0; i < 3; i++)
        check_empty(&s[i], __LINE__);
    flag = 0;
    MPI_Testall(3, q, &flag, s);
    CHECK(flag);
    MPI_Waitall(0, q, s);
}

/* Freed at once, the send still goes out; the buffer is ours again only when the receiver says so. */
static void request_free(void)
{
    for (int i = 0; i < SIZES; i++) {
        unsigned char *out = check_alloc((size_t)sizes[i]), *in = check_alloc((size_t)sizes[i]);
        MPI_Request q, ack;
        fill(out, (size_t)sizes[i], check_rank + i);
        MPI_Isend(out, sizes[i], MPI_BYTE, next, 70, MPI_COMM_WORLD, &q);
        MPI_Request_free(&q);
        CHECK(q == MPI_REQUEST_NULL);
        MPI_Recv(in, sizes[i], MPI_BYTE, previous, 70, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_BYTES(in, (size_t)sizes[i], previous + i);
        MPI_Isend(NULL, 0, MPI_BYTE, previous, 71, MPI_COMM_WORLD, &ack);
        MPI_Recv(NULL, 0, MPI_BYTE, next, 71, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&ack, MPI_STATUS_IGNORE);
        free(out), free(in);
    }
}

/* MPI_Request_get_status looks without taking; a cancelled receive says so and leaves the next message alone. */
static void look_and_cancel(void)
{
    int sent = 5 + check_rank, got = -1, never = -1, flag = 0;
    MPI_Request q, lost, out;
    MPI_Status s;
    MPI_Irecv(&never, 1, MPI_INT, previous, 80, MPI_COMM_WORLD, &lost);
    MPI_Request_get_status(lost, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Cancel(&lost);
    MPI_Wait(&lost, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK(flag);
    /* Told backwards: the sender may start only when its receiver has cancelled. */
    MPI_Sendrecv(NULL, 0, MPI_INT, previous, 81, NULL, 0, MPI_INT, next, 81, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(&got, 1, MPI_INT, previous, 80, MPI_COMM_WORLD, &q);
    MPI_Isend(&sent, 1, MPI_INT, next, 80, MPI_COMM_WORLD, &out);
    for (flag = 0; !flag;)
        MPI_Request_get_status(q, &flag, &s);
    CHECK(q != MPI_REQUEST_NULL);
    CHECK_EQ(got, 5 + previous);
    CHECK_EQ(s.MPI_SOURCE, previous);
    MPI_Wait(&q, &s);
    MPI_Wait(&out, MPI_STATUS_IGNORE);
    CHECK_EQ(s.MPI_TAG, 80);
    MPI_Test_cancelled(&s, &flag);
    CHECK(!flag);
    CHECK_EQ(never, -1);
}

/* A message too long for the receive that waits for it: an error there, what fits is written, nothing behind it is, and the
 * next receive gets the next message. */
static void too_long(void)
{
    enum { ROOM = 1 << 20, BEHIND = 80 };
    static const MPI_Aint rooms[] = {0, 1, 7, 55, 56, 63, 64, 90, 4000, 65000, ROOM - BEHIND};
    unsigned char *sent = check_alloc(ROOM), *got = check_alloc(ROOM);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    fill(sent, ROOM, 5);
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        int room = (int)rooms[i], number = -1;
        MPI_Request q[2];
        MPI_Status s;
        memset(got, 9, (size_t)room + BEHIND);
        MPI_Irecv(got, room, MPI_BYTE, previous, 31, MPI_COMM_WORLD, &q[0]);
        MPI_Irecv(&number, 1, MPI_INT, previous, 31, MPI_COMM_WORLD, &q[1]);
        token();
        MPI_Send(sent, room + 1 + (int)i % 8, MPI_BYTE, next, 31, MPI_COMM_WORLD);
        MPI_Send(&check_rank, 1, MPI_INT, next, 31, MPI_COMM_WORLD);
        CHECK_CLASS(MPI_Wait(&q[0], &s), MPI_ERR_TRUNCATE);
        CHECK_EQ(s.MPI_SOURCE, previous);
        CHECK_EQ(s.MPI_TAG, 31);
        CHECK_BYTES(got, (size_t)room, 5);
        for (int k = room; k < room + BEHIND; k++)
            CHECK_EQ(got[k], 9);
        MPI_Wait(&q[1], MPI_STATUS_IGNORE);
        CHECK_EQ(number, previous);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    free(sent), free(got);
}

/* Messages of all kinds that wait in one queue for receives that are posted: each goes its own way to its own receive. */
static void all_kinds_in_a_row(void)
{
    enum { ROW = 24, LONGEST = 70000 };
    static const int bytes[] = {8, 0, 8, 64, 8, 70, 8, LONGEST};
    unsigned char *sent = check_alloc((size_t)ROW * LONGEST), *got = check_alloc((size_t)ROW * LONGEST);
    MPI_Request q[2 * ROW];
    MPI_Status s[2 * ROW];
    for (int i = 0; i < ROW; i++)
        MPI_Irecv(got + (size_t)i * LONGEST, LONGEST, MPI_BYTE, previous, 51, MPI_COMM_WORLD, &q[i]);
    token();
    for (int i = 0; i < ROW; i++) {
        fill(sent + (size_t)i * LONGEST, LONGEST, i);
        (i % 3 == 2 ? MPI_Issend : MPI_Isend)(sent + (size_t)i * LONGEST, bytes[i % 8], MPI_BYTE, next, 51, MPI_COMM_WORLD,
                                              &q[ROW + i]);
    }
    /* Nobody looks before all are sent. */
    for (double until = MPI_Wtime() + 0.001; MPI_Wtime() < until;)
        ;
    MPI_Waitall(2 * ROW, q, s);
    for (int i = 0; i < ROW; i++) {
        CHECK_STATUS(s[i], previous, 51, bytes[i % 8]);
        CHECK_BYTES(got + (size_t)i * LONGEST, (size_t)bytes[i % 8], i);
    }
    free(sent), free(got);
}

/* The same of two communicators, with one tag. */
static void communicators_in_a_row(void)
{
    enum { ROW = 24 };
    MPI_Comm comms[2] = {MPI_COMM_WORLD};
    MPI_Request q[2 * ROW];
    int sent[ROW], got[ROW];
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    for (int i = 0; i < ROW; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, previous, 52, comms[i / 2 % 2], &q[i]);
    token();
    for (int i = 0; i < ROW; i++) {
        sent[i] = i;
        MPI_Isend(&sent[i], 1, MPI_INT, next, 52, comms[i % 2], &q[ROW + i]);
    }
    for (double until = MPI_Wtime() + 0.001; MPI_Wtime() < until;)
        ;
    MPI_Waitall(2 * ROW, q, MPI_STATUSES_IGNORE);
    /* Receives 0, 1, 4, 5, 8 and so on are of the first communicator, messages 0, 2, 4 and so on. */
    for (int i = 0; i < ROW; i++)
        CHECK_EQ(got[i], 2 * (i / 4 * 2 + i % 2) + i / 2 % 2);
    MPI_Comm_free(&comms[1]);
}

/* Sends that find no room wait, and short ones that come after them stay behind, for which there would be room. */
static void order_when_full(void)
{
    enum { BURST = 100, LONGER = 16000 };
    int *sent = check_alloc((size_t)BURST * LONGER), *got = check_alloc(LONGER);
    MPI_Request q[BURST];
    for (int turn = 0; turn < 4; turn++) {
        token();
        for (int i = 0; i < BURST; i++) {
            int *message = sent + i * (LONGER / (int)sizeof(int));
            message[0] = i;
            MPI_Isend(message, i % 50 < 47 ? LONGER : (int)sizeof(int), MPI_BYTE, next, 41, MPI_COMM_WORLD, &q[i]);
        }
        /* Nobody receives before all are sent. */
        for (double until = MPI_Wtime() + 0.001; MPI_Wtime() < until;)
            ;
        for (int i = 0; i < BURST; i++) {
            MPI_Recv(got, LONGER, MPI_BYTE, previous, 41, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_EQ(got[0], i);
        }
        MPI_Waitall(BURST, q, MPI_STATUSES_IGNORE);
    }
    free(sent), free(got);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "pt2pt_nonblocking");
    next = (check_rank + 1) % check_ranks;
    previous = (check_rank + check_ranks - 1) % check_ranks;
    many_outstanding();
    unexpected();
    posted_order();
    synchronous();
    completion_calls();
    null_requests();
    request_free();
    look_and_cancel();
    too_long();
    all_kinds_in_a_row();
    communicators_in_a_row();
    order_when_full();
    return finish();
}

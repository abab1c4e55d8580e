// covers: MPI_Bsend MPI_Bsend_c MPI_Ibsend MPI_Ibsend_c MPI_Bsend_init MPI_Bsend_init_c MPI_Buffer_attach MPI_Buffer_attach_c MPI_Buffer_detach MPI_Buffer_detach_c MPI_Buffer_flush MPI_Buffer_iflush MPI_Comm_attach_buffer MPI_Comm_attach_buffer_c MPI_Comm_detach_buffer MPI_Comm_detach_buffer_c MPI_Comm_flush_buffer MPI_Comm_iflush_buffer
/*
 * Buffered sends, MPI 5.0 section 3.6: they return before any receive, the user's variable may change at once, what does
 * not fit is an error, and the buffer comes back when its messages have left. All ranks send to their successor first
 * and receive afterwards, with messages too long to be sent without the receiver.
 */
#include "check.h"

enum { LONG = 1 << 19, MANY = 40 };
static int next, previous;
static unsigned char *in, *out;

static void receive(int n, int tag, int seed, MPI_Comm c)
{
    MPI_Status s;
    memset(in, 0, (size_t)n);
    MPI_Recv(in, n, MPI_BYTE, previous, tag, c, &s);
    CHECK_STATUS(s, previous, tag, n);
    CHECK_BYTES(in, (size_t)n, seed);
}

/* Short and long messages through every call; the variable is overwritten before the receive is posted. */
static void every_call(void)
{
    static const int sizes[] = {0, 1, 60, 4000, 70000, LONG};
    int room = 0, total = 0;
    MPI_Request q[4];
    for (int i = 0; i < 6; i++) {
        MPI_Pack_size(sizes[i], MPI_BYTE, MPI_COMM_WORLD, &room);
        total += 6 * (room + MPI_BSEND_OVERHEAD);
    }
    char *memory = check_alloc((size_t)total), *back = NULL;
    MPI_Buffer_attach(memory, total);
    MPI_Count big = -1;
    int size = -1;
    for (int i = 0; i < 6; i++) {
        int n = sizes[i];
        for (int k = 0; k < 6; k++) {
            fill(out, (size_t)n, check_rank + k);
            switch (k) {
            case 0:
                MPI_Bsend(out, n, MPI_BYTE, next, k, MPI_COMM_WORLD);
                break;
            case 1:
                MPI_Bsend_c(out, n, MPI_BYTE, next, k, MPI_COMM_WORLD);
                break;
            case 2:
                MPI_Ibsend(out, n, MPI_BYTE, next, k, MPI_COMM_WORLD, &q[0]);
                MPI_Wait(&q[0], MPI_STATUS_IGNORE);
                break;
            case 3:
                MPI_Ibsend_c(out, n, MPI_BYTE, next, k, MPI_COMM_WORLD, &q[1]);
                MPI_Wait(&q[1], MPI_STATUS_IGNORE);
                break;
            case 4:
                MPI_Bsend_init(out, n, MPI_BYTE, next, k, MPI_COMM_WORLD, &q[2]);
                MPI_Start(&q[2]);
                MPI_Wait(&q[2], MPI_STATUS_IGNORE);
                CHECK(q[2] != MPI_REQUEST_NULL);
                MPI_Request_free(&q[2]);
                break;
            default:
                MPI_Bsend_init_c(out, n, MPI_BYTE, next, k, MPI_COMM_WORLD, &q[3]);
                MPI_Startall(1, &q[3]);
                MPI_Waitall(1, &q[3], MPI_STATUSES_IGNORE);
                MPI_Request_free(&q[3]);
            }
            memset(out, 0xee, (size_t)n);
        }
        for (int k = 5; k >= 0; k--)
            receive(n, k, previous + k, MPI_COMM_WORLD);
    }
    MPI_Buffer_detach(&back, &size);
    CHECK(back == memory);
    CHECK_EQ(size, total);
    MPI_Buffer_attach_c(memory, total);
    back = NULL;
    MPI_Buffer_detach_c(&back, &big);
    CHECK(back == memory);
    CHECK_EQ(big, total);
    free(memory);
}

/* Strided data is packed into the buffer and arrives as such. */
static void strided(void)
{
    int a[40], b[20], room = 0, size;
    char *back;
    MPI_Datatype t;
    MPI_Type_vector(10, 2, 4, MPI_INT, &t);
    MPI_Type_commit(&t);
    MPI_Pack_size(1, t, MPI_COMM_WORLD, &room);
    char *memory = check_alloc((size_t)room + MPI_BSEND_OVERHEAD);
    MPI_Buffer_attach(memory, room + MPI_BSEND_OVERHEAD);
    for (int i = 0; i < 40; i++)
        a[i] = 100 * check_rank + i;
    MPI_Bsend(a, 1, t, next, 1, MPI_COMM_WORLD);
    memset(a, 0, sizeof a);
    MPI_Recv(b, 20, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 20; i++)
        CHECK_EQ(b[i], 100 * previous + i / 2 * 4 + i % 2);
    MPI_Buffer_detach(&back, &size);
    free(memory);
    MPI_Type_free(&t);
}

/* Room for two long messages: the third is refused, and there is room again after the receives. */
static void full(void)
{
    const int size = 2 * (LONG + MPI_BSEND_OVERHEAD);
    char *memory = check_alloc((size_t)size), *back = NULL;
    int bytes = 0;
    CHECK_CLASS(MPI_Bsend(out, 1, MPI_BYTE, next, 1, MPI_COMM_WORLD), MPI_ERR_BUFFER); /* nothing attached */
    bytes = -1, back = memory;
    CHECK_EQ(MPI_Buffer_detach(&back, &bytes), MPI_SUCCESS); /* as a library does that lends its own */
    CHECK(back == NULL && bytes == 0);
    CHECK_EQ(MPI_Buffer_attach(back, bytes), MPI_SUCCESS);
    MPI_Buffer_attach(memory, size);
    CHECK_CLASS(MPI_Buffer_attach(memory, size), MPI_ERR_BUFFER);
    for (int round = 0; round < 3; round++) {
        fill(out, LONG, check_rank + round);
        MPI_Bsend(out, LONG, MPI_BYTE, next, 1, MPI_COMM_WORLD);
        MPI_Bsend(out, LONG, MPI_BYTE, next, 2, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_CLASS(MPI_Bsend(out, LONG, MPI_BYTE, next, 3, MPI_COMM_WORLD), MPI_ERR_BUFFER);
        MPI_Barrier(MPI_COMM_WORLD);
        receive(LONG, 2, previous + round, MPI_COMM_WORLD);
        receive(LONG, 1, previous + round, MPI_COMM_WORLD);
        MPI_Buffer_flush();
    }
    MPI_Buffer_detach(&back, &bytes);
    CHECK(back == memory);
    free(memory);
}

/* Messages leave in another order than they came: the gaps are used again. */
static void gaps(void)
{
    const int part = 1 << 17, size = MANY / 8 * (part + MPI_BSEND_OVERHEAD);
    char *memory = check_alloc((size_t)size), *back;
    int bytes;
    MPI_Buffer_attach(memory, size);
    for (int i = 0; i < MANY; i++) {
        fill(out, (size_t)part, check_rank + i);
        MPI_Bsend(out, part, MPI_BYTE, next, i, MPI_COMM_WORLD);
        if (i % 2 == 1) { /* the later of two first */
            receive(part, i, previous + i, MPI_COMM_WORLD);
            receive(part, i - 1, previous + i - 1, MPI_COMM_WORLD);
            MPI_Barrier(MPI_COMM_WORLD);
            if (i % 4 == 3)
                MPI_Buffer_flush();
        }
    }
    MPI_Buffer_detach(&back, &bytes);
    free(memory);
}

/* A communicator's own buffer is used before the process's, and refuses by itself. */
static void own_buffer(void)
{
    const int size = LONG + MPI_BSEND_OVERHEAD;
    char *memory = check_alloc((size_t)size), *back = NULL;
    int bytes = 0, flag = 0;
    MPI_Count big = 0;
    MPI_Comm c;
    MPI_Request q;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    MPI_Comm_attach_buffer(c, memory, size);
    fill(out, LONG, check_rank);
    MPI_Bsend(out, LONG, MPI_BYTE, next, 5, c);
    CHECK_CLASS(MPI_Bsend(out, LONG, MPI_BYTE, next, 6, c), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Bsend(out, 1, MPI_BYTE, next, 6, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    MPI_Comm_iflush_buffer(c, &q);
    MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
    if (check_ranks > 1) /* to itself a long message is not complete either, but nobody says so */
        CHECK_MSG(!flag, "MPI_Comm_iflush_buffer was done while the message waited for its receive");
    MPI_Barrier(c);
    receive(LONG, 5, previous, c);
    if (!flag)
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK(q == MPI_REQUEST_NULL);
    MPI_Comm_flush_buffer(c);
    MPI_Comm_detach_buffer(c, &back, &bytes);
    CHECK(back == memory && bytes == size);
    MPI_Comm_attach_buffer_c(c, memory, size);
    MPI_Comm_detach_buffer_c(c, &back, &big);
    CHECK_EQ(big, size);
    free(memory);
    MPI_Comm_free(&c);
}

/* MPI_BUFFER_AUTOMATIC has room for whatever comes. */
static void automatic(void)
{
    void *back = NULL;
    int bytes = 0;
    MPI_Request q;
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    for (int i = 0; i < MANY; i++) {
        fill(out, LONG / 8, check_rank + i);
        MPI_Bsend(out, LONG / 8, MPI_BYTE, next, 7, MPI_COMM_WORLD);
    }
    MPI_Buffer_iflush(&q);
    for (int i = 0; i < MANY; i++)
        receive(LONG / 8, 7, previous + i, MPI_COMM_WORLD);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    for (int i = 0; i < 1000; i++)
        MPI_Bsend(&i, 1, MPI_INT, next, 8, MPI_COMM_WORLD);
    for (int i = 0; i < 1000; i++) {
        int got = -1;
        MPI_Recv(&got, 1, MPI_INT, previous, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(got, i);
    }
    MPI_Buffer_detach(&back, &bytes);
    CHECK(back == MPI_BUFFER_AUTOMATIC);
}

int main(int argc, char **argv)
{
    static char last[LONG + MPI_BSEND_OVERHEAD];
    start(&argc, &argv, "pt2pt_buffered");
    next = (check_rank + 1) % check_ranks;
    previous = (check_rank + check_ranks - 1) % check_ranks;
    in = check_alloc(LONG), out = check_alloc(LONG);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    every_call();
    strided();
    full();
    gaps();
    own_buffer();
    automatic();
    /* Never detached: MPI_Finalize sees to it that the message arrives. */
    MPI_Buffer_attach(last, sizeof last);
    fill(out, LONG, check_rank);
    MPI_Bsend(out, LONG, MPI_BYTE, next, 9, MPI_COMM_WORLD);
    receive(LONG, 9, previous, MPI_COMM_WORLD);
    free(in), free(out);
    return finish();
}

// covers: MPI_Send_init MPI_Send_init_c MPI_Ssend_init MPI_Ssend_init_c MPI_Rsend_init MPI_Rsend_init_c MPI_Recv_init MPI_Recv_init_c MPI_Start MPI_Startall MPI_Request_free MPI_Cancel
/*
 * Persistent requests, MPI 5.0 section 3.9: each start repeats the call with what the buffer holds then, completion makes
 * the request inactive and not null, and an inactive request is complete with the empty status.
 */
#include "check.h"

enum { SETS = 8, ROUNDS = 5, LONG = 200000 };
static int next, previous;

static void check_empty(const MPI_Status *s, int line)
{
    int count = -1, flag = -1;
    MPI_Get_count(s, MPI_BYTE, &count);
    MPI_Test_cancelled(s, &flag);
    if (s->MPI_SOURCE != MPI_ANY_SOURCE || s->MPI_TAG != MPI_ANY_TAG || count != 0 || flag != 0)
        check_fail(__FILE__, line, "not the empty status: source %d, tag %d, %d bytes", s->MPI_SOURCE, s->MPI_TAG, count);
}

/* Every mode, short and long, several rounds with one set of requests. */
static void rounds(int n)
{
    MPI_Request in[SETS], out[SETS], copy[SETS];
    MPI_Status s[SETS];
    unsigned char *to[SETS], *from[SETS];
    for (int i = 0; i < SETS; i++) {
        to[i] = check_alloc((size_t)n), from[i] = check_alloc((size_t)n);
        if (i % 2)
            MPI_Recv_init(to[i], n, MPI_BYTE, previous, i, MPI_COMM_WORLD, &in[i]);
        else
            MPI_Recv_init_c(to[i], n, MPI_BYTE, i % 4 ? previous : MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &in[i]);
    }
    MPI_Send_init(from[0], n, MPI_BYTE, next, 0, MPI_COMM_WORLD, &out[0]);
    MPI_Send_init_c(from[1], n, MPI_BYTE, next, 1, MPI_COMM_WORLD, &out[1]);
    MPI_Ssend_init(from[2], n, MPI_BYTE, next, 2, MPI_COMM_WORLD, &out[2]);
    MPI_Ssend_init_c(from[3], n, MPI_BYTE, next, 3, MPI_COMM_WORLD, &out[3]);
    MPI_Rsend_init(from[4], n, MPI_BYTE, next, 4, MPI_COMM_WORLD, &out[4]);
    MPI_Rsend_init_c(from[5], n, MPI_BYTE, next, 5, MPI_COMM_WORLD, &out[5]);
    MPI_Send_init(from[6], n, MPI_BYTE, next, 6, MPI_COMM_WORLD, &out[6]);
    MPI_Send_init(from[7], n, MPI_BYTE, next, 7, MPI_COMM_WORLD, &out[7]);
    memcpy(copy, in, sizeof in);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SETS; i++)
            fill(from[i], (size_t)n, check_rank + 10 * i + round);
        if (round % 2)
            MPI_Startall(SETS, in);
        else
            for (int i = 0; i < SETS; i++)
                MPI_Start(&in[i]);
        MPI_Barrier(MPI_COMM_WORLD); /* for the ready sends */
        MPI_Startall(SETS, out);
        MPI_Waitall(SETS, in, s);
        for (int i = 0; i < SETS; i++) {
            CHECK(in[i] == copy[i]);
            CHECK_STATUS(s[i], previous, i, n);
            CHECK_BYTES(to[i], (size_t)n, previous + 10 * i + round);
        }
        MPI_Waitall(SETS, out, MPI_STATUSES_IGNORE);
        CHECK(out[0] != MPI_REQUEST_NULL);
    }
    for (int i = 0; i < SETS; i++) {
        MPI_Request_free(&in[i]), MPI_Request_free(&out[i]);
        CHECK(in[i] == MPI_REQUEST_NULL);
        free(to[i]), free(from[i]);
    }
}

/* What the completion calls say of inactive requests. */
static void inactive(void)
{
    int x = 0, flag = 0, index = 0, n = 0, where[2];
    MPI_Request q[2];
    MPI_Status s[2];
    MPI_Recv_init(&x, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, &q[0]);
    MPI_Send_init(&x, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &q[1]);
    memset(s, 0x55, sizeof s);
    MPI_Wait(&q[0], &s[0]);
    check_empty(&s[0], __LINE__);
    MPI_Test(&q[0], &flag, &s[1]);
    CHECK(flag);
    check_empty(&s[1], __LINE__);
    MPI_Waitany(2, q, &index, s);
    CHECK_EQ(index, MPI_UNDEFINED);
    MPI_Waitsome(2, q, &n, where, s);
    CHECK_EQ(n, MPI_UNDEFINED);
    memset(s, 0x55, sizeof s);
    MPI_Waitall(2, q, s);
    check_empty(&s[1], __LINE__);
    CHECK(q[0] != MPI_REQUEST_NULL && q[1] != MPI_REQUEST_NULL);
    MPI_Start(&q[0]);
    CHECK_CLASS(MPI_Start(&q[0]), MPI_ERR_REQUEST); /* active already */
    MPI_Start(&q[1]);
    MPI_Waitany(2, q, &index, s);
    CHECK(index == 0 || index == 1);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    MPI_Request_free(&q[0]), MPI_Request_free(&q[1]);
    MPI_Isend(&x, 0, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &q[0]);
    CHECK_CLASS(MPI_Start(&q[0]), MPI_ERR_REQUEST); /* not persistent */
    MPI_Wait(&q[0], s);
    CHECK_CLASS(MPI_Start(&q[0]), MPI_ERR_REQUEST);
}

/* A started receive is cancelled and the request can be started again. */
static void cancelled(void)
{
    int x = -1, y = check_rank, flag = 0;
    MPI_Request q;
    MPI_Status s;
    MPI_Recv_init(&x, 1, MPI_INT, previous, 2, MPI_COMM_WORLD, &q);
    MPI_Start(&q);
    MPI_Cancel(&q);
    MPI_Wait(&q, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK(flag && q != MPI_REQUEST_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Start(&q);
    MPI_Send(&y, 1, MPI_INT, next, 2, MPI_COMM_WORLD);
    MPI_Wait(&q, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK(!flag);
    CHECK_EQ(x, previous);
    MPI_Request_free(&q);
}

/* The request keeps communicator and datatype when the program frees its handles. */
static void keeps(void)
{
    int a[6], b[6] = {-1, -1, -1, -1, -1, -1};
    MPI_Request q[2];
    MPI_Comm c;
    MPI_Datatype t;
    for (int i = 0; i < 6; i++)
        a[i] = 10 * check_rank + i;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Type_vector(3, 1, 2, MPI_INT, &t);
    MPI_Type_commit(&t);
    MPI_Recv_init(b, 1, t, previous, 3, c, &q[0]);
    MPI_Send_init(a, 1, t, next, 3, c, &q[1]);
    MPI_Type_free(&t);
    MPI_Startall(2, q);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 5; i++)
        CHECK_EQ(b[i], i % 2 ? -1 : 10 * previous + i);
    MPI_Start(&q[0]), MPI_Start(&q[1]);
    MPI_Request_free(&q[1]); /* active: it is sent all the same */
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&q[0]);
    MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "pt2pt_persistent");
    next = (check_rank + 1) % check_ranks;
    previous = (check_rank + check_ranks - 1) % check_ranks;
    /* Errors of a request go where its communicator has them go. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    rounds(0);
    rounds(40);
    rounds(5000);
    rounds(LONG);
    inactive();
    cancelled();
    keeps();
    return finish();
}

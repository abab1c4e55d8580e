// covers: MPI_Request_get_status_any MPI_Request_get_status_all MPI_Request_get_status_some MPI_Status_get_source MPI_Status_get_tag MPI_Status_get_error MPI_Status_set_source MPI_Status_set_tag MPI_Status_set_error MPI_Status_set_cancelled MPI_Request_get_status
/*
 * Looking at requests without completing them, MPI 5.0 section 3.7.6, the accessors of a status, and what truncation and
 * ten thousand requests under way do to both.
 */
#include "check.h"

enum { SET = 6, CROWD = 10000 };
static int next, previous;

static void look(void)
{
    MPI_Request in[SET], out[SET], copy[SET];
    MPI_Status s[SET];
    int got[SET], index = 5, flag = -1, n = -1, where[SET];
    for (int i = 0; i < SET; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, previous, i, MPI_COMM_WORLD, &in[i]);
    memcpy(copy, in, sizeof in);
    MPI_Request_get_status_any(SET, in, &index, &flag, s);
    CHECK(!flag && index == MPI_UNDEFINED);
    flag = -1;
    MPI_Request_get_status_all(SET, in, &flag, s);
    CHECK_EQ(flag, 0);
    MPI_Request_get_status_some(SET, in, &n, where, s);
    CHECK_EQ(n, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    /* Two of them first, then the rest. */
    for (int i = 0; i < SET; i++)
        out[i] = MPI_REQUEST_NULL;
    MPI_Isend(&check_rank, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &out[2]);
    MPI_Isend(&check_rank, 1, MPI_INT, next, 4, MPI_COMM_WORLD, &out[4]);
    for (flag = 0; !flag;)
        MPI_Request_get_status_any(SET, in, &index, &flag, &s[0]);
    CHECK(index == 2 || index == 4);
    CHECK_EQ(s[0].MPI_TAG, index);
    CHECK_EQ(s[0].MPI_SOURCE, previous);
    for (n = 0; n < 2;)
        MPI_Request_get_status_some(SET, in, &n, where, s);
    CHECK(n == 2 && where[0] + where[1] == 6);
    CHECK(s[0].MPI_TAG == where[0] && s[1].MPI_TAG == where[1]);
    MPI_Request_get_status_all(SET, in, &flag, s);
    CHECK_EQ(flag, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < SET; i++)
        if (i != 2 && i != 4)
            MPI_Isend(&check_rank, 1, MPI_INT, next, i, MPI_COMM_WORLD, &out[i]);
    for (flag = 0; !flag;)
        MPI_Request_get_status_all(SET, in, &flag, s);
    for (int i = 0; i < SET; i++) {
        CHECK(in[i] == copy[i]); /* nothing was freed */
        CHECK_EQ(s[i].MPI_TAG, i);
        CHECK_EQ(got[i], previous);
    }
    MPI_Waitall(SET, in, MPI_STATUSES_IGNORE);
    CHECK(in[0] == MPI_REQUEST_NULL);
    MPI_Waitall(SET, out, MPI_STATUSES_IGNORE);
    s[0].MPI_ERROR = MPI_ERR_OTHER; /* no operation's, so the empty status has its own */
    MPI_Request_get_status_any(SET, in, &index, &flag, s);
    CHECK(flag && index == MPI_UNDEFINED);
    CHECK(s[0].MPI_SOURCE == MPI_ANY_SOURCE && s[0].MPI_TAG == MPI_ANY_TAG && s[0].MPI_ERROR == MPI_SUCCESS);
    MPI_Request_get_status_some(SET, in, &n, where, s);
    CHECK_EQ(n, MPI_UNDEFINED);
    MPI_Request_get_status_all(SET, in, &flag, s);
    CHECK_EQ(flag, 1);
}

static void accessors(void)
{
    MPI_Status s;
    int x = -1, flag = -1;
    memset(&s, 0, sizeof s);
    MPI_Status_set_source(&s, 3);
    MPI_Status_set_tag(&s, 77);
    MPI_Status_set_error(&s, MPI_ERR_IO);
    MPI_Status_set_cancelled(&s, 1);
    CHECK(s.MPI_SOURCE == 3 && s.MPI_TAG == 77 && s.MPI_ERROR == MPI_ERR_IO);
    MPI_Status_get_source(&s, &x);
    CHECK_EQ(x, 3);
    MPI_Status_get_tag(&s, &x);
    CHECK_EQ(x, 77);
    MPI_Status_get_error(&s, &x);
    CHECK_EQ(x, MPI_ERR_IO);
    MPI_Test_cancelled(&s, &flag);
    CHECK_EQ(flag, 1);
    MPI_Status_set_cancelled(&s, 0);
    MPI_Test_cancelled(&s, &flag);
    CHECK_EQ(flag, 0);
    MPI_Sendrecv(&check_rank, 1, MPI_INT, next, 9, &x, 1, MPI_INT, previous, 9, MPI_COMM_WORLD, &s);
    MPI_Status_get_source(&s, &x);
    CHECK_EQ(x, previous);
    MPI_Status_get_tag(&s, &x);
    CHECK_EQ(x, 9);
}

/* Each function that completes several requests says MPI_ERR_IN_STATUS, with nothing to look into as well: section 3.7.5 makes no
 * exception for MPI_STATUSES_IGNORE. */
static void without_statuses(void)
{
    for (int function = 0; function < 6; function++) {
        int in[2] = {-1, -1}, out[2] = {1, 2}, code = MPI_SUCCESS, flag = 0, n = 0, where[2];
        MPI_Request q[2];
        MPI_Irecv(in, 1, MPI_INT, previous, 8, MPI_COMM_WORLD, &q[0]);
        q[1] = MPI_REQUEST_NULL;
        MPI_Send(out, 2, MPI_INT, next, 8, MPI_COMM_WORLD);
        while (code == MPI_SUCCESS && !flag && n == 0) {
            switch (function) {
            case 0: code = MPI_Waitall(2, q, MPI_STATUSES_IGNORE), flag = 1; break;
            case 1: code = MPI_Testall(2, q, &flag, MPI_STATUSES_IGNORE); break;
            case 2: code = MPI_Waitsome(2, q, &n, where, MPI_STATUSES_IGNORE); break;
            case 3: code = MPI_Testsome(2, q, &n, where, MPI_STATUSES_IGNORE); break;
            case 4: code = MPI_Request_get_status_all(2, q, &flag, MPI_STATUSES_IGNORE); break;
            default: code = MPI_Request_get_status_some(2, q, &n, where, MPI_STATUSES_IGNORE);
            }
        }
        CHECK_CLASS(code, MPI_ERR_IN_STATUS);
        CHECK_EQ(in[0], 1);
        if (function < 4)
            CHECK(q[0] == MPI_REQUEST_NULL);
        else
            CHECK_CLASS(MPI_Wait(&q[0], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    }
}

/* Too long a message is an error of the receive, which keeps what fits; its neighbours in the set succeed. */
static void truncation(void)
{
    int out[100], in[3][10];
    MPI_Request q[6];
    MPI_Status s[3];
    for (int i = 0; i < 100; i++)
        out[i] = 1000 * check_rank + i;
    for (int i = 0; i < 3; i++)
        in[i][9] = -1, MPI_Irecv(in[i], i == 1 ? 9 : 10, MPI_INT, previous, i, MPI_COMM_WORLD, &q[i]);
    for (int i = 0; i < 3; i++)
        MPI_Isend(out, i == 1 ? 100 : 10, MPI_INT, next, i, MPI_COMM_WORLD, &q[3 + i]);
    CHECK_CLASS(MPI_Waitall(3, q, s), MPI_ERR_IN_STATUS);
    CHECK_EQ(s[0].MPI_ERROR, MPI_SUCCESS);
    CHECK_CLASS(s[1].MPI_ERROR, MPI_ERR_TRUNCATE);
    CHECK_EQ(s[2].MPI_ERROR, MPI_SUCCESS);
    CHECK_EQ(in[1][8], 1000 * previous + 8);
    CHECK_EQ(in[1][9], -1);
    CHECK_EQ(in[2][9], 1000 * previous + 9);
    MPI_Waitall(3, q + 3, MPI_STATUSES_IGNORE);
    without_statuses();
    /* The same for a long message, and for one that waited for its receive. */
    int n = 1 << 17;
    char *big = check_alloc((size_t)n), *small = check_alloc((size_t)n);
    memset(small, 7, (size_t)n);
    fill(big, (size_t)n, check_rank);
    MPI_Isend(big, n, MPI_BYTE, next, 5, MPI_COMM_WORLD, q);
    MPI_Probe(previous, 5, MPI_COMM_WORLD, s);
    CHECK_CLASS(MPI_Recv(small, n / 2, MPI_BYTE, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK_BYTES(small, (size_t)n / 2, previous);
    CHECK_EQ(small[n / 2], 7);
    MPI_Wait(q, MPI_STATUS_IGNORE);
    free(big), free(small);
}

/* Ten thousand receives posted at once, completed by messages to oneself and to the neighbour. */
static void crowd(void)
{
    MPI_Request *q = check_alloc(2 * CROWD * sizeof *q);
    int *got = check_alloc(CROWD * sizeof *got), *sent = check_alloc(CROWD * sizeof *sent), flag = 0;
    for (int i = 0; i < CROWD; i++) {
        got[i] = -1, sent[i] = check_rank + 3 * i;
        MPI_Irecv(&got[i], 1, MPI_INT, i % 2 ? check_rank : previous, i, MPI_COMM_WORLD, &q[i]);
    }
    MPI_Request_get_status_all(CROWD, q, &flag, MPI_STATUSES_IGNORE);
    CHECK(!flag);
    for (int i = 0; i < CROWD; i++)
        MPI_Isend(&sent[i], 1, MPI_INT, i % 2 ? check_rank : next, i, MPI_COMM_WORLD, &q[CROWD + i]);
    MPI_Waitall(2 * CROWD, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < CROWD; i++)
        if (got[i] != (i % 2 ? check_rank : previous) + 3 * i) {
            check_fail(__FILE__, __LINE__, "receive %d of %d got %d", i, CROWD, got[i]);
            break;
        }
    free(q), free(got), free(sent);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "request_status");
    next = (check_rank + 1) % check_ranks;
    previous = (check_rank + check_ranks - 1) % check_ranks;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    look();
    accessors();
    truncation();
    crowd();
    return finish();
}

// covers: MPI_Send_c MPI_Recv_c MPI_Ssend_c MPI_Rsend_c MPI_Isend_c MPI_Issend_c MPI_Irsend_c MPI_Irsend MPI_Irecv_c MPI_Mrecv_c MPI_Imrecv_c MPI_Imrecv MPI_Sendrecv_c MPI_Sendrecv_replace_c MPI_Isendrecv MPI_Isendrecv_c MPI_Isendrecv_replace MPI_Isendrecv_replace_c
/*
 * The twins with MPI_Count move the same messages as the functions with int, each against the plain function on the other
 * side, and MPI_Isendrecv exchanges without deadlock. A count beyond 2^31 of an empty datatype shows that the width is real.
 */
#include "check.h"

enum { N = 30000, LONG = 300000 };
static int next, previous;
static unsigned char *in, *out;

static void expect(MPI_Status *s, int tag, int n)
{
    CHECK_STATUS(*s, previous, tag, n);
    CHECK_BYTES(in, (size_t)n, previous + tag);
    memset(in, 0, LONG);
}

/* The nonblocking ones first, as a blocking send to the neighbour needs a receive that is posted. */
static void sends(int n)
{
    MPI_Request r, q;
    MPI_Status s;
    for (int tag = 0; tag < 7; tag++) {
        fill(out, (size_t)n, check_rank + tag);
        if (tag % 2)
            MPI_Irecv_c(in, n, MPI_BYTE, previous, tag, MPI_COMM_WORLD, &r);
        else
            MPI_Irecv(in, n, MPI_BYTE, previous, tag, MPI_COMM_WORLD, &r);
        MPI_Barrier(MPI_COMM_WORLD);
        q = MPI_REQUEST_NULL;
        switch (tag) {
        case 0:
            MPI_Send_c(out, n, MPI_BYTE, next, tag, MPI_COMM_WORLD);
            break;
        case 1:
            MPI_Ssend_c(out, n, MPI_BYTE, next, tag, MPI_COMM_WORLD);
            break;
        case 2:
            MPI_Rsend_c(out, n, MPI_BYTE, next, tag, MPI_COMM_WORLD);
            break;
        case 3:
            MPI_Isend_c(out, n, MPI_BYTE, next, tag, MPI_COMM_WORLD, &q);
            break;
        case 4:
            MPI_Issend_c(out, n, MPI_BYTE, next, tag, MPI_COMM_WORLD, &q);
            break;
        case 5:
            MPI_Irsend_c(out, n, MPI_BYTE, next, tag, MPI_COMM_WORLD, &q);
            break;
        default:
            MPI_Irsend(out, n, MPI_BYTE, next, tag, MPI_COMM_WORLD, &q);
        }
        MPI_Wait(&r, &s);
        expect(&s, tag, n);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
}

static void receives(int n)
{
    MPI_Request q, r;
    MPI_Message m;
    MPI_Status s;
    for (int tag = 10; tag < 14; tag++) {
        fill(out, (size_t)n, check_rank + tag);
        MPI_Isend(out, n, MPI_BYTE, next, tag, MPI_COMM_WORLD, &q);
        if (tag > 10)
            MPI_Mprobe(previous, tag, MPI_COMM_WORLD, &m, &s);
        switch (tag) {
        case 10:
            MPI_Recv_c(in, LONG, MPI_BYTE, previous, tag, MPI_COMM_WORLD, &s);
            break;
        case 11:
            MPI_Mrecv_c(in, LONG, MPI_BYTE, &m, &s);
            break;
        case 12:
            MPI_Imrecv_c(in, LONG, MPI_BYTE, &m, &r);
            MPI_Wait(&r, &s);
            break;
        default:
            MPI_Imrecv(in, LONG, MPI_BYTE, &m, &r);
            MPI_Wait(&r, &s);
        }
        CHECK(tag == 10 || m == MPI_MESSAGE_NULL);
        expect(&s, tag, n);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
}

static void exchanges(int n)
{
    MPI_Request q;
    MPI_Status s;
    fill(out, (size_t)n, check_rank + 20);
    MPI_Sendrecv_c(out, n, MPI_BYTE, next, 20, in, LONG, MPI_BYTE, previous, 20, MPI_COMM_WORLD, &s);
    expect(&s, 20, n);
    fill(out, (size_t)n, check_rank + 21);
    MPI_Isendrecv(out, n, MPI_BYTE, next, 21, in, LONG, MPI_BYTE, previous, 21, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, &s);
    CHECK(q == MPI_REQUEST_NULL);
    expect(&s, 21, n);
    fill(out, (size_t)n, check_rank + 22);
    MPI_Isendrecv_c(out, n, MPI_BYTE, next, 22, in, LONG, MPI_BYTE, MPI_ANY_SOURCE, 22, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, &s);
    expect(&s, 22, n);
    for (int tag = 23; tag < 26; tag++) {
        fill(in, (size_t)n, check_rank + tag);
        if (tag == 23)
            MPI_Sendrecv_replace_c(in, n, MPI_BYTE, next, tag, previous, tag, MPI_COMM_WORLD, &s);
        else if (tag == 24)
            MPI_Isendrecv_replace(in, n, MPI_BYTE, next, tag, previous, tag, MPI_COMM_WORLD, &q);
        else
            MPI_Isendrecv_replace_c(in, n, MPI_BYTE, next, tag, previous, tag, MPI_COMM_WORLD, &q);
        if (tag > 23)
            MPI_Wait(&q, &s);
        expect(&s, tag, n);
    }
    /* With nobody on either side, and with nobody to send to. */
    MPI_Isendrecv(out, n, MPI_BYTE, MPI_PROC_NULL, 1, in, n, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, &s);
    CHECK_EQ(s.MPI_SOURCE, MPI_PROC_NULL);
    MPI_Request left, right;
    fill(out, (size_t)n, check_rank + 26);
    MPI_Isendrecv(out, n, MPI_BYTE, next, 26, NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &right);
    MPI_Isendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, in, n, MPI_BYTE, previous, 26, MPI_COMM_WORLD, &left);
    MPI_Wait(&left, &s);
    expect(&s, 26, n);
    MPI_Wait(&right, MPI_STATUS_IGNORE);
}

/* 2^31 + 1 elements that have no bytes: the count survives the call, as no count of the int function could. */
static void wide(void)
{
    const MPI_Count many = ((MPI_Count)1 << 31) + 1;
    MPI_Datatype nothing;
    MPI_Request q;
    MPI_Status s;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Isend_c(NULL, many, nothing, next, 30, MPI_COMM_WORLD, &q);
    MPI_Recv_c(NULL, many, nothing, previous, 30, MPI_COMM_WORLD, &s);
    CHECK_STATUS(s, previous, 30, 0);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK_CLASS(MPI_Send_c(out, -1, MPI_BYTE, next, 1, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Send_c(out, -many, MPI_BYTE, next, 1, MPI_COMM_WORLD), MPI_ERR_COUNT);
    MPI_Type_free(&nothing);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 8, N, LONG};
    start(&argc, &argv, "pt2pt_large_counts");
    next = (check_rank + 1) % check_ranks;
    previous = (check_rank + check_ranks - 1) % check_ranks;
    in = check_alloc(LONG), out = check_alloc(LONG);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 4; i++) {
        if (check_ranks > 1)
            sends(sizes[i]);
        else if (sizes[i] < N) /* a blocking send to oneself with a receive that is posted is fine, too */
            sends(sizes[i]);
        receives(sizes[i]);
        exchanges(sizes[i]);
    }
    wide();
    free(in), free(out);
    return finish();
}

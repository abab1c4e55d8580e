// covers: MPI_Send_init MPI_Ssend_init MPI_Recv_init MPI_Send_init_c MPI_Recv_init_c MPI_Start MPI_Startall MPI_Isendrecv MPI_Isendrecv_replace MPI_Sendrecv_replace MPI_Testall MPI_Request_free MPI_Request_get_status_all
/*
 * Persistent requests and exchanges under one request, MPI 5.0 sections 3.9 and 3.10: around the ring, eager and long
 * messages, started in both orders, each content another one so that a message of an earlier round shows. Errors of a
 * request reach the error handler of its communicator.
 */
#include "check.h"

#define LONGEST 400000

static unsigned char out[LONGEST], in[LONGEST];

static int raised;

static void note(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    raised = *code;
}

static void persistent(MPI_Comm comm, int bytes, int to, int from)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    unsigned char small[4];
    if (bytes % 2)
        MPI_Send_init(out, bytes, MPI_BYTE, to, 5, comm, &requests[0]);
    else
        MPI_Send_init_c(out, bytes, MPI_BYTE, to, 5, comm, &requests[0]);
    if (bytes % 2)
        MPI_Recv_init(in, bytes, MPI_BYTE, from, MPI_ANY_TAG, comm, &requests[1]);
    else
        MPI_Recv_init_c(in, bytes, MPI_BYTE, from, MPI_ANY_TAG, comm, &requests[1]);
    MPI_Recv_init(small, 4, MPI_BYTE, MPI_PROC_NULL, 0, comm, &requests[2]);
    for (int round = 0; round < 8; round++) {
        int done = 0;
        fill(out, (size_t)bytes, check_rank * 8 + round);
        if (round % 2) {
            MPI_Start(&requests[2]);
            MPI_Start(&requests[1]);
            MPI_Start(&requests[0]);
        } else {
            MPI_Startall(3, requests);
        }
        while (round % 3 == 2 && !done)
            MPI_Request_get_status_all(3, requests, &done, MPI_STATUSES_IGNORE);
        for (done = 0; round % 3 == 1 && !done;)
            MPI_Testall(3, requests, &done, statuses);
        if (round % 3 != 1)
            MPI_Waitall(3, requests, statuses);
        CHECK_STATUS(statuses[1], from, 5, bytes);
        CHECK_EQ(statuses[2].MPI_SOURCE, MPI_PROC_NULL);
        CHECK_BYTES(in, (size_t)bytes, from * 8 + round);
        CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
    }
    /* inactive requests are complete at once, with the empty status */
    MPI_Waitall(3, requests, statuses);
    CHECK_EQ(statuses[1].MPI_SOURCE, MPI_ANY_SOURCE);
    for (int at = 0; at < 3; at++) {
        MPI_Request_free(&requests[at]);
        CHECK(requests[at] == MPI_REQUEST_NULL);
    }
}

static void synchronous(MPI_Comm comm, int to, int from)
{
    MPI_Request requests[2];
    fill(out, 64, check_rank);
    MPI_Ssend_init(out, 64, MPI_BYTE, to, 6, comm, &requests[0]);
    MPI_Recv_init(in, 64, MPI_BYTE, from, 6, comm, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK_BYTES(in, 64, from);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void exchanges(MPI_Comm comm, int bytes, int to, int from)
{
    MPI_Request request;
    MPI_Status status;
    fill(out, (size_t)bytes, check_rank);
    MPI_Isendrecv(out, bytes, MPI_BYTE, to, 1, in, bytes, MPI_BYTE, from, 1, comm, &request);
    MPI_Wait(&request, &status);
    CHECK_STATUS(status, from, 1, bytes);
    CHECK_BYTES(in, (size_t)bytes, from);
    MPI_Isendrecv_replace(out, bytes, MPI_BYTE, to, 2, from, 2, comm, &request);
    MPI_Wait(&request, &status);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_BYTES(out, (size_t)bytes, from);
    MPI_Sendrecv_replace(out, bytes, MPI_BYTE, from, 3, to, 3, comm, &status);
    CHECK_STATUS(status, to, 3, bytes);
    CHECK_BYTES(out, (size_t)bytes, check_rank);
}

static void errors(MPI_Comm comm, int to, int from)
{
    MPI_Request receive, send;
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    MPI_Irecv(in, 1, MPI_BYTE, from, 9, comm, &receive);
    MPI_Isend(out, 10, MPI_BYTE, to, 9, comm, &send);
    CHECK_CLASS(MPI_Wait(&receive, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK_EQ(raised, MPI_ERR_TRUNCATE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    raised = 0;
    CHECK_CLASS(MPI_Send_init(out, 1, MPI_BYTE, check_ranks, 0, comm, &send), MPI_ERR_RANK);
    CHECK_EQ(raised, MPI_ERR_RANK);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    start(&argc, &argv, "pt2pt_persistent");
    int to = (check_rank + 1) % check_ranks, from = (check_rank + check_ranks - 1) % check_ranks;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int bytes = 1; bytes <= LONGEST; bytes = bytes * 7 + 1) {
        persistent(comm, bytes, to, from);
        exchanges(comm, bytes, to, from);
    }
    synchronous(comm, to, from);
    errors(comm, to, from);
    MPI_Comm_free(&comm);
    CHECK(comm == MPI_COMM_NULL);
    return finish();
}

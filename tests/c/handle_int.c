// covers: MPI_Comm_toint MPI_Comm_fromint MPI_Errhandler_toint MPI_Errhandler_fromint MPI_File_toint MPI_File_fromint MPI_Group_toint MPI_Group_fromint MPI_Info_toint MPI_Info_fromint MPI_Message_toint MPI_Message_fromint MPI_Op_toint MPI_Op_fromint MPI_Request_toint MPI_Request_fromint MPI_Session_toint MPI_Session_fromint MPI_Type_toint MPI_Type_fromint MPI_Win_toint MPI_Win_fromint
/*
 * Handles as integers, MPI 5.0 section 20.4: predefined ones have the ABI's values, and a handle that went through an
 * integer, as Fortran's do, is as good as the one it came from.
 */
#include "check.h"
#include <stdint.h>

static int next, previous;

/* The value of a predefined handle is its number, there and back. */
#define FIXED(kind, handle)                                                                                               \
    do {                                                                                                                  \
        CHECK_EQ(MPI_##kind##_toint(handle), (intptr_t)(handle));                                                         \
        CHECK(MPI_##kind##_fromint((int)(intptr_t)(handle)) == (handle));                                                 \
    } while (0)

static void predefined(void)
{
    FIXED(Comm, MPI_COMM_WORLD);
    FIXED(Comm, MPI_COMM_SELF);
    FIXED(Comm, MPI_COMM_NULL);
    FIXED(Errhandler, MPI_ERRORS_RETURN);
    FIXED(Errhandler, MPI_ERRHANDLER_NULL);
    FIXED(File, MPI_FILE_NULL);
    FIXED(Group, MPI_GROUP_EMPTY);
    FIXED(Group, MPI_GROUP_NULL);
    FIXED(Info, MPI_INFO_ENV);
    FIXED(Info, MPI_INFO_NULL);
    FIXED(Message, MPI_MESSAGE_NO_PROC);
    FIXED(Message, MPI_MESSAGE_NULL);
    FIXED(Op, MPI_SUM);
    FIXED(Op, MPI_OP_NULL);
    FIXED(Request, MPI_REQUEST_NULL);
    FIXED(Session, MPI_SESSION_NULL);
    FIXED(Type, MPI_INT);
    FIXED(Type, MPI_DATATYPE_NULL);
    FIXED(Win, MPI_WIN_NULL);
}

static void note(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static void add(void *in, void *inout, int *n, MPI_Datatype *t)
{
    (void)t;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* Made at run time: positive, different from all predefined ones, and usable after the journey. */
static void dynamic(void)
{
    int n = -1, sum = -1, number;
    MPI_Comm c;
    MPI_Group g;
    MPI_Info info;
    MPI_Op op;
    MPI_Datatype t;
    MPI_Errhandler e;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    number = MPI_Comm_toint(c);
    CHECK(number > 0x3ff);
    MPI_Comm_size(MPI_Comm_fromint(number), &n);
    CHECK_EQ(n, check_ranks);
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_Op_fromint(MPI_Op_toint(op)), c);
    CHECK_EQ(sum, check_ranks * (check_ranks - 1) / 2);
    MPI_Comm_group(c, &g);
    MPI_Group_size(MPI_Group_fromint(MPI_Group_toint(g)), &n);
    CHECK_EQ(n, check_ranks);
    MPI_Info_create(&info);
    MPI_Info_set(MPI_Info_fromint(MPI_Info_toint(info)), "k", "v");
    MPI_Info_get_nkeys(info, &n);
    CHECK_EQ(n, 1);
    MPI_Type_contiguous(3, MPI_INT, &t);
    MPI_Type_size(MPI_Type_fromint(MPI_Type_toint(t)), &n);
    CHECK_EQ(n, 12);
    MPI_Comm_create_errhandler(note, &e);
    CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(e)) == e);
    CHECK_EQ(MPI_Comm_set_errhandler(c, MPI_Errhandler_fromint(MPI_Errhandler_toint(e))), MPI_SUCCESS);
    MPI_Errhandler_free(&e);
    MPI_Type_free(&t);
    MPI_Info_free(&info);
    MPI_Group_free(&g);
    MPI_Op_free(&op);
    MPI_Comm_free(&c);
}

static void in_flight(void)
{
    int got = -1, later = -1;
    MPI_Request r, q[2];
    MPI_Message m;
    MPI_Irecv(&got, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, &r);
    MPI_Isend(&check_rank, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(&check_rank, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &q[1]);
    MPI_Request again = MPI_Request_fromint(MPI_Request_toint(r));
    MPI_Wait(&again, MPI_STATUS_IGNORE);
    CHECK(again == MPI_REQUEST_NULL);
    CHECK_EQ(got, previous);
    MPI_Mprobe(previous, 2, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
    m = MPI_Message_fromint(MPI_Message_toint(m));
    MPI_Mrecv(&later, 1, MPI_INT, &m, MPI_STATUS_IGNORE);
    CHECK_EQ(later, previous);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "handle_int");
    next = (check_rank + 1) % check_ranks;
    previous = (check_rank + check_ranks - 1) % check_ranks;
    predefined();
    dynamic();
    in_flight();
    return finish();
}

// covers: MPI_Comm_set_errhandler MPI_Comm_get_errhandler MPI_Comm_create_errhandler MPI_Comm_call_errhandler MPI_Errhandler_free MPI_Error_class MPI_Error_string
/*
 * Errors that come back, MPI 5.0 sections 9.3 to 9.5. With MPI_ERRORS_RETURN a wrong argument is reported by its class, and
 * the library goes on as if the call had not been made: after each mistake the same communicator must still work.
 */
#include "check.h"

static int next, previous, called, called_with;
static MPI_Comm called_on;

static void still_works(int line)
{
    int sent = check_rank + line, got = -1;
    MPI_Sendrecv(&sent, 1, MPI_INT, next, 1, &got, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (got != previous + line)
        check_fail(__FILE__, line, "after the mistake: expected %d from rank %d, got %d", previous + line, previous, got);
}

static void sends(void)
{
    int x = 0;
    CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, check_ranks, 1, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, -4711, 1, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, next, -4711, MPI_COMM_WORLD), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, next, MPI_ANY_TAG, MPI_COMM_WORLD), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Send(&x, -1, MPI_INT, next, 1, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Send(&x, 1, MPI_DATATYPE_NULL, next, 1, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, next, 1, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Send(NULL, 1, MPI_INT, next, 1, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Ssend(&x, 1, MPI_INT, check_ranks, 1, MPI_COMM_WORLD), MPI_ERR_RANK);
    still_works(__LINE__);
}

static void receives(void)
{
    int x = 17;
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Status s;
    CHECK_CLASS(MPI_Recv(&x, 1, MPI_INT, check_ranks, 1, MPI_COMM_WORLD, &s), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Recv(&x, 1, MPI_INT, previous, -4711, MPI_COMM_WORLD, &s), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Recv(&x, -1, MPI_INT, previous, 1, MPI_COMM_WORLD, &s), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Recv(&x, 1, MPI_DATATYPE_NULL, previous, 1, MPI_COMM_WORLD, &s), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Recv(&x, 1, MPI_INT, previous, 1, MPI_COMM_NULL, &s), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Isend(&x, 1, MPI_INT, check_ranks, 1, MPI_COMM_WORLD, &q), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Irecv(&x, -1, MPI_INT, previous, 1, MPI_COMM_WORLD, &q), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Irecv(&x, 1, MPI_INT, previous, -4711, MPI_COMM_WORLD, &q), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Probe(check_ranks, 1, MPI_COMM_WORLD, &s), MPI_ERR_RANK);
    CHECK_EQ(x, 17);
    still_works(__LINE__);
}

/* A type that was never committed has no place in communication (section 5.1.9). */
static void uncommitted(void)
{
    int x[4] = {0, 0, 0, 0};
    MPI_Datatype t;
    MPI_Type_vector(2, 1, 2, MPI_INT, &t);
    CHECK_CLASS(MPI_Send(x, 1, t, next, 1, MPI_COMM_WORLD), MPI_ERR_TYPE);
    MPI_Type_free(&t);
    CHECK_CLASS(MPI_Type_contiguous(-1, MPI_INT, &t), MPI_ERR_COUNT);
    still_works(__LINE__);
}

/* Wrong in the same way on every rank, so that no rank waits for another. */
static void collectives(void)
{
    int x = 1, y = 2, size = -1;
    MPI_Comm c;
    CHECK_CLASS(MPI_Bcast(&x, 1, MPI_INT, check_ranks, MPI_COMM_WORLD), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast(&x, 1, MPI_INT, -4711, MPI_COMM_WORLD), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
    CHECK_CLASS(MPI_Bcast(&x, -1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Bcast(&x, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    if (!library_is("MPICH")) /* takes it and crashes */
        CHECK_CLASS(MPI_Allreduce(&x, &y, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_size(MPI_COMM_NULL, &size), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_dup(MPI_COMM_NULL, &c), MPI_ERR_COMM);
    CHECK_EQ(y, 2);
    CHECK_CLASS(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(y, check_ranks);
    still_works(__LINE__);
}

/* After the program's handler has returned the call returns the code; MPICH 5.0 returns MPI_SUCCESS with the standard ABI. */
static void check_returned(int code, int want)
{
    if (!library_is("MPICH"))
        CHECK_CLASS(code, want);
}

static void note(MPI_Comm *comm, int *code, ...)
{
    called++;
    called_on = *comm;
    called_with = error_class(*code);
}

/* A handler of the program sees communicator and code; what it does not abort comes back as the return code. */
static void handler(void)
{
    MPI_Errhandler mine, old = MPI_ERRHANDLER_NULL, now = MPI_ERRHANDLER_NULL;
    MPI_Comm copy;
    int x = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_get_errhandler(copy, &old);
    CHECK_MSG(old == MPI_ERRORS_RETURN, "a duplicate inherits the handler of its parent");
    MPI_Comm_create_errhandler(note, &mine);
    MPI_Comm_set_errhandler(copy, mine);
    MPI_Comm_get_errhandler(copy, &now);
    CHECK(now == mine);
    check_returned(MPI_Send(&x, 1, MPI_INT, check_ranks, 1, copy), MPI_ERR_RANK);
    CHECK_EQ(called, 1);
    CHECK_EQ(called_with, MPI_ERR_RANK);
    CHECK(called_on == copy);
    CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, check_ranks, 1, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_EQ(called, 1); /* the other communicator has another handler */
    MPI_Comm_call_errhandler(copy, MPI_ERR_OTHER);
    CHECK_EQ(called, 2);
    CHECK_EQ(called_with, MPI_ERR_OTHER);
    MPI_Errhandler_free(&now);
    MPI_Errhandler_free(&mine); /* still set on the communicator, so still there */
    CHECK(mine == MPI_ERRHANDLER_NULL);
    check_returned(MPI_Send(&x, 1, MPI_INT, next, -4711, copy), MPI_ERR_TAG);
    CHECK_EQ(called, 3);
    MPI_Comm_free(&copy);
    still_works(__LINE__);
}

/* The text of a code, which may say more than that of its class. */
static void texts(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int x = 0, length = 0, class = -1, code = MPI_Send(&x, 1, MPI_INT, check_ranks, 1, MPI_COMM_WORLD);
    CHECK(code != MPI_SUCCESS);
    MPI_Error_class(code, &class);
    CHECK_EQ(class, MPI_ERR_RANK);
    CHECK_EQ(MPI_Error_string(code, text, &length), MPI_SUCCESS);
    CHECK(length > 0 && strlen(text) == (size_t)length);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "errors_basic");
    next = (check_rank + 1) % check_ranks;
    previous = (check_rank + check_ranks - 1) % check_ranks;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* where there is no communicator, section 9.3 */
    sends();
    receives();
    uncommitted();
    collectives();
    handler();
    texts();
    return finish();
}

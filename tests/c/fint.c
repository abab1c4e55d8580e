// covers: MPI_Comm_toint MPI_Comm_fromint
// ranks: 1 2
/*
 * Handles and statuses of Fortran, MPI 5.0 sections 19.3.4 and 19.3.5: inline in the header over the ABI's functions.
 */
#include "check.h"

#define BACK(kind, handle) CHECK(MPI_##kind##_f2c(MPI_##kind##_c2f(handle)) == (handle))

static void handles(void)
{
    MPI_Comm c;
    MPI_Fint number;
    int n = -1;
    BACK(Comm, MPI_COMM_WORLD);
    BACK(Errhandler, MPI_ERRORS_RETURN);
    BACK(File, MPI_FILE_NULL);
    BACK(Group, MPI_GROUP_EMPTY);
    BACK(Info, MPI_INFO_ENV);
    BACK(Message, MPI_MESSAGE_NO_PROC);
    BACK(Op, MPI_SUM);
    BACK(Request, MPI_REQUEST_NULL);
    BACK(Session, MPI_SESSION_NULL);
    BACK(Type, MPI_DOUBLE);
    BACK(Win, MPI_WIN_NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    number = MPI_Comm_c2f(c);
    CHECK_EQ(number, MPI_Comm_toint(c));
    MPI_Comm_size(MPI_Comm_f2c(number), &n);
    CHECK_EQ(n, check_ranks);
    MPI_Comm_free(&c);
}

static void statuses(void)
{
    int next = (check_rank + 1) % check_ranks, previous = (check_rank + check_ranks - 1) % check_ranks;
    char data[7] = {0}, got[16];
    MPI_Status c, back;
    MPI_F08_status f08;
    MPI_Fint f[MPI_F_STATUS_SIZE], again[MPI_F_STATUS_SIZE];
    MPI_Sendrecv(data, 7, MPI_BYTE, next, 9, got, 16, MPI_BYTE, previous, 9, MPI_COMM_WORLD, &c);
    c.MPI_ERROR = 77;
    CHECK_EQ(MPI_Status_c2f(&c, f), MPI_SUCCESS);
    CHECK_EQ(f[MPI_F_SOURCE], previous);
    CHECK_EQ(f[MPI_F_TAG], 9);
    CHECK_EQ(f[MPI_F_ERROR], 77);
    CHECK_EQ(MPI_Status_f2f08(f, &f08), MPI_SUCCESS);
    CHECK_EQ(f08.MPI_SOURCE, previous);
    CHECK_EQ(f08.MPI_ERROR, 77);
    memset(&back, 0, sizeof back);
    CHECK_EQ(MPI_Status_f082c(&f08, &back), MPI_SUCCESS);
    CHECK_STATUS(back, previous, 9, 7);
    memset(&f08, 0, sizeof f08);
    CHECK_EQ(MPI_Status_c2f08(&back, &f08), MPI_SUCCESS);
    CHECK_EQ(MPI_Status_f082f(&f08, again), MPI_SUCCESS);
    CHECK(memcmp(f, again, sizeof f) == 0);
    memset(&back, 0, sizeof back);
    CHECK_EQ(MPI_Status_f2c(again, &back), MPI_SUCCESS);
    CHECK_STATUS(back, previous, 9, 7);
}

static void ignored(void)
{
    MPI_Status c;
    MPI_Fint f[MPI_F_STATUS_SIZE];
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Status_f2c(MPI_F_STATUS_IGNORE, &c), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Status_f2c(MPI_F_STATUSES_IGNORE, &c), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Status_c2f(MPI_STATUS_IGNORE, f), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Status_f082f(MPI_F08_STATUS_IGNORE, f), MPI_ERR_ARG);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "fint");
    handles();
    statuses();
    ignored();
    return finish();
}

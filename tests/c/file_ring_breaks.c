// covers: MPI_File_iwrite_at MPI_File_iread_at MPI_Waitall
// ranks: 1 2
/*
 * io_uring takes no entry for a while, so that accesses wait in its queue, and then never again: they are done by other calls of the
 * system, and each request is completed.
 */
#define _GNU_SOURCE
#include "refuse.h"
#include "ring.h"

enum { LONG = 100000, MANY = 8 };

static MPI_File file;
static char *data, *back;

static MPI_Offset place(int access)
{
    return ((MPI_Offset)check_rank * MANY + access) * LONG;
}

static void begin(int from, int to, MPI_Request *requests)
{
    for (int i = from; i < to; i++)
        GOOD(MPI_File_iwrite_at(file, place(i), data + i * LONG, LONG, MPI_CHAR, &requests[i]));
}

int main(int argc, char **argv)
{
    MPI_Request requests[MANY];
    MPI_Status statuses[MANY];
    setenv("OMPI_MCA_fbtl_uring_min_size", "1", 1);
    start(&argc, &argv, "file_ring_breaks");
    GOOD(MPI_File_open(MPI_COMM_WORLD, file_at("data"), MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                       &file));
    data = check_alloc(MANY * LONG);
    back = check_alloc(MANY * LONG);
    for (int i = 0; i < MANY * LONG; i++)
        data[i] = (char)(check_rank * 37 + i + i / 251);
    begin(0, 2, requests);
    if (library_is("ompi-rs"))
        CHECK_EQ(has_ring(), may_have_ring());
    refuse_calls(SYS_io_uring_enter, SYS_io_uring_enter, EAGAIN);
    begin(2, 6, requests);
    refuse_calls(SYS_io_uring_enter, SYS_io_uring_enter, EBADF);
    begin(6, MANY, requests);
    MPI_Waitall(MANY, requests, statuses);
    for (int i = 0; i < MANY; i++)
        COUNT(statuses[i], MPI_CHAR, LONG);
    GOOD(MPI_File_iread_at(file, place(0), back, MANY * LONG, MPI_CHAR, &requests[0]));
    MPI_Wait(&requests[0], &statuses[0]);
    COUNT(statuses[0], MPI_CHAR, MANY * LONG);
    CHECK(memcmp(data, back, MANY * LONG) == 0);
    GOOD(MPI_File_close(&file));
    free(data);
    free(back);
    return finish();
}

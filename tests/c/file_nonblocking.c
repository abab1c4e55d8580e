// covers: MPI_File_iwrite_at MPI_File_iread_at MPI_File_iwrite MPI_File_iread MPI_File_iwrite_shared MPI_File_iwrite_at_all MPI_Request_free MPI_Waitall
// args: default
// args: posix
/*
 * Long nonblocking accesses, which go on beside the program where the system has io_uring: many at once, among messages, past
 * 2 GiB, to a view with holes, cut by the end of the file, refused by the system, freed before they are complete. With "posix"
 * they are done at once.
 */
#include "ring.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

enum { LONG = 300000, MANY = 20, LIMIT = 200000 };

static MPI_File file;
static int raised, at_once;

static void handler(MPI_File *which, int *code, ...)
{
    CHECK(*which == file);
    raised = error_class(*code);
}

static char value(int rank, int round, int at)
{
    return (char)(rank * 37 + round * 11 + at + at / 251);
}

/* Each rank writes many long pieces at once, and messages go at the same time. */
static void many(MPI_Offset from)
{
    MPI_Request requests[MANY + 2];
    MPI_Status statuses[MANY + 2];
    int token = check_rank, got = -1, next = (check_rank + 1) % check_ranks, last = (check_rank + check_ranks - 1) % check_ranks;
    char *data = check_alloc((size_t)MANY * LONG), *back = check_alloc((size_t)MANY * LONG);
    MPI_Offset own = from + (MPI_Offset)check_rank * MANY * LONG;
    for (int i = 0; i < MANY; i++)
        for (int j = 0; j < LONG; j++)
            data[i * LONG + j] = value(check_rank, i, j);
    MPI_Irecv(&got, 1, MPI_INT, last, 5, MPI_COMM_WORLD, &requests[0]);
    for (int i = 0; i < MANY; i++)
        GOOD(MPI_File_iwrite_at(file, own + (MPI_Offset)i * LONG, data + i * LONG, LONG, MPI_CHAR, &requests[1 + i]));
    MPI_Isend(&token, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &requests[MANY + 1]);
    MPI_Waitall(MANY + 2, requests, statuses);
    CHECK_EQ(got, last);
    for (int i = 0; i < MANY; i++)
        COUNT(statuses[1 + i], MPI_CHAR, LONG);
    for (int i = MANY - 1; i >= 0; i--)
        GOOD(MPI_File_iread_at(file, own + (MPI_Offset)i * LONG, back + i * LONG, LONG, MPI_CHAR, &requests[i]));
    for (int done = 0, flag; done < MANY; done++) {
        int index;
        do
            MPI_Testany(MANY, requests, &index, &flag, &statuses[0]);
        while (!flag);
        COUNT(statuses[0], MPI_CHAR, LONG);
    }
    CHECK_EQ(memcmp(data, back, (size_t)MANY * LONG), 0);
    free(data);
    free(back);
}

/* Pieces of a view, and the end of the file. */
static void holes(void)
{
    enum { PIECES = 8, PIECE = LONG / PIECES };
    MPI_Datatype spread;
    MPI_Request request;
    MPI_Status status;
    MPI_Offset size;
    char *data = check_alloc(LONG), *back = check_alloc(2 * LONG);
    for (int i = 0; i < LONG; i++)
        data[i] = value(check_rank, 99, i);
    GOOD(MPI_File_set_size(file, 0));
    MPI_Type_contiguous(PIECE, MPI_CHAR, &spread);
    MPI_Datatype piece = spread;
    MPI_Type_create_resized(piece, 0, (MPI_Aint)PIECE * check_ranks * 2, &spread);
    MPI_Type_commit(&spread);
    GOOD(MPI_File_set_view(file, (MPI_Offset)PIECE * 2 * check_rank, MPI_CHAR, spread, "native", MPI_INFO_NULL));
    GOOD(MPI_File_iwrite(file, data, LONG, MPI_CHAR, &request));
    MPI_Wait(&request, &status);
    COUNT(status, MPI_CHAR, LONG);
    GOOD(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_seek(file, 0, MPI_SEEK_SET));
    GOOD(MPI_File_iread(file, back, 2 * LONG, MPI_CHAR, &request));
    MPI_Wait(&request, &status);
    COUNT(status, MPI_CHAR, PIECES * PIECE);
    CHECK_EQ(memcmp(data, back, PIECES * PIECE), 0);
    GOOD(MPI_File_get_size(file, &size));
    CHECK_EQ(size, (MPI_Offset)PIECE * (check_ranks * PIECES * 2 - 1));
    GOOD(MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
    MPI_Type_free(&spread);
    MPI_Type_free(&piece);
    free(data);
    free(back);
}

/* What the system refuses, the file's own error handler is told: of the call, or of the one that completes the request. */
static void refused(void)
{
    struct rlimit before, limit;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Errhandler user;
    int moved = -1, code;
    char *data = check_alloc(LONG);
    MPI_File_create_errhandler(handler, &user);
    GOOD(MPI_File_set_errhandler(file, user));
    GOOD(MPI_File_set_size(file, 0));
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = LIMIT;
    setrlimit(RLIMIT_FSIZE, &limit);
    raised = 0;
    code = MPI_File_iwrite_at(file, 100, data, LONG, MPI_CHAR, &request);
    if (code == MPI_SUCCESS) {
        code = MPI_Wait(&request, &status);
        MPI_Get_count(&status, MPI_CHAR, &moved);
        CHECK_EQ(moved, LIMIT - 100);
        CHECK(!at_once);
    }
    CHECK_EQ(error_class(code), MPI_ERR_IO);
    CHECK_EQ(raised, MPI_ERR_IO);
    setrlimit(RLIMIT_FSIZE, &before);
    GOOD(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    MPI_Errhandler_free(&user);
    if (access("/dev/full", W_OK) == 0) {
        MPI_File full;
        GOOD(MPI_File_open(MPI_COMM_SELF, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &full));
        code = MPI_File_iwrite_at(full, 0, data, LONG, MPI_CHAR, &request);
        if (code == MPI_SUCCESS)
            code = MPI_Wait(&request, &status);
        CHECK_EQ(error_class(code), MPI_ERR_NO_SPACE);
        GOOD(MPI_File_close(&full));
    }
    free(data);
}

int main(int argc, char **argv)
{
    at_once = argc > 1 && strcmp(argv[1], "posix") == 0;
    if (at_once)
        setenv("OMPI_MCA_fbtl", "posix", 1);
    /* However few cores there are. */
    setenv("OMPI_MCA_fbtl_uring_min_size", "65536", 1);
    start(&argc, &argv, "file_nonblocking");
    const char *name = file_at("data");
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    many(0);
    if (library_is("ompi-rs"))
        CHECK_EQ(has_ring(), may_have_ring() && !at_once);
    many((MPI_Offset)5 << 30);
    holes();
    refused();
    MPI_Barrier(MPI_COMM_WORLD);
    /* Nobody waits for it, and yet it is done when MPI ends. */
    MPI_Request request;
    char *data = check_alloc(LONG), *back = check_alloc(LONG);
    for (int i = 0; i < LONG; i++)
        data[i] = value(check_rank, 7, i);
    GOOD(MPI_File_iwrite_at(file, (MPI_Offset)check_rank * LONG, data, LONG, MPI_CHAR, &request));
    MPI_Request_free(&request);
    GOOD(MPI_File_close(&file));
    char copy[512];
    int rank = check_rank;
    snprintf(copy, sizeof copy, "%s", name);
    int kept = open(copy, O_RDONLY);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        GOOD(MPI_File_delete(name, MPI_INFO_NULL));
    int failed = finish();
    CHECK(pread(kept, back, LONG, (off_t)rank * LONG) == LONG && memcmp(data, back, LONG) == 0);
    return failed || check_failures;
}

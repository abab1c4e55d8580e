// covers: MPI_File_write_at MPI_File_write_at_all MPI_File_read_at MPI_File_iwrite_at MPI_File_write_at_all_begin
/*
 * What the system refuses, MPI 5.0 section 14.7: the class, the bytes that were moved before, and nobody who waits for ever
 * when one rank alone fails. A file may grow to a limit only (setrlimit(2)), a device is full (full(4)), a file is cut by
 * others.
 */
#include "file.h"
#include <signal.h>
#include <sys/resource.h>

enum { LIMIT = 6000, PIECE = 1000 };

static MPI_File file;
static char data[3 * LIMIT], back[3 * LIMIT];

/* Growing beyond the limit fails on the ranks that have it. */
static void limited(const char *name)
{
    struct rlimit before, limit;
    MPI_Status status;
    MPI_Request request;
    MPI_Datatype spread;
    int mine = check_rank == check_ranks - 1, moved = -1, code;
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = LIMIT;
    if (mine)
        setrlimit(RLIMIT_FSIZE, &limit);
    code = MPI_File_write_at_all(file, 100, data, 2 * LIMIT, MPI_CHAR, &status);
    MPI_Get_count(&status, MPI_CHAR, &moved);
    CHECK_EQ(error_class(code), mine ? MPI_ERR_IO : MPI_SUCCESS);
    CHECK_EQ(moved, mine ? LIMIT - 100 : 2 * LIMIT);
    MPI_Barrier(MPI_COMM_WORLD);
    /* In pieces from memory with gaps: all that fit are there, in their order. */
    MPI_Type_vector(10, PIECE, 2 * PIECE, MPI_CHAR, &spread);
    MPI_Type_commit(&spread);
    GOOD(MPI_File_set_size(file, 0));
    if (mine) {
        char *wide = check_alloc(20 * PIECE);
        for (int i = 0; i < 20 * PIECE; i++)
            wide[i] = (char)(i / PIECE);
        code = MPI_File_write_at(file, PIECE / 2, wide, 1, spread, &status);
        MPI_Get_count(&status, MPI_CHAR, &moved);
        CHECK_EQ(error_class(code), MPI_ERR_IO);
        CHECK_EQ(moved, LIMIT - PIECE / 2);
        GOOD(MPI_File_read_at(file, PIECE / 2, back, LIMIT, MPI_CHAR, &status));
        COUNT(status, MPI_CHAR, LIMIT - PIECE / 2);
        for (int i = 0; i < LIMIT - PIECE / 2; i++)
            CHECK_EQ(back[i], 2 * (i / PIECE));
        CHECK_CLASS(MPI_File_write_at(file, 2 * LIMIT, data, 1, MPI_CHAR, &status), MPI_ERR_IO);
        COUNT(status, MPI_CHAR, 0);
        CHECK_CLASS(MPI_File_iwrite_at(file, 2 * LIMIT, data, 1, MPI_CHAR, &request), MPI_ERR_IO);
        free(wide);
    }
    MPI_Type_free(&spread);
    MPI_Barrier(MPI_COMM_WORLD);
    /* What cannot be begun is not under way. */
    code = MPI_File_write_at_all_begin(file, 2 * LIMIT, data, 1, MPI_CHAR);
    CHECK_EQ(error_class(code), mine ? MPI_ERR_IO : MPI_SUCCESS);
    code = MPI_File_write_at_all_end(file, data, &status);
    CHECK_EQ(error_class(code), mine ? MPI_ERR_IO : MPI_SUCCESS);
    setrlimit(RLIMIT_FSIZE, &before);
    MPI_Barrier(MPI_COMM_WORLD);
    /* Cut by somebody else: less is there, and that is no error. */
    GOOD(MPI_File_set_size(file, 5000));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        CHECK_EQ(truncate(name, 70), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_read_at(file, 50, back, 100, MPI_CHAR, &status));
    COUNT(status, MPI_CHAR, 20);
    GOOD(MPI_File_close(&file));
}

/* Small pieces of all ranks in turn, of which another rank writes some: whichever cannot, all are told, and nobody counts bytes
   that are not there. */
static void interleaved(const char *name)
{
    enum { SIZE = 16, PIECES = 4000 };
    struct rlimit before, limit;
    MPI_Status status;
    MPI_Datatype cell, turn;
    MPI_Offset size;
    int moved = -1, class, least, failed = 0;
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    GOOD(MPI_File_set_size(file, 0));
    MPI_Type_contiguous(SIZE, MPI_CHAR, &cell);
    MPI_Type_create_resized(cell, 0, (MPI_Aint)SIZE * check_ranks, &turn);
    MPI_Type_commit(&turn);
    GOOD(MPI_File_set_view(file, (MPI_Offset)SIZE * check_rank, MPI_CHAR, turn, "native", MPI_INFO_NULL));
    char *many = check_alloc(SIZE * PIECES);
    memset(many, 'm', SIZE * PIECES);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 3 * LIMIT;
    if (check_rank == check_ranks - 1)
        setrlimit(RLIMIT_FSIZE, &limit);
    class = error_class(MPI_File_write_at_all(file, 0, many, SIZE * PIECES, MPI_CHAR, &status));
    setrlimit(RLIMIT_FSIZE, &before);
    MPI_Get_count(&status, MPI_CHAR, &moved);
    CHECK(class == MPI_ERR_IO || class == MPI_SUCCESS);
    CHECK((class == MPI_SUCCESS) == (moved == SIZE * PIECES));
    failed = class != MPI_SUCCESS;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(failed > 0);
    /* Nobody counts what is not in the file. */
    GOOD(MPI_File_get_size(file, &size));
    CHECK(moved <= size);
    GOOD(MPI_File_read_at_all(file, 0, many, SIZE * PIECES, MPI_CHAR, &status));
    MPI_Get_count(&status, MPI_CHAR, &least);
    CHECK(moved <= least);
    for (int i = 0; i < moved; i++)
        CHECK_EQ(many[i], 'm');
    free(many);
    MPI_Type_free(&turn);
    MPI_Type_free(&cell);
    GOOD(MPI_File_close(&file));
}

static void full(void)
{
    MPI_Status status;
    if (access("/dev/full", W_OK) != 0)
        return;
    GOOD(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    CHECK_CLASS(MPI_File_write_at(file, 0, data, 10, MPI_CHAR, &status), MPI_ERR_NO_SPACE);
    COUNT(status, MPI_CHAR, 0);
    CHECK_CLASS(MPI_File_write_at_all(file, 0, data, 10, MPI_CHAR, &status), MPI_ERR_NO_SPACE);
    GOOD(MPI_File_write_at(file, 0, data, 0, MPI_CHAR, &status));
    GOOD(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "file_faults");
    const char *name = file_at("data");
    memset(data, 'd', sizeof data);
    limited(name);
    interleaved(name);
    full();
    if (check_rank == 0)
        GOOD(MPI_File_delete(name, MPI_INFO_NULL));
    return finish();
}

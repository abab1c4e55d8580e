/*
 * A million small pieces, MPI 5.0 section 14.3: each rank writes and reads every n-th int of a file, which all together fill without a gap,
 * collectively and alone, in order and with the memory laid out in pieces as well. What the library takes for it does not grow with the
 * number of pieces.
 */
#include "file.h"
#include <sys/resource.h>

enum { PIECES = 1 << 20, ROOM_KIB = 48 << 10 };
static int data[PIECES], back[2 * PIECES];

static int at(int rank, int piece)
{
    return rank * 7919 + piece * 3;
}

static long most_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void check_back(int stride, const char *how)
{
    int wrong = 0;
    for (int i = 0; i < PIECES; i++)
        wrong += back[stride * i] != at(check_rank, i);
    CHECK_MSG(wrong == 0, "%s: %d of %d pieces are not what was written", how, wrong, PIECES);
    memset(back, 0, sizeof back);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Datatype view, in_memory;
    MPI_File file;
    MPI_Status status;
    MPI_Offset size;
    start(&argc, &argv, "file_pieces");
    for (int i = 0; i < PIECES; i++)
        data[i] = at(check_rank, i);
    memset(back, 0, sizeof back);
    MPI_Type_vector(PIECES, 1, check_ranks, MPI_INT, &view);
    MPI_Type_vector(PIECES, 1, 2, MPI_INT, &in_memory);
    MPI_Type_commit(&view);
    MPI_Type_commit(&in_memory);
    const char *name = file_at("pieces");
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    GOOD(MPI_File_set_view(file, (MPI_Offset)sizeof(int) * check_rank, MPI_INT, view, "native", MPI_INFO_NULL));
    long before = most_kib();
    GOOD(MPI_File_write_at_all(file, 0, data, PIECES, MPI_INT, &status));
    COUNT(status, MPI_INT, PIECES);
    GOOD(MPI_File_sync(file));
    GOOD(MPI_File_get_size(file, &size));
    CHECK_MSG(size == (MPI_Offset)sizeof(int) * PIECES * check_ranks, "the file has %lld bytes", (long long)size);
    GOOD(MPI_File_read_at_all(file, 0, back, PIECES, MPI_INT, &status));
    COUNT(status, MPI_INT, PIECES);
    check_back(1, "together");
    GOOD(MPI_File_read_at(file, 0, back, PIECES, MPI_INT, &status));
    COUNT(status, MPI_INT, PIECES);
    check_back(1, "alone");
    GOOD(MPI_File_read_at_all(file, 0, back, 1, in_memory, &status));
    COUNT(status, MPI_INT, PIECES);
    check_back(2, "in pieces in memory");
    long grown = most_kib() - before;
    CHECK_MSG(grown < ROOM_KIB, "%d pieces took %ld KiB", PIECES, grown);
    GOOD(MPI_File_close(&file));
    MPI_Type_free(&view);
    MPI_Type_free(&in_memory);
    return finish();
}

/*
 * A job that is killed in the middle of its work leaves what it had synchronised: each rank writes two parts, all of them in small pieces
 * in turn, synchronises the file, and goes on to write until one of them is killed. With an argument it looks for the two parts.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 512, PIECES = 600, PART = PIECE * PIECES };

static char data[2 * PART], back[2 * PART];

static int failed(const char *what)
{
    fprintf(stderr, "killed: %s\n", what);
    return 1;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_File file;
    MPI_Datatype piece, turn;
    if (argc < 2)
        return failed("name of the file is missing");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    for (int i = 0; i < 2 * PART; i++)
        data[i] = (char)(rank * 31 + i + i / 255 + 1);
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)PIECE * ranks, &turn);
    MPI_Type_commit(&turn);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, (MPI_Offset)PIECE * rank, MPI_BYTE, turn, "native", MPI_INFO_NULL);
    if (argc > 2) {
        MPI_File_read_at(file, 0, back, 2 * PART, MPI_BYTE, MPI_STATUS_IGNORE);
        if (memcmp(back, data, sizeof data) != 0)
            return failed("what was synchronised is not in the file");
        MPI_File_close(&file);
        MPI_Finalize();
        return 0;
    }
    MPI_Request request;
    MPI_File_write_at_all(file, 0, data, PART, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_iwrite_at(file, PART, data + PART, PART, MPI_BYTE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    for (int round = 1;; round++) {
        MPI_File_write_at_all(file, 2 * PART, data, PART, MPI_BYTE, MPI_STATUS_IGNORE);
        if (rank == ranks - 1 && round == 20)
            raise(SIGKILL);
    }
}

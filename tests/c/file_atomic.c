// covers: MPI_File_set_atomicity MPI_File_write_at MPI_File_read_at MPI_File_write_at_all MPI_File_read_at_all
/*
 * Atomic mode under contention, MPI 5.0 section 14.6.1: all ranks write the same places of a file, each its own value, and read them
 * meanwhile. Whoever reads finds all places as one of them wrote them, though each access takes many calls of the system.
 */
#include "file.h"

enum { PIECES = 64, PIECE = 64, ROUNDS = 300 };

static MPI_File file;

/* What is written by a rank in a round. */
static int value(int round)
{
    return 1 + check_rank + round * check_ranks;
}

/* Pieces with gaps between them: one call of the system for each to write, one for all to read. */
static void pieces(int together)
{
    static int data[PIECES * PIECE / 4], back[PIECES * PIECE / 4];
    MPI_Datatype piece, spread;
    MPI_Status status;
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, 2 * PIECE, &spread);
    MPI_Type_commit(&spread);
    GOOD(MPI_File_set_view(file, 0, MPI_BYTE, spread, "native", MPI_INFO_NULL));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < PIECES * PIECE / 4; i++)
            data[i] = value(round);
        if (together) {
            GOOD(MPI_File_write_at_all(file, 0, data, sizeof data, MPI_BYTE, &status));
            GOOD(MPI_File_read_at_all(file, 0, back, sizeof back, MPI_BYTE, &status));
        } else {
            GOOD(MPI_File_write_at(file, 0, data, sizeof data, MPI_BYTE, &status));
            GOOD(MPI_File_read_at(file, 0, back, sizeof back, MPI_BYTE, &status));
        }
        COUNT(status, MPI_BYTE, sizeof back);
        int others = 0;
        for (int i = 1; i < PIECES * PIECE / 4; i++)
            others += back[i] != back[0];
        CHECK_MSG(others == 0, "round %d: %d of %d integers are not of the rank that wrote the first one, %d", round, others,
                  PIECES * PIECE / 4, back[0]);
    }
    MPI_Type_free(&piece);
    MPI_Type_free(&spread);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Turns of the filetype that reach over each other: what lies between the first and the last piece is not all that is moved. */
static void turns(void)
{
    int data[3], back[3];
    MPI_Datatype turn = overlapping_turns();
    MPI_Status status;
    GOOD(MPI_File_set_view(file, 0, MPI_INT, turn, "native", MPI_INFO_NULL));
    for (int round = 0; round < 50 * ROUNDS; round++) {
        data[0] = data[1] = data[2] = value(round);
        GOOD(MPI_File_write_at(file, 0, data, 3, MPI_INT, &status)); /* at 0, 100 and 4 */
        GOOD(MPI_File_read_at(file, 1, back, 3, MPI_INT, &status));  /* at 100, 4 and 104 */
        COUNT(status, MPI_INT, 3);
        CHECK_MSG(back[0] == back[1], "round %d: %d and %d are of two ranks", round, back[0], back[1]);
    }
    MPI_Type_free(&turn);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "file_atomic");
    const char *name = file_at("data");
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    GOOD(MPI_File_set_size(file, 2 * PIECES * PIECE));
#ifndef SEED_FILE_ATOMIC_MISTAKE
    GOOD(MPI_File_set_atomicity(file, 1));
#endif
    pieces(0);
    pieces(1);
    turns();
    GOOD(MPI_File_close(&file));
    if (check_rank == 0)
        GOOD(MPI_File_delete(name, MPI_INFO_NULL));
    return finish();
}

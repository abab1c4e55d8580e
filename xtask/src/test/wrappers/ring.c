/* Built in every way that `cargo xtask test wrappers` knows, as C and as C++. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int rank, size, length, token = -1, has_app = 0, has_room = 0, *app, *room;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_library_version(version, &length);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &token, 1, MPI_INT, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (token != (rank + size - 1) % size)
        MPI_Abort(MPI_COMM_WORLD, 3);
    /* Which of the programs of one job, and for how many ranks there would be room: the launcher says. */
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &app, &has_app);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &room, &has_room);
    if (!has_app || !has_room || *room < size)
        MPI_Abort(MPI_COMM_WORLD, 4);
    printf("rank %d runs program %d\n", rank, *app);
    printf("ring of %d: %s\n", size, version);
    MPI_Finalize();
    return 0;
}

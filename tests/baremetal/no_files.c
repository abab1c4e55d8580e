/* There are no files without an operating system: the functions say so, on each rank, and nobody waits. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, failures;

static void refused(const char *call, int code)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    if (class != MPI_ERR_UNSUPPORTED_OPERATION) {
        fprintf(stderr, "rank %d: %s: class %d\n", rank, call, class);
        failures++;
    }
}

int main(int argc, char **argv)
{
    MPI_File file = MPI_FILE_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    refused("MPI_File_open", MPI_File_open(MPI_COMM_WORLD, "data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    refused("MPI_File_open of one process", MPI_File_open(MPI_COMM_SELF, "/data", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    refused("MPI_File_delete", MPI_File_delete("data", MPI_INFO_NULL));
    if (file != MPI_FILE_NULL) {
        fprintf(stderr, "rank %d: a handle was made\n", rank);
        failures++;
    }
    if (failures > 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("no files here\n");
    MPI_Finalize();
    return 0;
}

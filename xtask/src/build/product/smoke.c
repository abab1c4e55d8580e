/* Linked and run by `cargo xtask build` before a library is installed. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#ifndef RANKS
#define RANKS 1
#endif

#ifdef TOOL
/* A tool's own function wins over the library's and reaches it under the P name. */
static int calls;
int MPI_Get_library_version(char *version, int *length)
{
    calls++;
    return PMPI_Get_library_version(version, length);
}
#endif

int main(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0, size = 0, one = 1, sum = 0;
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS)
        return 3;
    if (MPI_Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS || size != RANKS)
        return 4;
    if (MPI_Get_library_version(version, &length) != MPI_SUCCESS || (size_t)length != strlen(version))
        return 5;
#ifdef TOOL
    if (calls != 1)
        return 6;
#endif
    if (MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS || sum != RANKS)
        return 8;
    printf("%s\n", version);
    return MPI_Finalize() == MPI_SUCCESS ? 0 : 7;
}

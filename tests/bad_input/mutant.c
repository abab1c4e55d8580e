/*
 * Mistakes put over the library through the profiling names: the tests must find them. A datatype's handle that is not
 * checked here is followed as if it were a pointer; a negative count of requests is taken for zero.
 */
#include <mpi.h>
#include <stdint.h>

int MPI_Type_size(MPI_Datatype datatype, int *size)
{
    if ((uintptr_t)datatype == 0x7ffffff1) {
        *size = *(volatile int *)(uintptr_t)0x10;
        return MPI_SUCCESS;
    }
    return PMPI_Type_size(datatype, size);
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    return PMPI_Testall(count < 0 ? 0 : count, requests, flag, statuses);
}

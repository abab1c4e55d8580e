/* Whether C has the addresses of Fortran's MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE; and MPI_Waitall as a tool replaces it. */
#include <mpi.h>
#include <stdlib.h>

int same_as_in_c(const void *status, const void *statuses)
{
    return status == MPI_F_STATUS_IGNORE && statuses == MPI_F_STATUSES_IGNORE && status == MPI_F08_STATUS_IGNORE &&
           statuses == MPI_F08_STATUSES_IGNORE && status != statuses && status != NULL;
}

void mpi_waitall_(const MPI_Fint *count, MPI_Fint *requests, MPI_Fint *statuses, MPI_Fint *ierror)
{
    int n = *count, i;
    MPI_Request *own = malloc(n * sizeof *own);
    MPI_Status *status = malloc(n * sizeof *status);
    for (i = 0; i < n; i++)
        own[i] = MPI_Request_f2c(requests[i]);
    *ierror = PMPI_Waitall(n, own, status);
    for (i = 0; i < n; i++) {
        requests[i] = MPI_Request_c2f(own[i]);
        if (statuses != MPI_F_STATUSES_IGNORE)
            MPI_Status_c2f(&status[i], statuses + i * MPI_F_STATUS_SIZE);
    }
    free(own);
    free(status);
}

/* Handles and statuses for a debugger to show. */
#include <mpi.h>
#include <stdio.h>

void look_here(void)
{
    puts("here");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm comm = MPI_COMM_WORLD, own, none = MPI_COMM_NULL;
    MPI_Datatype datatype = MPI_DOUBLE;
    MPI_Op op = MPI_SUM;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_T_enum values = MPI_T_ENUM_NULL;
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle variable = MPI_T_PVAR_ALL_HANDLES;
    int word = 7, provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    MPI_Comm_dup(comm, &own);
    MPI_Sendrecv(&word, 1, MPI_INT, 0, 9, &word, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &status);
    status.MPI_ERROR = MPI_SUCCESS;
    look_here();
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Comm_free(&own);
    MPI_Finalize();
    return none == comm || datatype == MPI_INT || op == MPI_MAX || request != MPI_REQUEST_NULL ||
           values != MPI_T_ENUM_NULL || variable != MPI_T_PVAR_ALL_HANDLES;
}

// covers: MPI_Win_create MPI_Win_allocate MPI_Put MPI_Win_flush
// ranks: 1 2
/*
 * Windows of one process over memory of the program's, or of MPI's with a hint for more alignment than pages: osc/sm serves them by loads and
 * stores, since nobody else has to reach the memory. MPI 5.0 section 12.2.
 */
#include "check.h"

static void use(MPI_Win win, const long *memory)
{
    long value = 40 + check_rank, got = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Put(&value, 1, MPI_LONG, 0, 2, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
    CHECK_EQ(memory[2], value);
    MPI_Get(&got, 1, MPI_LONG, 0, 2, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
    CHECK_EQ(got, value);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    MPI_Info info;
    long *memory = check_alloc(4 * sizeof *memory), *own;
    setenv("OMPI_MCA_osc", "sm", 1);
    start(&argc, &argv, "rma_alone");
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int created = MPI_Win_create(memory, 4 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    CHECK_EQ(error_class(created), MPI_SUCCESS);
    if (created == MPI_SUCCESS)
        use(win, memory);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "65536");
    int allocated = MPI_Win_allocate(4 * sizeof *own, sizeof *own, info, MPI_COMM_SELF, &own, &win);
    CHECK_EQ(error_class(allocated), MPI_SUCCESS);
    if (allocated == MPI_SUCCESS) {
        CHECK((size_t)own % 65536 == 0);
        use(win, own);
    }
    MPI_Info_free(&info);
    free(memory);
    return finish();
}

// covers: MPI_Type_create_struct
// ranks: 1
/*
 * What the header has inline beside the ABI, from C++: removed functions, MPI_LB and MPI_UB, handles of Fortran.
 */
#include <mpi.h>

#include <cstdio>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int ones[] = {1, 1};
    MPI_Aint at[] = {0, 24}, extent = 0;
    MPI_Datatype types[] = {MPI_INT, MPI_UB}, t;
    MPI_Type_struct(2, ones, at, types, &t);
    MPI_Type_extent(t, &extent);
    MPI_Type_free(&t);
    MPI_Fint world = MPI_Comm_c2f(MPI_COMM_WORLD);
    const bool right = extent == 24 && MPI_Comm_f2c(world) == MPI_COMM_WORLD;
    MPI_Finalize();
    std::puts(right ? "ok removed_and_fint" : "FAIL removed_and_fint");
    return right ? 0 : 1;
}

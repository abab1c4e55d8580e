// covers: MPI_Dims_create MPI_Comm_get_parent
/*
 * What needs no other process: the shape of a grid (MPI 5.0 section 8.5.2), what kind of topology a communicator without
 * one has (8.5.5), and the parents of a job that nobody spawned (11.8.2).
 */
#include "check.h"

static void grid(int nodes, int n, const int *given, const int *want)
{
    int dims[4], same = 1;
    memcpy(dims, given, (size_t)n * sizeof *dims);
    CHECK_EQ(MPI_Dims_create(nodes, n, dims), MPI_SUCCESS);
    for (int i = 0; i < n; i++)
        same = same && dims[i] == want[i];
    CHECK_MSG(same, "%d nodes in %d dimensions: got %d %d …", nodes, n, dims[0], n > 1 ? dims[1] : 0);
}

int main(int argc, char **argv)
{
    int kind = -1, bad[2] = {0, 4};
    MPI_Comm parent = MPI_COMM_WORLD;
    start(&argc, &argv, "topo_local");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    /* The standard's own examples, and more. */
    grid(6, 2, (int[]){0, 0}, (int[]){3, 2});
    grid(7, 2, (int[]){0, 0}, (int[]){7, 1});
    grid(6, 3, (int[]){0, 3, 0}, (int[]){2, 3, 1});
    grid(48, 3, (int[]){0, 0, 0}, (int[]){4, 4, 3});
    grid(12, 4, (int[]){0, 0, 0, 0}, (int[]){3, 2, 2, 1});
    grid(2147483647, 2, (int[]){0, 0}, (int[]){2147483647, 1});
    CHECK_CLASS(MPI_Dims_create(7, 3, (int[]){0, 3, 0}), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Dims_create(6, 2, bad), MPI_ERR_DIMS);
    CHECK(bad[0] == 0 && bad[1] == 4);
    CHECK_CLASS(MPI_Dims_create(6, 1, (int[]){-1}), MPI_ERR_DIMS);
    MPI_Topo_test(MPI_COMM_WORLD, &kind);
    CHECK_EQ(kind, MPI_UNDEFINED);
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
    return finish();
}

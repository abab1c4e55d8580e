/* Loads a plug-in that asks MPI for the rank: both must mean the same MPI. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank = -1, flags = argc > 2 ? RTLD_NOW | RTLD_GLOBAL : RTLD_NOW | RTLD_LOCAL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    void *plugin = dlopen(argv[1], flags);
    if (!plugin) {
        fprintf(stderr, "%s\n", dlerror());
        return 3;
    }
    int (*ask)(void) = (int (*)(void))dlsym(plugin, "plugin_rank");
    if (!ask || ask() != rank)
        return 4;
    printf("plug-in of rank %d answers\n", rank);
    MPI_Finalize();
    return 0;
}

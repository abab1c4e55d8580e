/* Says which library it runs on and fails unless that is ours: by its own words, and by what the process has mapped. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int mapped(const char *wanted)
{
    char line[8192];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    if (maps == NULL)
        return 0;
    while (fgets(line, sizeof line, maps) != NULL) {
        char *path = strchr(line, '/');
        if (path == NULL || strstr(path, "libmpi") == NULL)
            continue;
        path[strcspn(path, "\n")] = '\0';
        if (strcmp(path, wanted) == 0)
            found = 1;
        else
            printf("another MPI is mapped: %s\n", path);
    }
    fclose(maps);
    return found;
}

int main(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, rank, size, sum = 0, bad = 0;
    const char *wanted = getenv("WANTED_LIBRARY");
    MPI_Init(&argc, &argv);
    MPI_Get_library_version(version, &length);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (strncmp(version, "ompi-rs", 7) != 0) {
        printf("rank %d runs on `%s`, not on ompi-rs\n", rank, version);
        bad = 1;
    }
    if (wanted == NULL || !mapped(wanted)) {
        printf("rank %d has not mapped %s\n", rank, wanted ? wanted : "(WANTED_LIBRARY is not set)");
        bad = 1;
    }
    if (size < 2 || sum != size * (size - 1) / 2) {
        printf("rank %d of %d: the ranks add up to %d\n", rank, size, sum);
        bad = 1;
    }
    MPI_Finalize();
    return bad;
}

/* What the programs about files share: a name of a file that all ranks agree on and nobody else uses. */
#ifndef FILE_H
#define FILE_H
#include "check.h"
#include <unistd.h>

static char file_name[512];

static inline const char *file_at(const char *what)
{
    if (check_rank == 0) {
        const char *folder = getenv("TMPDIR");
        snprintf(file_name, sizeof file_name, "%s/ompi-rs-%s-%s-%d", folder && *folder ? folder : "/tmp", check_name, what,
                 (int)getpid());
    }
    MPI_Bcast(file_name, sizeof file_name, MPI_CHAR, 0, MPI_COMM_WORLD);
    return file_name;
}

/* Every call on a file is expected to succeed; a failure names its class. */
#define GOOD(call)                                                                                                        \
    do {                                                                                                                  \
        int class_ = error_class(call);                                                                                   \
        CHECK_MSG(class_ == MPI_SUCCESS, "%s: class %d", #call, class_);                                                  \
    } while (0)

/* The status says that so many elements of a datatype were moved. */
#define COUNT(status, datatype, want)                                                                                     \
    do {                                                                                                                  \
        int count_ = -1;                                                                                                  \
        MPI_Get_count(&(status), datatype, &count_);                                                                      \
        CHECK_MSG(count_ == (int)(want), "line %d: expected a count of %d, got %d", __LINE__, (int)(want), count_);       \
    } while (0)

/* A filetype of the ints at 0 and 100, whose turns begin 4 bytes apart: they reach over the next ones. */
static inline MPI_Datatype overlapping_turns(void)
{
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, 100};
    MPI_Datatype pair, turn;
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 4, &turn);
    MPI_Type_commit(&turn);
    MPI_Type_free(&pair);
    return turn;
}

#endif

// covers: MPI_Barrier MPI_Sendrecv
// ranks: 2
/* Two ranks that think that each has a core, and share one: what a wait takes is not a millisecond of its processor's time. */
#define _GNU_SOURCE
#include "share_core.h"
#include <stdio.h>
#include <sys/resource.h>

enum { ROUNDS = 300, MOST_US = 300 };

static double used_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

int main(int argc, char **argv)
{
    int rank, word = 0, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    share_core();
    for (int what = 0; what < 2; what++) {
        double start = used_us();
        for (int i = 0; i < ROUNDS; i++) {
            if (what == 0)
                MPI_Barrier(MPI_COMM_WORLD);
            else
                MPI_Sendrecv_replace(&word, 1, MPI_INT, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        double each = (used_us() - start) / ROUNDS;
        if (each > MOST_US) {
            printf("rank %d: a %s took %.0f us of the processor\n", rank, what == 0 ? "barrier" : "message", each);
            wrong = 1;
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong;
}

// covers: MPI_Send MPI_Recv MPI_T_pvar_start MPI_T_pvar_read
// ranks: 2
/*
 * Two ranks that share a core and send each other more than what their queues hold: who sleeps until there is room is woken
 * when there is, so that hardly a sleep ends because it may not last longer.
 */
#define _GNU_SOURCE
#include "check.h"
#include "share_core.h"
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 40, BYTES = 1 << 20 };

int main(int argc, char **argv)
{
    static char buffer[BYTES];
    int provided, index, count;
    unsigned long long in_vain[2];
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    /* What the measured choice is depends on the machine. */
    setenv("OMPI_MCA_pml_ob1_long_messages", "fragments", 1);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    start(&argc, &argv, "one_core_long");
    CHECK_CLASS(MPI_T_pvar_get_index("opal_wait_slept_in_vain", MPI_T_PVAR_CLASS_COUNTER, &index), MPI_SUCCESS);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
    CHECK_CLASS(MPI_T_pvar_start(session, handle), MPI_SUCCESS);
    share_core();
    MPI_T_pvar_read(session, handle, &in_vain[0]);
    for (int i = 0; i < ROUNDS; i++) {
        if (check_rank == 0) {
            memset(buffer, i, sizeof buffer);
            MPI_Send(buffer, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        }
        MPI_Recv(buffer, BYTES, MPI_CHAR, 1 - check_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(buffer[0] == (char)i && buffer[BYTES - 1] == (char)i);
        if (check_rank == 1)
            MPI_Send(buffer, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
    MPI_T_pvar_read(session, handle, &in_vain[1]);
    if (in_vain[1] - in_vain[0] > ROUNDS / 4)
        printf("rank %d slept in vain %llu times\n", check_rank, in_vain[1] - in_vain[0]);
    CHECK(in_vain[1] - in_vain[0] <= ROUNDS / 4);
    MPI_T_pvar_handle_free(session, &handle);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return finish();
}

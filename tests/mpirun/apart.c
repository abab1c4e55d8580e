/*
 * Rounds of partitioned communication (MPI 5.0 section 4.2) whose sender computes before each mark: how many of their pieces the
 * receiver copied by itself, by the library's own count, how many their sender announced for that, and whether the data is right.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { PARTITIONS = 8, BYTES = 64 << 10, ROUNDS = 10 };

/* Far longer than what makes marks slow. */
static void compute(void)
{
    double end = MPI_Wtime() + 1e-3;
    while (MPI_Wtime() < end)
        ;
}

static unsigned long long count(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    unsigned long long value = 0;
    if (MPI_T_pvar_read(session, handle, &value) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 3);
    return value;
}

int main(int argc, char **argv)
{
    int rank, provided, index, objects;
    unsigned char *data = malloc(PARTITIONS * BYTES);
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (MPI_T_pvar_get_index(rank == 0 ? "pml_ob1_rts_sent" : "pml_ob1_received_by_single_copy", MPI_T_PVAR_CLASS_COUNTER,
                             &index) != MPI_SUCCESS ||
        MPI_T_pvar_session_create(&session) != MPI_SUCCESS ||
        MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &objects) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_T_pvar_start(session, handle);
    if (rank == 0)
        MPI_Psend_init(data, PARTITIONS, BYTES, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(data, PARTITIONS, BYTES, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Start(&request);
        for (int at = 0; at < PARTITIONS && rank == 0; at++) {
            compute();
            for (int i = 0; i < BYTES; i++)
                data[at * BYTES + i] = (unsigned char)(i * 7 + at + round);
            MPI_Pready(at, request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int at = 0; at < PARTITIONS * BYTES && rank == 1; at++)
            if (data[at] != (unsigned char)(at % BYTES * 7 + at / BYTES + round)) {
                fprintf(stderr, "byte %d of round %d is wrong\n", at, round);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
    }
    fprintf(stderr, "%llu of %d pieces were %s\n", count(session, handle), ROUNDS * PARTITIONS,
            rank == 0 ? "announced by their sender" : "copied by their receiver");
    MPI_Request_free(&request);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
    free(data);
    return 0;
}

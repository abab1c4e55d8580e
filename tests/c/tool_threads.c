// covers: MPI_T_init_thread MPI_T_pvar_read MPI_T_pvar_start
// ranks: 2
/*
 * A thread of a tool reads all performance variables while the program's only thread communicates, which knows nothing of it and
 * has called MPI_Init: MPI 5.0 section 15.3.4. In the end the messages by peer are as many as there were.
 */
#include "tool.h"
#include <pthread.h>

enum { VARIABLES = 64, EXCHANGES = 4000 };

static pthread_barrier_t ready;
static volatile int over; /* the barrier orders all else */
static int wrong, reads;
static unsigned long long sent[2], received[2];

static void *look(void *unused)
{
    int provided = -1, all = 0, number = 0, count, index;
    unsigned long long value[VARIABLES];
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle[VARIABLES], out, in;
    MPI_Comm world = MPI_COMM_WORLD;
    wrong += MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS || provided != MPI_THREAD_MULTIPLE;
    wrong += MPI_T_pvar_session_create(&session) != MPI_SUCCESS;
    wrong += MPI_T_pvar_get_num(&all) != MPI_SUCCESS;
    for (int at = 0; at < all && number < VARIABLES; at++)
        number += MPI_T_pvar_handle_alloc(session, at, &world, &handle[number], &count) == MPI_SUCCESS;
    MPI_T_pvar_get_index("pml_messages_sent", MPI_T_PVAR_CLASS_COUNTER, &index);
    wrong += MPI_T_pvar_handle_alloc(session, index, &world, &out, &count) != MPI_SUCCESS || count != 2;
    MPI_T_pvar_get_index("pml_messages_received", MPI_T_PVAR_CLASS_COUNTER, &index);
    wrong += MPI_T_pvar_handle_alloc(session, index, &world, &in, &count) != MPI_SUCCESS || count != 2;
    wrong += MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) != MPI_SUCCESS;
    pthread_barrier_wait(&ready);
    while (!over)
        for (int at = 0; at < number; at++, reads++)
            wrong += MPI_T_pvar_read(session, handle[at], value) != MPI_SUCCESS;
    pthread_barrier_wait(&ready);
    wrong += MPI_T_pvar_read(session, out, sent) != MPI_SUCCESS;
    wrong += MPI_T_pvar_read(session, in, received) != MPI_SUCCESS;
    wrong += MPI_T_pvar_session_free(&session) != MPI_SUCCESS;
    wrong += MPI_T_finalize() != MPI_SUCCESS;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int bad = 0, got = -1;
    start(&argc, &argv, "tool_threads");
    pthread_barrier_init(&ready, NULL, 2);
    pthread_create(&thread, NULL, look, NULL);
    pthread_barrier_wait(&ready);
    for (int n = 0; n < EXCHANGES; n++) {
        MPI_Request request;
        MPI_Irecv(&got, 1, MPI_INT, 1 - check_rank, 0, MPI_COMM_WORLD, &request);
        MPI_Send(&n, 1, MPI_INT, 1 - check_rank, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        bad += got != n;
    }
    over = 1;
    pthread_barrier_wait(&ready);
    pthread_join(thread, NULL);
    CHECK_EQ(bad, 0);
    CHECK_EQ(wrong, 0);
    CHECK(reads > 0);
    CHECK_EQ(sent[1 - check_rank], EXCHANGES);
    CHECK_EQ(received[1 - check_rank], EXCHANGES);
    CHECK_EQ(sent[check_rank] + received[check_rank], 0);
    return finish();
}

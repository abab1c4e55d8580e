// covers: MPI_Session_init MPI_Session_finalize MPI_Session_get_info MPI_Comm_create_from_group MPI_Info_set
// seconds: 240
/*
 * Four threads that each open a session, without the world model: their first communicators, and with them the first
 * connections to all peers, are made at the same time. MPI 5.0 sections 11.3 and 11.6.
 */
#include "threads.h"

static pthread_barrier_t together;

static void *session(void *arg)
{
    int number = *(int *)arg, rank = -1, size = -1, sum = -1, flag = 0, length = 64, value;
    char name[32], level[64] = "";
    MPI_Session s;
    MPI_Info info, used;
    MPI_Group group;
    MPI_Comm comm;
    pthread_barrier_wait(&together);
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &s);
    MPI_Info_free(&info);
    MPI_Session_get_info(s, &used);
    MPI_Info_get_string(used, "thread_level", &length, level, &flag);
    CHECK(flag && strcmp(level, "MPI_THREAD_MULTIPLE") == 0);
    MPI_Info_free(&used);
    MPI_Group_from_session_pset(s, "mpi://WORLD", &group);
    snprintf(name, sizeof name, "thread %d", number);
    pthread_barrier_wait(&together);
    MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
    check_rank = rank, check_ranks = size;
    value = number + 1;
    for (int round = 0; round < 20; round++) {
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK_EQ(sum, size * (number + 1));
    }
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&s);
    return NULL;
}

int main(void)
{
    pthread_t ids[THREADS];
    int numbers[THREADS], flag = 1;
    check_name = "threads_sessions";
    pthread_barrier_init(&together, NULL, THREADS);
    for (int t = 0; t < THREADS; t++) {
        numbers[t] = t;
        if (pthread_create(&ids[t], NULL, session, &numbers[t]) != 0)
            return 3;
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(ids[t], NULL);
    MPI_Initialized(&flag);
    CHECK_EQ(flag, 0);
    return verdict();
}

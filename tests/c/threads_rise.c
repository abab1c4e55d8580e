// covers: MPI_Init_thread MPI_Session_init MPI_Comm_create_from_group MPI_Session_finalize MPI_Isend MPI_Irecv MPI_Waitall MPI_Sendrecv
// ranks: 2 4
// args: 1
// args: 2
// args: 3
// seconds: 240
/*
 * The level of threads rises while the main thread is amid messages of a world for which MPI_THREAD_FUNNELED is enough:
 * another thread opens a session for MPI_THREAD_MULTIPLE and uses it at once (MPI 5.0 sections 11.3 and 11.6). A process
 * can do this only once; the argument moves the moment.
 */
#include "threads.h"

enum { BEFORE = 2000, WINDOW = 16, ROUNDS = 300 };

static volatile int over;
static int moment;

static void *session(void *unused)
{
    MPI_Session s;
    MPI_Info info;
    MPI_Group group;
    MPI_Comm comm;
    int next, previous;
    usleep((useconds_t)(moment * 1700 + check_rank * 300));
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &s);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(s, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "rise", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    next = (check_rank + 1) % check_ranks, previous = (check_rank + check_ranks - 1) % check_ranks;
    for (int round = 0; round < ROUNDS; round++) {
        int out = round * 7 + check_rank, in = -1;
        MPI_Sendrecv(&out, 1, MPI_INT, next, round, &in, 1, MPI_INT, previous, round, comm, MPI_STATUS_IGNORE);
        CHECK_EQ(in, round * 7 + previous);
    }
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&s);
    over = 1;
    return unused;
}

/* A window of messages around the ring; returns whether every process' other thread is done. */
static int messages(int round)
{
    int next = (check_rank + 1) % check_ranks, previous = (check_rank + check_ranks - 1) % check_ranks;
    int out[WINDOW], in[WINDOW], own = over, all = 0;
    MPI_Request q[2 * WINDOW];
    for (int i = 0; i < WINDOW; i++) {
        out[i] = round * WINDOW + i, in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, previous, i, MPI_COMM_WORLD, &q[i]);
        MPI_Isend(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &q[WINDOW + i]);
    }
    MPI_Waitall(2 * WINDOW, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < WINDOW; i++)
        CHECK_EQ(in[i], round * WINDOW + i);
    if (round % 16 == 0)
        MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    int provided = -1, round = 0;
    pthread_t other;
    check_name = "threads_rise";
    moment = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_ranks);
    CHECK_EQ(provided, MPI_THREAD_FUNNELED);
    if (pthread_create(&other, NULL, session, NULL) != 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    while (!messages(round++) || round < BEFORE) {
    }
    pthread_join(other, NULL);
    return finish();
}

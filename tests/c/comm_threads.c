// covers: MPI_Comm_create_group MPI_Comm_create_from_group MPI_Comm_dup MPI_Comm_split MPI_Comm_idup MPI_Intercomm_create MPI_Intercomm_merge
// seconds: 240
/*
 * Communicators made by several threads at the same time: on communicators of their own, and of overlapping groups with
 * tags that tell them apart (MPI 5.0 section 7.4.2). Nothing collides, nobody waits for ever.
 */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 12 };

struct job {
    int number;
    MPI_Comm own;
};

static MPI_Session session;

static void ring(MPI_Comm c, int salt)
{
    int rank = -1, size = -1, out, in = -1, sum = -1;
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    out = rank * 100 + salt;
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT, (rank + size - 1) % size, 1, c, MPI_STATUS_IGNORE);
    CHECK_EQ(in, (rank + size - 1) % size * 100 + salt);
    MPI_Allreduce(&salt, &sum, 1, MPI_INT, MPI_SUM, c);
    CHECK_EQ(sum, salt * size);
}

static void on_own(struct job *job, int round)
{
    MPI_Comm c, d, e;
    MPI_Request q;
    MPI_Comm_dup(job->own, &c);
    MPI_Comm_idup(c, &d, &q);
    MPI_Comm_split(c, check_rank % (job->number + 1), -check_rank, &e);
    ring(c, job->number * 7 + round);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    ring(d, job->number * 11 + round);
    ring(e, job->number * 13 + round);
    MPI_Comm_free(&c), MPI_Comm_free(&d), MPI_Comm_free(&e);
    if (check_ranks > 1) {
        MPI_Comm half;
        int upper = check_rank > 0;
        MPI_Comm_split(job->own, upper, 0, &half);
        MPI_Intercomm_create(half, 0, job->own, upper ? 0 : 1, round, &c);
        MPI_Intercomm_merge(c, upper, &d);
        ring(d, round);
        MPI_Comm_free(&half), MPI_Comm_free(&c), MPI_Comm_free(&d);
    }
}

/* Thread t leaves out rank t: the groups overlap, the communicator is the same, the tags differ. */
static void overlapping(struct job *job, int round)
{
    MPI_Group world, part;
    MPI_Comm c;
    char name[32];
    int left_out = job->number % check_ranks;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, check_ranks > 1, &left_out, &part);
    if (check_ranks == 1 || check_rank != left_out) {
        MPI_Comm_create_group(MPI_COMM_WORLD, part, job->number, &c);
        ring(c, job->number + round);
        MPI_Comm_free(&c);
    }
    MPI_Group_free(&part), MPI_Group_free(&world);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    snprintf(name, sizeof name, "thread %d", job->number);
    MPI_Comm_create_from_group(world, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &c);
    ring(c, 3 * job->number + round);
    MPI_Comm_free(&c);
    MPI_Group_free(&world);
}

static void *run(void *arg)
{
    struct job *job = arg;
    for (int round = 0; round < ROUNDS; round++) {
        on_own(job, round);
        overlapping(job, round);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided = -1;
    pthread_t threads[THREADS];
    struct job jobs[THREADS];
    check_name = "comm_threads";
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_ranks);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    for (int t = 0; t < THREADS; t++) {
        jobs[t].number = t;
        MPI_Comm_dup(MPI_COMM_WORLD, &jobs[t].own);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, run, &jobs[t]);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&jobs[t].own);
    MPI_Session_finalize(&session);
    return finish();
}

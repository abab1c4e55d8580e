// covers: MPI_Init_thread MPI_Query_thread MPI_Is_thread_main MPI_Info_set MPI_Info_get_string MPI_Session_init
// args: single
// args: funneled
// args: serialized
// args: multiple
// seconds: 120
/*
 * Each thread level is what was asked for, and holds what it promises: FUNNELED calls of the main thread beside threads
 * that compute, SERIALIZED calls of all threads one at a time, and at every level the calls that are always thread-safe.
 * MPI 5.0 sections 10 and 11.6.
 */
#include "threads.h"

enum { ROUNDS = 300 };

static int wanted;
static MPI_Info shared;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void ring(MPI_Comm comm, int salt)
{
    int out = check_rank + salt, in = -1, sum = -1, to = (check_rank + 1) % check_ranks;
    int from = (check_rank + check_ranks - 1) % check_ranks;
    MPI_Sendrecv(&out, 1, MPI_INT, to, salt, &in, 1, MPI_INT, from, salt, comm, MPI_STATUS_IGNORE);
    CHECK_EQ(in, from + salt);
    MPI_Allreduce(&salt, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQ(sum, salt * check_ranks);
}

/* What any thread may call at any level, on objects that all of them use. */
static void always_safe(int number)
{
    int level = -1, main_thread = -1, flag = 0, length, version, sub;
    char key[16], value[16], got[16];
    MPI_Query_thread(&level);
    CHECK_EQ(level, wanted);
    MPI_Is_thread_main(&main_thread);
    CHECK_EQ(main_thread, number < 0);
    MPI_Initialized(&flag);
    CHECK_EQ(flag, 1);
    MPI_Get_version(&version, &sub);
    CHECK_EQ(version, 5);
    snprintf(key, sizeof key, "thread %d", number);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Info own;
        snprintf(value, sizeof value, "%d", i);
        MPI_Info_set(shared, key, value);
        MPI_Info_dup(shared, &own);
        length = sizeof got;
        MPI_Info_get_string(own, key, &length, got, &flag);
        CHECK(flag && strcmp(got, value) == 0);
        MPI_Info_delete(own, key);
        MPI_Info_free(&own);
    }
}

static void *run(void *arg)
{
    struct thread *thread = arg;
    always_safe(thread->number);
    if (wanted == MPI_THREAD_SERIALIZED)
        for (int round = 0; round < ROUNDS; round++) {
            /* Each thread to itself, one at a time: no order between ranks is needed. */
            int out = round, in = -1;
            MPI_Request q;
            pthread_mutex_lock(&turn);
            MPI_Irecv(&in, 1, MPI_INT, 0, thread->number, MPI_COMM_SELF, &q);
            pthread_mutex_unlock(&turn);
            pthread_mutex_lock(&turn);
            MPI_Send(&out, 1, MPI_INT, 0, thread->number, MPI_COMM_SELF);
            pthread_mutex_unlock(&turn);
            pthread_mutex_lock(&turn);
            MPI_Wait(&q, MPI_STATUS_IGNORE);
            pthread_mutex_unlock(&turn);
            CHECK_EQ(in, round);
        }
    if (wanted == MPI_THREAD_MULTIPLE)
        for (int round = 0; round < ROUNDS; round++)
            ring(thread->own, round + 1);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "multiple";
    int provided = -1, threads = THREADS, second = -1;
    pthread_t ids[THREADS];
    struct thread all[THREADS];
    wanted = strcmp(name, "single") == 0       ? MPI_THREAD_SINGLE
             : strcmp(name, "funneled") == 0   ? MPI_THREAD_FUNNELED
             : strcmp(name, "serialized") == 0 ? MPI_THREAD_SERIALIZED
                                               : MPI_THREAD_MULTIPLE;
    check_name = "threads_levels";
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_ranks);
    CHECK_EQ(provided, wanted);
    CHECK(MPI_THREAD_SINGLE < MPI_THREAD_FUNNELED && MPI_THREAD_FUNNELED < MPI_THREAD_SERIALIZED &&
          MPI_THREAD_SERIALIZED < MPI_THREAD_MULTIPLE);
    MPI_Info_create(&shared);
    if (wanted == MPI_THREAD_SINGLE)
        threads = 0;
    for (int t = 0; t < threads; t++) {
        all[t] = (struct thread){.number = t};
        MPI_Comm_dup(MPI_COMM_WORLD, &all[t].own);
    }
    for (int t = 0; t < threads; t++)
        pthread_create(&ids[t], NULL, run, &all[t]);
    always_safe(-1);
    if (wanted != MPI_THREAD_SERIALIZED)
        for (int round = 0; round < ROUNDS; round++)
            ring(MPI_COMM_WORLD, round + 1);
    for (int t = 0; t < threads; t++)
        pthread_join(ids[t], NULL);
    ring(MPI_COMM_WORLD, 1);
    for (int t = 0; t < threads; t++)
        MPI_Comm_free(&all[t].own);
    MPI_Query_thread(&second);
    CHECK_EQ(second, wanted);
    MPI_Info_free(&shared);
    return finish();
}

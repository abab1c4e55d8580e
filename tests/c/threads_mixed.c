// covers: MPI_Recv MPI_Send MPI_Sendrecv MPI_Allreduce MPI_Iallreduce MPI_Comm_dup MPI_Comm_split MPI_Comm_free MPI_Comm_create_keyval MPI_Comm_set_attr MPI_Comm_get_attr MPI_Comm_free_keyval MPI_Bcast MPI_Wait
// ranks: 2 4
// seconds: 240
/*
 * All at the same time, a thread for each: messages, collectives, the making of communicators whose attributes are copied
 * by callbacks that communicate, and a receive that is blocked until all the others are done. MPI 5.0 section 11.6.
 */
#include "threads.h"

enum { ROUNDS = 150, LONG = 100000 };

static int next(void) { return (check_rank + 1) % check_ranks; }
static int previous(void) { return (check_rank + check_ranks - 1) % check_ranks; }
static int copied, deleted;
static volatile int busy = THREADS - 1;
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

/* Only the thread that makes communicators is in here. */
static int copy(MPI_Comm from, int key, void *extra, void *in, void *out, int *flag)
{
    int value = *(int *)in, got = -1;
    (void)key, (void)extra;
    MPI_Sendrecv(&value, 1, MPI_INT, next(), 77, &got, 1, MPI_INT, previous(), 77, from, MPI_STATUS_IGNORE);
    CHECK_EQ(got, value);
    copied++;
    *(void **)out = in, *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
    int size = -1;
    (void)key, (void)value, (void)extra;
    MPI_Comm_size(comm, &size);
    CHECK(size >= 1);
    deleted++;
    return MPI_SUCCESS;
}

static void communicators(MPI_Comm own)
{
    int key = MPI_KEYVAL_INVALID, value;
    MPI_Comm_create_keyval(copy, delete, &key, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm second, part;
        int flag = 0, sum = -1, *found = NULL;
        value = round;
        MPI_Comm_set_attr(own, key, &value);
        MPI_Comm_dup(own, &second);
        MPI_Comm_get_attr(second, key, &found, &flag);
        CHECK(flag && found == &value);
        MPI_Comm_split(second, check_rank % 2, -check_rank, &part);
        MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_MAX, part);
        CHECK_EQ(sum, round);
        MPI_Comm_free(&part), MPI_Comm_free(&second);
        MPI_Comm_delete_attr(own, key);
    }
    CHECK_EQ(copied, ROUNDS);
    CHECK_EQ(deleted, 2 * ROUNDS);
    MPI_Comm_free_keyval(&key);
}

static void messages(MPI_Comm own)
{
    unsigned char *out = check_alloc(LONG), *in = check_alloc(LONG);
    for (int round = 0; round < ROUNDS * 4; round++) {
        int bytes = (int[]){0, 8, 300, 9000, LONG}[round % 5];
        fill(out, (size_t)bytes, round + check_rank);
        MPI_Sendrecv(out, bytes, MPI_BYTE, next(), round, in, bytes, MPI_BYTE, previous(), round, own, MPI_STATUS_IGNORE);
        pthread_mutex_lock(&finding);
        CHECK_BYTES(in, (size_t)bytes, round + previous());
        pthread_mutex_unlock(&finding);
    }
    free(out), free(in);
}

static void collectives(MPI_Comm own)
{
    for (int round = 0; round < ROUNDS * 2; round++) {
        int values[2] = {round, check_rank}, sums[2] = {-1, -1}, root = round % check_ranks, word = check_rank == root ? round : -1;
        MPI_Request q;
        MPI_Iallreduce(values, sums, 2, MPI_INT, MPI_SUM, own, &q);
        MPI_Bcast(&word, 1, MPI_INT, root, own);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        CHECK_EQ(word, round);
        CHECK_EQ(sums[0], round * check_ranks);
        CHECK_EQ(sums[1], check_ranks * (check_ranks - 1) / 2);
    }
}

static void mixed(struct thread *thread)
{
    int left, word = -1;
    switch (thread->number) {
    case 0: messages(thread->own); break;
    case 1: collectives(thread->own); break;
    case 2: communicators(thread->own); break;
    default:
        /* Were it to keep the others from going on, nobody would ever send this. */
        MPI_Recv(&word, 1, MPI_INT, previous(), 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(word, previous());
        return;
    }
    pthread_mutex_lock(&counting);
    left = --busy;
    pthread_mutex_unlock(&counting);
    if (left == 0)
        MPI_Send(&check_rank, 1, MPI_INT, next(), 99, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    start_threads_multiple(&argc, &argv, "threads_mixed");
    in_threads(mixed);
    return finish();
}

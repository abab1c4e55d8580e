// covers: MPI_Cancel MPI_Start MPI_Startall MPI_Bsend MPI_Buffer_flush MPI_Grequest_complete MPI_Wait MPI_Test MPI_Request_free MPI_Recv
// seconds: 240
/*
 * Requests between threads: started by one and completed by another, cancelled under a thread that waits, persistent,
 * buffered, generalized. A thread that is blocked in a receive stops nobody, and ends when its message comes.
 */
#include "threads.h"

enum { ROUNDS = 40, MANY = 1500, LONG = 200000, DELAY_US = 20000 };

static int next(void) { return (check_rank + 1) % check_ranks; }
static int previous(void) { return (check_rank + check_ranks - 1) % check_ranks; }

/* A place for one request, handed from its starter to its completer. */
struct place {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int full;
    MPI_Request request;
};

static struct place places[THREADS];

static void hand(struct place *place, MPI_Request request)
{
    pthread_mutex_lock(&place->lock);
    while (place->full)
        pthread_cond_wait(&place->changed, &place->lock);
    place->request = request, place->full = 1;
    pthread_cond_broadcast(&place->changed);
    pthread_mutex_unlock(&place->lock);
}

static MPI_Request fetch(struct place *place)
{
    MPI_Request request;
    pthread_mutex_lock(&place->lock);
    while (!place->full)
        pthread_cond_wait(&place->changed, &place->lock);
    request = place->request, place->full = 0;
    pthread_cond_broadcast(&place->changed);
    pthread_mutex_unlock(&place->lock);
    return request;
}

/* Threads 0 and 2 start receives, 1 and 3 complete them while 0 and 2 send. */
static void handed(struct thread *thread)
{
    static unsigned char in[THREADS][LONG];
    unsigned char *out = check_alloc(LONG);
    for (int round = 0; round < ROUNDS; round++) {
        int bytes = round % 3 == 0 ? LONG : 40, pair = thread->number & ~1;
        if (thread->number % 2 == 0) {
            MPI_Request q;
            MPI_Irecv(in[pair], bytes, MPI_BYTE, previous(), pair, MPI_COMM_WORLD, &q);
            hand(&places[pair], q);
            fill(out, (size_t)bytes, round + pair + check_rank);
            MPI_Send(out, bytes, MPI_BYTE, next(), pair, MPI_COMM_WORLD);
            (void)fetch(&places[pair + 1]); /* the buffer is free again */
        } else {
            MPI_Request q = fetch(&places[pair]);
            MPI_Status status;
            int flag = 0;
            if (round % 2)
                MPI_Wait(&q, &status);
            else
                while (!flag)
                    MPI_Test(&q, &flag, &status);
            CHECK_STATUS(status, previous(), pair, bytes);
            CHECK_BYTES(in[pair], (size_t)bytes, round + pair + previous());
            hand(&places[pair + 1], MPI_REQUEST_NULL);
        }
    }
    free(out);
}

/* Half of the threads wait for what never comes; the others cancel it. */
static void cancelled(struct thread *thread)
{
    static MPI_Request waited[THREADS];
    static int in[THREADS];
    for (int round = 0; round < ROUNDS; round++) {
        int pair = thread->number & ~1, flag = 0;
        if (thread->number % 2 == 0) {
            MPI_Status status;
            /* Every other one is persistent: its own request is behind another one. */
            if (round % 2) {
                MPI_Irecv(&in[pair], 1, MPI_INT, previous(), 900 + pair, MPI_COMM_WORLD, &waited[pair]);
            } else {
                MPI_Recv_init(&in[pair], 1, MPI_INT, previous(), 900 + pair, MPI_COMM_WORLD, &waited[pair]);
                MPI_Start(&waited[pair]);
            }
            MPI_Request mine = waited[pair];
            hand(&places[pair], mine);
            MPI_Wait(&mine, &status);
            MPI_Test_cancelled(&status, &flag);
            CHECK_EQ(flag, 1);
            (void)fetch(&places[pair + 1]); /* nobody touches it any more */
            if (round % 2 == 0)
                MPI_Request_free(&mine);
            CHECK(mine == MPI_REQUEST_NULL);
        } else {
            MPI_Request q = fetch(&places[pair]);
            if (round % 4 < 2)
                usleep(3000);
            MPI_Cancel(&q);
            hand(&places[pair + 1], MPI_REQUEST_NULL);
        }
    }
}

static void persistent(struct thread *thread)
{
    int out[2] = {-1, -1}, in[2] = {-1, -1};
    MPI_Request q[4];
    for (int i = 0; i < 2; i++) {
        MPI_Send_init(&out[i], 1, MPI_INT, next(), 2 * thread->number + i, MPI_COMM_WORLD, &q[i]);
        MPI_Recv_init(&in[i], 1, MPI_INT, previous(), 2 * thread->number + i, MPI_COMM_WORLD, &q[2 + i]);
    }
    for (int round = 0; round < MANY; round++) {
        out[0] = check_rank * 1000 + round, out[1] = -out[0];
        MPI_Startall(4, q);
        MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
        CHECK_EQ(in[0], previous() * 1000 + round);
        CHECK_EQ(in[1], -in[0]);
    }
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&q[i]);
}

/* All threads through the one buffer of the process. */
static void buffered(struct thread *thread)
{
    int out[20], in[20];
    for (int round = 0; round < MANY; round++) {
        for (int i = 0; i < 20; i++)
            out[i] = check_rank + thread->number * 100 + i * 1000 + round;
        MPI_Bsend(out, 20, MPI_INT, next(), thread->number, MPI_COMM_WORLD);
        MPI_Recv(in, 20, MPI_INT, previous(), thread->number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(in[19], previous() + thread->number * 100 + 19000 + round);
        if (round % 8 == 0)
            MPI_Buffer_flush();
    }
}

static int freed;
static pthread_mutex_t freeing = PTHREAD_MUTEX_INITIALIZER;

static int query(void *extra, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    (void)extra;
    pthread_mutex_lock(&freeing);
    freed++;
    pthread_mutex_unlock(&freeing);
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void generalized(struct thread *thread)
{
    for (int round = 0; round < ROUNDS; round++) {
        int pair = thread->number & ~1;
        if (thread->number % 2 == 0) {
            int extra = round + 1, count = -1;
            MPI_Request q;
            MPI_Status status;
            MPI_Grequest_start(query, release, cancel, &extra, &q);
            hand(&places[pair], q);
            MPI_Wait(&q, &status);
            MPI_Get_count(&status, MPI_INT, &count);
            CHECK_EQ(count, round + 1);
        } else {
            MPI_Request q = fetch(&places[pair]);
            if (round % 4 == 0)
                usleep(3000);
            MPI_Grequest_complete(q);
        }
    }
}

/* Thread 0 is blocked until the others, who talk to each other meanwhile, have a message sent to it. */
static int unblocked;
static pthread_barrier_t others;

static void blocked(struct thread *thread)
{
    int in = -1, out = 4711 + check_rank, sum = 0, one = 1;
    if (thread->number == 0) {
        MPI_Recv(&in, 1, MPI_INT, previous(), 77, thread->own, MPI_STATUS_IGNORE);
        CHECK_EQ(in, 4711 + previous());
        __atomic_store_n(&unblocked, 1, __ATOMIC_SEQ_CST);
        return;
    }
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Sendrecv(&round, 1, MPI_INT, next(), 5, &in, 1, MPI_INT, previous(), 5, thread->own, MPI_STATUS_IGNORE);
        CHECK_EQ(in, round);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, thread->own);
        CHECK_EQ(sum, check_ranks);
    }
    pthread_barrier_wait(&others);
    CHECK_EQ(__atomic_load_n(&unblocked, __ATOMIC_SEQ_CST), 0);
    usleep(DELAY_US); /* long enough for the blocked one to sleep */
    MPI_Barrier(thread->own);
    if (thread->number == 1) {
        double begin;
        MPI_Comm first;
        MPI_Comm_dup(thread->own, &first); /* collective calls of others go on, too */
        MPI_Comm_free(&first);
        MPI_Send(&out, 1, MPI_INT, next(), 77, (thread - 1)->own);
        for (begin = seconds(); !__atomic_load_n(&unblocked, __ATOMIC_SEQ_CST) && seconds() - begin < 30;)
            sched_yield();
        CHECK_EQ(__atomic_load_n(&unblocked, __ATOMIC_SEQ_CST), 1);
    }
}

int main(int argc, char **argv)
{
    enum { BUFFER = 1 << 16 };
    void *memory = check_alloc(BUFFER);
    int size;
    start_threads_multiple(&argc, &argv, "threads_requests");
    for (int t = 0; t < THREADS; t++) {
        pthread_mutex_init(&places[t].lock, NULL);
        pthread_cond_init(&places[t].changed, NULL);
    }
    pthread_barrier_init(&others, NULL, THREADS - 1);
    in_threads(handed);
    in_threads(cancelled);
    in_threads(persistent);
    MPI_Buffer_attach(memory, BUFFER);
    in_threads(buffered);
    MPI_Buffer_detach(&memory, &size);
    CHECK_EQ(size, BUFFER);
    free(memory);
    in_threads(generalized);
    CHECK_EQ(freed, ROUNDS * THREADS / 2);
    in_threads(blocked);
    return finish();
}

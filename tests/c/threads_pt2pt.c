// covers: MPI_Send MPI_Recv MPI_Isend MPI_Irecv MPI_Waitany MPI_Waitsome MPI_Testall MPI_Waitall MPI_Mprobe MPI_Mrecv MPI_Improbe MPI_Imrecv MPI_Ssend
// seconds: 240
/*
 * Messages of four threads per rank at the same time: on one communicator with a tag for each thread, with wildcards, on
 * requests of each thread's own, to oneself, short and long, with matched probes that compete. MPI 5.0 section 11.6.
 */
#include "threads.h"

enum { ROUNDS = 60, LONG = 300000, WINDOW = 16, COMPETED = 400 };

static int next(void) { return (check_rank + 1) % check_ranks; }
static int previous(void) { return (check_rank + check_ranks - 1) % check_ranks; }

/* Blocking, one communicator, the tag is the thread's; sizes on both sides of every protocol change. */
static void by_tag(struct thread *thread)
{
    static const int sizes[] = {0, 8, 57, 500, 5000, 20000, LONG};
    unsigned char *out = check_alloc(LONG), *in = check_alloc(LONG);
    for (int round = 0; round < ROUNDS; round++) {
        int bytes = sizes[(round + thread->number) % 7], seed = round * 31 + thread->number;
        MPI_Status status;
        MPI_Request q;
        fill(out, (size_t)bytes, seed + check_rank * 1000);
        memset(in, 0, (size_t)bytes);
        MPI_Isend(out, bytes, MPI_BYTE, next(), thread->number, MPI_COMM_WORLD, &q);
        MPI_Recv(in, LONG, MPI_BYTE, previous(), thread->number, MPI_COMM_WORLD, &status);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        CHECK_STATUS(status, previous(), thread->number, bytes);
        CHECK_BYTES(in, (size_t)bytes, seed + previous() * 1000);
    }
    free(out), free(in);
}

static void windows(struct thread *thread)
{
    int out[WINDOW], in[WINDOW], indices[2 * WINDOW], left, count, flag;
    MPI_Request q[2 * WINDOW];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WINDOW; i++) {
            out[i] = check_rank * 1000000 + thread->number * 10000 + round * 100 + i, in[i] = -1;
            MPI_Irecv(&in[i], 1, MPI_INT, previous(), thread->number * WINDOW + i, MPI_COMM_WORLD, &q[i]);
        }
        for (int i = WINDOW - 1; i >= 0; i--)
            MPI_Isend(&out[i], 1, MPI_INT, next(), thread->number * WINDOW + i, MPI_COMM_WORLD, &q[WINDOW + i]);
        switch (round % 4) {
        case 0:
            for (left = 2 * WINDOW; left > 0; left--) {
                MPI_Waitany(2 * WINDOW, q, &count, MPI_STATUS_IGNORE);
                CHECK(count >= 0 && count < 2 * WINDOW);
            }
            break;
        case 1:
            for (left = 2 * WINDOW; left > 0; left -= count) {
                MPI_Waitsome(2 * WINDOW, q, &count, indices, MPI_STATUSES_IGNORE);
                CHECK(count > 0);
                if (count <= 0)
                    break;
            }
            break;
        case 2:
            do
                MPI_Testall(2 * WINDOW, q, &flag, MPI_STATUSES_IGNORE);
            while (!flag);
            break;
        default: MPI_Waitall(2 * WINDOW, q, MPI_STATUSES_IGNORE);
        }
        for (int i = 0; i < WINDOW; i++) {
            CHECK_EQ(in[i], previous() * 1000000 + thread->number * 10000 + round * 100 + i);
            CHECK(q[i] == MPI_REQUEST_NULL && q[WINDOW + i] == MPI_REQUEST_NULL);
        }
    }
}

/* All threads receive from anybody with any tag what all threads send: each message goes to exactly one, and those of one
 * sending thread keep their order within each receiver. The receivers number theirs with the thread's communicator. */
static MPI_Comm shared;
static pthread_mutex_t tally = PTHREAD_MUTEX_INITIALIZER;
static unsigned char *seen; /* by source rank, source thread and number */

static void note(const int message[3], const MPI_Status *status)
{
    CHECK_EQ(status->MPI_SOURCE, message[0]);
    CHECK_EQ(status->MPI_TAG, message[1]);
    pthread_mutex_lock(&tally);
    if (message[0] >= 0 && message[0] < check_ranks && message[1] >= 0 && message[1] < THREADS && message[2] >= 0 &&
        message[2] < COMPETED)
        seen[(message[0] * THREADS + message[1]) * COMPETED + message[2]]++;
    pthread_mutex_unlock(&tally);
}

static void check_seen(void)
{
    for (int i = 0; i < check_ranks * THREADS * COMPETED; i++)
        CHECK_EQ(seen[i], 1);
    memset(seen, 0, (size_t)(check_ranks * THREADS * COMPETED));
}

static void send_to_all(struct thread *thread, MPI_Request *q, int (*out)[3])
{
    for (int i = 0; i < COMPETED; i++) {
        out[i][0] = check_rank, out[i][1] = thread->number, out[i][2] = i;
        for (int to = 0; to < check_ranks; to++)
            MPI_Isend(out[i], 3, MPI_INT, to, thread->number, shared, &q[i * check_ranks + to]);
    }
}

static void wildcards(struct thread *thread)
{
    int(*out)[3] = check_alloc(COMPETED * sizeof *out), in[3], last[64][THREADS];
    MPI_Request *q = check_alloc((size_t)(COMPETED * check_ranks) * sizeof *q);
    memset(last, -1, sizeof last);
    send_to_all(thread, q, out);
    for (int i = 0; i < COMPETED * check_ranks; i++) {
        MPI_Status status;
        MPI_Recv(in, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, shared, &status);
        note(in, &status);
        if (in[0] >= 0 && in[0] < 64 && in[1] >= 0 && in[1] < THREADS) {
            CHECK(in[2] > last[in[0]][in[1]]); /* not overtaken: MPI 5.0 section 3.5 */
            last[in[0]][in[1]] = in[2];
        }
    }
    MPI_Waitall(COMPETED * check_ranks, q, MPI_STATUSES_IGNORE);
    free(out), free(q);
}

/* The same through matched probes, half of them polling. */
static void probes(struct thread *thread)
{
    int(*out)[3] = check_alloc(COMPETED * sizeof *out), in[3];
    MPI_Request *q = check_alloc((size_t)(COMPETED * check_ranks) * sizeof *q), r;
    send_to_all(thread, q, out);
    for (int i = 0; i < COMPETED * check_ranks; i++) {
        MPI_Status status, got;
        MPI_Message message = MPI_MESSAGE_NULL;
        int flag = 0;
        if (thread->number % 2 == 0)
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, shared, &message, &status);
        else
            while (!flag)
                MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, shared, &flag, &message, &status);
        CHECK_STATUS(status, status.MPI_SOURCE, status.MPI_TAG, sizeof in);
        if (i % 2) {
            MPI_Mrecv(in, 3, MPI_INT, &message, &got);
        } else {
            MPI_Imrecv(in, 3, MPI_INT, &message, &r);
            MPI_Wait(&r, &got);
        }
        CHECK_EQ(got.MPI_SOURCE, status.MPI_SOURCE);
        CHECK_EQ(got.MPI_TAG, status.MPI_TAG);
        CHECK(message == MPI_MESSAGE_NULL);
        note(in, &got);
    }
    MPI_Waitall(COMPETED * check_ranks, q, MPI_STATUSES_IGNORE);
    free(out), free(q);
}

/* Synchronous and long messages to oneself and to others in both directions at once. */
static void both_ways(struct thread *thread)
{
    unsigned char *out = check_alloc(LONG), *in = check_alloc(LONG);
    for (int round = 0; round < 12; round++) {
        int other = (check_rank + round) % check_ranks, from = (check_rank + check_ranks - other + check_rank) % check_ranks;
        MPI_Request q[2];
        fill(out, LONG, round + thread->number + check_rank);
        MPI_Irecv(in, LONG, MPI_BYTE, from, 7, thread->own, &q[0]);
        MPI_Issend(out, round % 2 ? LONG : 100, MPI_BYTE, other, 7, thread->own, &q[1]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        CHECK_BYTES(in, round % 2 ? LONG : 100, round + thread->number + from);
    }
    free(out), free(in);
}

int main(int argc, char **argv)
{
    start_threads_multiple(&argc, &argv, "threads_pt2pt");
    seen = check_alloc((size_t)(check_ranks * THREADS * COMPETED));
    memset(seen, 0, (size_t)(check_ranks * THREADS * COMPETED));
    MPI_Comm_dup(MPI_COMM_WORLD, &shared);
    in_threads(by_tag);
    in_threads(windows);
    in_threads(wildcards);
    check_seen();
    MPI_Barrier(shared);
    in_threads(probes);
    check_seen();
    in_threads(both_ways);
    MPI_Comm_free(&shared);
    free(seen);
    return finish();
}

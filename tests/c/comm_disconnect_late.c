// covers: MPI_Comm_disconnect MPI_Mprobe MPI_Mrecv
// ranks: 1 2 3 4
/*
 * MPI_Comm_disconnect (MPI 5.0 section 11.10.4) waits for sends whose messages a thread of their receiver takes only
 * while all are inside: synchronous ones and long ones, for communicators of one group and of two. What nobody has
 * received yet on another communicator holds nobody up.
 */
#include "threads.h"

enum { LONG = 3000000, LATE_US = 150000, MESSAGES = 3 };

static unsigned char out[LONG], in[MESSAGES][LONG];
static MPI_Message messages[MESSAGES];
static const int lengths[MESSAGES] = {0, 100, LONG};

static void *receive_late(void *unused)
{
    (void)unused;
    usleep(LATE_US);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Mrecv(in[i], lengths[i], MPI_BYTE, &messages[i], MPI_STATUS_IGNORE);
    return NULL;
}

/* To one peer, from one peer. */
static void late(MPI_Comm comm, int to, int from)
{
    MPI_Request sends[MESSAGES], elsewhere;
    pthread_t receiver;
    unsigned char letter = 7;
    MPI_Issend(&letter, 1, MPI_BYTE, (check_rank + 1) % check_ranks, 4, MPI_COMM_WORLD, &elsewhere);
    memset(in, 0, sizeof in);
    fill(out, sizeof out, check_rank);
    for (int i = 0; i < MESSAGES; i++)
        if (lengths[i] < LONG)
            MPI_Issend(out, lengths[i], MPI_BYTE, to, i, comm, &sends[i]);
        else
            MPI_Isend(out, lengths[i], MPI_BYTE, to, i, comm, &sends[i]);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Mprobe(from, i, comm, &messages[i], MPI_STATUS_IGNORE);
    if (pthread_create(&receiver, NULL, receive_late, NULL) != 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Comm_disconnect(&comm);
    for (int i = 0; i < MESSAGES; i++) {
        int flag = 0;
        MPI_Request_get_status(sends[i], &flag, MPI_STATUS_IGNORE);
        CHECK_MSG(flag, "send %d of %d bytes is under way behind MPI_Comm_disconnect", i, lengths[i]);
    }
    pthread_join(receiver, NULL);
    MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE);
    CHECK(in[MESSAGES - 1][LONG - 1] != 0 || in[MESSAGES - 1][LONG - 2] != 0);
    MPI_Recv(&letter, 1, MPI_BYTE, (check_rank + check_ranks - 1) % check_ranks, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&elsewhere, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Comm comm, half;
    start_threads_multiple(&argc, &argv, "comm_disconnect_late");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    late(comm, (check_rank + 1) % check_ranks, (check_rank + check_ranks - 1) % check_ranks);
    if (check_ranks > 1 && check_ranks % 2 == 0) {
        int upper = check_rank >= check_ranks / 2, rank;
        MPI_Comm_split(MPI_COMM_WORLD, upper, 0, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : check_ranks / 2, 9, &comm);
        MPI_Comm_rank(comm, &rank);
        late(comm, rank, rank);
        MPI_Comm_free(&half);
    }
    return finish();
}

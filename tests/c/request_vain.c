// covers: MPI_Test MPI_Testall MPI_Testany MPI_Testsome MPI_Request_get_status MPI_Iprobe MPI_Improbe
// ranks: 2 3
/*
 * Ranks that share a core and ask again and again whether something has come (MPI 5.0 sections 3.7.3, 3.7.5 and 3.8): who asks in
 * vain must let the others run, or each message takes as long as the system lets a process run, tens of thousands of vain
 * questions. Counted are the questions, not the time.
 */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>

enum { TEST, TESTALL, TESTANY, TESTSOME, GET_STATUS, IPROBE, IMPROBE, WAYS, MESSAGES = 200, VAIN_MOST = 500 };
static const char *const names[] = {"MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Request_get_status", "MPI_Iprobe", "MPI_Improbe"};

/* All ranks on the first core that this one may use. */
static void share_a_core(void)
{
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        exit(3);
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; core++)
        if (CPU_ISSET(core, &allowed))
            CPU_SET(core, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        exit(3);
}

/* Whether the message is here; completes the request where the function does. */
static int is_here(int way, MPI_Request *request, int from, MPI_Message *message)
{
    int flag = 0, index, count = 0;
    switch (way) {
    case TEST: MPI_Test(request, &flag, MPI_STATUS_IGNORE); return flag;
    case TESTALL: MPI_Testall(1, request, &flag, MPI_STATUSES_IGNORE); return flag;
    case TESTANY: MPI_Testany(1, request, &index, &flag, MPI_STATUS_IGNORE); return flag;
    case TESTSOME: MPI_Testsome(1, request, &count, &index, MPI_STATUSES_IGNORE); return count == 1;
    case GET_STATUS: MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE); return flag;
    case IPROBE: MPI_Iprobe(from, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); return flag;
    default: MPI_Improbe(from, 1, MPI_COMM_WORLD, &flag, message, MPI_STATUS_IGNORE); return flag;
    }
}

/* Receives and counts the questions in vain. */
static long receive(int way, int from, int wanted)
{
    long vain = 0;
    int got = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message;
    if (way < IPROBE)
        MPI_Irecv(&got, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &request);
    while (!is_here(way, &request, from, &message))
        vain++;
    if (way == GET_STATUS)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (way == IPROBE)
        MPI_Recv(&got, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (way == IMPROBE)
        MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK_EQ(got, wanted);
    return vain;
}

int main(int argc, char **argv)
{
    share_a_core();
    start(&argc, &argv, "request_vain");
    int next = (check_rank + 1) % check_ranks, before = (check_rank + check_ranks - 1) % check_ranks;
    for (int way = 0; way < WAYS; way++) {
        long vain = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < MESSAGES; i++) { /* around the ring, from rank 0 on */
            if (check_rank == 0)
                MPI_Send(&i, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
            vain += receive(way, before, i);
            if (check_rank != 0)
                MPI_Send(&i, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
        }
        CHECK_MSG(vain <= (long)MESSAGES * VAIN_MOST, "%s: %ld times in vain for %d messages", names[way], vain, MESSAGES);
    }
    MPI_Finalize();
    return verdict();
}

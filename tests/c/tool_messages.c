// ranks: 1 3
/*
 * Events of messages, MPI 5.0 section 15.3.8: each send, each match, each end of a receive and each message that comes before its
 * receive is told of once, with peer, tag and bytes, in the order of their times, on its own communicator; what is too much until the next call is counted.
 */
#include "tool.h"

enum { POSTED, MATCHED, ARRIVED, REMOVED, COMPLETED, KINDS };
static const char *const names[KINDS] = {"pml_message_posted", "pml_message_matched", "pml_unexpected_arrived",
                                         "pml_unexpected_removed", "pml_message_completed"};
static int event_index[KINDS];
static MPI_Count dropped_events;

struct messages {
    int count, calls, peer[64], tag[64];
    unsigned long long bytes[64];
    MPI_Count time[64];
    MPI_Comm inner;
};

static void message(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    struct messages *heard = data;
    struct {
        int peer, tag;
        unsigned long long bytes;
    } all;
    int at = heard->count % 64, source = -1, peer = -1;
    (void)registration;
    CHECK_EQ(safety, MPI_T_CB_REQUIRE_NONE);
    OK(MPI_T_event_copy(instance, &all));
    OK(MPI_T_event_read(instance, 0, &peer));
    OK(MPI_T_event_get_source(instance, &source));
    CHECK(peer == all.peer && source == 1);
    heard->peer[at] = all.peer, heard->tag[at] = all.tag, heard->bytes[at] = all.bytes;
    OK(MPI_T_event_get_timestamp(instance, &heard->time[at]));
    CHECK(at == 0 || heard->time[at] >= heard->time[at - 1]);
    heard->count++;
    /* It may call MPI; what happens meanwhile is told later. */
    if (heard->inner != MPI_COMM_NULL) {
        int one = 1;
        MPI_Send(&one, 1, MPI_INT, MPI_PROC_NULL, 0, heard->inner);
        heard->calls++;
    }
}

static void lost(MPI_Count count, MPI_T_event_registration registration, int source, MPI_T_cb_safety safety, void *data)
{
    struct messages *heard = data;
    (void)registration, (void)safety;
    CHECK_EQ(source, 1);
    CHECK(heard->count > 0);
    dropped_events += count;
}

/* What rank 0 sends to rank 1, and it alone. */
static void messages(void)
{
    static struct messages heard[KINDS], none;
    static char big[1 << 20];
    MPI_T_event_registration registration[KINDS], other;
    MPI_Comm comm, quiet;
    MPI_Request requests[2];
    char small[8] = {0};
    if (check_ranks < 2)
        return;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &quiet);
    for (int kind = 0; kind < KINDS; kind++) {
        heard[kind].inner = kind == POSTED ? comm : MPI_COMM_NULL;
        OK(MPI_T_event_handle_alloc(event_index[kind], &comm, MPI_INFO_NULL, &registration[kind]));
        OK(MPI_T_event_register_callback(registration[kind], MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, &heard[kind], message));
    }
    none.inner = MPI_COMM_NULL;
    OK(MPI_T_event_handle_alloc(event_index[POSTED], &quiet, MPI_INFO_NULL, &other));
    OK(MPI_T_event_register_callback(other, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &none, message));
    MPI_Barrier(quiet);
    if (check_rank == 0) {
        /* These come before their receives: rank 1 waits for the second one first. */
        MPI_Send(small, 8, MPI_BYTE, 1, 3, comm);
        MPI_Send(small, 5, MPI_BYTE, 1, 4, comm);
        MPI_Send(big, sizeof big, MPI_BYTE, 1, 5, comm);
        MPI_Isend(small, 0, MPI_BYTE, 1, 6, comm, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    } else if (check_rank == 1) {
        MPI_Recv(small, 8, MPI_BYTE, 0, 4, comm, MPI_STATUS_IGNORE);
        MPI_Recv(small, 8, MPI_BYTE, MPI_ANY_SOURCE, 3, comm, MPI_STATUS_IGNORE);
        MPI_Recv(big, sizeof big, MPI_BYTE, 0, 5, comm, MPI_STATUS_IGNORE);
        MPI_Irecv(small, 8, MPI_BYTE, 0, 6, comm, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    MPI_Barrier(quiet);
    /* Told by the barrier. */
    static const int tags[4] = {3, 4, 5, 6};
    static const unsigned long long bytes[4] = {8, 5, sizeof big, 0};
    if (check_rank == 0) {
        CHECK(heard[POSTED].count == 4 && heard[POSTED].calls == 4 && heard[MATCHED].count == 0);
        for (int at = 0; at < 4; at++)
            CHECK(heard[POSTED].peer[at] == 1 && heard[POSTED].tag[at] == tags[at] && heard[POSTED].bytes[at] == bytes[at]);
    } else if (check_rank == 1) {
        static const int order[4] = {1, 0, 2, 3};
        CHECK_EQ(heard[MATCHED].count, 4);
        for (int at = 0; at < 4; at++) {
            CHECK(heard[MATCHED].peer[at] == 0 && heard[MATCHED].tag[at] == tags[order[at]]);
            CHECK(heard[MATCHED].bytes[at] == bytes[order[at]]);
        }
        /* Each was waited for before the next one was received. */
        CHECK_EQ(heard[COMPLETED].count, 4);
        for (int at = 0; at < 4; at++) {
            CHECK(heard[COMPLETED].peer[at] == 0 && heard[COMPLETED].tag[at] == tags[order[at]]);
            CHECK(heard[COMPLETED].bytes[at] == bytes[order[at]]);
            CHECK(heard[COMPLETED].time[at] >= heard[MATCHED].time[at]);
            CHECK(at == 3 || heard[COMPLETED].time[at] <= heard[MATCHED].time[at + 1]);
        }
        /* The first one for sure; others may have come in time. */
        CHECK(heard[ARRIVED].count >= 1 && heard[ARRIVED].tag[0] == 3 && heard[ARRIVED].bytes[0] == 8);
        CHECK_EQ(heard[ARRIVED].count, heard[REMOVED].count);
        CHECK_EQ(heard[POSTED].count, 0);
    } else
        CHECK(heard[POSTED].count == 0 && heard[MATCHED].count == 0);
    CHECK_EQ(none.count, 0);
    /* Until here nothing of what follows has arrived anywhere. */
    MPI_Barrier(quiet);
    /* More than are kept until the next call: those of one call. What is lost is counted. */
    heard[POSTED].inner = MPI_COMM_NULL;
    OK(MPI_T_event_set_dropped_handler(registration[POSTED], lost));
    int before = heard[POSTED].count, many = 6000;
    /* Startall begins all before the next call tells of any. */
    if (check_rank == 0) {
        MPI_Request *all = malloc((size_t)many * sizeof *all);
        for (int at = 0; at < many; at++)
            MPI_Send_init(small, 0, MPI_BYTE, 1, at, comm, &all[at]);
        MPI_Startall(many, all);
        CHECK_EQ(heard[POSTED].count, before);
        MPI_Waitall(many, all, MPI_STATUSES_IGNORE);
        CHECK(heard[POSTED].count - before < many && dropped_events > 0);
        CHECK_EQ(heard[POSTED].count - before + (int)dropped_events, many);
        for (int at = 0; at < many; at++)
            MPI_Request_free(&all[at]);
        free(all);
    } else if (check_rank == 1)
        for (int at = 0; at < many; at++)
            MPI_Recv(small, 0, MPI_BYTE, 0, at, comm, MPI_STATUS_IGNORE);
    /* Nobody listens any more. */
    for (int kind = 0; kind < KINDS; kind++)
        OK(MPI_T_event_handle_free(registration[kind], NULL, NULL));
    OK(MPI_T_event_handle_free(other, NULL, NULL));
    before = heard[POSTED].count;
    if (check_rank == 0)
        MPI_Send(small, 8, MPI_BYTE, 1, 3, comm);
    else if (check_rank == 1)
        MPI_Recv(small, 8, MPI_BYTE, 0, 3, comm, MPI_STATUS_IGNORE);
    MPI_Barrier(quiet);
    CHECK_EQ(heard[POSTED].count, before);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&quiet);
}

static void listen_to(int kind, MPI_Comm comm, struct messages *heard, MPI_T_event_registration *registration)
{
    heard->inner = MPI_COMM_NULL;
    OK(MPI_T_event_handle_alloc(event_index[kind], &comm, MPI_INFO_NULL, registration));
    OK(MPI_T_event_register_callback(*registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, heard, message));
}

/* Whatever sends, receives, starts or completes tells, also where a program does nothing else. */
static void all_calls_tell(void)
{
    static struct messages posted, completed;
    MPI_T_event_registration registrations[2];
    MPI_Request requests[2];
    MPI_Comm own;
    int out = 1, in, flag = 0, rounds = 5000;
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    listen_to(POSTED, own, &posted, &registrations[0]);
    listen_to(COMPLETED, own, &completed, &registrations[1]);
    OK(MPI_T_event_set_dropped_handler(registrations[0], lost));
    dropped_events = 0;
    for (int round = 0; round < rounds; round++)
        MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, own, MPI_STATUS_IGNORE);
    CHECK(posted.count >= rounds - 1 && dropped_events == 0);
    MPI_Recv_init(&in, 1, MPI_INT, 0, 1, own, &requests[0]);
    MPI_Send_init(&out, 1, MPI_INT, 0, 1, own, &requests[1]);
    for (int round = 1; round <= 3; round++) {
        MPI_Start(&requests[0]);
        CHECK_EQ(completed.count, rounds + round - 1);
        MPI_Start(&requests[1]);
        if (round == 1)
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        else if (round == 2)
            for (int which = 0; which < 2; which++)
                MPI_Wait(&requests[which], MPI_STATUS_IGNORE);
        else
            for (flag = 0; !flag;)
                MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
        CHECK(posted.count == rounds + round && completed.count == rounds + round);
    }
    for (int which = 0; which < 2; which++)
        MPI_Request_free(&requests[which]);
    for (int which = 0; which < 2; which++)
        OK(MPI_T_event_handle_free(registrations[which], NULL, NULL));
    MPI_Comm_free(&own);
}

/* What happened on a communicator is told before it is freed; what happens there later can only be counted. */
static void freed(void)
{
    static struct messages posted;
    MPI_T_event_registration registration;
    MPI_Request requests[2];
    MPI_Comm own;
    int out = 1, in;
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    listen_to(POSTED, own, &posted, &registration);
    OK(MPI_T_event_set_dropped_handler(registration, lost));
    dropped_events = 0;
    /* These keep it. */
    MPI_Recv_init(&in, 1, MPI_INT, 0, 1, own, &requests[0]);
    MPI_Send_init(&out, 1, MPI_INT, 0, 1, own, &requests[1]);
    MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, own, MPI_STATUS_IGNORE);
    MPI_Comm_free(&own);
    CHECK(posted.count == 1 && dropped_events == 0);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(posted.count == 1 && dropped_events == 1);
    MPI_Request_free(&requests[0]), MPI_Request_free(&requests[1]);
    OK(MPI_T_event_handle_free(registration, NULL, NULL));
}

/* No callback runs after the last MPI_T_finalize, and a later MPI_T_init_thread does not bring it back. */
static void finalized(void)
{
    static struct messages posted;
    MPI_T_event_registration registration;
    int out = 1, in, provided;
    listen_to(POSTED, MPI_COMM_SELF, &posted, &registration);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_finalize()); /* not the last one */
    MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    OK(MPI_T_finalize());
    CHECK_EQ(posted.count, 1);
    for (int round = 0; round < 3; round++)
        MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF);
    CHECK_EQ(posted.count, 1);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_SELF);
    CHECK_EQ(posted.count, 1);
    TOOL(MPI_T_event_handle_free(registration, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    OK(MPI_T_finalize());
}

int main(int argc, char **argv)
{
    tool_start();
    start(&argc, &argv, "tool_messages");
    for (int kind = 0; kind < KINDS; kind++)
        OK(MPI_T_event_get_index(names[kind], &event_index[kind]));
    messages();
    all_calls_tell();
    freed();
    finalized();
    return finish();
}

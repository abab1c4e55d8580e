// ranks: 1 2 4
/*
 * Performance variables of queues and lists, MPI 5.0 section 15.3.7: how many entries matching compares, against messages whose lists are
 * known, and the memory of the queues between processes.
 */
#include "tool.h"

typedef unsigned long long number;

static MPI_T_pvar_session session;

static MPI_T_pvar_handle handle_of(const char *name, int class)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int index = -1, count = -1;
    OK(MPI_T_pvar_get_index(name, class, &index));
    OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    CHECK_EQ(count, 1);
    return handle;
}

static number value(MPI_T_pvar_handle handle)
{
    number now = 77777;
    OK(MPI_T_pvar_read(session, handle, &now));
    return now;
}

/* Messages of this rank to itself: nobody else's are in the lists. */
static void matches(void)
{
    enum { POSTS = 5, KEPT = 3 };
    static const int order[POSTS] = {4, 0, 2, 1, 3}, kept[KEPT] = {12, 10, 11};
    MPI_Request requests[POSTS];
    int words[POSTS], word = 0;
    MPI_T_pvar_handle tried = handle_of("pml_ob1_matches_tried", MPI_T_PVAR_CLASS_COUNTER);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_T_pvar_start(session, tried));
    for (int tag = 0; tag < POSTS; tag++)
        MPI_Irecv(&words[tag], 1, MPI_INT, 0, tag, MPI_COMM_SELF, &requests[tag]);
    CHECK_EQ(value(tried), 0);
    for (int at = 0; at < POSTS; at++)
        MPI_Send(&order[at], 1, MPI_INT, 0, order[at], MPI_COMM_SELF);
    MPI_Waitall(POSTS, requests, MPI_STATUSES_IGNORE);
    /* 0 1 2 3 4, then 0, then 1 2, then 1, then 3. */
    CHECK_EQ(value(tried), 5 + 1 + 2 + 1 + 1);
    for (int tag = 0; tag < POSTS; tag++)
        CHECK_EQ(words[tag], tag);
    OK(MPI_T_pvar_reset(session, tried));
    for (int tag = 10; tag < 10 + KEPT; tag++)
        MPI_Send(&tag, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
    for (int at = 0; at < KEPT; at++) {
        MPI_Irecv(&word, 1, MPI_INT, 0, kept[at], MPI_COMM_SELF, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        CHECK_EQ(word, kept[at]);
    }
    /* 10 11 12, then 10, then 11. */
    CHECK_EQ(value(tried), 3 + 1 + 1);
    OK(MPI_T_pvar_stop(session, tried));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(value(tried), 5);
    OK(MPI_T_pvar_handle_free(session, &tried));
}

static void queues(void)
{
    int all[64];
    MPI_T_pvar_handle peers = handle_of("btl_sm_peers", MPI_T_PVAR_CLASS_LEVEL);
    MPI_T_pvar_handle memory = handle_of("btl_sm_queue_memory", MPI_T_PVAR_CLASS_LEVEL);
    for (int to = 0; to < check_ranks; to++)
        MPI_Sendrecv(&check_rank, 1, MPI_INT, to, 1, &all[to], 1, MPI_INT, to, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(value(peers), (number)check_ranks - 1);
    number each = check_ranks == 1 ? 0 : value(memory) / (number)(check_ranks - 1);
    CHECK_EQ(value(memory), each * (number)(check_ranks - 1));
    /* Slots of 64 bytes both ways, and bytes for longer messages. */
    CHECK(check_ranks == 1 || each > 16 << 10);
}

int main(int argc, char **argv)
{
    tool_start();
    start(&argc, &argv, "tool_lists");
    OK(MPI_T_pvar_session_create(&session));
    queues();
    matches();
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
    return finish();
}

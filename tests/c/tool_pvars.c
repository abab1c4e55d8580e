// covers: MPI_T_pvar_get_num MPI_T_pvar_get_info MPI_T_pvar_get_index MPI_T_pvar_session_create MPI_T_pvar_session_free MPI_T_pvar_handle_alloc MPI_T_pvar_handle_free MPI_T_pvar_start MPI_T_pvar_stop MPI_T_pvar_read MPI_T_pvar_write MPI_T_pvar_reset MPI_T_pvar_readreset
// ranks: 1 2 4
/*
 * Performance variables, MPI 5.0 section 15.3.7, against traffic that is known: messages and bytes by peer, unexpected messages
 * and the most of them at once, posted receives, announced messages, sleep. Each session sees what happened while it ran.
 */
#include "tool.h"
#include <unistd.h>

typedef unsigned long long number;

static MPI_T_pvar_session session;

static MPI_T_pvar_handle handle_of(MPI_T_pvar_session in, const char *name, int class, MPI_Comm *comm, int elements)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int index = -1, count = -1;
    OK(MPI_T_pvar_get_index(name, class, &index));
    OK(MPI_T_pvar_handle_alloc(in, index, comm, &handle, &count));
    CHECK_EQ(count, elements);
    return handle;
}

static number value(MPI_T_pvar_handle handle)
{
    number now = 77777;
    OK(MPI_T_pvar_read(session, handle, &now));
    return now;
}

static void all(void)
{
    int count = -1, same = -1;
    OK(MPI_T_pvar_get_num(&count));
    for (int index = 0; index < count; index++) {
        char name[256], description[4096];
        int name_length = sizeof name, description_length = sizeof description, verbosity, class, bind, readonly, continuous,
            atomic;
        MPI_Datatype datatype;
        MPI_T_enum words;
        OK(MPI_T_pvar_get_info(index, name, &name_length, &verbosity, &class, &datatype, &words, description,
                               &description_length, &bind, &readonly, &continuous, &atomic));
        CHECK(strlen(name) + 1 == (size_t)name_length && name_length > 1);
        CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
        OK(MPI_T_pvar_get_index(name, class, &same));
        if (!is_ours())
            continue;
        CHECK_EQ(same, index);
        CHECK(description_length > 10);
        CHECK_EQ(datatype == MPI_DOUBLE, class == MPI_T_PVAR_CLASS_TIMER);
        CHECK_EQ(continuous, class == MPI_T_PVAR_CLASS_LEVEL);
        CHECK_EQ(readonly, continuous);
        OK(MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        TOOL(MPI_T_pvar_get_index(name, 99, &same), MPI_T_ERR_INVALID_NAME);
    }
    TOOL(MPI_T_pvar_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
         MPI_T_ERR_INVALID_INDEX);
    TOOL(MPI_T_pvar_get_index("no such variable", MPI_T_PVAR_CLASS_LEVEL, &same), MPI_T_ERR_INVALID_NAME);
}

/* Rank r sends r + 1 + k messages of 8 * (k + 1) bytes to the k-th rank after it, in all the ways that there are. */
static int messages_of(int rank, int after)
{
    return rank + 1 + after;
}

static void exchange(MPI_Comm comm)
{
    static char out[64 * 1024], in[64 * 1024];
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int after = 0; after < size; after++) {
        int to = (rank + after) % size, from = (rank - after + size) % size, bytes = 8 * (after + 1);
        int sends = messages_of(rank, after), receives = messages_of(from, after);
        MPI_Request request[256];
        int started = 0;
        for (int n = 0; n < receives; n++)
            if (n % 3 != 1)
                MPI_Irecv(in + n * bytes, bytes, MPI_BYTE, n % 2 ? MPI_ANY_SOURCE : from, after, comm, &request[started++]);
        for (int n = 0; n < sends; n++)
            if (n % 2)
                MPI_Isend(out, bytes, MPI_BYTE, to, after, comm, &request[started++]);
            else
                MPI_Send(out, bytes, MPI_BYTE, to, after, comm);
        for (int n = 0; n < receives; n++)
            if (n % 3 == 1)
                MPI_Recv(in, bytes, MPI_BYTE, from, after, comm, MPI_STATUS_IGNORE);
        MPI_Waitall(started, request, MPI_STATUSES_IGNORE);
    }
    MPI_Send(out, 8, MPI_BYTE, MPI_PROC_NULL, 0, comm);
    MPI_Recv(in, 8, MPI_BYTE, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE);
}

/* A long one, a synchronous one, one that is probed, one of no bytes, one that is cut off. */
static void others(MPI_Comm comm, int long_bytes)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    char *out = calloc(1, (size_t)long_bytes), *in = calloc(1, (size_t)long_bytes);
    MPI_Sendrecv(out, long_bytes, MPI_BYTE, to, 1, in, long_bytes, MPI_BYTE, from, 1, comm, MPI_STATUS_IGNORE);
    MPI_Request request;
    MPI_Message message;
    MPI_Issend(out, 10, MPI_BYTE, to, 2, comm, &request);
    MPI_Recv(in, 10, MPI_BYTE, from, 2, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(out, 20, MPI_BYTE, to, 3, comm, &request);
    MPI_Mprobe(from, 3, comm, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, 20, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Sendrecv(NULL, 0, MPI_BYTE, to, 4, NULL, 0, MPI_BYTE, from, 4, comm, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Isend(out, 40, MPI_BYTE, to, 5, comm, &request);
    CHECK_CLASS(MPI_Recv(in, 30, MPI_BYTE, from, 5, comm, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(out);
    free(in);
}

/* Rounds of a partitioned message are messages. */
static void partitioned(void)
{
    MPI_Comm comm;
    MPI_Request requests[2];
    number sent[64], sent_bytes[64], received[64], received_bytes[64];
    double out[64] = {0}, in[64];
    int to = (check_rank + 1) % check_ranks, from = (check_rank + check_ranks - 1) % check_ranks;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_T_pvar_handle handles[4] = {
        handle_of(session, "pml_messages_sent", MPI_T_PVAR_CLASS_COUNTER, &comm, check_ranks),
        handle_of(session, "pml_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE, &comm, check_ranks),
        handle_of(session, "pml_messages_received", MPI_T_PVAR_CLASS_COUNTER, &comm, check_ranks),
        handle_of(session, "pml_bytes_received", MPI_T_PVAR_CLASS_AGGREGATE, &comm, check_ranks)};
    for (int i = 0; i < 4; i++)
        OK(MPI_T_pvar_start(session, handles[i]));
    MPI_Psend_init(out, 4, 16, MPI_DOUBLE, to, 3, comm, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in, 2, 32, MPI_DOUBLE, from, 3, comm, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < 3; round++) {
        MPI_Startall(2, requests);
        for (int i = 0; i < 4; i++) {
            MPI_Pready(i, requests[0]);
            if (round == 1)
                MPI_Parrived(requests[1], 0, &(int){0});
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    OK(MPI_T_pvar_read(session, handles[0], sent));
    OK(MPI_T_pvar_read(session, handles[1], sent_bytes));
    OK(MPI_T_pvar_read(session, handles[2], received));
    OK(MPI_T_pvar_read(session, handles[3], received_bytes));
    CHECK_EQ(sent[to], 3);
    CHECK_EQ(sent_bytes[to], 3 * sizeof out);
    CHECK_EQ(received[from], 3);
    CHECK_EQ(received_bytes[from], 3 * sizeof out);
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&requests[i]);
    /* A communicator that is freed has the numbers that it had, as long as there are handles. */
    MPI_Comm_free(&comm);
    OK(MPI_T_pvar_read(session, handles[0], sent));
    CHECK_EQ(sent[to], 3);
    for (int i = 0; i < 4; i++)
        OK(MPI_T_pvar_handle_free(session, &handles[i]));
}

/* By function, and by each algorithm that served one: variables that were not there before. */
static void collectives(void)
{
    MPI_T_pvar_handle calls = handle_of(session, "coll_bcast_calls", MPI_T_PVAR_CLASS_COUNTER, NULL, 1);
    MPI_T_pvar_handle time = handle_of(session, "coll_bcast_time", MPI_T_PVAR_CLASS_TIMER, NULL, 1);
    MPI_T_pvar_handle others = handle_of(session, "coll_allreduce_calls", MPI_T_PVAR_CLASS_COUNTER, NULL, 1);
    int before, after, stamp, later, word = 0, by_algorithm = 0;
    double seconds = -1;
    number sum = 0;
    OK(MPI_T_pvar_get_num(&before));
    OK(MPI_T_category_changed(&stamp));
    OK(MPI_T_pvar_start(session, calls));
    OK(MPI_T_pvar_start(session, time));
    OK(MPI_T_pvar_start(session, others));
    for (int i = 0; i < 5; i++)
        MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK_EQ(value(calls), 5);
    CHECK_EQ(value(others), 0);
    OK(MPI_T_pvar_read(session, time, &seconds));
    CHECK(seconds > 0 && seconds < 60);
    OK(MPI_T_pvar_get_num(&after));
    OK(MPI_T_category_changed(&later));
    CHECK(after >= before + 2 && later > stamp);
    for (int index = before; index < after; index++) {
        char name[256], description[1024];
        int name_length = sizeof name, description_length = sizeof description, class = -1;
        OK(MPI_T_pvar_get_info(index, name, &name_length, NULL, &class, NULL, NULL, description, &description_length, NULL, NULL,
                               NULL, NULL));
        if (class != MPI_T_PVAR_CLASS_COUNTER || !strstr(name, "_bcast_"))
            continue;
        CHECK_MSG(strstr(description, "MPI_Bcast by coll/"), "%s", description);
        MPI_T_pvar_handle handle = handle_of(session, name, class, NULL, 1);
        OK(MPI_T_pvar_start(session, handle));
        MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
        sum += value(handle);
        by_algorithm++;
        OK(MPI_T_pvar_handle_free(session, &handle));
    }
    CHECK_MSG(sum >= 1 && by_algorithm >= 1, "%llu calls by %d algorithms", sum, by_algorithm);
    OK(MPI_T_pvar_handle_free(session, &calls));
    OK(MPI_T_pvar_handle_free(session, &time));
    OK(MPI_T_pvar_handle_free(session, &others));
}

static void by_peer(void)
{
    MPI_Comm comm, uncounted;
    int rank = check_rank, size = check_ranks;
    number sent[64], sent_bytes[64], received[64], received_bytes[64];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &uncounted);
    exchange(comm); /* before anything is counted */
    MPI_T_pvar_handle out = handle_of(session, "pml_messages_sent", MPI_T_PVAR_CLASS_COUNTER, &comm, size);
    MPI_T_pvar_handle out_bytes = handle_of(session, "pml_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE, &comm, size);
    MPI_T_pvar_handle in = handle_of(session, "pml_messages_received", MPI_T_PVAR_CLASS_COUNTER, &comm, size);
    MPI_T_pvar_handle in_bytes = handle_of(session, "pml_bytes_received", MPI_T_PVAR_CLASS_AGGREGATE, &comm, size);
    exchange(comm); /* nothing was started */
    MPI_Barrier(comm);
    OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    exchange(comm);
    exchange(uncounted);
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    OK(MPI_T_pvar_read(session, out, sent));
    OK(MPI_T_pvar_read(session, out_bytes, sent_bytes));
    OK(MPI_T_pvar_read(session, in, received));
    OK(MPI_T_pvar_read(session, in_bytes, received_bytes));
    for (int after = 0; after < size; after++) {
        int to = (rank + after) % size, from = (rank - after + size) % size;
        CHECK_EQ(sent[to], messages_of(rank, after));
        CHECK_EQ(sent_bytes[to], messages_of(rank, after) * 8 * (after + 1));
        CHECK_EQ(received[from], messages_of(from, after));
        CHECK_EQ(received_bytes[from], messages_of(from, after) * 8 * (after + 1));
    }
    OK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
    const int bytes = 3 << 20;
    others(comm, bytes);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    OK(MPI_T_pvar_readreset(session, out, sent));
    OK(MPI_T_pvar_readreset(session, out_bytes, sent_bytes));
    OK(MPI_T_pvar_readreset(session, in, received));
    OK(MPI_T_pvar_readreset(session, in_bytes, received_bytes));
    CHECK_EQ(sent[to], 5);
    CHECK_EQ(sent_bytes[to], bytes + 10 + 20 + 40);
    CHECK_EQ(received[from], 5);
    CHECK_EQ(received_bytes[from], bytes + 10 + 20 + 30);
    OK(MPI_T_pvar_stop(session, out));
    exchange(comm);
    OK(MPI_T_pvar_read(session, out, sent));
    OK(MPI_T_pvar_read(session, in, received));
    CHECK_EQ(sent[to], 0);
    CHECK(received[from] > 0);
    /* What is written is counted on from. */
    for (int peer = 0; peer < size; peer++)
        sent[peer] = 1000;
    OK(MPI_T_pvar_write(session, out, sent));
    OK(MPI_T_pvar_start(session, out));
    exchange(comm);
    OK(MPI_T_pvar_read(session, out, sent));
    CHECK_EQ(sent[rank], 1000 + messages_of(rank, 0));
    /* The handle outlives the communicator. */
    MPI_Comm_free(&comm);
    OK(MPI_T_pvar_read(session, out, sent));
    CHECK_EQ(sent[rank], 1000 + messages_of(rank, 0));
    OK(MPI_T_pvar_handle_free(session, &out));
    OK(MPI_T_pvar_handle_free(session, &out_bytes));
    OK(MPI_T_pvar_handle_free(session, &in));
    OK(MPI_T_pvar_handle_free(session, &in_bytes));
    MPI_Comm_free(&uncounted);
}

static void queues(void)
{
    enum { MESSAGES = 7 };
    MPI_T_pvar_session second;
    int to = (check_rank + 1) % check_ranks, from = (check_rank + check_ranks - 1) % check_ranks, got;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    OK(MPI_T_pvar_session_create(&second));
    MPI_T_pvar_handle length = handle_of(session, "pml_ob1_unexpected_length", MPI_T_PVAR_CLASS_LEVEL, NULL, 1);
    MPI_T_pvar_handle most = handle_of(session, "pml_ob1_unexpected_most", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL, 1);
    MPI_T_pvar_handle later = handle_of(second, "pml_ob1_unexpected_most", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL, 1);
    MPI_T_pvar_handle arrived = handle_of(session, "pml_ob1_unexpected_arrived", MPI_T_PVAR_CLASS_COUNTER, NULL, 1);
    MPI_T_pvar_handle memory = handle_of(session, "pml_ob1_unexpected_memory", MPI_T_PVAR_CLASS_LEVEL, NULL, 1);
    MPI_T_pvar_handle posted = handle_of(session, "pml_ob1_posted_length", MPI_T_PVAR_CLASS_LEVEL, NULL, 1);
    /* The first barriers of a communicator may be messages; later ones are none, which would be unexpected, too. */
    for (int n = 0; n < 4; n++)
        MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_T_pvar_start(session, most));
    OK(MPI_T_pvar_start(session, arrived));
    for (int n = 0; n < MESSAGES; n++)
        MPI_Send(&n, 1, MPI_INT, to, n, comm);
    /* The last one has come: so have all before it. */
    MPI_Probe(from, MESSAGES - 1, comm, MPI_STATUS_IGNORE);
    CHECK_EQ(value(length), MESSAGES);
    CHECK(value(most) >= MESSAGES);
    CHECK(value(arrived) >= MESSAGES);
    CHECK(value(memory) >= MESSAGES * sizeof(int));
    for (int n = 0; n < MESSAGES - 2; n++)
        MPI_Recv(&got, 1, MPI_INT, from, n, comm, MPI_STATUS_IGNORE);
    CHECK_EQ(value(length), 2);
    /* A mark that starts now knows of two; the other one still of all. */
    OK(MPI_T_pvar_start(second, later));
    number now = 0;
    OK(MPI_T_pvar_read(second, later, &now));
    CHECK_EQ(now, 2);
    CHECK(value(most) >= MESSAGES);
    OK(MPI_T_pvar_readreset(session, most, &now));
    CHECK(now >= MESSAGES);
    CHECK_EQ(value(most), 2);
    for (int n = MESSAGES - 2; n < MESSAGES; n++)
        MPI_Recv(&got, 1, MPI_INT, from, n, comm, MPI_STATUS_IGNORE);
    CHECK_EQ(value(most), 2);
    /* Receives that wait. */
    MPI_Request request[3];
    MPI_T_pvar_handle requests = handle_of(session, "mpi_requests", MPI_T_PVAR_CLASS_LEVEL, NULL, 1);
    number before = value(posted), requests_before = value(requests);
    /* One is posted before anybody wants to know the most of them. */
    MPI_Irecv(&got, 1, MPI_INT, from, 77, comm, &request[2]);
    MPI_T_pvar_handle most_posted = handle_of(session, "pml_ob1_posted_most", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL, 1);
    OK(MPI_T_pvar_start(session, most_posted));
    CHECK_EQ(value(most_posted), before + 1);
    for (int n = 0; n < 2; n++)
        MPI_Irecv(&got, 1, MPI_INT, n ? from : MPI_ANY_SOURCE, 77, comm, &request[n]);
    CHECK_EQ(value(posted), before + 3);
    CHECK_EQ(value(most_posted), before + 3);
    CHECK_EQ(value(requests), requests_before + 3);
    for (int n = 0; n < 3; n++) {
        MPI_Cancel(&request[n]);
        MPI_Wait(&request[n], MPI_STATUS_IGNORE);
    }
    CHECK_EQ(value(posted), before);
    CHECK_EQ(value(most_posted), before + 3);
    CHECK_EQ(value(requests), requests_before);
    OK(MPI_T_pvar_reset(session, most_posted));
    CHECK_EQ(value(most_posted), before);
    /* Some that messages meet, and a communicator that came later. */
    MPI_Comm newer;
    MPI_Comm_dup(comm, &newer);
    for (int n = 0; n < 3; n++)
        MPI_Irecv(&got, 1, MPI_INT, from, n, n == 2 ? newer : comm, &request[n]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int n = 0; n < 3; n++)
        MPI_Send(&n, 1, MPI_INT, to, n, n == 2 ? newer : comm);
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    CHECK(value(most_posted) >= before + 3);
    CHECK_EQ(value(posted), before);
    OK(MPI_T_pvar_reset(session, most_posted));
    CHECK_EQ(value(most_posted), before);
    MPI_Comm_free(&newer);
    TOOL(MPI_T_pvar_start(session, length), MPI_T_ERR_PVAR_NO_STARTSTOP);
    TOOL(MPI_T_pvar_stop(session, length), MPI_T_ERR_PVAR_NO_STARTSTOP);
    TOOL(MPI_T_pvar_write(session, length, &now), MPI_T_ERR_PVAR_NO_WRITE);
    TOOL(MPI_T_pvar_reset(session, length), MPI_T_ERR_PVAR_NO_WRITE);
    TOOL(MPI_T_pvar_readreset(session, length, &now), MPI_T_ERR_PVAR_NO_ATOMIC);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_T_pvar_session_free(&second));
    CHECK(second == MPI_T_PVAR_SESSION_NULL);
    OK(MPI_T_pvar_handle_free(session, &length));
    MPI_Comm_free(&comm);
}

static void protocols(void)
{
    enum { MESSAGES = 5, BYTES = 1 << 20 };
    static const char *const ways[] = {"pml_ob1_received_by_single_copy", "pml_ob1_received_in_fragments",
                                       "pml_ob1_received_streamed"};
    MPI_T_pvar_handle rts = handle_of(session, "pml_ob1_rts_sent", MPI_T_PVAR_CLASS_COUNTER, NULL, 1), received[3];
    for (int way = 0; way < 3; way++) {
        received[way] = handle_of(session, ways[way], MPI_T_PVAR_CLASS_COUNTER, NULL, 1);
        OK(MPI_T_pvar_start(session, received[way]));
    }
    OK(MPI_T_pvar_start(session, rts));
    char *out = calloc(1, BYTES), *in = calloc(1, BYTES);
    int to = (check_rank + 1) % check_ranks, from = (check_rank + check_ranks - 1) % check_ranks;
    for (int n = 0; n < MESSAGES; n++)
        MPI_Sendrecv(out, BYTES, MPI_BYTE, to, n, in, BYTES, MPI_BYTE, from, n, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(value(rts), MESSAGES);
    CHECK_EQ(value(received[0]) + value(received[1]) + value(received[2]), MESSAGES);
    free(out);
    free(in);
}

/* The last rank keeps the others waiting: they sleep, and they make passes of progress. */
static void waiting(void)
{
    MPI_T_pvar_handle asleep = handle_of(session, "opal_wait_asleep", MPI_T_PVAR_CLASS_TIMER, NULL, 1);
    MPI_T_pvar_handle time = handle_of(session, "opal_wait_time", MPI_T_PVAR_CLASS_TIMER, NULL, 1);
    MPI_T_pvar_handle count = handle_of(session, "opal_wait_count", MPI_T_PVAR_CLASS_COUNTER, NULL, 1);
    MPI_T_pvar_handle passes = handle_of(session, "opal_progress_passes", MPI_T_PVAR_CLASS_COUNTER, NULL, 1);
    MPI_T_pvar_handle woken = handle_of(session, "opal_wait_woken", MPI_T_PVAR_CLASS_COUNTER, NULL, 1);
    double seconds = -1;
    int word = 0;
    OK(MPI_T_pvar_read(session, asleep, &seconds));
    CHECK(seconds == 0);
    OK(MPI_T_pvar_start(session, asleep));
    OK(MPI_T_pvar_start(session, time));
    OK(MPI_T_pvar_start(session, count));
    OK(MPI_T_pvar_start(session, passes));
    OK(MPI_T_pvar_start(session, woken));
    if (check_rank == check_ranks - 1) {
        if (check_ranks > 1)
            usleep(300000);
        for (int to = 0; to < check_rank; to++)
            MPI_Send(&word, 1, MPI_INT, to, 9, MPI_COMM_WORLD);
    } else {
        double before = MPI_Wtime();
        MPI_Recv(&word, 1, MPI_INT, check_ranks - 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double waited = MPI_Wtime() - before;
        OK(MPI_T_pvar_stop(session, asleep));
        OK(MPI_T_pvar_read(session, asleep, &seconds));
        CHECK_MSG(seconds > 0 && seconds <= waited, "asleep for %g s of %g", seconds, waited);
        double all = -1;
        OK(MPI_T_pvar_read(session, time, &all));
        CHECK_MSG(all >= 0.9 * seconds && all <= waited, "%g s in waits of %g, %g of them asleep", all, waited, seconds);
        CHECK(value(count) > 0);
        CHECK(value(passes) > 0);
    }
}

/* A collective operation to which the last rank comes late: the time that the others lose. */
static void late_arrival(void)
{
    MPI_T_pvar_handle late = handle_of(session, "coll_barrier_late_time", MPI_T_PVAR_CLASS_TIMER, NULL, 1);
    MPI_T_pvar_handle time = handle_of(session, "coll_barrier_time", MPI_T_PVAR_CLASS_TIMER, NULL, 1);
    double lost = -1, in_all = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_T_pvar_start(session, late));
    OK(MPI_T_pvar_start(session, time));
    if (check_ranks > 1 && check_rank == check_ranks - 1)
        usleep(200000);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_T_pvar_read(session, late, &lost));
    OK(MPI_T_pvar_read(session, time, &in_all));
    CHECK_MSG(lost >= 0 && lost <= in_all, "%g s lost of %g", lost, in_all);
    if (check_rank < check_ranks - 1)
        CHECK_MSG(lost >= 0.5 * in_all && lost > 0, "%g s lost of %g", lost, in_all);
    /* Waits outside of collective operations are none of it. */
    OK(MPI_T_pvar_reset(session, late));
    int word = 0, to = (check_rank + 1) % check_ranks, from = (check_rank + check_ranks - 1) % check_ranks;
    if (check_ranks > 1 && check_rank == check_ranks - 1)
        usleep(50000);
    MPI_Sendrecv_replace(&word, 1, MPI_INT, to, 8, from, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    OK(MPI_T_pvar_read(session, late, &lost));
    CHECK_MSG(lost == 0, "%g s", lost);
    OK(MPI_T_pvar_handle_free(session, &late));
    OK(MPI_T_pvar_handle_free(session, &time));
}

static void refused(void)
{
    MPI_T_pvar_session gone, other;
    MPI_T_pvar_handle handle, stale;
    MPI_Comm null = MPI_COMM_NULL;
    number room[64];
    int index, count;
    OK(MPI_T_pvar_session_create(&gone));
    other = gone;
    OK(MPI_T_pvar_session_free(&gone));
    TOOL(MPI_T_pvar_session_free(&gone), MPI_T_ERR_INVALID_SESSION);
    TOOL(MPI_T_pvar_session_free(&other), MPI_T_ERR_INVALID_SESSION);
    TOOL(MPI_T_pvar_start(other, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION);
    OK(MPI_T_pvar_session_create(&other));
    OK(MPI_T_pvar_get_index("pml_ob1_rts_sent", MPI_T_PVAR_CLASS_COUNTER, &index));
    OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    TOOL(MPI_T_pvar_read(other, handle, room), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_pvar_start(other, handle), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_pvar_handle_free(other, &handle), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, room), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_pvar_read(session, handle, NULL), MPI_T_ERR_INVALID);
    stale = handle;
    OK(MPI_T_pvar_handle_free(session, &handle));
    CHECK(handle == MPI_T_PVAR_HANDLE_NULL);
    TOOL(MPI_T_pvar_read(session, stale, room), MPI_T_ERR_INVALID_HANDLE);
    OK(MPI_T_pvar_get_index("pml_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE, &index));
    TOOL(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count), MPI_T_ERR_INVALID);
    TOOL(MPI_T_pvar_handle_alloc(session, index, &null, &handle, &count), MPI_T_ERR_INVALID);
    TOOL(MPI_T_pvar_handle_alloc(session, 9999, NULL, &handle, &count), MPI_T_ERR_INVALID_INDEX);
    OK(MPI_T_pvar_session_free(&other));
}

int main(int argc, char **argv)
{
    int number_of, index, count;
    MPI_T_pvar_handle handle;
    MPI_Comm world = MPI_COMM_WORLD;
    check_name = "tool_pvars";
    if (is_ours())
        TOOL(MPI_T_pvar_get_num(&number_of), MPI_T_ERR_NOT_INITIALIZED);
    tool_start();
    OK(MPI_T_pvar_session_create(&session));
    all();
    if (is_ours()) {
        OK(MPI_T_pvar_get_index("pml_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE, &index));
        TOOL(MPI_T_pvar_handle_alloc(session, index, &world, &handle, &count), MPI_T_ERR_NOT_ACCESSIBLE);
        /* What is bound to nothing may be measured before MPI_Init, and MPI_Init itself with it. */
        handle = handle_of(session, "opal_progress_passes", MPI_T_PVAR_CLASS_COUNTER, NULL, 1);
        OK(MPI_T_pvar_start(session, handle));
        CHECK_EQ(value(handle), 0);
    }
    start(&argc, &argv, "tool_pvars");
    if (is_ours()) {
        collectives();
        late_arrival();
        partitioned();
        by_peer();
        queues();
        protocols();
        waiting();
        refused();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_T_pvar_session_free(&session));
    MPI_Finalize();
    OK(MPI_T_finalize());
    return verdict();
}

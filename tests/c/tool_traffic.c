// covers: MPI_T_pvar_start MPI_T_pvar_stop MPI_T_pvar_read
// ranks: 1 2 3
/*
 * Performance variables against random traffic of four threads, each on a communicator of its own: every kind of send and of receive,
 * bytes and gaps, memory of malloc's and of MPI_Alloc_mem, lengths on both sides of each threshold. Variables are started and stopped
 * between rounds; what happened while they were started is what they say, by peer, also when the communicator is gone.
 *
 *   tool_traffic [seed]
 */
#include "tool.h"
#include "threads.h"

enum { ROUNDS = 12, MESSAGES = 24, MOST = 300000, VARIABLES = 4 };
enum { SENT, SENT_BYTES, RECEIVED, RECEIVED_BYTES };

typedef unsigned long long number;

static const char *const names[VARIABLES] = {"pml_messages_sent", "pml_bytes_sent", "pml_messages_received", "pml_bytes_received"};
static const int sizes[] = {0, 8, 56, 64, 504, 4096, 5000, 16384, 20000, 65536, 70000, MOST};
static MPI_T_pvar_session session;
static MPI_T_pvar_handle handles[THREADS][VARIABLES];
static MPI_Comm comms[THREADS];
static number expected[THREADS][VARIABLES];
static int counts[THREADS][VARIABLES], counting;
static unsigned seed = 1;
static pthread_barrier_t all;

static int next(void) { return (check_rank + 1) % check_ranks; }
static int previous(void) { return (check_rank + check_ranks - 1) % check_ranks; }

/* One message of a round, the same to both sides. */
struct message {
    int bytes, gaps, sends, receives;
};

static unsigned step(unsigned *state)
{
    *state = *state * 1103515245u + 12345u;
    return *state >> 8;
}

static struct message draw(unsigned *state)
{
    struct message m;
    m.bytes = sizes[step(state) % (sizeof sizes / sizeof *sizes)];
    m.gaps = step(state) % 4 == 0 && m.bytes % 8 == 0;
    m.sends = (int)(step(state) % 6);
    m.receives = (int)(step(state) % 5);
    return m;
}

static void begin_send(const char *at, int count, MPI_Datatype type, int how, int tag, MPI_Comm comm, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    switch (how) {
    case 0:
        MPI_Isend(at, count, type, next(), tag, comm, request);
        break;
    case 1:
        MPI_Issend(at, count, type, next(), tag, comm, request);
        break;
    case 2:
        MPI_Bsend(at, count, type, next(), tag, comm);
        break;
    case 3:
        MPI_Send_init(at, count, type, next(), tag, comm, request);
        MPI_Start(request);
        break;
    case 4:
        MPI_Psend_init(at, 1, count, type, next(), tag, comm, MPI_INFO_NULL, request);
        MPI_Start(request);
        MPI_Pready(0, *request);
        break;
    default:
        MPI_Isend_c(at, count, type, next(), tag, comm, request);
    }
}

static void receive(char *at, int count, MPI_Datatype type, int how, int tag, MPI_Comm comm)
{
    MPI_Request request;
    MPI_Message message;
    switch (how) {
    case 0:
        MPI_Recv(at, count, type, previous(), tag, comm, MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Irecv(at, count, type, MPI_ANY_SOURCE, tag, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Mprobe(previous(), tag, comm, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(at, count, type, &message, MPI_STATUS_IGNORE);
        break;
    case 3:
        MPI_Recv_init(at, count, type, previous(), MPI_ANY_TAG, comm, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        break;
    default:
        MPI_Probe(MPI_ANY_SOURCE, tag, comm, MPI_STATUS_IGNORE);
        MPI_Recv(at, count, type, previous(), tag, comm, MPI_STATUS_IGNORE);
    }
}

static void receive_partitioned(char *at, int count, MPI_Datatype type, int tag, MPI_Comm comm)
{
    MPI_Request request;
    MPI_Precv_init(at, 1, count, type, previous(), tag, comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

static void exchange(int thread, int round, char *out, char *in)
{
    unsigned mine = seed + (unsigned)(check_rank * 1000003 + thread * 10007 + round * 101);
    unsigned theirs = seed + (unsigned)(previous() * 1000003 + thread * 10007 + round * 101);
    for (int n = 0; n < MESSAGES; n++) {
        struct message m = draw(&mine), from = draw(&theirs);
        MPI_Datatype types[2] = {MPI_BYTE, MPI_BYTE};
        const struct message *each[2] = {&m, &from};
        MPI_Request request;
        for (int i = 0; i < 2; i++)
            if (each[i]->gaps) {
                MPI_Type_vector(each[i]->bytes / 8, 1, 2, MPI_DOUBLE, &types[i]);
                MPI_Type_commit(&types[i]);
            }
        begin_send(out, m.gaps ? 1 : m.bytes, types[0], m.sends, n, comms[thread], &request);
        if (from.sends == 4)
            receive_partitioned(in, from.gaps ? 1 : from.bytes, types[1], n, comms[thread]);
        else
            receive(in, from.gaps ? 1 : from.bytes, types[1], from.receives, n, comms[thread]);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (request != MPI_REQUEST_NULL)
            MPI_Request_free(&request);
        for (int i = 0; i < 2; i++)
            if (each[i]->gaps)
                MPI_Type_free(&types[i]);
        if (counting) {
            expected[thread][SENT]++, expected[thread][RECEIVED]++;
            expected[thread][SENT_BYTES] += (number)m.bytes, expected[thread][RECEIVED_BYTES] += (number)from.bytes;
        }
    }
}

static void compare(int thread)
{
    for (int v = 0; v < VARIABLES; v++) {
        number values[64] = {0};
        CHECK_EQ(MPI_T_pvar_read(session, handles[thread][v], values), MPI_SUCCESS);
        for (int peer = 0; peer < check_ranks; peer++) {
            int is_it = peer == (v == SENT || v == SENT_BYTES ? next() : previous());
            CHECK_EQ(values[peer], is_it ? expected[thread][v] : 0);
        }
    }
}

static void work(struct thread *thread)
{
    char *out = check_alloc(2 * MOST), *in, *given;
    memset(out, 1, 2 * MOST);
    MPI_Alloc_mem(2 * MOST, MPI_INFO_NULL, &in);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&all);
        if (thread->number == 0) {
            counting = round % 3 != 1;
            /* All at once, or each alone. */
            if (round % 2)
                CHECK_EQ(counting ? MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES)
                                  : MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
            for (int t = 0; t < THREADS; t++)
                for (int v = 0; v < VARIABLES && round % 2 == 0; v++)
                    CHECK_EQ(counting ? MPI_T_pvar_start(session, handles[t][v]) : MPI_T_pvar_stop(session, handles[t][v]),
                             MPI_SUCCESS);
        }
        pthread_barrier_wait(&all);
        exchange(thread->number, round, out, in);
        /* The other kind of memory on each side. */
        given = in, in = out, out = given;
        compare(thread->number);
    }
    free(ROUNDS % 2 ? in : out);
    MPI_Free_mem(ROUNDS % 2 ? out : in);
}

int main(int argc, char **argv)
{
    int provided = -1, attached = 64 << 20;
    void *buffer = malloc((size_t)attached);
    start_threads_multiple(&argc, &argv, "tool_traffic");
    if (argc > 1)
        seed = (unsigned)atoi(argv[1]);
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    MPI_Buffer_attach(buffer, attached);
    pthread_barrier_init(&all, NULL, THREADS);
    MPI_T_pvar_session_create(&session);
    for (int t = 0; t < THREADS; t++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
        for (int v = 0; v < VARIABLES; v++) {
            int index = -1;
            CHECK_EQ(MPI_T_pvar_get_index(names[v], v % 2 ? MPI_T_PVAR_CLASS_AGGREGATE : MPI_T_PVAR_CLASS_COUNTER, &index), MPI_SUCCESS);
            CHECK_EQ(MPI_T_pvar_handle_alloc(session, index, &comms[t], &handles[t][v], &counts[t][v]), MPI_SUCCESS);
            CHECK_EQ(counts[t][v], check_ranks);
        }
    }
    in_threads(work);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&comms[t]);
    for (int t = 0; t < THREADS; t++)
        compare(t);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Buffer_detach(&buffer, &attached);
    free(buffer);
    return finish();
}

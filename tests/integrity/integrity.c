/*
 * Ranks send round a ring, over transports with faults, and each byte is checked. Then the faults that all ranks made are compared
 * with those that they found.
 *
 *   integrity bits       each changed bit was found, and all data is right
 *   integrity spawned    the same as bits of a job and one that it starts, together
 *   integrity copies     the same of single copies; status 77 where the system makes none
 *   integrity repaired   what was lost or came twice or in another order: all data is right, and something was sent again
 *   integrity unnoticed  without checksums: some data is wrong
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MADE_BITS, MADE_COPIES, FOUND, SENT_AGAIN, COUNTERS };
static const char *const names[COUNTERS] = {"btl_faulty_corrupted", "smsc_faulty_corrupted", "pml_ob1_damaged",
                                            "pml_ob1_sent_again"};
static MPI_T_pvar_session session;
static MPI_T_pvar_handle handles[COUNTERS];
static MPI_Comm everyone;
static int rank, size;

static void must(int code, const char *what)
{
    if (code != MPI_SUCCESS) {
        fprintf(stderr, "integrity: rank %d: %s returned %d\n", rank, what, code);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* So long that whatever is under way has arrived, and that all ranks are as far: they say nothing new. */
static void settle(void)
{
    double since = MPI_Wtime();
    while (MPI_Wtime() - since < 0.7) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, everyone, &flag, MPI_STATUS_IGNORE);
    }
}

static void count_from_now(void)
{
    int provided;
    must(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), "MPI_T_init_thread");
    must(MPI_T_pvar_session_create(&session), "MPI_T_pvar_session_create");
    for (int i = 0; i < COUNTERS; i++) {
        int index, count;
        must(MPI_T_pvar_get_index(names[i], MPI_T_PVAR_CLASS_COUNTER, &index), names[i]);
        must(MPI_T_pvar_handle_alloc(session, index, NULL, &handles[i], &count), "MPI_T_pvar_handle_alloc");
    }
    must(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), "MPI_T_pvar_start");
}

static void sums(unsigned long long sum[COUNTERS])
{
    unsigned long long own[COUNTERS];
    for (int i = 0; i < COUNTERS; i++)
        must(MPI_T_pvar_read(session, handles[i], &own[i]), "MPI_T_pvar_read");
    settle();
    MPI_Allreduce(own, sum, COUNTERS, MPI_UNSIGNED_LONG_LONG, MPI_SUM, everyone);
}

static unsigned char byte_of(size_t at, int from, int round)
{
    return (unsigned char)(at * 131 + (at >> 8) * 7 + (size_t)round * 29 + (size_t)from * 3 + 1);
}

/* Several messages to the next rank at once, and from the one before. Returns how many bytes or envelopes are wrong. */
static long turn(int round, int bytes, int messages)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    long wrong = 0;
    MPI_Request *requests = malloc(2 * (size_t)messages * sizeof *requests);
    MPI_Status *statuses = malloc(2 * (size_t)messages * sizeof *statuses);
    unsigned char **data = malloc(2 * (size_t)messages * sizeof *data);
    for (int i = 0; i < messages; i++) {
        unsigned char *out = data[i] = malloc((size_t)bytes + 1), *in = data[messages + i] = malloc((size_t)bytes + 1);
        for (int at = 0; at < bytes; at++)
            out[at] = byte_of((size_t)at, rank, round + i);
        memset(in, 0, (size_t)bytes + 1);
        MPI_Irecv(in, bytes, MPI_BYTE, from, i, everyone, &requests[i]);
    }
    for (int i = 0; i < messages; i++)
        MPI_Isend(data[i], bytes, MPI_BYTE, to, i, everyone, &requests[messages + i]);
    MPI_Waitall(2 * messages, requests, statuses);
    for (int i = 0; i < messages; i++) {
        int got;
        MPI_Get_count(&statuses[i], MPI_BYTE, &got);
        wrong += got != bytes;
        for (int at = 0; at < bytes; at++)
            wrong += data[messages + i][at] != byte_of((size_t)at, from, round + i);
    }
    for (int i = 0; i < 2 * messages; i++)
        free(data[i]);
    free(data);
    free(statuses);
    free(requests);
    return wrong;
}

static long all_sizes(int long_only, int rounds)
{
    static const int sizes[] = {0, 1, 8, 60, 500, 4000, 16384, 40000, 150000, 1000000};
    long wrong = 0;
    for (int round = 0; round < rounds; round++)
        for (size_t i = long_only ? 7 : 0; i < sizeof sizes / sizeof *sizes; i++)
            wrong += turn(round, sizes[i], sizes[i] < 10000 ? 20 : 2);
    return wrong;
}

static int fail(const char *what, unsigned long long one, unsigned long long other)
{
    if (rank == 0)
        fprintf(stderr, "integrity: %s: %llu, %llu\n", what, one, other);
    return 1;
}

/* This job and the one that it started, or that started it, in one ring in which each message goes to the other job. */
static void with_other_job(char *program)
{
    MPI_Comm parent, between, ring;
    char *arguments[] = {"spawned", NULL};
    MPI_Comm_get_parent(&parent);
    between = parent;
    if (parent == MPI_COMM_NULL)
        must(MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE), "MPI_Comm_spawn");
    MPI_Intercomm_merge(between, parent != MPI_COMM_NULL, &ring);
    MPI_Comm_rank(ring, &rank);
    MPI_Comm_size(ring, &size);
    MPI_Comm_split(ring, 0, rank % (size / 2), &everyone);
    MPI_Comm_free(&ring);
    MPI_Comm_disconnect(&between);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    everyone = MPI_COMM_WORLD;
    const char *what = argc > 1 ? argv[1] : "bits";
    if (strcmp(what, "spawned") == 0)
        with_other_job(argv[0]);
    MPI_Comm_rank(everyone, &rank);
    MPI_Comm_size(everyone, &size);
    int failed = 0, is_bits = strcmp(what, "bits") == 0 || strcmp(what, "spawned") == 0;
    if (strcmp(what, "unnoticed") == 0) {
        /* Envelopes are damaged, too, and such a message would be awaited for ever: one long message, of which nearly all is data. */
        long wrong = turn(0, 64 << 20, 1), all;
        MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, everyone);
        if (rank == 0)
            printf("%ld bytes are wrong\n", all);
        MPI_Finalize();
        return all == 0;
    }
    settle();
    count_from_now();
    settle();
    long wrong = all_sizes(strcmp(what, "copies") == 0, argc > 2 ? atoi(argv[2]) : 20);
    MPI_Barrier(everyone);
    settle();
    unsigned long long sum[COUNTERS];
    sums(sum);
    long all;
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, everyone);
    if (rank == 0)
        printf("%llu messages and %llu copies were damaged, %llu times it was found; %llu messages were sent again\n",
               sum[MADE_BITS], sum[MADE_COPIES], sum[FOUND], sum[SENT_AGAIN]);
    if (all > 0)
        failed = fail("bytes are wrong", (unsigned long long)all, 0);
    if (is_bits && (sum[FOUND] != sum[MADE_BITS] || sum[MADE_BITS] < 1000))
        failed = fail("changed bits and those that were found", sum[MADE_BITS], sum[FOUND]);
    if (strcmp(what, "repaired") == 0 && sum[SENT_AGAIN] == 0)
        failed = fail("nothing was sent again", 0, 0);
    if (strcmp(what, "copies") == 0) {
        if (sum[MADE_COPIES] == 0)
            failed = 77;
        /* Of a message both halves may have been damaged. */
        else if (sum[FOUND] > sum[MADE_COPIES] || 2 * sum[FOUND] < sum[MADE_COPIES])
            failed = fail("damaged copies and those that were found", sum[MADE_COPIES], sum[FOUND]);
    }
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    if (everyone != MPI_COMM_WORLD)
        MPI_Comm_disconnect(&everyone);
    MPI_Finalize();
    return failed;
}

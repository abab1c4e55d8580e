// covers: MPI_Send MPI_Ssend MPI_Isend MPI_Bsend MPI_Irecv MPI_Recv MPI_Iprobe MPI_Mprobe MPI_Mrecv MPI_Cancel MPI_Barrier MPI_Allreduce
/*
 * Senders that run ahead of their receiver. Standard sends may wait for their receives (MPI 5.0 section 3.5), so the messages need
 * not all lie in the receiver's memory, however many there are; those that were begun must all be there to be matched in any
 * order that the tags allow. With the argument "without-end" rank 1 sends until rank 0 has no memory left, for a limit on it.
 */
#include "check.h"
#include <unistd.h>

enum { BYTES = 4096, MESSAGES = 20000, MIXED = 3000, TAGS = 5, DATA = 1, DONE = 2, NEVER = 3, ANSWER = 4 };

static long start_kib; /* of this process before anybody sends */

/* Memory of this process that is in use, from proc(5). */
static long resident_kib(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &pages, &resident) != 2)
        CHECK_MSG(0, "/proc/self/statm cannot be read");
    if (file != NULL)
        fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Rings and sockets have memory of their own, and each announced message takes some hundred bytes; all messages of a sender have
   78 MiB. */
static void check_memory(const char *when, long kib_each)
{
    long grown = resident_kib() - start_kib;
    CHECK_MSG(check_ranks == 1 || grown < kib_each * (check_ranks - 1), "%s: this process has grown by %ld KiB, more than %ld for each of %d senders", when,
              grown, kib_each, check_ranks - 1);
}

/* Message i of a sender lies i bytes into its data, so that all differ. */
static unsigned char byte_of(int sender, int at)
{
    return (unsigned char)((unsigned)at * 2654435761u >> 13 ^ (unsigned)sender * 37u);
}

static char *data_of(int sender)
{
    char *data = check_alloc(BYTES + MESSAGES);
    for (int i = 0; i < BYTES + MESSAGES; i++)
        data[i] = (char)byte_of(sender, i);
    return data;
}

static void receive_all(int sender)
{
    char *room = check_alloc(BYTES), *want = data_of(sender);
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Status status;
        MPI_Recv(room, BYTES, MPI_BYTE, sender, DATA, MPI_COMM_WORLD, &status);
        CHECK_STATUS(status, sender, DATA, BYTES);
        CHECK_MSG(memcmp(room, want + i, BYTES) == 0, "message %d of rank %d is not what was sent", i, sender);
    }
    free(want);
    free(room);
}

/* All are begun before the receiver takes one; what was begun last is received first. */
static void begun(void)
{
    if (check_rank == 0) {
        for (int r = 1; r < check_ranks; r++)
            MPI_Recv(NULL, 0, MPI_BYTE, r, DONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_memory("all messages are begun", 40 << 10);
        for (int r = check_ranks - 1; r > 0; r--)
            receive_all(r);
        check_memory("all messages are received", 24 << 10);
        return;
    }
    char *data = data_of(check_rank);
    MPI_Request *requests = check_alloc((MESSAGES + 1) * sizeof *requests);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Isend(data + i, BYTES, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, &requests[i]);
    MPI_Isend(NULL, 0, MPI_BYTE, 0, DONE, MPI_COMM_WORLD, &requests[MESSAGES]);
    MPI_Waitall(MESSAGES + 1, requests, MPI_STATUSES_IGNORE);
    free(requests);
    free(data);
}

/* Blocking sends while the receiver looks for something else. */
static void blocking(void)
{
    if (check_rank == 0) {
        int found = 0;
        for (int i = 0; i < 300000; i++) {
            MPI_Iprobe(MPI_ANY_SOURCE, NEVER, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
            CHECK(!found);
        }
        check_memory("the senders send", 40 << 10);
        for (int r = 1; r < check_ranks; r++)
            receive_all(r);
        check_memory("what was sent is received", 24 << 10);
        return;
    }
    char *data = data_of(check_rank);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Send(data + i, BYTES, MPI_BYTE, 0, DATA, MPI_COMM_WORLD);
    free(data);
}

/* Numbers, in messages of all lengths and modes: the sender's for a tag come in order, whichever tag is received first. */
static int ints_of(int number)
{
    return number % 11 == 0 ? 700 : 1 + number % 20;
}

static void check_mixed(int *next, const int *got, const MPI_Status *status)
{
    int count = -1, tag = status->MPI_TAG - 100;
    MPI_Get_count(status, MPI_INT, &count);
    CHECK(tag >= 0 && tag < TAGS);
    if (tag < 0 || tag >= TAGS)
        return;
    CHECK_MSG(got[0] == next[tag], "tag %d of rank %d: message %d came where %d was due", tag, status->MPI_SOURCE, got[0], next[tag]);
    CHECK_EQ(count, ints_of(got[0]));
    CHECK_EQ(got[count - 1], got[0]);
    next[tag] = got[0] + TAGS;
}

static int numbers[MIXED][700];

static int begin_mixed(int to, MPI_Request *requests)
{
    int begun = 0;
    MPI_Datatype apart; /* two runs */
    MPI_Type_vector(2, 1, 1, MPI_INT, &apart);
    MPI_Type_commit(&apart);
    for (int i = 0; i < MIXED; i++) {
        int count = ints_of(i), tag = 100 + i % TAGS;
        for (int k = 0; k < 700; k++)
            numbers[i][k] = i;
        if (i % 8 == 1)
            MPI_Bsend(numbers[i], count, MPI_INT, to, tag, MPI_COMM_WORLD);
        else if (i % 8 == 3)
            MPI_Issend(numbers[i], count, MPI_INT, to, tag, MPI_COMM_WORLD, &requests[begun++]);
        else if (count % 2 == 0)
            MPI_Isend(numbers[i], count / 2, apart, to, tag, MPI_COMM_WORLD, &requests[begun++]);
        else
            MPI_Isend(numbers[i], count, MPI_INT, to, tag, MPI_COMM_WORLD, &requests[begun++]);
    }
    MPI_Type_free(&apart);
    return begun;
}

/* The last tag first, in four ways. */
static void receive_mixed(int from)
{
    int next[TAGS], room[700], sum = 0;
    for (int tag = 0; tag < TAGS; tag++)
        next[tag] = tag;
    for (int tag = TAGS - 1; tag >= 0; tag--) {
        for (int i = tag; i < MIXED; i += TAGS) {
            MPI_Status status;
            MPI_Message message;
            MPI_Request request;
            switch (i % 4) {
            case 0:
                MPI_Recv(room, 700, MPI_INT, from, 100 + tag, MPI_COMM_WORLD, &status);
                break;
            case 1:
                MPI_Mprobe(from, 100 + tag, MPI_COMM_WORLD, &message, &status);
                MPI_Mrecv(room, 700, MPI_INT, &message, &status);
                break;
            case 2:
                MPI_Probe(MPI_ANY_SOURCE, 100 + tag, MPI_COMM_WORLD, &status);
                MPI_Recv(room, 700, MPI_INT, status.MPI_SOURCE, 100 + tag, MPI_COMM_WORLD, &status);
                break;
            default:
                MPI_Irecv(room, 700, MPI_INT, MPI_ANY_SOURCE, 100 + tag, MPI_COMM_WORLD, &request);
                MPI_Wait(&request, &status);
            }
            CHECK_EQ(status.MPI_SOURCE, from);
            check_mixed(next, room, &status);
        }
        /* Collectives take the same way. */
        MPI_Allreduce(&tag, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(sum, tag * check_ranks);
    }
}

/* All ranks send to the next one before anybody receives; what is received with no message of it under way can be cancelled. */
static void mixed(void)
{
    static MPI_Request requests[MIXED];
    MPI_Request never;
    MPI_Status status;
    int is_cancelled = 0, room, bytes = MIXED * (700 * (int)sizeof(int) + MPI_BSEND_OVERHEAD);
    void *buffer = check_alloc((size_t)bytes);
    MPI_Buffer_attach(buffer, bytes);
    int begun = begin_mixed((check_rank + 1) % check_ranks, requests);
    MPI_Irecv(&room, 1, MPI_INT, MPI_ANY_SOURCE, NEVER, MPI_COMM_WORLD, &never);
    MPI_Barrier(MPI_COMM_WORLD);
    receive_mixed((check_rank + check_ranks - 1) % check_ranks);
    MPI_Waitall(begun, requests, MPI_STATUSES_IGNORE);
    MPI_Cancel(&never);
    MPI_Wait(&never, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    CHECK(is_cancelled);
    MPI_Buffer_detach(&buffer, &bytes);
    free(buffer);
}

/* Each answers each before it goes on: XOFF of one phase does not stay. */
static void answers(void)
{
    int next = (check_rank + 1) % check_ranks, before = (check_rank + check_ranks - 1) % check_ranks, got = -1;
    for (int i = 0; i < 2000; i++) {
        MPI_Sendrecv(&i, 1, MPI_INT, next, ANSWER, &got, 1, MPI_INT, before, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(got, i);
    }
}

/* To this process itself: nobody else could receive while a send waits. */
static void to_itself(void)
{
    int room = -1;
    for (int i = 0; i < 2000; i++)
        MPI_Send(&i, 1, MPI_INT, check_rank, DATA, MPI_COMM_WORLD);
    for (int i = 0; i < 2000; i++) {
        MPI_Recv(&room, 1, MPI_INT, check_rank, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(room, i);
    }
}

static void without_end(void)
{
    static char data[BYTES];
    int found = 0;
    while (check_rank == 1)
        MPI_Send(data, BYTES, MPI_BYTE, 0, DATA, MPI_COMM_WORLD);
    while (check_rank == 0 && !found)
        MPI_Iprobe(MPI_ANY_SOURCE, NEVER, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "pt2pt_unexpected");
    if (argc > 1 && strcmp(argv[1], "without-end") == 0)
        without_end();
    start_kib = resident_kib();
    begun();
    MPI_Barrier(MPI_COMM_WORLD);
    blocking();
    MPI_Barrier(MPI_COMM_WORLD);
    mixed();
    answers();
    to_itself();
    return finish();
}

// covers: MPI_Send MPI_Recv MPI_Isend MPI_Irecv MPI_Sendrecv MPI_T_pvar_read
/*
 * Long messages that the receiver reads from the sender's memory. The arguments say whether the transport reads (`get`, `fragments`), and
 * whether registrations are kept (`kept`, `ended`). Where they are, a second send of the same memory registers nothing.
 */
#define _GNU_SOURCE
#include "../c/check.h"
#include <sys/mman.h>

enum { KIB = 1 << 10, LONGEST = 4 << 20, TIMES = 5, AT_ONCE = 8 };

static int gets, kept;

enum Counter { READ, REGISTERED, FOUND, COUNTERS };
static const char *const names[] = {"pml_ob1_received_by_get", "rcache_grdma_registrations", "rcache_grdma_hits"};
static MPI_T_pvar_session session;
static MPI_T_pvar_handle handles[COUNTERS];

/* They count from now on. */
static void begin_counting(void)
{
    int index, count;
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    for (int c = 0; c < COUNTERS; c++) {
        CHECK(MPI_T_pvar_get_index(names[c], MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &handles[c], &count) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_start(session, handles[c]) == MPI_SUCCESS);
    }
}

static long long counted(enum Counter counter)
{
    unsigned long long value = 0;
    CHECK(MPI_T_pvar_read(session, handles[counter], &value) == MPI_SUCCESS);
    return (long long)value;
}

/* One message of rank 0, which is written anew each time. */
static void message(unsigned char *data, int bytes, int seed)
{
    if (check_rank == 0) {
        fill(data, bytes, seed);
        MPI_Send(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        return;
    }
    unsigned char *want = check_alloc(bytes);
    MPI_Status status;
    int count;
    fill(want, bytes, seed);
    memset(data, 0, bytes);
    MPI_Recv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_EQ(count, bytes);
    CHECK_MSG(memcmp(data, want, bytes) == 0, "%d bytes are not those that were sent", bytes);
    free(want);
}

static void again(void)
{
    static const int lengths[] = {64 * KIB + 1, 1000 * KIB + 7, LONGEST};
    for (int l = 0; l < 3; l++) {
        unsigned char *data = check_alloc(lengths[l]);
        message(data, lengths[l], l);
        long long made = counted(REGISTERED), read = counted(READ);
        for (int t = 0; t < TIMES; t++)
            message(data, lengths[l], 10 * l + t);
        made = counted(REGISTERED) - made;
        read = counted(READ) - read;
        if (kept)
            CHECK_MSG(made == 0, "%lld registrations for memory that was registered", made);
        CHECK_EQ(read, gets && check_rank == 1 ? TIMES : 0);
        free(data);
    }
    CHECK((counted(FOUND) > 0) == (kept && gets && check_rank == 0));
}

/* The same address, other pages. */
static void mapped_anew(void)
{
    unsigned char *base = mmap(NULL, LONGEST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(base != MAP_FAILED);
    long long made = counted(REGISTERED);
    for (int t = 0; t < TIMES; t++) {
        message(base, LONGEST, 100 + t);
        munmap(base, LONGEST);
        CHECK(mmap(base, LONGEST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == base);
    }
    made = counted(REGISTERED) - made;
    if (kept && gets)
        CHECK_EQ(made, check_rank == 0 ? TIMES : 0);
    munmap(base, LONGEST);
}

/* Data with gaps comes in fragments, and what is cut off is not read. */
static void other_shapes(void)
{
    enum { BLOCKS = 50000 };
    MPI_Datatype gaps;
    int *data = check_alloc(2 * BLOCKS * sizeof *data), *want = check_alloc(2 * BLOCKS * sizeof *want);
    MPI_Type_vector(BLOCKS, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    for (int side = 0; side < 3; side++) {
        int sends_gaps = side != 1, takes_gaps = side != 0;
        long long read = counted(READ);
        for (int i = 0; i < 2 * BLOCKS; i++)
            data[i] = check_rank == 0 ? i : -1;
        if (check_rank == 0) {
            MPI_Send(data, sends_gaps ? 1 : BLOCKS, sends_gaps ? gaps : MPI_INT, 1, 1, MPI_COMM_WORLD);
        } else {
            MPI_Recv(data, takes_gaps ? 1 : BLOCKS, takes_gaps ? gaps : MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < BLOCKS; i++)
                CHECK_EQ(data[takes_gaps ? 2 * i : i], sends_gaps ? 2 * i : i);
            CHECK_EQ(counted(READ) - read, 0);
        }
    }
    MPI_Type_free(&gaps);

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    fill((unsigned char *)want, BLOCKS * sizeof *want, 5);
    if (check_rank == 0) {
        MPI_Send(want, BLOCKS, MPI_INT, 1, 2, MPI_COMM_WORLD);
    } else {
        data[1000] = -7;
        int class, code = MPI_Recv(data, 1000, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Error_class(code, &class);
        CHECK_EQ(class, MPI_ERR_TRUNCATE);
        CHECK(memcmp(data, want, 1000 * sizeof *data) == 0 && data[1000] == -7);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    free(data);
    free(want);
}

/* Several at once in both directions, of which some are unexpected. */
static void crossing(void)
{
    enum { BYTES = 300 * KIB };
    unsigned char *out = check_alloc(AT_ONCE * BYTES), *in = check_alloc(AT_ONCE * BYTES), *want = check_alloc(BYTES);
    MPI_Request requests[2 * AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        fill(out + i * BYTES, BYTES, 50 * check_rank + i);
        MPI_Isend(out + i * BYTES, BYTES, MPI_BYTE, 1 - check_rank, i, MPI_COMM_WORLD, &requests[i]);
    }
    if (check_rank == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int i = AT_ONCE - 1; i >= 0; i--)
        MPI_Irecv(in + i * BYTES, BYTES, MPI_BYTE, 1 - check_rank, i, MPI_COMM_WORLD, &requests[AT_ONCE + i]);
    if (check_rank == 1)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(2 * AT_ONCE, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < AT_ONCE; i++) {
        fill(want, BYTES, 50 * (1 - check_rank) + i);
        CHECK_MSG(memcmp(in + i * BYTES, want, BYTES) == 0, "message %d is not what was sent", i);
    }
    free(out);
    free(in);
    free(want);
}

int main(int argc, char **argv)
{
    int level;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    start(&argc, &argv, "get");
    CHECK(argc == 3 && check_ranks == 2);
    gets = argc == 3 && strcmp(argv[1], "get") == 0;
    kept = argc == 3 && strcmp(argv[2], "kept") == 0;
    begin_counting();
    again();
    mapped_anew();
    other_shapes();
    crossing();
    return finish();
}

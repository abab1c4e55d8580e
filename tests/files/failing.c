/*
 * A file system that fails (fbtl/faulty) in the middle of each kind of access: the failing rank has the class of MPI 5.0 section 14.7
 * and counts what was moved, whoever depends on it, too; nobody waits for ever, and no byte is written twice.
 *
 * Without an argument all kinds and refusals in turn. With `fatal`: one error that ends the job. With `cut`: files that others cut while
 * they are read.
 */
#include "../c/file.h"

/* Words of fbtl_faulty_errno, by their number. */
enum { EIO_, ENOSPC_, EDQUOT_, EACCES_, EFBIG_, NOTHING = -1 };
enum { BYTES = 40000, PIECE = 16, AFTER = 12345 };

static const char *const limits[2] = {"fbtl_faulty_read_limit", "fbtl_faulty_write_limit"};
static const char *const counters[2] = {"fbtl_faulty_read_bytes", "fbtl_faulty_written_bytes"};
static MPI_T_cvar_handle limit[2], refusal_word;
static MPI_T_pvar_session session;
static MPI_T_pvar_handle counter[2];
static MPI_File file;
static char data[BYTES], back[BYTES];

static const struct { int refusal, class; } refusals[] = {
    {ENOSPC_, MPI_ERR_NO_SPACE}, {EDQUOT_, MPI_ERR_QUOTA}, {EIO_, MPI_ERR_IO}, {EACCES_, MPI_ERR_ACCESS}, {EFBIG_, MPI_ERR_IO},
};

/* Whether the faults of this job can be asked for. */
static int find_faults(void)
{
    int provided, index, elements;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    for (int writes = 0; writes < 2; writes++) {
        if (MPI_T_cvar_get_index(limits[writes], &index) != MPI_SUCCESS)
            return 0;
        MPI_T_cvar_handle_alloc(index, NULL, &limit[writes], &elements);
        if (MPI_T_pvar_get_index(counters[writes], MPI_T_PVAR_CLASS_AGGREGATE, &index) != MPI_SUCCESS)
            return 0;
        MPI_T_pvar_handle_alloc(session, index, NULL, &counter[writes], &elements);
        MPI_T_pvar_start(session, counter[writes]);
    }
    return MPI_T_cvar_get_index("fbtl_faulty_errno", &index) == MPI_SUCCESS &&
           MPI_T_cvar_handle_alloc(index, NULL, &refusal_word, &elements) == MPI_SUCCESS;
}

/* How many bytes were moved this way until now. */
static long moved_until_now(int writes)
{
    unsigned long long moved = 0;
    CHECK_EQ(MPI_T_pvar_read(session, counter[writes], &moved), MPI_SUCCESS);
    return (long)moved;
}

/* So many bytes more are moved this way, then each call of the system is refused; with NOTHING none is. */
static void arm(int refusal, long after, int writes)
{
    MPI_Count most = refusal == NOTHING ? -1 : moved_until_now(writes) + after;
    if (refusal != NOTHING)
        CHECK_EQ(MPI_T_cvar_write(refusal_word, &refusal), MPI_SUCCESS);
    CHECK_EQ(MPI_T_cvar_write(limit[writes], &most), MPI_SUCCESS);
}

/* All ranks make the call; the last one's file system fails after AFTER bytes. Returns what this rank got. */
#define FAILING(call, refusal, writes)                                                                                    \
    (MPI_Barrier(MPI_COMM_WORLD), arm(check_rank == check_ranks - 1 ? (refusal) : NOTHING, AFTER, writes),                \
     before = moved_until_now(writes), class = error_class(call), arm(NOTHING, 0, writes),                                \
     here = moved_until_now(writes) - before, MPI_Get_count(&status, MPI_CHAR, &count))

/* A nonblocking access fails where it is begun or where it is completed. */
static int begun_and_completed(MPI_Offset mine, MPI_Status *status)
{
    MPI_Request request;
    int code = MPI_File_iwrite_at(file, mine, data, BYTES, MPI_CHAR, &request), completed = MPI_Wait(&request, status);
    return code == MPI_SUCCESS ? completed : code;
}

/* Each rank moves its own bytes: only one fails, and it has moved as many as there was room for. */
static void alone(int refusal, int want)
{
    MPI_Status status;
    MPI_Offset mine = (MPI_Offset)BYTES * check_rank;
    int class, count = -1, last = check_rank == check_ranks - 1;
    long before, here;
    GOOD(MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
    for (int kind = 0; kind < 5; kind++) {
        GOOD(MPI_File_set_size(file, 0));
        GOOD(MPI_File_seek(file, mine, MPI_SEEK_SET));
        GOOD(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
        switch (kind) {
        case 0:
            FAILING(MPI_File_write_at(file, mine, data, BYTES, MPI_CHAR, &status), refusal, 1);
            break;
        case 1:
            FAILING(MPI_File_write_at_all(file, mine, data, BYTES, MPI_CHAR, &status), refusal, 1);
            break;
        case 2:
            FAILING(MPI_File_write_all(file, data, BYTES, MPI_CHAR, &status), refusal, 1);
            break;
        case 3:
            FAILING(begun_and_completed(mine, &status), refusal, 1);
            break;
        default:
            FAILING(MPI_File_write_ordered(file, data, BYTES, MPI_CHAR, &status), refusal, 1);
        }
        CHECK_MSG(class == (last ? want : MPI_SUCCESS), "kind %d, refusal %d: class %d", kind, refusal, class);
        CHECK_EQ(count, last ? AFTER : BYTES);
        CHECK_EQ(here, count); /* Once each, and no more than is counted. */
        MPI_Barrier(MPI_COMM_WORLD);
        GOOD(MPI_File_read_at(file, mine, back, BYTES, MPI_CHAR, &status));
        COUNT(status, MPI_CHAR, count);
        CHECK(memcmp(back, data, (size_t)count) == 0);
    }
    FAILING(MPI_File_read_at_all(file, 0, back, BYTES, MPI_CHAR, &status), refusal, 0);
    CHECK_MSG(class == (last ? want : MPI_SUCCESS), "reading, refusal %d: class %d", refusal, class);
    CHECK_EQ(count, last ? AFTER : check_ranks > 1 ? BYTES : AFTER);
}

/* Small pieces of all ranks in turn, gathered by some: who cannot write what it gathers fails for all whose bytes come behind. */
static void gathered(int refusal, int want)
{
    MPI_Status status;
    MPI_Datatype cell, turn;
    int class, count = -1, least, failed;
    long before, here, all = 0, counted;
    GOOD(MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
    GOOD(MPI_File_set_size(file, 0));
    MPI_Type_contiguous(PIECE, MPI_CHAR, &cell);
    MPI_Type_create_resized(cell, 0, (MPI_Aint)PIECE * check_ranks, &turn);
    MPI_Type_commit(&turn);
    GOOD(MPI_File_set_view(file, (MPI_Offset)PIECE * check_rank, MPI_CHAR, turn, "native", MPI_INFO_NULL));
    FAILING(MPI_File_write_at_all(file, 0, data, BYTES, MPI_CHAR, &status), refusal, 1);
    CHECK_MSG(class == want || class == MPI_SUCCESS, "gathered, refusal %d: class %d", refusal, class);
    CHECK((class == MPI_SUCCESS) == (count == BYTES));
    failed = class != MPI_SUCCESS;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(failed > 0);
    /* Bytes that reached the file are as many as were asked for at most, and at least those that are counted. */
    counted = count;
    MPI_Allreduce(&here, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &counted, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK_MSG(all <= (long)BYTES * check_ranks && all >= counted, "%ld bytes were written, %ld are counted", all, counted);
    GOOD(MPI_File_read_at(file, 0, back, BYTES, MPI_CHAR, &status));
    MPI_Get_count(&status, MPI_CHAR, &least);
    CHECK(count <= least && memcmp(back, data, (size_t)count) == 0);
    MPI_Type_free(&turn);
    MPI_Type_free(&cell);
}

/* An error that ends the job names file, place and reason. */
static void fatal(void)
{
    MPI_Status status;
    MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
    arm(ENOSPC_, AFTER, 1);
    MPI_File_write_at(file, 500, data, BYTES, MPI_CHAR, &status);
    CHECK_MSG(0, "the job goes on");
}

/* Files are cut in the middle of reads: that is their end, what is counted is right, and nobody fails or waits for ever. A read that goes on
 * while the system cuts may find zeros, which it has put there; that is seldom. */
static void cut(void)
{
    enum { ROUNDS = 30 };
    MPI_Status status;
    MPI_Datatype cell, turn;
    int least = BYTES, count, cleared = 0;
    MPI_Type_contiguous(PIECE, MPI_CHAR, &cell);
    MPI_Type_create_resized(cell, 0, (MPI_Aint)PIECE * check_ranks, &turn);
    MPI_Type_commit(&turn);
    for (int round = 0; round < ROUNDS; round++) {
        GOOD(MPI_File_set_view(file, (MPI_Offset)PIECE * check_rank, MPI_CHAR, turn, "native", MPI_INFO_NULL));
        GOOD(MPI_File_write_at_all(file, 0, data, BYTES, MPI_CHAR, &status));
        MPI_Barrier(MPI_COMM_WORLD);
        memset(back, 0, sizeof back);
        if (round % 2)
            GOOD(MPI_File_read_at(file, 0, back, BYTES, MPI_CHAR, &status));
        else
            GOOD(MPI_File_read_at_all(file, 0, back, BYTES, MPI_CHAR, &status));
        MPI_Get_count(&status, MPI_CHAR, &count);
        CHECK(count >= 0 && count <= BYTES);
        int wrong = 0, zeros = 0;
        for (int i = 0; i < count; i++) {
            zeros += back[i] != data[i] && back[i] == 0;
            wrong += back[i] != data[i] && back[i] != 0;
        }
        CHECK_EQ(wrong, 0);
        cleared += zeros > 0;
        least = count < least ? count : least;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_MSG(cleared <= 2, "%d of %d reads had zeros", cleared, ROUNDS);
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    CHECK_MSG(least < BYTES, "no file was cut");
    MPI_Type_free(&turn);
    MPI_Type_free(&cell);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "failing");
    const char *name = file_at("failing");
    if (!find_faults()) {
        CHECK_MSG(0, "start it with --mca fbtl faulty");
        return finish();
    }
    for (int i = 0; i < BYTES; i++)
        data[i] = (char)(i * 7 + check_rank * 3 + 1);
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    if (argc > 1 && strcmp(argv[1], "fatal") == 0)
        fatal();
    if (argc > 1 && strcmp(argv[1], "cut") == 0)
        cut();
    for (size_t i = 0; argc == 1 && i < sizeof refusals / sizeof *refusals; i++) {
        alone(refusals[i].refusal, refusals[i].class);
        gathered(refusals[i].refusal, refusals[i].class);
    }
    GOOD(MPI_File_close(&file));
    return finish();
}

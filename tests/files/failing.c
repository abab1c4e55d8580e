/*
 * A file system that fails (faulty.c) in the middle of each kind of access: the failing rank has the class of MPI 5.0 section 14.7 and
 * counts what was moved, whoever depends on it, too; nobody waits for ever, and no byte is written twice.
 *
 * Without an argument all kinds and errnos in turn. With `fatal`: one error that ends the job.
 */
#define _GNU_SOURCE
#include "../c/file.h"
#include <dlfcn.h>
#include <errno.h>

enum { BYTES = 40000, PIECE = 16, AFTER = 12345 };

static void (*arm)(int refusal, long after, int writes);
static long (*moved_until_now)(int writes);
static MPI_File file;
static char data[BYTES], back[BYTES];

static const struct { int refusal, class; } refusals[] = {
    {ENOSPC, MPI_ERR_NO_SPACE}, {EDQUOT, MPI_ERR_QUOTA}, {EIO, MPI_ERR_IO}, {EACCES, MPI_ERR_ACCESS}, {EFBIG, MPI_ERR_IO},
};

/* All ranks make the call; the last one's file system fails after AFTER bytes. Returns what this rank got. */
#define FAILING(call, refusal, writes)                                                                                    \
    (MPI_Barrier(MPI_COMM_WORLD), arm(check_rank == check_ranks - 1 ? (refusal) : 0, AFTER, writes),                      \
     before = moved_until_now(writes), class = error_class(call), arm(0, 0, writes),                                      \
     here = moved_until_now(writes) - before, MPI_Get_count(&status, MPI_CHAR, &count))

/* Each rank moves its own bytes: only one fails, and it has moved as many as there was room for. */
static void alone(int refusal, int want)
{
    MPI_Status status;
    MPI_Offset mine = (MPI_Offset)BYTES * check_rank;
    int class, count = -1, last = check_rank == check_ranks - 1;
    long before, here;
    GOOD(MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
    for (int kind = 0; kind < 4; kind++) {
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
        default:
            FAILING(MPI_File_write_ordered(file, data, BYTES, MPI_CHAR, &status), refusal, 1);
        }
        CHECK_MSG(class == (last ? want : MPI_SUCCESS), "kind %d, errno %d: class %d", kind, refusal, class);
        CHECK_EQ(count, last ? AFTER : BYTES);
        CHECK_EQ(here, count); /* Once each, and no more than is counted. */
        MPI_Barrier(MPI_COMM_WORLD);
        GOOD(MPI_File_read_at(file, mine, back, BYTES, MPI_CHAR, &status));
        COUNT(status, MPI_CHAR, count);
        CHECK(memcmp(back, data, (size_t)count) == 0);
    }
    FAILING(MPI_File_read_at_all(file, 0, back, BYTES, MPI_CHAR, &status), refusal, 0);
    CHECK_MSG(class == (last ? want : MPI_SUCCESS), "reading, errno %d: class %d", refusal, class);
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
    CHECK_MSG(class == want || class == MPI_SUCCESS, "gathered, errno %d: class %d", refusal, class);
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
    arm(ENOSPC, AFTER, 1);
    MPI_File_write_at(file, 500, data, BYTES, MPI_CHAR, &status);
    CHECK_MSG(0, "the job goes on");
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "failing");
    const char *name = file_at("failing");
    arm = (void (*)(int, long, int))dlsym(RTLD_DEFAULT, "faulty_arm");
    moved_until_now = (long (*)(int))dlsym(RTLD_DEFAULT, "faulty_moved");
    if (arm == NULL || moved_until_now == NULL) {
        CHECK_MSG(0, "start it with LD_PRELOAD=faulty.so");
        return finish();
    }
    for (int i = 0; i < BYTES; i++)
        data[i] = (char)(i * 7 + check_rank * 3 + 1);
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    if (argc > 1 && strcmp(argv[1], "fatal") == 0)
        fatal();
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        alone(refusals[i].refusal, refusals[i].class);
        gathered(refusals[i].refusal, refusals[i].class);
    }
    GOOD(MPI_File_close(&file));
    return finish();
}

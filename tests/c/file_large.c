// covers: MPI_File_read_c MPI_File_write_c MPI_File_read_all_c MPI_File_write_all_c MPI_File_read_at_c MPI_File_write_at_c MPI_File_read_at_all_c MPI_File_write_at_all_c MPI_File_iread_c MPI_File_iwrite_c MPI_File_iread_all_c MPI_File_iwrite_all_c MPI_File_iread_at_c MPI_File_iwrite_at_c MPI_File_iread_at_all_c MPI_File_iwrite_at_all_c MPI_File_read_shared_c MPI_File_write_shared_c MPI_File_iread_shared_c MPI_File_iwrite_shared_c MPI_File_read_ordered_c MPI_File_write_ordered_c MPI_File_read_at_all_begin_c MPI_File_write_at_all_begin_c MPI_File_read_all_begin_c MPI_File_write_all_begin_c MPI_File_read_ordered_begin_c MPI_File_write_ordered_begin_c
/*
 * The functions that take large counts, MPI 5.0 sections 14.4.2 to 14.4.5. Each writes or reads this rank's ten bytes; then each
 * reads more than an int can count, of which the file has some: memory that nothing is read into costs nothing.
 */
#include "file.h"
#include <stdint.h>
#include <sys/mman.h>

enum { EACH = 10, HAS = 64, NOTHING = 0 };
#define MUCH ((MPI_Count)INT32_MAX + 100)

static MPI_File file;
static char data[EACH], back[EACH];
static int round_;

/* What rank `rank` writes at byte `i` in this round. */
static char written(int rank, int i)
{
    return (char)(round_ * 17 + rank * 31 + i);
}

/* Behind those of all lower ranks, whoever comes first to a shared pointer: then only that all are there. */
static void check_written(int ordered)
{
    MPI_Status status;
    GOOD(MPI_File_sync(file));
    if (ordered) {
        GOOD(MPI_File_read_at(file, (MPI_Offset)EACH * check_rank, back, EACH, MPI_CHAR, &status));
        COUNT(status, MPI_CHAR, EACH);
        for (int i = 0; i < EACH; i++)
            CHECK_MSG(back[i] == written(check_rank, i), "round %d: byte %d is not what was written", round_, i);
    } else {
        int found = 0;
        for (int at = 0; at < check_ranks; at++) {
            GOOD(MPI_File_read_at(file, (MPI_Offset)EACH * at, back, EACH, MPI_CHAR, &status));
            found += memcmp(back, data, EACH) == 0;
        }
        CHECK_MSG(found == 1, "round %d: what was written is there %d times", round_, found);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void begin(void)
{
    round_++;
    for (int i = 0; i < EACH; i++)
        data[i] = written(check_rank, i);
    memset(back, 0, EACH);
    GOOD(MPI_File_set_size(file, 0));
    GOOD(MPI_File_seek(file, (MPI_Offset)EACH * check_rank, MPI_SEEK_SET));
    GOOD(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
}

#define WRITES(call, ordered)                                                                                             \
    do {                                                                                                                  \
        begin();                                                                                                          \
        GOOD(call);                                                                                                       \
        COUNT(status, MPI_CHAR, EACH);                                                                                    \
        check_written(ordered);                                                                                           \
    } while (0)

#define IWRITES(call, ordered)                                                                                            \
    do {                                                                                                                  \
        begin();                                                                                                          \
        GOOD(call);                                                                                                       \
        GOOD(MPI_Wait(&request, &status));                                                                                \
        COUNT(status, MPI_CHAR, EACH);                                                                                    \
        check_written(ordered);                                                                                           \
    } while (0)

static void writes(void)
{
    MPI_Status status;
    MPI_Request request;
    MPI_Offset at = EACH * check_rank;
    WRITES(MPI_File_write_at_c(file, at, data, EACH, MPI_CHAR, &status), 1);
    WRITES(MPI_File_write_at_all_c(file, at, data, EACH, MPI_CHAR, &status), 1);
    WRITES(MPI_File_write_c(file, data, EACH, MPI_CHAR, &status), 1);
    WRITES(MPI_File_write_all_c(file, data, EACH, MPI_CHAR, &status), 1);
    WRITES(MPI_File_write_shared_c(file, data, EACH, MPI_CHAR, &status), 0);
    WRITES(MPI_File_write_ordered_c(file, data, EACH, MPI_CHAR, &status), 1);
    IWRITES(MPI_File_iwrite_at_c(file, at, data, EACH, MPI_CHAR, &request), 1);
    IWRITES(MPI_File_iwrite_at_all_c(file, at, data, EACH, MPI_CHAR, &request), 1);
    IWRITES(MPI_File_iwrite_c(file, data, EACH, MPI_CHAR, &request), 1);
    IWRITES(MPI_File_iwrite_all_c(file, data, EACH, MPI_CHAR, &request), 1);
    IWRITES(MPI_File_iwrite_shared_c(file, data, EACH, MPI_CHAR, &request), 0);
    begin();
    GOOD(MPI_File_write_at_all_begin_c(file, at, data, EACH, MPI_CHAR));
    GOOD(MPI_File_write_at_all_end(file, data, &status));
    check_written(1);
    begin();
    GOOD(MPI_File_write_all_begin_c(file, data, EACH, MPI_CHAR));
    GOOD(MPI_File_write_all_end(file, data, &status));
    check_written(1);
    begin();
    GOOD(MPI_File_write_ordered_begin_c(file, data, EACH, MPI_CHAR));
    GOOD(MPI_File_write_ordered_end(file, data, &status));
    COUNT(status, MPI_CHAR, EACH);
    check_written(1);
}

/* `whole`: of the whole file, else of what others have left of it. */
#define READS(call, whole)                                                                                                \
    do {                                                                                                                  \
        memset(room, 0, HAS);                                                                                             \
        GOOD(MPI_File_seek(file, 0, MPI_SEEK_SET));                                                                       \
        GOOD(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));                                                                \
        GOOD(call);                                                                                                       \
        check_read(room, &status, whole, __LINE__);                                                                       \
    } while (0)

static void check_read(const char *room, const MPI_Status *status, int whole, int line)
{
    MPI_Count count = -1;
    MPI_Get_count_c(status, MPI_CHAR, &count);
    CHECK_MSG(count == (whole ? HAS : NOTHING) || (whole < 0 && (count == HAS || count == NOTHING)),
              "line %d: a count of %lld", line, (long long)count);
    for (int i = 0; i < count && i < HAS; i++)
        CHECK_MSG(room[i] == (char)(i + 1), "line %d: byte %d is %d", line, i, room[i]);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void reads(void)
{
    char *room = mmap(NULL, (size_t)MUCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char has[HAS];
    int first = check_rank == 0;
    MPI_Status status;
    MPI_Request request;
    if (room == MAP_FAILED) {
        check_fail(__FILE__, __LINE__, "no room for %lld bytes", (long long)MUCH);
        return;
    }
    for (int i = 0; i < HAS; i++)
        has[i] = (char)(i + 1);
    GOOD(MPI_File_set_size(file, 0));
    if (first)
        GOOD(MPI_File_write_at_c(file, 0, has, HAS, MPI_CHAR, &status));
    GOOD(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    READS(MPI_File_read_at_c(file, 0, room, MUCH, MPI_CHAR, &status), 1);
    READS(MPI_File_read_at_all_c(file, 0, room, MUCH, MPI_CHAR, &status), 1);
    READS(MPI_File_read_c(file, room, MUCH, MPI_CHAR, &status), 1);
    READS(MPI_File_read_all_c(file, room, MUCH, MPI_CHAR, &status), 1);
    /* The pointer moves by what was asked for: who comes first has all that is there. */
    READS(MPI_File_read_shared_c(file, room, MUCH, MPI_CHAR, &status), check_ranks == 1 ? 1 : -1);
    READS(MPI_File_read_ordered_c(file, room, MUCH, MPI_CHAR, &status), first);
    READS((MPI_File_iread_at_c(file, 0, room, MUCH, MPI_CHAR, &request), MPI_Wait(&request, &status)), 1);
    READS((MPI_File_iread_at_all_c(file, 0, room, MUCH, MPI_CHAR, &request), MPI_Wait(&request, &status)), 1);
    READS((MPI_File_iread_c(file, room, MUCH, MPI_CHAR, &request), MPI_Wait(&request, &status)), 1);
    READS((MPI_File_iread_all_c(file, room, MUCH, MPI_CHAR, &request), MPI_Wait(&request, &status)), 1);
    READS((MPI_File_iread_shared_c(file, room, MUCH, MPI_CHAR, &request), MPI_Wait(&request, &status)), check_ranks == 1 ? 1 : -1);
    READS((MPI_File_read_at_all_begin_c(file, 0, room, MUCH, MPI_CHAR), MPI_File_read_at_all_end(file, room, &status)), 1);
    READS((MPI_File_read_all_begin_c(file, room, MUCH, MPI_CHAR), MPI_File_read_all_end(file, room, &status)), 1);
    READS((MPI_File_read_ordered_begin_c(file, room, MUCH, MPI_CHAR), MPI_File_read_ordered_end(file, room, &status)), first);
    munmap(room, (size_t)MUCH);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "file_large");
    const char *name = file_at("data");
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    writes();
    reads();
    GOOD(MPI_File_close(&file));
    return finish();
}

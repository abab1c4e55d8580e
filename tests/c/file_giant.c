// covers: MPI_File_write_at_c MPI_File_read_at_all_c MPI_File_iread_at_c MPI_Get_count_c
// ranks: 1 2
// seconds: 300
/*
 * More than 2 GiB in one call, which the system moves in parts (write(2): 0x7ffff000 bytes at most): all of it arrives, where it should, and
 * all of it is counted. The memory is a few MiB that stand in a row again and again, so that the call needs no more; what is read has its
 * last period in it afterwards.
 */
#define _GNU_SOURCE
#include "file.h"
#include <sys/mman.h>
#include <sys/statvfs.h>

/* No power of two divides the period but that of a page. */
enum { PAGE = 4096, PERIOD = 1021 * PAGE };
#define BYTES (((MPI_Count)1 << 31) + 3 * PAGE + 77)
#define AT 5
#define PERIODS ((size_t)(BYTES / PERIOD + 1))

static MPI_File file;

static char value(MPI_Count byte, int salt)
{
    MPI_Count within = byte % PERIOD;
    return (char)(within * 7 + within / 251 + within / PAGE * 13 + salt);
}

static char *periods(void)
{
    int memory = memfd_create("periods", 0);
    char *all = mmap(NULL, PERIODS * PERIOD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int good = memory >= 0 && all != MAP_FAILED && ftruncate(memory, PERIOD) == 0;
    for (size_t i = 0; good && i < PERIODS; i++)
        good = mmap(all + i * PERIOD, PERIOD, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory, 0) != MAP_FAILED;
    if (memory >= 0)
        close(memory);
    return good ? all : NULL;
}

static void fill_period(char *all, int salt)
{
    for (MPI_Count i = 0; i < PERIOD; i++)
        all[i] = value(i, salt);
}

static void counted(const MPI_Status *status, const char *call)
{
    MPI_Count count = -1;
    MPI_Get_count_c(status, MPI_CHAR, &count);
    CHECK_MSG(count == BYTES, "%s: a count of %lld instead of %lld", call, (long long)count, (long long)BYTES);
}

/* One rank writes all; what lies in the file at the edges of what the system takes is what was in memory there. */
static void writes(char *all)
{
    static const MPI_Count edges[] = {0, 0x7ffff000, (MPI_Count)1 << 31, BYTES};
    enum { NEAR = 2 * PAGE };
    static char back[2 * NEAR];
    MPI_Status status;
    MPI_Offset size = 0;
    fill_period(all, 1);
    GOOD(MPI_File_write_at_c(file, AT, all, BYTES, MPI_CHAR, &status));
    counted(&status, "write_at");
    GOOD(MPI_File_get_size(file, &size));
    CHECK_EQ(size, AT + BYTES);
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        MPI_Count from = edges[i] < NEAR ? 0 : edges[i] - NEAR, end = edges[i] + NEAR < BYTES ? edges[i] + NEAR : BYTES;
        int wrong = 0;
        GOOD(MPI_File_read_at(file, AT + from, back, (int)(end - from), MPI_CHAR, &status));
        COUNT(status, MPI_CHAR, (int)(end - from));
        for (MPI_Count byte = from; byte < end; byte++)
            wrong += back[byte - from] != value(byte, 1);
        CHECK_MSG(wrong == 0, "%d bytes near %lld are not what was written", wrong, (long long)edges[i]);
    }
}

/* The file is a hole, but for its last period. */
static void hollow(char *all, int salt)
{
    MPI_Status status;
    if (check_rank == 0) {
        fill_period(all, salt);
        MPI_Count last = BYTES - PERIOD;
        GOOD(MPI_File_write_at_c(file, AT + last, all + last % PERIOD, PERIOD, MPI_CHAR, &status));
    }
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(all, 0, PERIOD);
}

static void check_read(const char *all, int salt, const MPI_Status *status, const char *call)
{
    int wrong = 0;
    counted(status, call);
    for (MPI_Count i = 0; i < PERIOD; i++)
        wrong += all[i] != value(i, salt);
    CHECK_MSG(wrong == 0, "%s: %d of the last %d bytes are wrong", call, wrong, PERIOD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void reads(char *all)
{
    MPI_Status status;
    MPI_Request request;
    hollow(all, 3);
    GOOD(MPI_File_read_at_all_c(file, AT, all, BYTES, MPI_CHAR, &status));
    check_read(all, 3, &status, "read_at_all");
    hollow(all, 4);
    GOOD(MPI_File_iread_at_c(file, AT, all, BYTES, MPI_CHAR, &request));
    GOOD(MPI_Wait(&request, &status));
    check_read(all, 4, &status, "iread_at");
}

/* A file system without a device under it, if it has room. */
static void choose_folder(void)
{
    struct statvfs room;
    if (statvfs("/dev/shm", &room) == 0 && (MPI_Count)(room.f_bavail * room.f_bsize) > 2 * BYTES)
        setenv("TMPDIR", "/dev/shm", 1);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "file_giant");
    choose_folder();
    const char *name = file_at("data");
    char *all = periods();
    if (all == NULL) {
        CHECK_MSG(0, "the same memory cannot be mapped %zu times", PERIODS);
        return finish();
    }
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    /* Nothing of it stays, however the job ends. */
    if (check_rank == 0)
        unlink(name);
    if (check_rank == check_ranks - 1)
        writes(all);
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_set_size(file, 0));
    GOOD(MPI_File_set_size(file, AT + BYTES));
    reads(all);
    GOOD(MPI_File_close(&file));
    munmap(all, PERIODS * PERIOD);
    return finish();
}

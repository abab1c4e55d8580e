// covers: MPI_File_read_shared MPI_File_write_shared MPI_File_iread_shared MPI_File_iwrite_shared MPI_File_read_ordered MPI_File_write_ordered MPI_File_seek_shared MPI_File_get_position_shared MPI_File_read_at_all_begin MPI_File_read_at_all_end MPI_File_write_at_all_begin MPI_File_write_at_all_end MPI_File_read_all_begin MPI_File_read_all_end MPI_File_write_all_begin MPI_File_write_all_end MPI_File_read_ordered_begin MPI_File_read_ordered_end MPI_File_write_ordered_begin MPI_File_write_ordered_end
// args: sm
// args: lockedfile
/*
 * The shared file pointer, MPI 5.0 section 14.4.4, and split collectives, section 14.4.5. The pointer lies in memory that the
 * processes share, or in a file beside the file, of which nothing is left.
 */
#include "file.h"
#include <dirent.h>

enum { RECORDS = 40, LENGTH = 5 };

static MPI_File file;

static void settle(void)
{
    GOOD(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_sync(file));
}

static MPI_Offset position(void)
{
    MPI_Offset place = -1;
    GOOD(MPI_File_get_position_shared(file, &place));
    return place;
}

/* Files beside the file, whose names have its name in them. */
static int beside(const char *name)
{
    char folder[512];
    const char *last = strrchr(name, '/') + 1;
    int found = 0;
    snprintf(folder, sizeof folder, "%.*s", (int)(last - name), name);
    DIR *all = opendir(folder);
    for (struct dirent *one; all && (one = readdir(all));)
        found += strstr(one->d_name, last) != NULL && strcmp(one->d_name, last) != 0;
    if (all)
        closedir(all);
    return found;
}

/* Records of all processes: none lies over another, none is lost, and each process's are in its order. */
static void records(int nonblocking)
{
    int record[LENGTH], total = RECORDS * check_ranks;
    MPI_Status status;
    MPI_Request request;
    for (int i = 0; i < RECORDS; i++) {
        for (int j = 0; j < LENGTH; j++)
            record[j] = (check_rank * RECORDS + i) * LENGTH + j;
        if (nonblocking) {
            GOOD(MPI_File_iwrite_shared(file, record, LENGTH, MPI_INT, &request));
            MPI_Wait(&request, &status);
        } else {
            GOOD(MPI_File_write_shared(file, record, LENGTH, MPI_INT, &status));
        }
        COUNT(status, MPI_INT, LENGTH);
    }
    settle();
    CHECK_EQ(position(), (long long)total * LENGTH);
    int *all = check_alloc(sizeof(int) * (size_t)(total * LENGTH)), *seen = calloc((size_t)check_ranks, sizeof(int));
    GOOD(MPI_File_read_at(file, 0, all, total * LENGTH, MPI_INT, &status));
    COUNT(status, MPI_INT, total * LENGTH);
    for (int i = 0; i < total; i++) {
        int number = all[i * LENGTH] / LENGTH, owner = number / RECORDS;
        for (int j = 0; j < LENGTH; j++)
            CHECK_EQ(all[i * LENGTH + j], number * LENGTH + j);
        if (owner >= 0 && owner < check_ranks)
            CHECK_EQ(number % RECORDS, seen[owner]++);
    }
    for (int rank = 0; rank < check_ranks; rank++)
        CHECK_EQ(seen[rank], RECORDS);
    /* Read by whoever comes: together all of it, and then the end. */
    GOOD(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    CHECK_EQ(position(), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    long long sum = 0, want = 0, got = 0;
    for (int i = 0; i < RECORDS; i++) {
        if (nonblocking) {
            GOOD(MPI_File_iread_shared(file, record, LENGTH, MPI_INT, &request));
            MPI_Wait(&request, &status);
        } else {
            GOOD(MPI_File_read_shared(file, record, LENGTH, MPI_INT, &status));
        }
        COUNT(status, MPI_INT, LENGTH);
        sum += record[0];
    }
    for (int i = 0; i < total; i++)
        want += (long long)i * LENGTH;
    MPI_Allreduce(&sum, &got, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(got, want);
    GOOD(MPI_File_read_shared(file, record, LENGTH, MPI_INT, &status));
    COUNT(status, MPI_INT, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    free(all);
    free(seen);
}

/* In the order of ranks, each another number of elements; rank 1 none. */
static void ordered(int split)
{
    int mine = check_rank == 1 ? 0 : check_rank + 2, before = 0, total = 0, data[200], back[200];
    MPI_Status status;
    for (int rank = 0; rank < check_ranks; rank++) {
        int has = rank == 1 ? 0 : rank + 2;
        before += rank < check_rank ? has : 0;
        total += has;
    }
    if (mine > 200)
        mine = 200;
    GOOD(MPI_File_seek_shared(file, 7, MPI_SEEK_SET));
    for (int i = 0; i < mine; i++)
        data[i] = 10000 + before + i;
    for (int turn = 0; turn < 2; turn++) {
        if (split) {
            GOOD(MPI_File_write_ordered_begin(file, data, mine, MPI_INT));
            GOOD(MPI_File_write_ordered_end(file, data, &status));
        } else {
            GOOD(MPI_File_write_ordered(file, data, mine, MPI_INT, &status));
        }
        COUNT(status, MPI_INT, mine);
        CHECK_EQ(position(), 7 + (long long)total * (turn + 1));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    settle();
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < total; i++) {
            int one = -1;
            GOOD(MPI_File_read_at(file, 7 + turn * total + i, &one, 1, MPI_INT, &status));
            CHECK_EQ(one, 10000 + i);
        }
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_seek_shared(file, -total, MPI_SEEK_END));
    CHECK_EQ(position(), 7 + total);
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_seek_shared(file, -total, MPI_SEEK_CUR));
    if (split) {
        GOOD(MPI_File_read_ordered_begin(file, back, mine, MPI_INT));
        GOOD(MPI_File_read_ordered_end(file, back, &status));
    } else {
        GOOD(MPI_File_read_ordered(file, back, mine, MPI_INT, &status));
    }
    COUNT(status, MPI_INT, mine);
    for (int i = 0; i < mine; i++)
        CHECK_EQ(back[i], data[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_File_seek_shared(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_seek_shared(file, 0, 12345), MPI_ERR_ARG);
    if (check_ranks > 1)
        CHECK_CLASS(MPI_File_seek_shared(file, check_rank, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
}

static void splits(void)
{
    int data[10], back[10], other[10];
    MPI_Status status;
    for (int i = 0; i < 10; i++)
        data[i] = 77 * check_rank + i;
    MPI_Offset at = 10 * check_rank;
    GOOD(MPI_File_write_at_all_begin(file, at, data, 10, MPI_INT));
    CHECK_CLASS(MPI_File_write_all_begin(file, data, 10, MPI_INT), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_read_at_all_end(file, back, &status), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_write_at_all_end(file, other, &status), MPI_ERR_BUFFER);
    GOOD(MPI_File_write_at_all_end(file, data, &status));
    COUNT(status, MPI_INT, 10);
    CHECK_CLASS(MPI_File_write_at_all_end(file, data, &status), MPI_ERR_IO);
    settle();
    memset(back, 0, sizeof back);
    GOOD(MPI_File_read_at_all_begin(file, at, back, 10, MPI_INT));
    GOOD(MPI_File_read_at_all_end(file, back, &status));
    COUNT(status, MPI_INT, 10);
    CHECK(memcmp(data, back, sizeof data) == 0);
    GOOD(MPI_File_seek(file, at + 5, MPI_SEEK_SET));
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_write_all_begin(file, data, 5, MPI_INT));
    GOOD(MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE));
    settle();
    GOOD(MPI_File_seek(file, at, MPI_SEEK_SET));
    GOOD(MPI_File_read_all_begin(file, back, 10, MPI_INT));
    GOOD(MPI_File_read_all_end(file, back, &status));
    for (int i = 0; i < 10; i++)
        CHECK_EQ(back[i], data[i % 5]);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Offset place = -1;
    int one = 5, in_file = argc > 1 && strcmp(argv[1], "lockedfile") == 0;
    if (in_file)
        setenv("OMPI_MCA_sharedfp", "lockedfile", 1); /* another MPI does not look at it */
    start(&argc, &argv, "file_shared");
    const char *name = file_at("data");
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    for (int turn = 0; turn < 2; turn++) {
        GOOD(MPI_File_set_size(file, 0));
        GOOD(MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_EQ(position(), 0);
        if (library_is("ompi-rs"))
            CHECK_EQ(beside(name), 0); /* nothing that a process which is killed would leave */
        MPI_Barrier(MPI_COMM_WORLD);
        records(turn);
        GOOD(MPI_File_set_size(file, 0));
        ordered(turn);
    }
    splits();
    GOOD(MPI_File_set_size(file, 40));
    GOOD(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(beside(name), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    /* A file that is read or written from its beginning to its end has this pointer only. */
    int amode = MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND;
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &file));
    CHECK_CLASS(MPI_File_get_position_shared(file, &place), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_write(file, &one, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_write_at(file, 0, &one, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_get_position(file, &place), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_write_shared(file, &one, 1, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Offset size = -1;
    GOOD(MPI_File_get_size(file, &size));
    CHECK_EQ(size, 40 + 4 * check_ranks);
    GOOD(MPI_File_close(&file));
    if (check_rank == 0)
        GOOD(MPI_File_delete(name, MPI_INFO_NULL));
    return finish();
}

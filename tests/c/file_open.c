// covers: MPI_File_open MPI_File_close MPI_File_delete MPI_File_get_size MPI_File_set_size MPI_File_preallocate MPI_File_get_amode MPI_File_get_group MPI_File_get_info MPI_File_set_info MPI_File_sync MPI_File_get_atomicity MPI_File_set_atomicity MPI_File_set_errhandler MPI_File_get_errhandler MPI_File_call_errhandler
/*
 * Files as a whole, MPI 5.0 sections 14.2, 14.6.1 and 14.7: access modes, sizes, hints, error classes, error handlers.
 * A failure of one rank is a failure of all: none of them hangs.
 */
#include "file.h"
#include <sys/stat.h>

static MPI_File seen_file;
static int seen_code, seen_times;

static void remember(MPI_File *file, int *code, ...)
{
    seen_file = *file;
    seen_code = error_class(*code);
    seen_times++;
}

/* How many bytes the system counts, or -1. */
static long long length_of(const char *name)
{
    struct stat about;
    return stat(name, &about) == 0 ? (long long)about.st_size : -1;
}

static void modes(const char *name)
{
    static const int wrong[] = {0, MPI_MODE_CREATE, MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_MODE_RDONLY | MPI_MODE_CREATE,
                                MPI_MODE_RDONLY | MPI_MODE_EXCL, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL,
                                MPI_MODE_RDWR | MPI_MODE_WRONLY, MPI_MODE_RDWR | 0x10000};
    MPI_File file = (MPI_File)77;
    MPI_Group group, world;
    int amode = -1, result = -1;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, wrong[i], MPI_INFO_NULL, &file), MPI_ERR_AMODE);
        CHECK(file == MPI_FILE_NULL);
    }
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
    /* One rank alone gives another mode: all are told. */
    int mine = MPI_MODE_RDWR | MPI_MODE_CREATE | (check_rank == check_ranks - 1 && check_ranks > 1 ? MPI_MODE_EXCL : 0);
    if (check_ranks > 1)
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, mine, MPI_INFO_NULL, &file), MPI_ERR_NOT_SAME);
    CHECK_EQ(length_of(name), -1);
    MPI_Barrier(MPI_COMM_WORLD);
    mine = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_UNIQUE_OPEN;
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, mine, MPI_INFO_NULL, &file));
    CHECK(file != MPI_FILE_NULL);
    GOOD(MPI_File_get_amode(file, &amode));
    CHECK_EQ(amode, mine);
    GOOD(MPI_File_get_group(file, &group));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &result);
    CHECK_EQ(result, MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    GOOD(MPI_File_close(&file));
    CHECK(file == MPI_FILE_NULL);
    CHECK_EQ(length_of(name), 0);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, mine, MPI_INFO_NULL, &file), MPI_ERR_FILE_EXISTS);
    CHECK_CLASS(MPI_File_close(&file), MPI_ERR_FILE);
    /* One rank has no such file: nobody opens it. */
    if (check_ranks > 1) {
        const char *other = check_rank == 1 ? "/no/such/folder/file" : name;
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, other, MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
        CHECK(file == MPI_FILE_NULL);
    }
}

static void sizes(const char *name)
{
    MPI_File file;
    MPI_Offset size = -1;
    int flag = -1;
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    GOOD(MPI_File_set_size(file, 1000));
    GOOD(MPI_File_get_size(file, &size));
    CHECK_EQ(size, 1000);
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_set_size(file, 10));
    GOOD(MPI_File_get_size(file, &size));
    CHECK_EQ(size, 10);
    CHECK_EQ(length_of(name), 10);
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_preallocate(file, 5000));
    GOOD(MPI_File_get_size(file, &size));
    CHECK_EQ(size, 5000);
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_preallocate(file, 100)); /* what is longer stays as long */
    GOOD(MPI_File_preallocate(file, 0));
    GOOD(MPI_File_get_size(file, &size));
    CHECK_EQ(size, 5000);
    CHECK_CLASS(MPI_File_set_size(file, -1), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_preallocate(file, -1), MPI_ERR_ARG);
    if (check_ranks > 1)
        CHECK_CLASS(MPI_File_set_size(file, 100 + check_rank), MPI_ERR_NOT_SAME);
    GOOD(MPI_File_get_size(file, &size));
    CHECK_EQ(size, 5000);
    GOOD(MPI_File_get_atomicity(file, &flag));
    CHECK_EQ(flag, 0);
    GOOD(MPI_File_set_atomicity(file, 7));
    GOOD(MPI_File_get_atomicity(file, &flag));
    CHECK_EQ(flag, 1);
    GOOD(MPI_File_set_atomicity(file, 0));
    GOOD(MPI_File_get_atomicity(file, &flag));
    CHECK_EQ(flag, 0);
    GOOD(MPI_File_sync(file));
    GOOD(MPI_File_close(&file));
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    CHECK_CLASS(MPI_File_set_size(file, 1), MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_preallocate(file, 10000), MPI_ERR_READ_ONLY);
    GOOD(MPI_File_sync(file));
    GOOD(MPI_File_close(&file));
}

static void hints(const char *name)
{
    MPI_File file;
    MPI_Info info, used;
    struct stat about;
    char value[16];
    int flag = -1, room = sizeof value, keys = -1;
    MPI_Info_create(&info);
    MPI_Info_set(info, "file_perm", "600");
    MPI_Info_set(info, "nobody_knows", "this");
    MPI_Info_set(info, "striping_factor", "4");
    MPI_Info_set(info, "start_iodevice", "1");
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY | MPI_MODE_CREATE, info, &file));
    CHECK(stat(name, &about) == 0 && (about.st_mode & 0777) == 0600);
    GOOD(MPI_File_get_info(file, &used));
    MPI_Info_get_string(used, "file_perm", &room, value, &flag);
    CHECK(flag == 1 && strcmp(value, "600") == 0);
    MPI_Info_get_string(used, "nobody_knows", &room, value, &flag);
    CHECK_EQ(flag, 0);
    /* What the file system does not do is not in force; with files over several devices this test would need another one. */
    for (int i = 0; i < 2 && library_is("ompi-rs"); i++) {
        MPI_Info_get_string(used, i == 0 ? "striping_factor" : "start_iodevice", &room, value, &flag);
        CHECK_EQ(flag, 0);
    }
    MPI_Info_free(&used);
    MPI_Info_set(info, "file_perm", "no number");
    GOOD(MPI_File_set_info(file, info));
    GOOD(MPI_File_get_info(file, &used));
    MPI_Info_get_nkeys(used, &keys);
    CHECK(keys >= 1);
    MPI_Info_free(&used);
    MPI_Info_free(&info);
    GOOD(MPI_File_close(&file));
}

static void refusals(const char *name)
{
    MPI_File file;
    MPI_Errhandler mine, got;
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "/tmp", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "/tmp", MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "/no/such/folder/x", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file),
                MPI_ERR_NO_SUCH_FILE);
    CHECK_CLASS(MPI_File_open(MPI_COMM_NULL, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_COMM);
    CHECK_CLASS(MPI_File_delete("/no/such/folder/x", MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    CHECK_CLASS(MPI_File_delete("/tmp", MPI_INFO_NULL), MPI_ERR_BAD_FILE);
    CHECK_CLASS(MPI_File_get_size(MPI_FILE_NULL, &(MPI_Offset){0}), MPI_ERR_FILE);
    /* The handler of MPI_FILE_NULL is that of files that are opened, and of calls without a file. */
    MPI_File_create_errhandler(remember, &mine);
    GOOD(MPI_File_set_errhandler(MPI_FILE_NULL, mine));
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "/no/such/file", MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
    CHECK(seen_times == 1 && seen_file == MPI_FILE_NULL && seen_code == MPI_ERR_NO_SUCH_FILE);
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    GOOD(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    GOOD(MPI_File_get_errhandler(file, &got));
    CHECK(got == mine);
    MPI_Errhandler_free(&got);
    CHECK_CLASS(MPI_File_set_size(file, -1), MPI_ERR_ARG);
    CHECK(seen_times == 2 && seen_file == file && seen_code == MPI_ERR_ARG);
    GOOD(MPI_File_call_errhandler(file, MPI_ERR_QUOTA));
    CHECK(seen_times == 3 && seen_file == file && seen_code == MPI_ERR_QUOTA);
    GOOD(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    MPI_Errhandler_free(&mine);
    CHECK_CLASS(MPI_File_set_size(file, -1), MPI_ERR_ARG);
    CHECK_EQ(seen_times, 3);
    GOOD(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    MPI_File file;
    char prefixed[600];
    start(&argc, &argv, "file_open");
    const char *name = file_at("data");
    modes(name);
    sizes(name);
    refusals(name);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        GOOD(MPI_File_delete(name, MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(length_of(name), -1);
    hints(name);
    /* A file system before the path is no part of it (advice to users in section 14.2.1). */
    snprintf(prefixed, sizeof prefixed, "ufs:%s", name);
    GOOD(MPI_File_open(MPI_COMM_WORLD, prefixed, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    CHECK_EQ(length_of(name), 0);
    GOOD(MPI_File_close(&file));
    CHECK_EQ(length_of(name), -1);
    return finish();
}

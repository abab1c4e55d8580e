// covers: MPI_File_open MPI_File_close MPI_File_preallocate MPI_File_write_at MPI_File_set_view MPI_File_write MPI_File_write_shared MPI_File_seek_shared
// ranks: 2 4
// args: locks
// args: storage
// args: name
// args: folder
/*
 * File systems on which not all is to be had: no locks (Lustre without `-o flock`), no fallocate(2) (NFS before 4.2), a name that cannot be
 * taken away, a folder in which nothing can be made.
 */
#define _GNU_SOURCE
#include "file.h"
#include "refuse.h"
#include <fcntl.h>
#include <glob.h>
#include <linux/capability.h>
#include <sys/stat.h>

static MPI_File file;

/* Files that the program alone writes, in pieces with gaps: they are written without locks, too. */
static void without_locks(const char *name)
{
    enum { PIECES = 20, PIECE = 8 };
    char data[PIECES * PIECE], back[PIECES * PIECE];
    MPI_Datatype piece, spread;
    MPI_Info info;
    for (int i = 0; i < PIECES * PIECE; i++)
        data[i] = (char)(1 + check_rank * 50 + i);
    refuse_command(SYS_fcntl, F_OFD_SETLKW, ENOSYS);
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_UNIQUE_OPEN | MPI_MODE_DELETE_ON_CLOSE,
                       MPI_INFO_NULL, &file));
    GOOD(MPI_File_write_at(file, check_rank * (MPI_Offset)sizeof data, data, sizeof data, MPI_CHAR, MPI_STATUS_IGNORE));
    GOOD(MPI_File_read_at(file, check_rank * (MPI_Offset)sizeof data, back, sizeof back, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK(memcmp(data, back, sizeof data) == 0);
    MPI_Type_contiguous(PIECE, MPI_CHAR, &piece);
    MPI_Type_create_resized(piece, 0, 2 * PIECE * check_ranks, &spread);
    MPI_Type_commit(&spread);
    MPI_Info_create(&info);
    for (int wanted = 0; wanted < 3; wanted++) {
        /* By itself, as the program wishes, and by a later hint. */
        GOOD(MPI_File_set_view(file, 2 * PIECE * check_rank, MPI_CHAR, spread, "native", wanted == 1 ? info : MPI_INFO_NULL));
        MPI_Info_set(info, "romio_ds_write", wanted == 0 ? "enable" : "automatic");
        if (wanted == 2)
            GOOD(MPI_File_set_info(file, info));
        data[0]++;
        GOOD(MPI_File_write(file, data, sizeof data, MPI_CHAR, MPI_STATUS_IGNORE));
        GOOD(MPI_File_read_at(file, 0, back, sizeof back, MPI_CHAR, MPI_STATUS_IGNORE));
        CHECK(memcmp(data, back, sizeof data) == 0);
    }
    MPI_Info_free(&info);
    MPI_Type_free(&spread);
    MPI_Type_free(&piece);
    GOOD(MPI_File_close(&file));
}

static MPI_Offset size(void)
{
    MPI_Offset bytes = -1;
    GOOD(MPI_File_get_size(file, &bytes));
    return bytes;
}

/* What is there stays, and the rest is zero; also where the file may not be read. */
static void without_storage(const char *name)
{
    static const char begin[] = "what is there";
    enum { LONG = (3 << 20) + 5 };
    char *back = check_alloc(LONG);
    refuse_calls(SYS_fallocate, SYS_fallocate, EOPNOTSUPP);
    for (int reads = 0; reads < 2; reads++) {
        int amode = MPI_MODE_CREATE | (reads ? MPI_MODE_RDWR : MPI_MODE_WRONLY);
        GOOD(MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &file));
        GOOD(MPI_File_write_at_all(file, 0, begin, check_rank == 0 ? (int)sizeof begin : 0, MPI_CHAR, MPI_STATUS_IGNORE));
        GOOD(MPI_File_preallocate(file, LONG));
        CHECK_EQ(size(), LONG);
        GOOD(MPI_File_preallocate(file, 100));
        CHECK_EQ(size(), LONG);
        int there = open(name, O_RDONLY);
        CHECK_EQ(read(there, back, LONG), LONG);
        CHECK(memcmp(back, begin, sizeof begin) == 0);
        for (int i = sizeof begin; i < LONG; i++)
            if (back[i] != 0) {
                CHECK_EQ(i, LONG);
                break;
            }
        struct stat about;
        CHECK(fstat(there, &about) == 0 && about.st_blocks * 512 >= LONG);
        close(there);
        GOOD(MPI_File_close(&file));
        if (check_rank == 0)
            GOOD(MPI_File_delete(name, MPI_INFO_NULL));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(back);
}

/* Rank 0 can take no name away: all are told, and nobody waits. */
static void with_its_name(const char *name)
{
    if (check_rank == 0)
        refuse_calls(SYS_unlink, SYS_unlinkat, EACCES);
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    GOOD(MPI_File_write_shared(file, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK_CLASS(MPI_File_close(&file), MPI_ERR_ACCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 1) {
        char pattern[600];
        glob_t found;
        CHECK_EQ(unlink(name), 0);
        snprintf(pattern, sizeof pattern, "%.*s/.%s.*.sharedfp", (int)(strrchr(name, '/') - name), name, strrchr(name, '/') + 1);
        CHECK_EQ(glob(pattern, 0, NULL, &found), 0);
        for (size_t i = 0; i < found.gl_pathc; i++)
            unlink(found.gl_pathv[i]);
        globfree(&found);
    }
}

/* From now on permissions are asked of root, too. */
static void obey_permissions(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct all[2];
    CHECK_EQ(syscall(SYS_capget, &header, all), 0);
    all[0].effective &= ~(1u << CAP_DAC_OVERRIDE);
    CHECK_EQ(syscall(SYS_capset, &header, all), 0);
}

/* Nobody needs the shared file pointer, for which nothing can be made beside the file. */
static void without_folder(const char *folder)
{
    char name[600], data[100] = "data";
    MPI_Offset position = -1;
    snprintf(name, sizeof name, "%s/file", folder);
    if (check_rank == 0) {
        CHECK_EQ(mkdir(folder, 0700), 0);
        int made = open(name, O_CREAT | O_WRONLY, 0600);
        CHECK_EQ(write(made, data, sizeof data), sizeof data);
        close(made);
        chmod(folder, 0500);
    }
    obey_permissions();
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_APPEND, MPI_INFO_NULL, &file));
    GOOD(MPI_File_get_position(file, &position));
    CHECK_EQ(position, sizeof data);
    CHECK_CLASS(MPI_File_write_shared(file, data, 1, MPI_CHAR, MPI_STATUS_IGNORE),
                check_rank == 0 ? MPI_ERR_ACCESS : MPI_ERR_NO_SUCH_FILE);
    CHECK(error_class(MPI_File_seek_shared(file, 0, MPI_SEEK_SET)) != MPI_SUCCESS);
    GOOD(MPI_File_set_view(file, 10, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
    GOOD(MPI_File_write_at_all(file, check_rank, data, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    GOOD(MPI_File_close(&file));
    if (check_rank == 0) {
        chmod(folder, 0700);
        CHECK(unlink(name) == 0 && rmdir(folder) == 0);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "locks";
    if (strcmp(what, "name") == 0 || strcmp(what, "folder") == 0)
        setenv("OMPI_MCA_sharedfp", "lockedfile", 1);
    start(&argc, &argv, "file_refused");
    const char *name = file_at(what);
    if (strcmp(what, "locks") == 0)
        without_locks(name);
    else if (strcmp(what, "storage") == 0)
        without_storage(name);
    else if (strcmp(what, "folder") == 0)
        without_folder(name);
    else
        with_its_name(name);
    return finish();
}

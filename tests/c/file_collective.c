// covers: MPI_File_open MPI_File_close MPI_File_set_size MPI_File_preallocate MPI_File_set_info MPI_File_set_view MPI_File_set_atomicity MPI_File_sync MPI_File_seek_shared MPI_File_read_all MPI_File_write_all MPI_File_read_ordered MPI_File_write_ordered
/*
 * Calls that all processes of a file make together, MPI 5.0 section 14: where one rank alone has a wrong argument all of them
 * fail, nobody waits for ever, nothing is done, and the next call finds all in step. So it is where ranks make different calls.
 */
#include "file.h"

enum { SIZE = 4096 };

static MPI_File file;
static char data[256];
static MPI_Datatype loose; /* not committed */

/* Each call with a wrong argument on the rank that is told so; returns what the call does. */
typedef int (*call_t)(int wrong);

static int set_size(int wrong) { return MPI_File_set_size(file, wrong ? -1 : 77); }
static int preallocate(int wrong) { return MPI_File_preallocate(file, wrong ? -1 : SIZE + 9); }
static int set_info(int wrong) { return MPI_File_set_info(file, wrong ? MPI_INFO_NULL : MPI_INFO_ENV); }

static int view_displacement(int wrong)
{
    return MPI_File_set_view(file, wrong ? -1 : 16, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
}

static int view_etype(int wrong)
{
    return MPI_File_set_view(file, 16, wrong ? MPI_DATATYPE_NULL : MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
}

static int view_filetype(int wrong)
{
    return MPI_File_set_view(file, 16, MPI_CHAR, wrong ? MPI_DATATYPE_NULL : MPI_CHAR, "native", MPI_INFO_NULL);
}

static int view_loose(int wrong)
{
    return MPI_File_set_view(file, 16, MPI_CHAR, wrong ? loose : MPI_CHAR, "native", MPI_INFO_NULL);
}

static int view_datarep(int wrong)
{
    return MPI_File_set_view(file, 16, MPI_CHAR, MPI_CHAR, wrong ? "no such thing" : "native", MPI_INFO_NULL);
}

static int view_null_datarep(int wrong)
{
    return MPI_File_set_view(file, 16, MPI_CHAR, MPI_CHAR, wrong ? NULL : "native", MPI_INFO_NULL);
}

static int seek_whence(int wrong) { return MPI_File_seek_shared(file, 3, wrong ? 12345 : MPI_SEEK_SET); }
static int read_at_offset(int wrong) { return MPI_File_read_at_all(file, wrong ? -1 : 0, data, 9, MPI_CHAR, MPI_STATUS_IGNORE); }
static int write_at_offset(int wrong) { return MPI_File_write_at_all(file, wrong ? -1 : 0, data, 9, MPI_CHAR, MPI_STATUS_IGNORE); }

/* Count, datatype and buffer of the calls that move data. */
#define ACCESS(name, ...)                                                                                                 \
    static int name##_count(int wrong)                                                                                    \
    {                                                                                                                     \
        int count = wrong ? -1 : 9;                                                                                       \
        MPI_Datatype type = MPI_CHAR;                                                                                     \
        char *at = data;                                                                                                  \
        return __VA_ARGS__;                                                                                               \
    }                                                                                                                     \
    static int name##_type(int wrong)                                                                                     \
    {                                                                                                                     \
        int count = 9;                                                                                                    \
        MPI_Datatype type = wrong ? MPI_DATATYPE_NULL : MPI_CHAR;                                                         \
        char *at = data;                                                                                                  \
        return __VA_ARGS__;                                                                                               \
    }                                                                                                                     \
    static int name##_buffer(int wrong)                                                                                   \
    {                                                                                                                     \
        int count = 9;                                                                                                    \
        MPI_Datatype type = MPI_CHAR;                                                                                     \
        char *at = wrong ? NULL : data;                                                                                   \
        return __VA_ARGS__;                                                                                               \
    }

ACCESS(read_at_all, MPI_File_read_at_all(file, 0, at, count, type, MPI_STATUS_IGNORE))
ACCESS(write_at_all, MPI_File_write_at_all(file, 0, at, count, type, MPI_STATUS_IGNORE))
ACCESS(read_all, MPI_File_read_all(file, at, count, type, MPI_STATUS_IGNORE))
ACCESS(write_all, MPI_File_write_all(file, at, count, type, MPI_STATUS_IGNORE))
ACCESS(read_ordered, MPI_File_read_ordered(file, at, count, type, MPI_STATUS_IGNORE))
ACCESS(write_ordered, MPI_File_write_ordered(file, at, count, type, MPI_STATUS_IGNORE))
ACCESS(read_at_all_begin, MPI_File_read_at_all_begin(file, 0, at, count, type))
ACCESS(write_at_all_begin, MPI_File_write_at_all_begin(file, 0, at, count, type))
ACCESS(read_all_begin, MPI_File_read_all_begin(file, at, count, type))
ACCESS(write_all_begin, MPI_File_write_all_begin(file, at, count, type))
ACCESS(read_ordered_begin, MPI_File_read_ordered_begin(file, at, count, type))
ACCESS(write_ordered_begin, MPI_File_write_ordered_begin(file, at, count, type))
ACCESS(large_write_all, MPI_File_write_all_c(file, at, count, type, MPI_STATUS_IGNORE))

#define ALL_THREE(name) {#name "_count", name##_count, MPI_ERR_COUNT}, {#name "_type", name##_type, MPI_ERR_TYPE}, \
                        {#name "_buffer", name##_buffer, MPI_ERR_BUFFER}

static const struct {
    const char *name;
    call_t call;
    int class;
} calls[] = {
    {"set_size", set_size, MPI_ERR_ARG},
    {"preallocate", preallocate, MPI_ERR_ARG},
    {"set_info", set_info, MPI_ERR_INFO},
    {"view_displacement", view_displacement, MPI_ERR_ARG},
    {"view_etype", view_etype, MPI_ERR_TYPE},
    {"view_filetype", view_filetype, MPI_ERR_TYPE},
    {"view_loose", view_loose, MPI_ERR_TYPE},
    {"view_datarep", view_datarep, MPI_ERR_UNSUPPORTED_DATAREP},
    {"view_null_datarep", view_null_datarep, MPI_ERR_ARG},
    {"seek_whence", seek_whence, MPI_ERR_ARG},
    {"read_at_offset", read_at_offset, MPI_ERR_ARG},
    {"write_at_offset", write_at_offset, MPI_ERR_ARG},
    ALL_THREE(read_at_all),
    ALL_THREE(write_at_all),
    ALL_THREE(read_all),
    ALL_THREE(write_all),
    ALL_THREE(read_ordered),
    ALL_THREE(write_ordered),
    ALL_THREE(read_at_all_begin),
    ALL_THREE(write_at_all_begin),
    ALL_THREE(read_all_begin),
    ALL_THREE(write_all_begin),
    ALL_THREE(read_ordered_begin),
    ALL_THREE(write_ordered_begin),
    ALL_THREE(large_write_all),
};

/* Nothing was done: size, file pointers and view are as before; and the next call works. */
static void untouched(const char *after)
{
    MPI_Offset size = -1, own = -1, shared = -1, displacement = -1;
    MPI_Datatype etype, filetype;
    char datarep[MPI_MAX_DATAREP_STRING];
    GOOD(MPI_File_sync(file));
    GOOD(MPI_File_get_size(file, &size));
    GOOD(MPI_File_get_position(file, &own));
    GOOD(MPI_File_get_position_shared(file, &shared));
    GOOD(MPI_File_get_view(file, &displacement, &etype, &filetype, datarep));
    CHECK_MSG(size == SIZE && own == 5 && shared == 6 && displacement == 8, "after %s: size %lld, pointers %lld and %lld, view at %lld",
              after, (long long)size, (long long)own, (long long)shared, (long long)displacement);
    GOOD(MPI_File_sync(file));
}

static void wrong_on_one(int culprit)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        int class = error_class(calls[i].call(check_rank == culprit));
        CHECK_MSG(class == calls[i].class, "%s wrong on rank %d: expected class %d, got %d", calls[i].name, culprit, calls[i].class, class);
        untouched(calls[i].name);
    }
}

/* Every call beside another one. */
static void different_calls(void)
{
    static const call_t some[] = {set_size, preallocate, set_info, view_etype, seek_whence, read_at_all_count, write_all_count,
                                  write_ordered_count, read_all_begin_count, write_ordered_begin_count};
    int count = sizeof some / sizeof *some, last = check_rank == check_ranks - 1;
    for (int i = 0; i < count && check_ranks > 1; i++) {
        CHECK_CLASS(some[(i + last) % count](0), MPI_ERR_NOT_SAME);
        untouched("different calls");
        CHECK_CLASS(last ? MPI_File_sync(file) : some[i](0), MPI_ERR_NOT_SAME);
        CHECK_CLASS(last ? some[i](0) : MPI_File_set_atomicity(file, 1), MPI_ERR_NOT_SAME);
        /* A file that one rank wants to close and another does not stays open. */
        CHECK_CLASS(last ? MPI_File_close(&file) : some[i](0), MPI_ERR_NOT_SAME);
        CHECK(file != MPI_FILE_NULL);
        untouched("different calls");
    }
}

/* With an offset or at the file pointer is each rank's own choice; PnetCDF's ranks that have nothing to move make it. */
static void mixed(void)
{
    char back[9] = "";
    int last = check_rank == check_ranks - 1;
    MPI_Status status;
    GOOD(MPI_File_write_at_all(file, 9 * check_rank, data, 9, MPI_CHAR, &status));
    GOOD(last ? MPI_File_read_all(file, NULL, 0, MPI_CHAR, &status)
              : MPI_File_read_at_all(file, 9 * check_rank, back, 9, MPI_CHAR, &status));
    COUNT(status, MPI_CHAR, last ? 0 : 9);
    CHECK(last || memcmp(back, data, 9) == 0);
    GOOD(last ? MPI_File_write_all(file, NULL, 0, MPI_CHAR, &status)
              : MPI_File_write_at_all(file, 9 * check_rank, data, 9, MPI_CHAR, &status));
    COUNT(status, MPI_CHAR, last ? 0 : 9);
    untouched("calls that go together");
}

/* Nothing collective comes between the halves of a split access. */
static void split_pending(void)
{
    MPI_Request request;
    MPI_Status status;
    GOOD(MPI_File_read_at_all_begin(file, 0, data, 9, MPI_CHAR));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].call != set_info)
            CHECK_MSG(error_class(calls[i].call(0)) == MPI_ERR_IO, "%s while a split access is pending", calls[i].name);
    CHECK_CLASS(MPI_File_iwrite_all(file, data, 9, MPI_CHAR, &request), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_iread_at_all(file, 0, data, 9, MPI_CHAR, &request), MPI_ERR_IO);
    /* Of one process alone there may be some. */
    GOOD(MPI_File_read_at(file, 0, data + 9, 9, MPI_CHAR, &status));
    GOOD(MPI_File_read_at_all_end(file, data, &status));
    COUNT(status, MPI_CHAR, 9);
    untouched("a split access");
}

static void opening(const char *name, int culprit)
{
    int wrong = check_rank == culprit, amode = MPI_MODE_RDWR;
    MPI_File other = file;
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, wrong ? NULL : name, amode, MPI_INFO_NULL, &other), MPI_ERR_ARG);
    CHECK(other == MPI_FILE_NULL);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, amode, wrong ? (MPI_Info)MPI_COMM_WORLD : MPI_INFO_NULL, &other), MPI_ERR_INFO);
    CHECK(other == MPI_FILE_NULL);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, wrong ? 0 : amode, MPI_INFO_NULL, &other), MPI_ERR_AMODE);
    CHECK(other == MPI_FILE_NULL);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, wrong ? NULL : &other), MPI_ERR_ARG);
    CHECK(other == MPI_FILE_NULL);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "file_collective");
    const char *name = file_at("data");
    MPI_Type_contiguous(3, MPI_CHAR, &loose);
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    GOOD(MPI_File_set_size(file, SIZE));
    GOOD(MPI_File_set_view(file, 8, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
    GOOD(MPI_File_seek(file, 5, MPI_SEEK_SET));
    GOOD(MPI_File_seek_shared(file, 6, MPI_SEEK_SET));
    untouched("nothing");
    wrong_on_one(0);
    wrong_on_one(check_ranks - 1);
    different_calls();
    mixed();
    split_pending();
    opening(name, 0);
    opening(name, check_ranks - 1);
    /* In atomic mode, too. */
    GOOD(MPI_File_set_atomicity(file, 1));
    wrong_on_one(check_ranks / 2);
    MPI_Type_free(&loose);
    GOOD(MPI_File_close(&file));
    if (check_rank == 0)
        GOOD(MPI_File_delete(name, MPI_INFO_NULL));
    return finish();
}

// covers: MPI_File_set_view MPI_File_get_view MPI_File_get_type_extent MPI_File_get_byte_offset MPI_File_get_info MPI_File_set_info
/*
 * Views that are special, MPI 5.0 sections 14.3 and 14.5: without data, not made of etypes, from where the shared file pointer is,
 * in external32; and hints, section 14.2.8, of which some say how data is moved, and none what lies in the file afterwards.
 */
#include "file.h"

static MPI_File file;

static void hint(const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    GOOD(MPI_File_set_info(file, info));
    MPI_Info_free(&info);
}

static int hint_is(const char *key, const char *value)
{
    MPI_Info used;
    char is[64] = "";
    int flag = 0, room = sizeof is;
    GOOD(MPI_File_get_info(file, &used));
    MPI_Info_get_string(used, key, &room, is, &flag);
    MPI_Info_free(&used);
    return flag && strcmp(is, value) == 0;
}

/* A view that shows nothing has no place to write to. */
static void empty(void)
{
    MPI_Datatype nothing;
    MPI_Status status;
    MPI_Offset size = -1;
    char one = 'x';
    GOOD(MPI_File_set_size(file, 0));
    MPI_Type_contiguous(0, MPI_CHAR, &nothing);
    MPI_Type_commit(&nothing);
    GOOD(MPI_File_set_view(file, 0, MPI_CHAR, nothing, "native", MPI_INFO_NULL));
    CHECK_CLASS(MPI_File_write_at(file, 0, &one, 1, MPI_CHAR, &status), MPI_ERR_IO);
    COUNT(status, MPI_CHAR, 0);
    CHECK_CLASS(MPI_File_write_at_all(file, 0, &one, 1, MPI_CHAR, &status), MPI_ERR_IO);
    GOOD(MPI_File_read_at(file, 0, &one, 1, MPI_CHAR, &status));
    COUNT(status, MPI_CHAR, 0);
    GOOD(MPI_File_get_size(file, &size));
    CHECK_EQ(size, 0);
    MPI_Type_free(&nothing);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void not_made_of_etypes(void)
{
    MPI_Datatype odd, halves;
    int lengths[] = {2, 2};
    MPI_Aint places[] = {0, 6};
    MPI_Type_contiguous(3, MPI_CHAR, &odd);
    MPI_Type_commit(&odd);
    MPI_Type_create_hindexed(2, lengths, places, MPI_CHAR, &halves);
    MPI_Type_commit(&halves);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, odd, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, halves, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    GOOD(MPI_File_set_view(file, 0, MPI_SHORT, halves, "native", MPI_INFO_NULL));
    MPI_Type_free(&odd);
    MPI_Type_free(&halves);
}

/* Every way to move pieces leaves the same file, and reads the same. */
static void pieces(const char *key, const char *value)
{
    enum { PIECES = 500, SIZE = 8, GAP = 5 };
    static char data[PIECES * SIZE], back[PIECES * SIZE], spread[2 * PIECES * SIZE], all[PIECES * (SIZE + GAP) * 8];
    MPI_Datatype cell, turn, loose;
    MPI_Status status;
    int own = (SIZE + GAP) * check_rank, whole = (SIZE + GAP) * check_ranks, ranks = check_ranks <= 8 ? check_ranks : 8;
    hint("romio_ds_read", "automatic");
    hint("romio_ds_write", "disable");
    hint(key, value);
    CHECK_MSG(hint_is(key, value), "hint %s is not %s", key, value);
    GOOD(MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
    GOOD(MPI_File_set_size(file, 0));
    /* Gaps that belong to nobody have something in them, which stays. */
    memset(all, 'g', sizeof all);
    if (check_rank == 0)
        GOOD(MPI_File_write_at(file, 0, all, PIECES * (SIZE + GAP) * ranks, MPI_CHAR, &status));
    GOOD(MPI_File_sync(file));
    MPI_Type_contiguous(SIZE, MPI_CHAR, &cell);
    MPI_Type_create_resized(cell, 0, whole, &turn);
    MPI_Type_commit(&turn);
    MPI_Type_create_resized(cell, 0, 2 * SIZE, &loose);
    MPI_Type_commit(&loose);
    for (int way = 0; way < 4; way++) {
        int gaps = way & 1, collective = way & 2;
        for (int i = 0; i < PIECES * SIZE; i++)
            spread[i / SIZE * 2 * SIZE + i % SIZE] = data[i] = (char)(i * 7 + check_rank * 3 + way);
        const char *from = gaps ? spread : data;
        int count = gaps ? PIECES : PIECES * SIZE;
        MPI_Datatype type = gaps ? loose : MPI_CHAR;
        GOOD(MPI_File_set_view(file, own, MPI_CHAR, turn, "native", MPI_INFO_NULL));
        if (check_rank < 8 || collective) {
            if (collective)
                GOOD(MPI_File_write_at_all(file, 0, from, check_rank < 8 ? count : 0, type, &status));
            else
                GOOD(MPI_File_write_at(file, 0, from, count, type, &status));
        }
        GOOD(MPI_File_sync(file));
        memset(back, 0, sizeof back);
        memset(spread, 's', sizeof spread);
        char *to = gaps ? spread : back;
        if (collective)
            GOOD(MPI_File_read_at_all(file, 0, to, count, type, &status));
        else
            GOOD(MPI_File_read_at(file, 0, to, count, type, &status));
        if (check_rank < 8)
            for (int i = 0; i < PIECES * SIZE; i++)
                CHECK_EQ(gaps ? spread[i / SIZE * 2 * SIZE + i % SIZE] : back[i], data[i]);
        for (int i = 0; gaps && i < PIECES; i++)
            CHECK_EQ(spread[i * 2 * SIZE + SIZE], 's');
        GOOD(MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
        GOOD(MPI_File_read_at(file, 0, all, PIECES * (SIZE + GAP) * ranks, MPI_CHAR, &status));
        for (int i = 0; i < PIECES * (SIZE + GAP) * ranks; i++)
            if (i % (SIZE + GAP) >= SIZE && i / (SIZE + GAP) % check_ranks < 8)
                CHECK_EQ(all[i], 'g');
        MPI_Barrier(MPI_COMM_WORLD);
    }
    /* Over the end of the file: what is there counts. */
    GOOD(MPI_File_set_size(file, (MPI_Offset)whole * 10 + 3));
    GOOD(MPI_File_set_view(file, 0, MPI_CHAR, turn, "native", MPI_INFO_NULL));
    GOOD(MPI_File_read_at(file, 0, back, PIECES * SIZE, MPI_CHAR, &status));
    COUNT(status, MPI_CHAR, 10 * SIZE + 3);
    MPI_Type_free(&cell);
    MPI_Type_free(&turn);
    MPI_Type_free(&loose);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Big-endian in the file, whatever memory has. */
static void external(void)
{
    int data[] = {1, 0x01020304, -2, 77}, back[] = {0, 0, 0, 0}, spread[] = {0, 0, 0, 0, 0, 0, 0, 0};
    double real = 1.5, is = 0;
    unsigned char bytes[16];
    char name[MPI_MAX_DATAREP_STRING] = "";
    MPI_Aint extent = -1;
    MPI_Offset displacement;
    MPI_Datatype etype, filetype, loose;
    MPI_Status status;
    MPI_Offset mine = 4 * check_rank;
    GOOD(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    GOOD(MPI_File_set_size(file, 0));
    GOOD(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
    GOOD(MPI_File_get_view(file, &displacement, &etype, &filetype, name));
    CHECK(strcmp(name, "external32") == 0);
    GOOD(MPI_File_get_type_extent(file, MPI_DOUBLE, &extent));
    CHECK_EQ(extent, 8);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &loose);
    MPI_Type_commit(&loose);
    GOOD(MPI_File_write_at_all(file, mine, data, 4, MPI_INT, &status));
    COUNT(status, MPI_INT, 4);
    GOOD(MPI_File_sync(file));
    GOOD(MPI_File_read_at_all(file, mine, back, 4, MPI_INT, &status));
    COUNT(status, MPI_INT, 4);
    CHECK(memcmp(data, back, sizeof data) == 0);
    GOOD(MPI_File_read_at(file, mine, spread, 4, loose, &status));
    for (int i = 0; i < 8; i++)
        CHECK_EQ(spread[i], i % 2 ? 0 : data[i / 2]);
    /* The end of the file: elements behind it stay. */
    back[2] = back[3] = 5;
    GOOD(MPI_File_read_at(file, 4 * check_ranks - 2, back, 4, MPI_INT, &status));
    COUNT(status, MPI_INT, 2);
    CHECK(back[0] == -2 && back[1] == 77 && back[2] == 5 && back[3] == 5);
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    GOOD(MPI_File_read_at(file, 4 * mine, bytes, 16, MPI_BYTE, &status));
    static const unsigned char want[] = {0, 0, 0, 1, 1, 2, 3, 4, 255, 255, 255, 254, 0, 0, 0, 77};
    CHECK(memcmp(bytes, want, sizeof want) == 0);
    GOOD(MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "external32", MPI_INFO_NULL));
    GOOD(MPI_File_write_ordered(file, &real, 1, MPI_DOUBLE, &status));
    GOOD(MPI_File_sync(file));
    GOOD(MPI_File_read_at(file, check_rank, &is, 1, MPI_DOUBLE, &status));
    CHECK(is == real);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_free(&loose);
}

/* A file without random access goes on where it is. */
static void current(const char *name)
{
    char record[8];
    MPI_Offset place = -1, displacement = -1;
    MPI_Datatype etype, filetype;
    char datarep[MPI_MAX_DATAREP_STRING];
    MPI_Status status;
    CHECK_CLASS(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    GOOD(MPI_File_close(&file));
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &file));
    GOOD(MPI_File_set_view(file, 3, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
    memset(record, 'a', sizeof record);
    GOOD(MPI_File_write_shared(file, record, 8, MPI_CHAR, &status));
    GOOD(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
    GOOD(MPI_File_get_view(file, &displacement, &etype, &filetype, datarep));
    CHECK_EQ(displacement, 3 + 8 * check_ranks);
    /* What a sequential file has not (sections 14.2.4, 14.2.5 and 14.4.4). */
    CHECK_CLASS(MPI_File_get_position_shared(file, &place), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_set_size(file, 5), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_preallocate(file, 5), MPI_ERR_UNSUPPORTED_OPERATION);
    GOOD(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "file_views");
    const char *name = file_at("data");
    int library_was = library_is("ompi-rs");
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    empty();
    not_made_of_etypes();
    static const char *const hints[][2] = {
        {"romio_ds_read", "disable"},   {"romio_ds_read", "enable"},   {"romio_ds_write", "enable"}, {"romio_cb_write", "disable"},
        {"romio_cb_write", "enable"},   {"romio_cb_read", "enable"},   {"cb_nodes", "1"},            {"cb_buffer_size", "4096"},
        {"ind_rd_buffer_size", "100"},  {"ind_wr_buffer_size", "100"}, {"romio_ds_write", "enable"}, {"collective_buffering", "true"},
        {"collective_buffering", "false"}, {"access_style", "write_once,random"}, {"access_style", "read_mostly,sequential"},
        {"romio_cb_write", "automatic"}, {"striping_unit", "65536"}, {"ompio_fcoll", "dynamic"},
        {"ompio_fcoll", "two_phase"}, {"ompio_fcoll", "individual"}};
    /* One rank has nobody to gather for: the components that do it are not there. */
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (check_ranks > 1 || strcmp(hints[i][0], "ompio_fcoll") != 0)
            pieces(hints[i][0], hints[i][1]);
    /* Nobody else has it open: gaps are written back. */
    GOOD(MPI_File_close(&file));
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN, MPI_INFO_NULL, &file));
    pieces("romio_ds_write", "automatic");
    external();
    current(name);
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    /* Not closed: it goes nevertheless, when MPI ends. */
    MPI_Finalize();
    if (check_rank == 0 && library_was)
        CHECK(access(name, F_OK) != 0);
    return verdict();
}

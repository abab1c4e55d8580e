// covers: MPI_File_read_at MPI_File_write_at MPI_File_read_at_all MPI_File_write_at_all MPI_File_iread_at MPI_File_iwrite_at MPI_File_iread_at_all MPI_File_iwrite_at_all MPI_File_read MPI_File_write MPI_File_read_all MPI_File_write_all MPI_File_iread MPI_File_iwrite MPI_File_iread_all MPI_File_iwrite_all MPI_File_seek MPI_File_get_position MPI_File_get_byte_offset MPI_File_set_view MPI_File_get_view MPI_File_get_type_extent
/*
 * Reading and writing files, MPI 5.0 sections 14.3 and 14.4: offsets, file pointers, views, counts at the end of the file,
 * each as blocking, nonblocking and collective call.
 */
#include "file.h"

enum { BLOCK = 1000, INTS = 24 };

static MPI_File file;

/* All ranks see what all have written. */
static void settle(void)
{
    GOOD(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_sync(file));
}

static void finish_one(MPI_Request *request, MPI_Status *status)
{
    MPI_Wait(request, status);
    CHECK(*request == MPI_REQUEST_NULL);
}

/* One way to write and one to read. */
static void put_at(int how, MPI_Offset at, const void *from, int count, MPI_Datatype type, MPI_Status *status)
{
    MPI_Request request;
    switch (how % 4) {
    case 0: GOOD(MPI_File_write_at(file, at, from, count, type, status)); break;
    case 1: GOOD(MPI_File_write_at_all(file, at, from, count, type, status)); break;
    case 2: GOOD(MPI_File_iwrite_at(file, at, from, count, type, &request)); finish_one(&request, status); break;
    case 3: GOOD(MPI_File_iwrite_at_all(file, at, from, count, type, &request)); finish_one(&request, status); break;
    }
}

static void get_at(int how, MPI_Offset at, void *to, int count, MPI_Datatype type, MPI_Status *status)
{
    MPI_Request request;
    switch (how % 4) {
    case 0: GOOD(MPI_File_read_at(file, at, to, count, type, status)); break;
    case 1: GOOD(MPI_File_read_at_all(file, at, to, count, type, status)); break;
    case 2: GOOD(MPI_File_iread_at(file, at, to, count, type, &request)); finish_one(&request, status); break;
    case 3: GOOD(MPI_File_iread_at_all(file, at, to, count, type, &request)); finish_one(&request, status); break;
    }
}

static void put_next(int how, const void *from, int count, MPI_Datatype type, MPI_Status *status)
{
    MPI_Request request;
    switch (how % 4) {
    case 0: GOOD(MPI_File_write(file, from, count, type, status)); break;
    case 1: GOOD(MPI_File_write_all(file, from, count, type, status)); break;
    case 2: GOOD(MPI_File_iwrite(file, from, count, type, &request)); finish_one(&request, status); break;
    case 3: GOOD(MPI_File_iwrite_all(file, from, count, type, &request)); finish_one(&request, status); break;
    }
}

static void get_next(int how, void *to, int count, MPI_Datatype type, MPI_Status *status)
{
    MPI_Request request;
    switch (how % 4) {
    case 0: GOOD(MPI_File_read(file, to, count, type, status)); break;
    case 1: GOOD(MPI_File_read_all(file, to, count, type, status)); break;
    case 2: GOOD(MPI_File_iread(file, to, count, type, &request)); finish_one(&request, status); break;
    case 3: GOOD(MPI_File_iread_all(file, to, count, type, &request)); finish_one(&request, status); break;
    }
}

/* Blocks of bytes at offsets; each rank reads what another one wrote. */
static void offsets(int how)
{
    unsigned char mine[BLOCK], other[BLOCK + 1];
    MPI_Status status;
    int from = (check_rank + 1) % check_ranks;
    fill(mine, BLOCK, check_rank + how);
    put_at(how, (MPI_Offset)check_rank * BLOCK, mine, BLOCK, MPI_BYTE, &status);
    COUNT(status, MPI_BYTE, BLOCK);
    settle();
    memset(other, 0, sizeof other);
    get_at(how, (MPI_Offset)from * BLOCK, other, BLOCK, MPI_BYTE, &status);
    COUNT(status, MPI_BYTE, BLOCK);
    CHECK_BYTES(other, BLOCK, from + how);
    CHECK_EQ(other[BLOCK], 0);
    put_at(how, 0, NULL, 0, MPI_BYTE, &status);
    COUNT(status, MPI_BYTE, 0);
    /* At the end of the file and behind it. */
    MPI_Offset end = (MPI_Offset)check_ranks * BLOCK;
    memset(other, 99, sizeof other);
    get_at(how, end - 10, other, 50, MPI_BYTE, &status);
    COUNT(status, MPI_BYTE, 10);
    CHECK_EQ(other[10], 99);
    get_at(how, end + 10, other, 50, MPI_BYTE, &status);
    COUNT(status, MPI_BYTE, 0);
    get_at(how, end - 10, other, 50, MPI_INT, &status);
    COUNT(status, MPI_INT, MPI_UNDEFINED);
    CHECK_EQ(other[10], 99);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The pointer of each process, in the rows of a matrix: every process has every n-th group of three ints. */
static void pointers(int how)
{
    int data[INTS + 1], raw[3];
    MPI_Datatype row, got_etype, got_filetype;
    MPI_Offset place = -1;
    MPI_Status status;
    char name[MPI_MAX_DATAREP_STRING];
    int integers = -1, addresses, datatypes, combiner = -1;
    MPI_Datatype group;
    MPI_Type_contiguous(3, MPI_INT, &group);
    MPI_Type_create_resized(group, 0, (MPI_Aint)(3 * sizeof(int)) * check_ranks, &row);
    MPI_Type_commit(&row);
    MPI_Type_free(&group);
    MPI_Offset disp = 16 + (MPI_Offset)(3 * sizeof(int)) * check_rank;
    GOOD(MPI_File_set_view(file, disp, MPI_INT, row, "native", MPI_INFO_NULL));
    GOOD(MPI_File_get_view(file, &place, &got_etype, &got_filetype, name));
    CHECK_EQ(place, disp);
    CHECK(got_etype == MPI_INT && strcmp(name, "native") == 0);
    MPI_Type_get_envelope(got_filetype, &integers, &addresses, &datatypes, &combiner);
    CHECK_EQ(combiner, MPI_COMBINER_RESIZED);
    MPI_Type_free(&got_filetype);
    MPI_Type_free(&row); /* the view keeps it */
    GOOD(MPI_File_get_position(file, &place));
    CHECK_EQ(place, 0);
    for (int i = 0; i < INTS; i++)
        data[i] = 1000 * check_rank + i;
    /* In pieces that do not end with the groups. */
    for (int i = 0, step = 1; i < INTS; i += step, step = i + 5 > INTS ? INTS - i : 5) {
        put_next(how, data + i, step, MPI_INT, &status);
        COUNT(status, MPI_INT, step);
        GOOD(MPI_File_get_position(file, &place));
        CHECK_EQ(place, i + step);
    }
    settle();
    GOOD(MPI_File_get_byte_offset(file, 7, &place));
    CHECK_EQ(place, disp + 2 * (MPI_Offset)(3 * sizeof(int)) * check_ranks + (MPI_Offset)sizeof(int));
    GOOD(MPI_File_seek(file, 0, MPI_SEEK_SET));
    memset(data, 0, sizeof data);
    get_next(how, data, INTS, MPI_INT, &status);
    COUNT(status, MPI_INT, INTS);
    for (int i = 0; i < INTS; i++)
        CHECK_EQ(data[i], 1000 * check_rank + i);
    /* The end of the file is where the last process's data ends; for the others that is where theirs does. */
    GOOD(MPI_File_seek(file, -2, MPI_SEEK_END));
    GOOD(MPI_File_get_position(file, &place));
    CHECK_EQ(place, INTS - 2);
    data[2] = -1;
    get_next(how, data, INTS, MPI_INT, &status);
    COUNT(status, MPI_INT, 2);
    CHECK(data[1] == 1000 * check_rank + INTS - 1 && data[2] == -1);
    GOOD(MPI_File_seek(file, 5, MPI_SEEK_SET));
    GOOD(MPI_File_seek(file, -3, MPI_SEEK_CUR));
    GOOD(MPI_File_get_position(file, &place));
    CHECK_EQ(place, 2);
    CHECK_CLASS(MPI_File_seek(file, -3, MPI_SEEK_CUR), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_seek(file, 0, 99), MPI_ERR_ARG);
    GOOD(MPI_File_get_position(file, &place));
    CHECK_EQ(place, 2);
    /* And where all of that lies. */
    GOOD(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "internal", MPI_INFO_NULL));
    int other = (check_rank + 1) % check_ranks, turn = 4;
    GOOD(MPI_File_read_at(file, 16 + (MPI_Offset)sizeof raw * (turn * check_ranks + other), raw, 3, MPI_INT, &status));
    for (int i = 0; i < 3; i++)
        CHECK_EQ(raw[i], 1000 * other + 3 * turn + i);
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
}

/* Neither memory nor file in one piece: columns of a matrix into a view of blocks of different lengths. */
static void gaps(int how)
{
    enum { ROWS = 30, COLUMNS = 4 };
    short matrix[ROWS][COLUMNS], back[ROWS][COLUMNS];
    MPI_Datatype column, blocks;
    MPI_Status status;
    int lengths[] = {2, 1, 0, 3}, starts[] = {1, 5, 9, 9};
    MPI_Type_vector(ROWS, 1, COLUMNS, MPI_SHORT, &column);
    MPI_Type_commit(&column);
    MPI_Type_indexed(4, lengths, starts, MPI_SHORT, &blocks);
    MPI_Type_commit(&blocks);
    MPI_Offset region = (MPI_Offset)100000 * (check_rank + 1);
    GOOD(MPI_File_set_view(file, region, MPI_SHORT, blocks, "native", MPI_INFO_NULL));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            matrix[i][j] = (short)(100 * i + j);
    put_at(how, 4, &matrix[0][2], 1, column, &status);
    COUNT(status, column, 1);
    COUNT(status, MPI_SHORT, ROWS);
    memset(back, 0, sizeof back);
    get_at(how, 4, &back[0][1], 1, column, &status);
    COUNT(status, column, 1);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            CHECK_EQ(back[i][j], j == 1 ? 100 * i + 2 : 0);
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_set_view(file, region, MPI_SHORT, MPI_SHORT, "native", MPI_INFO_NULL));
    /* The view's places in order: 1 2 5 9 10 11, then 12 more. Offset 4 is place 10. */
    static const int places[] = {1, 2, 5, 9, 10, 11};
    for (int i = 0; i < ROWS; i++) {
        short one = -1;
        MPI_Offset place = places[(i + 4) % 6] + 11 * ((i + 4) / 6); /* the extent of blocks is that from 1 to 12 */
        GOOD(MPI_File_read_at(file, place, &one, 1, MPI_SHORT, &status));
        CHECK_EQ(one, 100 * i + 2);
    }
    MPI_Type_free(&column);
    MPI_Type_free(&blocks);
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
}

/* Turns of the filetype that reach over the next ones: what is moved last lies before what is moved first. */
static void turns(int how)
{
    enum { REGION = 400 };
    int out[] = {7, 8}, back[] = {-1, -1, -1};
    MPI_Datatype turn = overlapping_turns();
    MPI_Status status;
    GOOD(MPI_File_set_view(file, (MPI_Offset)REGION * check_rank, MPI_INT, turn, "native", MPI_INFO_NULL));
    put_at(how, 1, out, 2, MPI_INT, &status); /* at 100 and 4 */
    COUNT(status, MPI_INT, 2);
    get_at(how, 0, back, 3, MPI_INT, &status); /* at 0, 100 and 4 */
    COUNT(status, MPI_INT, 3);
    CHECK(back[0] == 0 && back[1] == 7 && back[2] == 8);
    get_at(how, 1, back, 2, MPI_INT, &status);
    COUNT(status, MPI_INT, 2);
    CHECK(back[0] == 7 && back[1] == 8);
    /* The end is the first etype that does not begin within the file, wherever the next one begins. */
    MPI_Offset size = -1, end = 0, got = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_get_size(file, &size));
    while (REGION * check_rank + end / 2 * 4 + end % 2 * 100 < size)
        end++;
    GOOD(MPI_File_seek(file, 0, MPI_SEEK_END));
    GOOD(MPI_File_get_position(file, &got));
    CHECK_EQ(got, end);
    MPI_Type_free(&turn);
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
}

static void refusals(const char *name)
{
    MPI_Datatype type, uncommitted;
    MPI_Status status;
    MPI_Aint extent = -1;
    int two[2] = {0, 0};
    GOOD(MPI_File_get_type_extent(file, MPI_DOUBLE, &extent));
    CHECK_EQ(extent, 8);
    CHECK_CLASS(MPI_File_set_view(file, -5, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "nothing", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_SHORT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_DATATYPE_NULL, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, uncommitted, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_File_set_view(file, 0, uncommitted, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    MPI_Type_free(&uncommitted);
    for (int which = 0; which < 3; which++) { /* backwards, negative, overlapping */
        int lengths[] = {2, 2}, starts[3][2] = {{5, 0}, {-3, 1}, {0, 1}};
        MPI_Type_indexed(2, lengths, starts[which], MPI_INT, &type);
        MPI_Type_commit(&type);
        CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL), MPI_ERR_ARG);
        MPI_Type_free(&type);
    }
    if (check_ranks > 1) {
        MPI_Datatype other = check_rank == 0 ? MPI_INT : MPI_DOUBLE;
        CHECK_CLASS(MPI_File_set_view(file, 0, other, other, "native", MPI_INFO_NULL), MPI_ERR_NOT_SAME);
    }
    GOOD(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_CLASS(MPI_File_write_at(file, 0, two, 3, MPI_SHORT, &status), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_write_at(file, -1, two, 1, MPI_INT, &status), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_write_at(file, 0, two, -1, MPI_INT, &status), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_File_write_at(file, 0, NULL, 1, MPI_INT, &status), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_File_write_at(file, 0x7fffffffffffffff, two, 1, MPI_INT, &status), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_read(MPI_FILE_NULL, two, 1, MPI_INT, &status), MPI_ERR_FILE);
    GOOD(MPI_File_close(&file));
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    CHECK_CLASS(MPI_File_write(file, two, 1, MPI_INT, &status), MPI_ERR_READ_ONLY);
    int lengths[] = {2, 2}, starts[] = {0, 1};
    MPI_Type_indexed(2, lengths, starts, MPI_INT, &type); /* what is read may overlap */
    MPI_Type_commit(&type);
    GOOD(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL));
    int four[4], whole[3];
    GOOD(MPI_File_read_at(file, 0, four, 4, MPI_INT, &status));
    GOOD(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    GOOD(MPI_File_read_at(file, 0, whole, 3, MPI_INT, &status));
    CHECK(four[0] == whole[0] && four[1] == whole[1] && four[2] == whole[1] && four[3] == whole[2]);
    MPI_Type_free(&type);
    GOOD(MPI_File_close(&file));
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY | MPI_MODE_APPEND, MPI_INFO_NULL, &file));
    CHECK_CLASS(MPI_File_read(file, two, 1, MPI_INT, &status), MPI_ERR_ACCESS);
    MPI_Offset size = -1, place = -1;
    GOOD(MPI_File_get_size(file, &size));
    GOOD(MPI_File_get_position(file, &place));
    CHECK_EQ(place, size);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "file_access");
    const char *name = file_at("data");
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    for (int how = 0; how < 4; how++)
        for (int atomic = 0; atomic < 2; atomic++) {
            GOOD(MPI_File_set_atomicity(file, atomic));
            GOOD(MPI_File_set_size(file, 0));
            offsets(how);
            GOOD(MPI_File_set_size(file, 0));
            pointers(how);
            GOOD(MPI_File_set_size(file, 0));
            gaps(how);
            GOOD(MPI_File_set_size(file, 0));
            turns(how);
        }
    refusals(name);
    GOOD(MPI_File_close(&file));
    if (check_rank == 0)
        GOOD(MPI_File_delete(name, MPI_INFO_NULL));
    return finish();
}

// covers: MPI_Register_datarep MPI_Register_datarep_c MPI_File_set_view MPI_File_get_view MPI_File_get_type_extent MPI_File_get_type_extent_c MPI_File_get_byte_offset
/*
 * Representations of the program's own, MPI 5.0 section 14.5.3: "digits" has each number as decimal digits, 12 for an int and 5 for a
 * short, so that every length and place in the file differs from memory's; "half" converts what is read only; "broken" fails. Then
 * external32 where items are shorter than in memory (section 14.5.2).
 */
#include "file.h"

enum { INT_DIGITS = 12, SHORT_DIGITS = 5, STATE = 4711 };

static MPI_File file;
static int state = STATE, asked, converted, refuse;

static int digits_extent(MPI_Datatype datatype, MPI_Aint *extent, void *extra)
{
    CHECK(extra == &state);
    asked++;
    *extent = datatype == MPI_INT ? INT_DIGITS : datatype == MPI_SHORT ? SHORT_DIGITS : datatype == MPI_BYTE ? 1 : 0;
    return MPI_SUCCESS;
}

/* Where item `item` of the tiled datatype lies: ints in a row, or pairs of a short and an int. */
static char *place_of(char *user, MPI_Datatype datatype, long long item, int *is_short)
{
    MPI_Aint lb, extent;
    int integers, addresses, types, combiner, size;
    MPI_Type_get_envelope(datatype, &integers, &addresses, &types, &combiner);
    MPI_Type_get_extent(datatype, &lb, &extent);
    MPI_Type_size(datatype, &size);
    if (combiner == MPI_COMBINER_STRUCT) {
        *is_short = item % 2 == 0;
        return user + item / 2 * extent + (*is_short ? 0 : 4);
    }
    *is_short = 0;
    return user + item / (size / 4) * extent + item % (size / 4) * 4;
}

static int digits(int writes, void *user, MPI_Datatype datatype, long long count, char *in_file, MPI_Offset position, void *extra)
{
    CHECK(extra == &state);
    converted++;
    if (refuse)
        return MPI_ERR_OTHER;
    for (long long i = 0; i < count; i++) {
        int is_short, length, number = 0;
        char *place = place_of(user, datatype, position + i, &is_short), text[32];
        short small;
        length = is_short ? SHORT_DIGITS : INT_DIGITS;
        if (writes) {
            memcpy(&small, place, sizeof small);
            if (is_short)
                number = small;
            else
                memcpy(&number, place, sizeof number);
            snprintf(text, sizeof text, "%0*d", length, number);
            memcpy(in_file, text, (size_t)length);
        } else {
            memcpy(text, in_file, (size_t)length);
            text[length] = 0;
            number = atoi(text);
            small = (short)number;
            if (is_short)
                memcpy(place, &small, sizeof small);
            else
                memcpy(place, &number, sizeof number);
        }
        in_file += length;
    }
    return MPI_SUCCESS;
}

static int digits_read(void *user, MPI_Datatype type, int count, void *in_file, MPI_Offset position, void *extra)
{
    return digits(0, user, type, count, in_file, position, extra);
}

static int digits_write(void *user, MPI_Datatype type, int count, void *in_file, MPI_Offset position, void *extra)
{
    return digits(1, user, type, count, in_file, position, extra);
}

static int digits_read_c(void *user, MPI_Datatype type, MPI_Count count, void *in_file, MPI_Offset position, void *extra)
{
    return digits(0, user, type, count, in_file, position, extra);
}

static int digits_write_c(void *user, MPI_Datatype type, MPI_Count count, void *in_file, MPI_Offset position, void *extra)
{
    return digits(1, user, type, count, in_file, position, extra);
}

/* What the file has from a byte on. */
static int file_has(MPI_Offset at, const char *text)
{
    char is[256] = "";
    MPI_Status status;
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, at, is, (int)strlen(text), MPI_BYTE, &status);
    CHECK_MSG(strcmp(is, text) == 0, "byte %d: expected %s, got %s", (int)at, text, is);
    return strcmp(is, text) == 0;
}

static void names(void)
{
    char longest[MPI_MAX_DATAREP_STRING + 8];
    memset(longest, 'n', sizeof longest);
    longest[MPI_MAX_DATAREP_STRING - 1] = 0;
    GOOD(MPI_Register_datarep(longest, MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, digits_extent, &state));
    longest[MPI_MAX_DATAREP_STRING - 1] = 'n';
    longest[MPI_MAX_DATAREP_STRING] = 0;
    CHECK_CLASS(MPI_Register_datarep(longest, digits_read, digits_write, digits_extent, &state), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Register_datarep("", digits_read, digits_write, digits_extent, &state), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Register_datarep("more", digits_read, digits_write, NULL, &state), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Register_datarep("native", digits_read, digits_write, digits_extent, &state), MPI_ERR_DUP_DATAREP);
    CHECK_CLASS(MPI_Register_datarep("digits", digits_read, digits_write, digits_extent, &state), MPI_ERR_DUP_DATAREP);
    CHECK_CLASS(MPI_Register_datarep_c("digits", digits_read_c, digits_write_c, digits_extent, &state), MPI_ERR_DUP_DATAREP);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "unheard", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, check_rank || check_ranks == 1 ? "digits" : "native", MPI_INFO_NULL),
                check_ranks > 1 ? MPI_ERR_NOT_SAME : MPI_SUCCESS);
}

/* Every rank's ints, one behind the other. */
static void row(const char *datarep)
{
    enum { EACH = 5 };
    int data[EACH], back[EACH + 1], spread[2 * EACH], count = -1;
    char name[MPI_MAX_DATAREP_STRING] = "", text[16];
    MPI_Aint extent = -1;
    MPI_Count large = -1;
    MPI_Offset place = -1, size = -1, mine = EACH * check_rank;
    MPI_Datatype etype, filetype, loose, five;
    MPI_Status status;
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_set_size(file, 0));
    asked = converted = 0;
    GOOD(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, datarep, MPI_INFO_NULL));
    GOOD(MPI_File_get_view(file, &place, &etype, &filetype, name));
    CHECK(strcmp(name, datarep) == 0);
    CHECK_EQ(asked + converted, 0); /* Only access and MPI_File_get_type_extent call them. */
    MPI_Type_contiguous(5, MPI_INT, &five);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &loose);
    MPI_Type_commit(&loose);
    GOOD(MPI_File_get_type_extent(file, five, &extent));
    CHECK_EQ(extent, 5 * INT_DIGITS);
    GOOD(MPI_File_get_type_extent_c(file, five, &large));
    CHECK_EQ(large, 5 * INT_DIGITS);
    CHECK_CLASS(MPI_File_get_type_extent(file, MPI_DOUBLE, &extent), MPI_ERR_CONVERSION);
    for (int i = 0; i < EACH; i++)
        data[i] = 1000 * check_rank + 7 * i - 3;
    GOOD(MPI_File_write_at_all(file, mine, data, EACH, MPI_INT, &status));
    COUNT(status, MPI_INT, EACH);
    CHECK(converted > 0);
    GOOD(MPI_File_sync(file));
    GOOD(MPI_File_get_size(file, &size));
    CHECK_EQ(size, EACH * INT_DIGITS * check_ranks);
    GOOD(MPI_File_get_byte_offset(file, 3, &place));
    CHECK_EQ(place, 3 * INT_DIGITS);
    memset(back, 0, sizeof back);
    GOOD(MPI_File_read_at_all(file, mine, back, EACH, MPI_INT, &status));
    COUNT(status, MPI_INT, EACH);
    CHECK(memcmp(data, back, sizeof data) == 0);
    /* Memory with gaps, and a request. */
    memset(spread, 0, sizeof spread);
    GOOD(MPI_File_iread_at(file, mine, spread, EACH, loose, &request));
    MPI_Wait(&request, &status);
    for (int i = 0; i < 2 * EACH; i++)
        CHECK_EQ(spread[i], i % 2 ? 0 : data[i / 2]);
    /* Over the end of the file: whole items count. */
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_set_size(file, (EACH * check_ranks - 1) * INT_DIGITS + 4));
    back[EACH - 1] = back[EACH] = 77;
    GOOD(MPI_File_read_at(file, EACH * (check_ranks - 1), back, EACH + 1, MPI_INT, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQ(count, EACH - 1);
    CHECK(back[EACH - 1] == 77 && back[EACH] == 77);
    GOOD(MPI_File_seek(file, -1, MPI_SEEK_END));
    GOOD(MPI_File_get_position(file, &place));
    CHECK_EQ(place, EACH * check_ranks - 1);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(text, sizeof text, "%0*d", INT_DIGITS, data[1]);
    file_has((mine + 1) * INT_DIGITS, text);
    MPI_Type_free(&loose);
    MPI_Type_free(&five);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Pairs of a short and an int that the ranks write in turn: displacements in elements grow with them, those in bytes are the file's. */
static void pairs(void)
{
    enum { PAIRS = 40, PAIR = SHORT_DIGITS + INT_DIGITS };
    struct pair { short small; int number; } data[PAIRS], back[PAIRS];
    int lengths[] = {1, 1};
    MPI_Aint in_memory[] = {0, 4}, in_file[] = {0, SHORT_DIGITS};
    MPI_Datatype types[] = {MPI_SHORT, MPI_INT}, memory, etype, turn;
    MPI_Status status;
    char text[64];
    GOOD(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    GOOD(MPI_File_set_size(file, 0));
    MPI_Type_create_struct(2, lengths, in_memory, types, &memory);
    MPI_Type_create_struct(2, lengths, in_file, types, &etype);
    MPI_Type_create_resized(etype, 0, PAIR * check_ranks, &turn);
    MPI_Type_commit(&memory);
    MPI_Type_commit(&etype);
    MPI_Type_commit(&turn);
    for (int i = 0; i < PAIRS; i++)
        data[i] = (struct pair){.small = (short)(check_rank * 100 + i), .number = 5 * i - check_rank};
    GOOD(MPI_File_set_view(file, PAIR * check_rank, etype, turn, "digits", MPI_INFO_NULL));
    GOOD(MPI_File_write_all(file, data, PAIRS, memory, &status));
    COUNT(status, memory, PAIRS);
    GOOD(MPI_File_sync(file));
    memset(back, 0, sizeof back);
    GOOD(MPI_File_seek(file, 0, MPI_SEEK_SET));
    GOOD(MPI_File_read_all(file, back, PAIRS, memory, &status));
    COUNT(status, memory, PAIRS);
    for (int i = 0; i < PAIRS; i++)
        CHECK(back[i].small == data[i].small && back[i].number == data[i].number);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(text, sizeof text, "%0*d%0*d", SHORT_DIGITS, data[9].small, INT_DIGITS, data[9].number);
    file_has((9 * check_ranks + check_rank) * PAIR, text);
    MPI_Type_free(&memory);
    MPI_Type_free(&etype);
    MPI_Type_free(&turn);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Every third int, by a vector: its stride counts ints of the file. */
static void strided(void)
{
    int data[] = {11, 22, 33}, back[] = {0, 0, 0};
    MPI_Datatype third;
    MPI_Status status;
    MPI_Offset place = -1;
    GOOD(MPI_File_set_size(file, 0));
    MPI_Type_vector(3, 1, 3, MPI_INT, &third);
    MPI_Type_commit(&third);
    GOOD(MPI_File_set_view(file, 0, MPI_INT, third, "digits", MPI_INFO_NULL));
    if (check_rank == 0)
        GOOD(MPI_File_write(file, data, 3, MPI_INT, &status));
    GOOD(MPI_File_get_byte_offset(file, 2, &place));
    CHECK_EQ(place, 6 * INT_DIGITS);
    GOOD(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_read_at(file, 0, back, 3, MPI_INT, &status));
    CHECK(memcmp(data, back, sizeof data) == 0);
    file_has(6 * INT_DIGITS, "000000000033");
    MPI_Type_free(&third);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One way only is converted: the other one sees bytes of memory. */
static void half(void)
{
    int data[] = {5, -6}, back[] = {0, 0};
    MPI_Status status;
    GOOD(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    GOOD(MPI_File_set_size(file, 0));
    GOOD(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "half", MPI_INFO_NULL));
    converted = 0;
    GOOD(MPI_File_write_at_all(file, 2 * check_rank, data, 2, MPI_INT, &status));
    COUNT(status, MPI_INT, 2);
    CHECK_EQ(converted, 0);
    GOOD(MPI_File_sync(file));
    GOOD(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    GOOD(MPI_File_read_at(file, 2 * check_rank, back, 2, MPI_INT, &status));
    CHECK(memcmp(data, back, sizeof data) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    if (check_rank == 0)
        GOOD(MPI_File_write_at(file, 0, "000000000012-00000000003", 24, MPI_BYTE, &status));
    GOOD(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "half", MPI_INFO_NULL));
    GOOD(MPI_File_read_at(file, 0, back, 2, MPI_INT, &status));
    CHECK(back[0] == 12 && back[1] == -3 && converted > 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A function that fails on one rank: that rank has the class, and a collective write is done by nobody. */
static void refused(void)
{
    int data[] = {1, 2}, last = check_rank == check_ranks - 1;
    MPI_Offset size = -1;
    MPI_Status status;
    GOOD(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "digits", MPI_INFO_NULL));
    GOOD(MPI_File_set_size(file, 0));
    refuse = last;
    CHECK_CLASS(MPI_File_write_at_all(file, 2 * check_rank, data, 2, MPI_INT, &status), MPI_ERR_CONVERSION);
    COUNT(status, MPI_INT, 0);
    GOOD(MPI_File_get_size(file, &size));
    CHECK_EQ(size, 0);
    refuse = 0;
    GOOD(MPI_File_write_at_all(file, 2 * check_rank, data, 2, MPI_INT, &status));
    GOOD(MPI_File_sync(file));
    refuse = last;
    CHECK_CLASS(MPI_File_read_at_all(file, 2 * check_rank, data, 2, MPI_INT, &status), last ? MPI_ERR_CONVERSION : MPI_SUCCESS);
    COUNT(status, MPI_INT, last ? 0 : 2);
    refuse = 0;
    CHECK_CLASS(MPI_File_write_at(file, 0, data, 1, MPI_DOUBLE, &status), MPI_ERR_CONVERSION);
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "digits", MPI_INFO_NULL));
    CHECK_CLASS(MPI_File_read_at(file, 0, data, 1, MPI_INT, &status), MPI_ERR_CONVERSION);
    GOOD(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
}

/* MPI_LONG has four bytes in external32, and nothing is padded. */
static void narrow(void)
{
    long data[] = {1, -2, 0x01020304}, back[] = {9, 9, 9};
    unsigned char bytes[12];
    static const unsigned char want[] = {0, 0, 0, 1, 255, 255, 255, 254, 1, 2, 3, 4};
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, 4}, extent = -1;
    MPI_Datatype types[] = {MPI_LONG, MPI_CHAR}, padded;
    MPI_Offset size = -1;
    MPI_Status status;
    GOOD(MPI_File_set_size(file, 0));
    GOOD(MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL));
    GOOD(MPI_File_get_type_extent(file, MPI_LONG, &extent));
    CHECK_EQ(extent, 4);
    MPI_Type_create_struct(2, lengths, places, types, &padded);
    GOOD(MPI_File_get_type_extent(file, padded, &extent));
    CHECK_EQ(extent, 5);
    GOOD(MPI_File_write_at_all(file, 3 * check_rank, data, 3, MPI_LONG, &status));
    COUNT(status, MPI_LONG, 3);
    GOOD(MPI_File_sync(file));
    GOOD(MPI_File_get_size(file, &size));
    CHECK_EQ(size, 12 * check_ranks);
    GOOD(MPI_File_read_at_all(file, 3 * check_rank, back, 3, MPI_LONG, &status));
    COUNT(status, MPI_LONG, 3);
    CHECK(memcmp(data, back, sizeof data) == 0);
    GOOD(MPI_File_read_at(file, 3 * check_ranks - 1, back, 3, MPI_LONG, &status));
    COUNT(status, MPI_LONG, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    GOOD(MPI_File_read_at(file, 12 * check_rank, bytes, 12, MPI_BYTE, &status));
    CHECK(memcmp(bytes, want, sizeof want) == 0);
    MPI_Type_free(&padded);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The item in which the file ends does not count and stays as it is in memory, whether it is as long there as here or not. */
static void cut(void)
{
    MPI_Datatype types[] = {MPI_INT, MPI_SHORT, MPI_DOUBLE, MPI_LONG};
    static const int there[] = {4, 2, 8, 4};
    for (int i = 0; i < 4; i++) {
        char data[24], back[24], whole[24];
        int here, bytes = -1, elements = -1;
        MPI_Status status;
        MPI_Type_size(types[i], &here);
        memset(data, 1, sizeof data);
        GOOD(MPI_File_set_size(file, 0));
        GOOD(MPI_File_set_view(file, 0, types[i], types[i], "external32", MPI_INFO_NULL));
        GOOD(MPI_File_write_at_all(file, 0, data, check_rank == 0 ? 3 : 0, types[i], &status));
        GOOD(MPI_File_set_size(file, 3 * there[i] - 1));
        for (int together = 0; together < 2; together++) {
            GOOD(MPI_File_read_at(file, 0, whole, 2, types[i], &status));
            memset(whole + 2 * here, 0x55, sizeof whole - 2 * here);
            memset(back, 0x55, sizeof back);
            GOOD(together ? MPI_File_read_at_all(file, 0, back, 3, types[i], &status)
                          : MPI_File_read_at(file, 0, back, 3, types[i], &status));
            COUNT(status, types[i], 2);
            MPI_Get_elements(&status, types[i], &elements);
            CHECK_EQ(elements, 2);
            MPI_Get_count(&status, MPI_BYTE, &bytes);
            CHECK_EQ(bytes, 2 * here);
            CHECK(memcmp(back, whole, sizeof back) == 0);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    GOOD(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
}

int main(int argc, char **argv)
{
    const char *name;
    start(&argc, &argv, "file_datarep");
    name = file_at("datarep");
    GOOD(MPI_Register_datarep("digits", digits_read, digits_write, digits_extent, &state));
    GOOD(MPI_Register_datarep_c("large digits", digits_read_c, digits_write_c, digits_extent, &state));
    GOOD(MPI_Register_datarep("half", digits_read, MPI_CONVERSION_FN_NULL, digits_extent, &state));
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    names();
    row("digits");
    row("large digits");
    pairs();
    strided();
    half();
    refused();
    narrow();
    cut();
    GOOD(MPI_File_close(&file));
    return finish();
}

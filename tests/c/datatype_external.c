// covers: MPI_Pack_external MPI_Pack_external_c MPI_Unpack_external MPI_Unpack_external_c MPI_Pack_external_size MPI_Pack_external_size_c
/*
 * The portable representation external32 (MPI 5.0 sections 5.3 and 14.5.2): every predefined type's length and bytes,
 * derived types, positions, what comes back from another process, and what is refused.
 */
#include "check.h"
#include <complex.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

#define REP "external32"

/* Packs one element, compares with the bytes that the standard says, and unpacks it again. */
static void one(const char *name, MPI_Datatype t, const void *value, int bytes, const char *want, int length)
{
    unsigned char packed[64], back[64];
    MPI_Aint size = -1, at = 3;
    MPI_Count size_c = -1;
    memset(packed, 0xee, sizeof packed);
    memset(back, 0x5a, sizeof back);
    MPI_Pack_external_size(REP, 1, t, &size);
    CHECK_MSG(size == length, "MPI_Pack_external_size of %s: expected %d, got %ld", name, length, (long)size);
    MPI_Pack_external_size_c(REP, 3, t, &size_c);
    CHECK_EQ(size_c, 3 * length);
    MPI_Pack_external(REP, value, 1, t, packed, 3 + length, &at);
    CHECK_MSG(at == 3 + length, "%s: expected position %d, got %ld", name, 3 + length, (long)at);
    for (int k = 0; k < (int)sizeof packed; k++) {
        int wanted = k < 3 || k >= 3 + length ? 0xee : (unsigned char)want[k - 3];
        if (packed[k] != wanted)
            check_fail(__FILE__, __LINE__, "%s, byte %d: expected 0x%02x, got 0x%02x", name, k - 3, wanted, packed[k]);
    }
    at = 3;
    MPI_Unpack_external(REP, packed, 3 + length, &at, back, 1, t);
    CHECK_EQ(at, 3 + length);
    CHECK_MSG(memcmp(back, value, (size_t)bytes) == 0, "%s does not come back as it was", name);
}

#define ONE(type, c_type, literal, want)                                                                                  \
    do {                                                                                                                  \
        c_type value_ = literal;                                                                                          \
        one(#type, type, &value_, sizeof value_, want, sizeof(want) - 1);                                                 \
    } while (0)

static void integers(void)
{
    ONE(MPI_CHAR, char, 'x', "x");
    ONE(MPI_SIGNED_CHAR, signed char, -2, "\xfe");
    ONE(MPI_UNSIGNED_CHAR, unsigned char, 200, "\xc8");
    ONE(MPI_BYTE, unsigned char, 201, "\xc9");
    ONE(MPI_PACKED, unsigned char, 202, "\xca");
    ONE(MPI_CHARACTER, char, 'F', "F");
    ONE(MPI_SHORT, short, -2, "\xff\xfe");
    ONE(MPI_UNSIGNED_SHORT, unsigned short, 0x1234, "\x12\x34");
    ONE(MPI_INT, int, 0x12345678, "\x12\x34\x56\x78");
    ONE(MPI_UNSIGNED, unsigned, 0xfedcba98u, "\xfe\xdc\xba\x98");
    ONE(MPI_LONG_LONG, long long, 0x123456789abcdef0, "\x12\x34\x56\x78\x9a\xbc\xde\xf0");
    ONE(MPI_UNSIGNED_LONG_LONG, unsigned long long, 0xf23456789abcdef0u, "\xf2\x34\x56\x78\x9a\xbc\xde\xf0");
    /* Four bytes there, with the sign spread on the way back. */
    ONE(MPI_LONG, long, 0x12345678, "\x12\x34\x56\x78");
    ONE(MPI_LONG, long, -2, "\xff\xff\xff\xfe");
    ONE(MPI_LONG, long, INT_MIN, "\x80\x00\x00\x00");
    ONE(MPI_UNSIGNED_LONG, unsigned long, 0xfedcba98u, "\xfe\xdc\xba\x98");
    ONE(MPI_WCHAR, wchar_t, 0x20ac, "\x20\xac"); /* the euro sign */
    ONE(MPI_WCHAR, wchar_t, 0xfffd, "\xff\xfd");
    ONE(MPI_INT8_T, int8_t, -3, "\xfd");
    ONE(MPI_UINT8_T, uint8_t, 253, "\xfd");
    ONE(MPI_INT16_T, int16_t, 0x0102, "\x01\x02");
    ONE(MPI_UINT16_T, uint16_t, 0xf102, "\xf1\x02");
    ONE(MPI_INT32_T, int32_t, -2, "\xff\xff\xff\xfe");
    ONE(MPI_UINT32_T, uint32_t, 1, "\x00\x00\x00\x01");
    ONE(MPI_INT64_T, int64_t, -2, "\xff\xff\xff\xff\xff\xff\xff\xfe");
    ONE(MPI_UINT64_T, uint64_t, 1, "\x00\x00\x00\x00\x00\x00\x00\x01");
    ONE(MPI_AINT, MPI_Aint, -2, "\xff\xff\xff\xff\xff\xff\xff\xfe");
    ONE(MPI_COUNT, MPI_Count, 258, "\x00\x00\x00\x00\x00\x00\x01\x02");
    ONE(MPI_OFFSET, MPI_Offset, 258, "\x00\x00\x00\x00\x00\x00\x01\x02");
    ONE(MPI_C_BOOL, bool, true, "\x01");
    ONE(MPI_CXX_BOOL, bool, true, "\x01");
    ONE(MPI_INTEGER, int, 7, "\x00\x00\x00\x07");
    ONE(MPI_LOGICAL, int, 1, "\x00\x00\x00\x01");
    ONE(MPI_INTEGER1, int8_t, -4, "\xfc");
    ONE(MPI_INTEGER2, int16_t, 5, "\x00\x05");
    ONE(MPI_INTEGER4, int32_t, 6, "\x00\x00\x00\x06");
    ONE(MPI_INTEGER8, int64_t, 7, "\x00\x00\x00\x00\x00\x00\x00\x07");
    ONE(MPI_LOGICAL2, int16_t, 1, "\x00\x01");
    ONE(MPI_LOGICAL8, int64_t, 1, "\x00\x00\x00\x00\x00\x00\x00\x01");
}

static void numbers(void)
{
    ONE(MPI_FLOAT, float, -1.5f, "\xbf\xc0\x00\x00");
    ONE(MPI_DOUBLE, double, 1.0, "\x3f\xf0\x00\x00\x00\x00\x00\x00");
    ONE(MPI_REAL, float, 2.0f, "\x40\x00\x00\x00");
    ONE(MPI_REAL4, float, 2.0f, "\x40\x00\x00\x00");
    ONE(MPI_REAL8, double, -2.0, "\xc0\x00\x00\x00\x00\x00\x00\x00");
    ONE(MPI_REAL2, uint16_t, 0x3c01, "\x3c\x01");
    ONE(MPI_DOUBLE_PRECISION, double, 0.5, "\x3f\xe0\x00\x00\x00\x00\x00\x00");
    ONE(MPI_C_FLOAT_COMPLEX, float _Complex, 1.0f - 2.0f * I, "\x3f\x80\x00\x00\xc0\x00\x00\x00");
    ONE(MPI_CXX_FLOAT_COMPLEX, float _Complex, 1.0f - 2.0f * I, "\x3f\x80\x00\x00\xc0\x00\x00\x00");
    ONE(MPI_COMPLEX, float _Complex, 1.0f - 2.0f * I, "\x3f\x80\x00\x00\xc0\x00\x00\x00");
    ONE(MPI_C_DOUBLE_COMPLEX, double _Complex, 1.0 - 2.0 * I,
        "\x3f\xf0\x00\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x00");
    ONE(MPI_DOUBLE_COMPLEX, double _Complex, 1.0 - 2.0 * I,
        "\x3f\xf0\x00\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x00");
    /* The x87's 80 bits become binary128: 1.5 is 0x3fff8 and zeros, -2 to the -16445 its last denormal number. */
    long double wide[2] = {0}, back[2] = {0};
    char want[32] = "\x3f\xff\x80";
    memset(wide, 0, sizeof wide);
    wide[0] = 1.5L;
    one("MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, wide, 10, want, 16);
    wide[1] = -0x1p-16445L;
    memcpy(want + 16, "\x80\x00\x00\x00\x00\x00\x00\x00\x00\x02", 10);
    one("MPI_C_LONG_DOUBLE_COMPLEX", MPI_C_LONG_DOUBLE_COMPLEX, wide, 10, want, 32);
    char packed[32];
    MPI_Aint at = 0;
    wide[0] = 1.0L / 3, wide[1] = -__builtin_infl();
    MPI_Pack_external(REP, wide, 2, MPI_LONG_DOUBLE, packed, sizeof packed, &at);
    at = 0;
    MPI_Unpack_external(REP, packed, sizeof packed, &at, back, 2, MPI_LONG_DOUBLE);
    CHECK(back[0] == wide[0] && back[1] == wide[1]);
    /* Pairs: value and index, each in its length. */
    struct {
        short s;
        int i;
    } si;
    struct {
        long l;
        int i;
    } li;
    struct {
        double d;
        int i;
    } di;
    memset(&si, 0x5a, sizeof si), memset(&li, 0x5a, sizeof li), memset(&di, 0x5a, sizeof di);
    si.s = -2, si.i = 3, li.l = -2, li.i = 3, di.d = 1.0, di.i = 3;
    one("MPI_SHORT_INT", MPI_SHORT_INT, &si, sizeof si, "\xff\xfe\x00\x00\x00\x03", 6);
    one("MPI_LONG_INT", MPI_LONG_INT, &li, sizeof li, "\xff\xff\xff\xfe\x00\x00\x00\x03", 8);
    one("MPI_DOUBLE_INT", MPI_DOUBLE_INT, &di, sizeof di, "\x3f\xf0\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03", 12);
}

struct mixed {
    char c;
    long l[3];
    double d;
    short s[2];
};

/* A structure with gaps, many of them, to another process and back into a structure; by both interfaces. */
static void structures(void)
{
    enum { N = 777, EACH = 1 + 3 * 4 + 8 + 2 * 2 };
    static struct mixed out[N], in[N];
    static unsigned char packed[N * EACH + 8], other[N * EACH + 8];
    MPI_Datatype t, whole, member[4] = {MPI_CHAR, MPI_LONG, MPI_DOUBLE, MPI_SHORT};
    int lengths[4] = {1, 3, 1, 2}, next = (check_rank + 1) % check_ranks;
    int previous = (check_rank + check_ranks - 1) % check_ranks;
    MPI_Aint at = 4, size = -1;
    MPI_Aint places[4] = {offsetof(struct mixed, c), offsetof(struct mixed, l), offsetof(struct mixed, d),
                          offsetof(struct mixed, s)};
    MPI_Count at_c = 4;
    MPI_Type_create_struct(4, lengths, places, member, &t);
    MPI_Type_create_resized(t, 0, sizeof(struct mixed), &whole);
    MPI_Type_commit(&whole);
    for (int k = 0; k < N; k++) {
        out[k].c = (char)k, out[k].d = k + 0.25, out[k].s[0] = (short)-k, out[k].s[1] = (short)(k * 3);
        for (int j = 0; j < 3; j++)
            out[k].l[j] = (long)(k - 300) * 70000 + j + check_rank;
    }
    MPI_Pack_external_size(REP, N, whole, &size);
    CHECK_EQ(size, N * EACH);
    MPI_Pack_external(REP, out, N, whole, packed, sizeof packed, &at);
    CHECK_EQ(at, 4 + N * EACH);
    MPI_Pack_external_c(REP, out, N, whole, other, sizeof other, &at_c);
    CHECK_EQ(at_c, 4 + N * EACH);
    CHECK(memcmp(packed + 4, other + 4, N * EACH) == 0);
    /* Element 1's second long stands where lengths say. */
    CHECK(packed[4 + EACH + 1 + 4 + 3] == (unsigned char)(out[1].l[1] & 0xff));
    MPI_Sendrecv(packed, sizeof packed, MPI_BYTE, next, 1, other, sizeof other, MPI_BYTE, previous, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    memset(in, 0x5a, sizeof in);
    at = 4;
    MPI_Unpack_external(REP, other, sizeof other, &at, in, 400, whole);
    CHECK_EQ(at, 4 + 400 * EACH);
    at_c = at;
    MPI_Unpack_external_c(REP, other, sizeof other, &at_c, in + 400, N - 400, whole);
    CHECK_EQ(at_c, 4 + N * EACH);
    for (int k = 0; k < N; k++) {
        int same = in[k].c == (char)k && in[k].d == k + 0.25 && in[k].s[0] == (short)-k && in[k].s[1] == (short)(k * 3);
        for (int j = 0; j < 3; j++)
            same &= in[k].l[j] == (long)(k - 300) * 70000 + j + previous;
        CHECK_MSG(same, "element %d is not what was packed", k);
        CHECK_EQ(((unsigned char *)&in[k])[1], 0x5a); /* the gap behind the char */
    }
    MPI_Type_free(&t), MPI_Type_free(&whole);
}

/* A column of a matrix, backwards, and a run that does not begin at the buffer; packed piece by piece. */
static void strided(void)
{
    static int matrix[600][7], back[600][7];
    static unsigned char packed[600 * 4 + 8];
    MPI_Datatype t, u;
    MPI_Aint at = 0, two = 2 * sizeof(int);
    int one_of_three = 3;
    MPI_Type_create_hvector(600, 1, -(MPI_Aint)sizeof matrix[0], MPI_INT, &t);
    MPI_Type_create_hindexed(1, &one_of_three, &two, MPI_INT, &u);
    MPI_Type_commit(&t), MPI_Type_commit(&u);
    for (int k = 0; k < 600; k++)
        matrix[k][2] = k * 1000;
    MPI_Pack_external(REP, &matrix[599][2], 1, t, packed, sizeof packed, &at);
    CHECK_EQ(at, 2400);
    for (int k = 0; k < 600; k++) {
        const unsigned char *b = packed + 4 * (599 - k);
        CHECK_EQ((b[0] << 24) + (b[1] << 16) + (b[2] << 8) + b[3], k * 1000);
    }
    at = 0;
    MPI_Unpack_external(REP, packed, 2400, &at, &back[599][2], 1, t);
    CHECK(memcmp(matrix, back, sizeof matrix) == 0);
    int line[6] = {1, 2, 3, 4, 5, 6}, got[6] = {0};
    at = 0;
    MPI_Pack_external(REP, line, 1, u, packed, 12, &at);
    CHECK(packed[3] == 3 && packed[7] == 4 && packed[11] == 5 && at == 12);
    at = 0;
    MPI_Unpack_external(REP, packed, 12, &at, got, 1, u);
    CHECK(got[0] == 0 && got[1] == 0 && got[2] == 3 && got[3] == 4 && got[4] == 5 && got[5] == 0);
    MPI_Type_free(&t), MPI_Type_free(&u);
}

static void refused(void)
{
    int value[2] = {1, 2};
    unsigned char packed[16];
    MPI_Aint at = 0, size = -1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Pack_external_size("native", 1, MPI_INT, &size), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pack_external("External32", value, 1, MPI_INT, packed, 16, &at), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Unpack_external("", packed, 16, &at, value, 1, MPI_INT), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pack_external(REP, value, 2, MPI_INT, packed, 7, &at), MPI_ERR_TRUNCATE);
    CHECK_CLASS(MPI_Unpack_external(REP, packed, 7, &at, value, 2, MPI_INT), MPI_ERR_TRUNCATE);
    CHECK_CLASS(MPI_Pack_external(REP, value, -1, MPI_INT, packed, 16, &at), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Pack_external(REP, value, 1, MPI_INT, packed, -1, &at), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pack_external(REP, value, 1, MPI_DATATYPE_NULL, packed, 16, &at), MPI_ERR_TYPE);
    CHECK(at == 0 && size == -1);
    at = 13;
    CHECK_CLASS(MPI_Pack_external(REP, value, 1, MPI_INT, packed, 16, &at), MPI_ERR_TRUNCATE);
    at = -1;
    CHECK_CLASS(MPI_Unpack_external(REP, packed, 16, &at, value, 1, MPI_INT), MPI_ERR_ARG);
    CHECK(value[0] == 1 && value[1] == 2);
    /* Nothing needs no room, wherever the end is. */
    at = 16;
    CHECK_CLASS(MPI_Pack_external(REP, NULL, 0, MPI_INT, packed, 16, &at), MPI_SUCCESS);
    CHECK_EQ(at, 16);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "datatype_external");
    integers();
    numbers();
    structures();
    strided();
    refused();
    return finish();
}

// covers: MPI_Type_contiguous_c MPI_Type_vector_c MPI_Type_create_hvector MPI_Type_create_hvector_c MPI_Type_indexed MPI_Type_indexed_c MPI_Type_create_hindexed MPI_Type_create_hindexed_c MPI_Type_create_indexed_block MPI_Type_create_indexed_block_c MPI_Type_create_hindexed_block MPI_Type_create_hindexed_block_c MPI_Type_create_struct MPI_Type_create_struct_c MPI_Type_create_subarray MPI_Type_create_subarray_c MPI_Type_create_darray MPI_Type_create_darray_c MPI_Type_create_resized_c MPI_Type_get_envelope MPI_Type_get_envelope_c MPI_Type_get_contents MPI_Type_get_contents_c MPI_Type_get_extent_c MPI_Type_get_extent_x MPI_Type_get_true_extent_c MPI_Type_get_true_extent_x MPI_Type_size_c MPI_Type_size_x MPI_Pack_c MPI_Unpack_c MPI_Pack_size_c
/*
 * All constructors of datatypes, MPI 5.0 sections 5.1.2 to 5.1.7, each in both widths: the layout against a list of places
 * written by hand, as packed data and as a message both ways; size and bounds; and envelope and contents (5.1.13), from
 * which the type is made again and must lay out the same.
 */
#include "check.h"

enum { MOST = 12, ROOM = 192, BASE = 64, KINDS = 13 };

struct layout {
    int combiner, n, places[MOST]; /* in ints from the origin, in the order of the type */
    MPI_Aint lb, extent;           /* bytes */
    int ni, na, nd, li, ll;        /* integers, addresses, types; in the large form integers and counts */
};

static const struct layout layouts[KINDS] = {
    {MPI_COMBINER_CONTIGUOUS, 5, {0, 1, 2, 3, 4}, 0, 20, 1, 0, 1, 0, 1},
    {MPI_COMBINER_VECTOR, 6, {0, 1, 4, 5, 8, 9}, 0, 40, 3, 0, 1, 0, 3},
    {MPI_COMBINER_HVECTOR, 3, {0, 3, 6}, 0, 28, 2, 1, 1, 0, 3},
    {MPI_COMBINER_INDEXED, 3, {4, 5, 1}, 4, 20, 7, 0, 1, 0, 7},
    {MPI_COMBINER_HINDEXED, 3, {2, 5, 6}, 8, 20, 3, 2, 1, 0, 5},
    {MPI_COMBINER_INDEXED_BLOCK, 6, {0, 1, 6, 7, 3, 4}, 0, 32, 5, 0, 1, 0, 5},
    {MPI_COMBINER_HINDEXED_BLOCK, 2, {4, 1}, 4, 16, 2, 2, 1, 0, 4},
    {MPI_COMBINER_STRUCT, 4, {0, 3, 5, -2}, 12, 16, 4, 3, 3, 0, 7},
    {MPI_COMBINER_SUBARRAY, 6, {8, 9, 10, 14, 15, 16}, 0, 96, 8, 0, 1, 2, 6},
    {MPI_COMBINER_SUBARRAY, 6, {9, 10, 13, 14, 17, 18}, 0, 96, 8, 0, 1, 2, 6},
    {MPI_COMBINER_DARRAY, 8, {12, 13, 16, 17, 18, 19, 22, 23}, 0, 96, 12, 0, 1, 10, 2},
    {MPI_COMBINER_RESIZED, 1, {0}, -4, 12, 0, 2, 1, 0, 2},
    {MPI_COMBINER_DUP, 1, {0}, 0, 4, 0, 0, 1, 0, 0},
};

static int next, previous;

static MPI_Datatype make(int kind)
{
    static const int lengths[] = {2, 0, 1}, places[] = {4, 9, 1}, blocks[] = {0, 6, 3}, ones[] = {1, 2, 1};
    static const int sizes[] = {4, 6}, parts[] = {2, 3}, starts[] = {1, 2};
    static const int spread[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, by[] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[] = {2, 2};
    static const MPI_Aint bytes[] = {8, 20}, far[] = {16, 4}, members[] = {0, 12, -8};
    MPI_Datatype t = MPI_DATATYPE_NULL, old[3] = {MPI_INT, MPI_DATATYPE_NULL, MPI_INT};
    switch (kind) {
    case 0:
        MPI_Type_contiguous(5, MPI_INT, &t);
        break;
    case 1:
        MPI_Type_vector(3, 2, 4, MPI_INT, &t);
        break;
    case 2:
        MPI_Type_create_hvector(3, 1, 12, MPI_INT, &t);
        break;
    case 3:
        MPI_Type_indexed(3, lengths, places, MPI_INT, &t);
        break;
    case 4:
        MPI_Type_create_hindexed(2, ones, bytes, MPI_INT, &t);
        break;
    case 5:
        MPI_Type_create_indexed_block(3, 2, blocks, MPI_INT, &t);
        break;
    case 6:
        MPI_Type_create_hindexed_block(2, 1, far, MPI_INT, &t);
        break;
    case 7: /* the second one is an int in eight bytes, and its bounds are those of the whole (section 5.1.7) */
        MPI_Type_create_resized(MPI_INT, 0, 8, &old[1]);
        MPI_Type_create_struct(3, ones, members, old, &t);
        MPI_Type_free(&old[1]);
        break;
    case 8:
        MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &t);
        break;
    case 9:
        MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &t);
        break;
    case 10:
        MPI_Type_create_darray(4, 2, 2, sizes, spread, by, grid, MPI_ORDER_C, MPI_INT, &t);
        break;
    case 11:
        MPI_Type_create_resized(MPI_INT, -4, 12, &t);
        break;
    default:
        MPI_Type_dup(MPI_INT, &t);
    }
    return t;
}

static MPI_Datatype make_large(int kind)
{
    static const MPI_Count lengths[] = {2, 0, 1}, places[] = {4, 9, 1}, blocks[] = {0, 6, 3}, ones[] = {1, 2, 1};
    static const MPI_Count sizes[] = {4, 6}, parts[] = {2, 3}, starts[] = {1, 2};
    static const MPI_Count bytes[] = {8, 20}, far[] = {16, 4}, members[] = {0, 12, -8};
    static const int spread[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, by[] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[] = {2, 2};
    MPI_Datatype t = MPI_DATATYPE_NULL, old[3] = {MPI_INT, MPI_DATATYPE_NULL, MPI_INT};
    switch (kind) {
    case 0:
        MPI_Type_contiguous_c(5, MPI_INT, &t);
        break;
    case 1:
        MPI_Type_vector_c(3, 2, 4, MPI_INT, &t);
        break;
    case 2:
        MPI_Type_create_hvector_c(3, 1, 12, MPI_INT, &t);
        break;
    case 3:
        MPI_Type_indexed_c(3, lengths, places, MPI_INT, &t);
        break;
    case 4:
        MPI_Type_create_hindexed_c(2, ones, bytes, MPI_INT, &t);
        break;
    case 5:
        MPI_Type_create_indexed_block_c(3, 2, blocks, MPI_INT, &t);
        break;
    case 6:
        MPI_Type_create_hindexed_block_c(2, 1, far, MPI_INT, &t);
        break;
    case 7:
        MPI_Type_create_resized_c(MPI_INT, 0, 8, &old[1]);
        MPI_Type_create_struct_c(3, ones, members, old, &t);
        MPI_Type_free(&old[1]);
        break;
    case 8:
        MPI_Type_create_subarray_c(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &t);
        break;
    case 9:
        MPI_Type_create_subarray_c(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &t);
        break;
    case 10:
        MPI_Type_create_darray_c(4, 2, 2, sizes, spread, by, grid, MPI_ORDER_C, MPI_INT, &t);
        break;
    case 11:
        MPI_Type_create_resized_c(MPI_INT, -4, 12, &t);
        break;
    default:
        MPI_Type_dup(MPI_INT, &t);
    }
    return t;
}

static void shape(const struct layout *l, MPI_Datatype t, int kind)
{
    MPI_Aint lb = -1, extent = -1, true_lb = -1, true_extent = -1;
    MPI_Count count[6], low = BASE, high = -BASE, size_c = -1, size_x = -1;
    int size = -1;
    for (int i = 0; i < l->n; i++) {
        low = l->places[i] < low ? l->places[i] : low;
        high = l->places[i] > high ? l->places[i] : high;
    }
    MPI_Type_size(t, &size), MPI_Type_size_c(t, &size_c), MPI_Type_size_x(t, &size_x);
    CHECK_MSG(size == 4 * l->n && size_c == size && size_x == size, "kind %d: size %d", kind, size);
    MPI_Type_get_extent(t, &lb, &extent);
    MPI_Type_get_extent_c(t, &count[0], &count[1]);
    CHECK_MSG(lb == l->lb && extent == l->extent, "kind %d: lower bound %ld, extent %ld", kind, (long)lb, (long)extent);
    CHECK(count[0] == lb && count[1] == extent);
    MPI_Type_get_extent_x(t, &count[0], &count[1]);
    CHECK(count[0] == lb && count[1] == extent);
    MPI_Type_get_true_extent(t, &true_lb, &true_extent);
    MPI_Type_get_true_extent_c(t, &count[2], &count[3]);
    MPI_Type_get_true_extent_x(t, &count[4], &count[5]);
    CHECK_MSG(true_lb == 4 * low && true_extent == 4 * (high - low + 1), "kind %d: true bounds %ld and %ld", kind, (long)true_lb,
              (long)true_extent);
    CHECK(count[2] == true_lb && count[3] == true_extent && count[4] == true_lb && count[5] == true_extent);
}

/* Two elements: where each int lies, by packing, by unpacking, and by messages to and from plain ints. */
static void places(const struct layout *l, MPI_Datatype t, int kind, const char *how)
{
    int a[ROOM], b[ROOM], plain[2 * MOST], packed[2 * MOST], n = 2 * l->n, at = 0, room = -1, bad = 0;
    MPI_Count at_c = 0, room_c = -1;
    for (int i = 0; i < ROOM; i++)
        a[i] = 1000 * check_rank + i, b[i] = -1;
    MPI_Type_commit(&t);
    MPI_Pack_size(2, t, MPI_COMM_WORLD, &room);
    MPI_Pack_size_c(2, t, MPI_COMM_WORLD, &room_c);
    CHECK(room >= 4 * n && room_c >= 4 * n);
    MPI_Pack(a + BASE, 2, t, packed, sizeof packed, &at, MPI_COMM_WORLD);
    MPI_Pack_c(a + BASE, 2, t, plain, sizeof plain, &at_c, MPI_COMM_WORLD);
    CHECK(at == 4 * n && at_c == 4 * n && memcmp(plain, packed, (size_t)at) == 0);
    at = 0, at_c = 0;
    MPI_Unpack_c(packed, 4 * n, &at_c, b + BASE, 2, t, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        int place = BASE + l->places[i % l->n] + i / l->n * (int)(l->extent / 4);
        bad += packed[i] != 1000 * check_rank + place;
        bad += b[place] != packed[i];
        b[place] = -1;
    }
    for (int i = 0; i < ROOM; i++)
        bad += b[i] != -1; /* nothing beside the places */
    CHECK_MSG(bad == 0, "kind %d %s: %d ints are not where they belong", kind, how, bad);
    bad = 0;
    MPI_Sendrecv(a + BASE, 2, t, next, kind, plain, n, MPI_INT, previous, kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(plain, n, MPI_INT, next, kind, b + BASE, 2, t, previous, kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int twice = (previous + check_ranks - 1) % check_ranks;
    for (int i = 0; i < n; i++) {
        int place = BASE + l->places[i % l->n] + i / l->n * (int)(l->extent / 4);
        bad += plain[i] != 1000 * previous + place;
        bad += b[place] != 1000 * twice + place;
    }
    CHECK_MSG(bad == 0, "kind %d %s: %d ints were sent or received wrongly", kind, how, bad);
}

/* The type once more, from what MPI_Type_get_contents says. */
static MPI_Datatype again(int kind, const int *i, const MPI_Aint *a, const MPI_Datatype *d)
{
    MPI_Datatype t = MPI_DATATYPE_NULL;
    switch (kind) {
    case 0:
        MPI_Type_contiguous(i[0], d[0], &t);
        break;
    case 1:
        MPI_Type_vector(i[0], i[1], i[2], d[0], &t);
        break;
    case 2:
        MPI_Type_create_hvector(i[0], i[1], a[0], d[0], &t);
        break;
    case 3:
        MPI_Type_indexed(i[0], i + 1, i + 1 + i[0], d[0], &t);
        break;
    case 4:
        MPI_Type_create_hindexed(i[0], i + 1, a, d[0], &t);
        break;
    case 5:
        MPI_Type_create_indexed_block(i[0], i[1], i + 2, d[0], &t);
        break;
    case 6:
        MPI_Type_create_hindexed_block(i[0], i[1], a, d[0], &t);
        break;
    case 7:
        MPI_Type_create_struct(i[0], i + 1, a, d, &t);
        break;
    case 8:
    case 9:
        MPI_Type_create_subarray(i[0], i + 1, i + 1 + i[0], i + 1 + 2 * i[0], i[1 + 3 * i[0]], d[0], &t);
        break;
    case 10:
        MPI_Type_create_darray(i[0], i[1], i[2], i + 3, i + 5, i + 7, i + 9, i[11], d[0], &t);
        break;
    case 11:
        MPI_Type_create_resized(d[0], a[0], a[1], &t);
        break;
    default:
        MPI_Type_dup(d[0], &t);
    }
    return t;
}

static MPI_Datatype again_large(int kind, const int *i, const MPI_Count *c, const MPI_Datatype *d)
{
    MPI_Datatype t = MPI_DATATYPE_NULL;
    switch (kind) {
    case 0:
        MPI_Type_contiguous_c(c[0], d[0], &t);
        break;
    case 1:
        MPI_Type_vector_c(c[0], c[1], c[2], d[0], &t);
        break;
    case 2:
        MPI_Type_create_hvector_c(c[0], c[1], c[2], d[0], &t);
        break;
    case 3:
        MPI_Type_indexed_c(c[0], c + 1, c + 1 + c[0], d[0], &t);
        break;
    case 4:
        MPI_Type_create_hindexed_c(c[0], c + 1, c + 1 + c[0], d[0], &t);
        break;
    case 5:
        MPI_Type_create_indexed_block_c(c[0], c[1], c + 2, d[0], &t);
        break;
    case 6:
        MPI_Type_create_hindexed_block_c(c[0], c[1], c + 2, d[0], &t);
        break;
    case 7:
        MPI_Type_create_struct_c(c[0], c + 1, c + 1 + c[0], d, &t);
        break;
    case 8:
    case 9:
        MPI_Type_create_subarray_c(i[0], c, c + i[0], c + 2 * i[0], i[1], d[0], &t);
        break;
    case 10:
        MPI_Type_create_darray_c(i[0], i[1], i[2], c, i + 3, i + 5, i + 7, i[9], d[0], &t);
        break;
    case 11:
        MPI_Type_create_resized_c(d[0], c[0], c[1], &t);
        break;
    default:
        MPI_Type_dup(d[0], &t);
    }
    return t;
}

static void free_old(MPI_Datatype *d, int n)
{
    int ni, na, nd, combiner;
    for (int i = 0; i < n; i++)
        if (MPI_Type_get_envelope(d[i], &ni, &na, &nd, &combiner) != MPI_SUCCESS || combiner != MPI_COMBINER_NAMED)
            MPI_Type_free(&d[i]);
        else
            CHECK(d[i] == MPI_INT);
}

static void contents(const struct layout *l, MPI_Datatype t, int kind)
{
    int ni = -1, na = -1, nd = -1, combiner = -1, i[16];
    MPI_Aint a[4];
    MPI_Datatype d[4], u;
    MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner);
    CHECK_MSG(combiner == l->combiner && ni == l->ni && na == l->na && nd == l->nd, "kind %d: combiner %d, %d integers, %d addresses, %d types",
              kind, combiner, ni, na, nd);
    if (ni > 16 || na > 4 || nd > 4 || nd < 1)
        return;
    MPI_Type_get_contents(t, ni, na, nd, i, a, d);
    u = again(kind, i, a, d);
    places(l, u, kind, "made again");
    free_old(d, nd);
    MPI_Type_free(&u);
    if (ni > 0)
        CHECK_CLASS(MPI_Type_get_contents(t, ni - 1, na, nd, i, a, d), MPI_ERR_ARG);
}

static void contents_large(const struct layout *l, MPI_Datatype t, int kind)
{
    MPI_Count ni = -1, na = -1, nl = -1, nd = -1, c[16];
    int combiner = -1, i[16], n;
    MPI_Aint a[4];
    MPI_Datatype d[4], u;
    MPI_Type_get_envelope_c(t, &ni, &na, &nl, &nd, &combiner);
    CHECK_MSG(combiner == l->combiner && ni == l->li && na == 0 && nl == l->ll && nd == l->nd,
              "kind %d: combiner %d, %lld integers, %lld addresses, %lld counts, %lld types", kind, combiner, (long long)ni,
              (long long)na, (long long)nl, (long long)nd);
    if (ni > 16 || na > 4 || nl > 16 || nd > 4 || nd < 1)
        return;
    MPI_Type_get_contents_c(t, ni, na, nl, nd, i, a, c, d);
    u = again_large(kind, i, c, d);
    places(l, u, kind, "made again with large counts");
    free_old(d, (int)nd);
    MPI_Type_free(&u);
    if (nl > 0) /* the int form cannot tell */
        CHECK_CLASS(MPI_Type_get_envelope(t, &n, &n, &n, &combiner), MPI_ERR_TYPE);
}

static void mistakes(void)
{
    MPI_Datatype t = MPI_DATATYPE_NULL;
    int n, one[1] = {1}, minus[1] = {-1};
    CHECK_CLASS(MPI_Type_vector(-1, 1, 1, MPI_INT, &t), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Type_vector(1, -1, 1, MPI_INT, &t), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_indexed(1, minus, one, MPI_INT, &t), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_create_subarray(1, one, one, one, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_subarray(0, one, one, one, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
    CHECK(t == MPI_DATATYPE_NULL);
    t = MPI_INT;
    CHECK_CLASS(MPI_Type_free(&t), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_get_contents(MPI_INT, 0, 0, 0, NULL, NULL, NULL), MPI_ERR_TYPE);
    CHECK_EQ(MPI_Type_get_envelope(MPI_INT, &n, &n, &n, &one[0]), MPI_SUCCESS);
    CHECK_EQ(one[0], MPI_COMBINER_NAMED);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "datatype_constructors");
    next = (check_rank + 1) % check_ranks;
    previous = (check_rank + check_ranks - 1) % check_ranks;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int kind = 0; kind < KINDS; kind++) {
        MPI_Datatype t = make(kind), u = make_large(kind);
        shape(&layouts[kind], t, kind);
        shape(&layouts[kind], u, kind);
        places(&layouts[kind], t, kind, "");
        places(&layouts[kind], u, kind, "with large counts");
        contents(&layouts[kind], t, kind);
        contents_large(&layouts[kind], u, kind);
        MPI_Type_free(&t), MPI_Type_free(&u);
        CHECK(t == MPI_DATATYPE_NULL);
    }
    mistakes();
    return finish();
}

// covers: MPI_Type_contiguous MPI_Type_vector MPI_Type_commit MPI_Type_free MPI_Type_size MPI_Type_get_extent MPI_Type_get_true_extent MPI_Type_dup MPI_Type_create_resized MPI_Pack MPI_Unpack MPI_Pack_size
/*
 * Derived datatypes, MPI 5.0 sections 5.1.2 (constructors), 5.1.7 (extent), 5.1.9 (commit, free), 5.2 (pack). A type says
 * where data lie, its signature what they are: each layout is sent to each other layout with the same signature, around
 * a ring that at one rank is a message to oneself.
 */
#include "check.h"

static int next, previous;

static void check_shape(MPI_Datatype t, int size, MPI_Aint lb, MPI_Aint extent, int line)
{
    int got_size = -1;
    MPI_Aint got_lb = -99, got_extent = -99;
    MPI_Type_size(t, &got_size);
    MPI_Type_get_extent(t, &got_lb, &got_extent);
    if (got_size != size || got_lb != lb || got_extent != extent)
        check_fail(__FILE__, line, "expected size %d lb %ld extent %ld, got %d %ld %ld", size, (long)lb, (long)extent, got_size,
                   (long)got_lb, (long)got_extent);
}

static void shapes(void)
{
    MPI_Datatype t, u;
    MPI_Aint lb = -99, extent = -99;
    MPI_Type_contiguous(5, MPI_INT, &t);
    check_shape(t, 20, 0, 20, __LINE__);
    MPI_Type_free(&t);
    CHECK(t == MPI_DATATYPE_NULL);
    MPI_Type_contiguous(0, MPI_DOUBLE, &t);
    check_shape(t, 0, 0, 0, __LINE__);
    MPI_Type_free(&t);
    MPI_Type_vector(3, 2, 5, MPI_INT, &t); /* ints 0 1, 5 6, 10 11 */
    check_shape(t, 24, 0, 48, __LINE__);
    MPI_Type_contiguous(2, t, &u);
    check_shape(u, 48, 0, 96, __LINE__);
    MPI_Type_free(&u);
    MPI_Type_create_resized(t, -4, 80, &u);
    check_shape(u, 24, -4, 80, __LINE__);
    MPI_Type_get_true_extent(u, &lb, &extent);
    CHECK_EQ(lb, 0);
    CHECK_EQ(extent, 48);
    MPI_Type_free(&u);
    MPI_Type_dup(t, &u);
    check_shape(u, 24, 0, 48, __LINE__);
    MPI_Type_free(&u);
    MPI_Type_free(&t);
    MPI_Type_vector(3, 2, -5, MPI_INT, &t); /* ints 0 1, -5 -4, -10 -9 */
    check_shape(t, 24, -40, 48, __LINE__);
    MPI_Type_free(&t);
    MPI_Type_vector(4, 1, 0, MPI_SHORT, &t); /* the same element four times: size counts it four times */
    check_shape(t, 8, 0, 2, __LINE__);
    MPI_Type_free(&t);
}

/* One layout: where the k-th int of the signature lies, as an index into a buffer of `room` ints starting at `origin`. */
struct layout {
    const char *name;
    MPI_Datatype type;
    int count, room, origin, block, stride, per_type, type_stride;
};

static int place(const struct layout *l, int k)
{
    int item = k / l->per_type, in = k % l->per_type;
    return l->origin + item * l->type_stride + in / l->block * l->stride + in % l->block;
}

static MPI_Datatype vector(int blocks, int length, int stride)
{
    MPI_Datatype t;
    MPI_Type_vector(blocks, length, stride, MPI_INT, &t);
    MPI_Type_commit(&t);
    return t;
}

/* `n` ints, n divisible by 12, in six layouts. */
static void make_layouts(struct layout *l, int n)
{
    MPI_Datatype inner;
    int in;
    struct layout plain = {"plain ints", MPI_INT, n, n, 0, n, n, n, n};
    struct layout row = {"contiguous of 12", MPI_DATATYPE_NULL, n / 12, n, 0, 12, 12, 12, 12};
    struct layout column = {"vector of single ints", vector(n, 1, 3), 1, 3 * n, 0, 1, 3, n, 3 * n};
    struct layout blocks = {"two vectors of blocks", vector(n / 6, 3, 4), 2, 4 * n, 0, 3, 4, n / 2, 4 * (n / 6 - 1) + 3};
    struct layout down = {"vector with negative stride", vector(n / 4, 4, -6), 1, 6 * n, 6 * n / 4, 4, -6, n, 0};
    struct layout nested = {"contiguous of vectors", MPI_DATATYPE_NULL, n / 12, 3 * n, 0, 1, 2, 4, 7};
    MPI_Type_contiguous(12, MPI_INT, &row.type);
    MPI_Type_commit(&row.type);
    in = 3;
    MPI_Type_vector(4, 1, 2, MPI_INT, &inner); /* spans 7 ints, so three in a row lie 7 apart */
    MPI_Type_contiguous(in, inner, &nested.type);
    MPI_Type_commit(&nested.type);
    MPI_Type_free(&inner); /* a type built from it lives on */
    l[0] = plain, l[1] = row, l[2] = column, l[3] = blocks, l[4] = down, l[5] = nested;
}

static int *blank(const struct layout *l)
{
    int *p = check_alloc((size_t)(l->room + 8) * sizeof(int));
    for (int i = 0; i < l->room + 8; i++)
        p[i] = -77;
    return p;
}

static int number(int rank, int k)
{
    return rank * 1000003 + k;
}

/* All places of the layout hold the sender's numbers, and nothing else was written. */
static void check_received(const struct layout *from, const struct layout *l, int *p, int n)
{
    int written = 0;
    for (int k = 0; k < n; k++)
        if (p[place(l, k)] != number(previous, k)) {
            CHECK_MSG(0, "%s to %s, %d ints, element %d: expected %d, got %d", from->name, l->name, n, k, number(previous, k),
                      p[place(l, k)]);
            return;
        }
    for (int i = 0; i < l->room + 8; i++)
        written += p[i] != -77;
    CHECK_MSG(written == n, "%s to %s: expected %d ints written, got %d", from->name, l->name, n, written);
}

static void every_pair(int n)
{
    struct layout l[6];
    make_layouts(l, n);
    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 6; b++) {
            int *out, *in, count = -1;
            MPI_Request q;
            MPI_Status s;
            if (n > 5000 && a != 0 && b != 0 && (a + b) % 3 != 0)
                continue; /* large ones: a third of the pairs, for time */
            out = blank(&l[a]), in = blank(&l[b]);
            for (int k = 0; k < n; k++)
                out[place(&l[a], k)] = number(check_rank, k);
            MPI_Irecv(in + l[b].origin, l[b].count, l[b].type, previous, a, MPI_COMM_WORLD, &q);
            MPI_Send(out + l[a].origin, l[a].count, l[a].type, check_ranks > 1 ? next : 0, a, MPI_COMM_WORLD);
            MPI_Wait(&q, &s);
            MPI_Get_count(&s, l[b].type, &count);
            CHECK_EQ(count, l[b].count);
            check_received(&l[a], &l[b], in, n);
            free(out), free(in);
        }
    for (int a = 1; a < 6; a++)
        MPI_Type_free(&l[a].type);
}

/* A free takes effect when nothing uses the type any more. */
static void freed_while_used(void)
{
    static int out[60000], in[60000];
    MPI_Datatype a = vector(20000, 1, 3), b = vector(20000, 1, 2);
    MPI_Request q[2];
    for (int k = 0; k < 20000; k++)
        out[3 * k] = number(check_rank, k);
    MPI_Irecv(in, 1, b, previous, 50, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(out, 1, a, next, 50, MPI_COMM_WORLD, &q[1]);
    MPI_Type_free(&a);
    MPI_Type_free(&b);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    for (int k = 0; k < 20000; k += 1)
        if (in[2 * k] != number(previous, k)) {
            CHECK_EQ(in[2 * k], number(previous, k));
            break;
        }
}

/* Packed and sent as MPI_PACKED, received as what it is; and the other way round (section 5.2). */
static void packed(void)
{
    double head = 0.5 + check_rank, got_head = 0;
    int body[24], got[24], position = 0, room = 0, more = 0;
    char buffer[512];
    MPI_Datatype t = vector(4, 3, 6);
    for (int k = 0; k < 24; k++)
        body[k] = number(check_rank, k), got[k] = -77;
    MPI_Pack_size(1, MPI_DOUBLE, MPI_COMM_WORLD, &room);
    MPI_Pack_size(1, t, MPI_COMM_WORLD, &more);
    CHECK(room >= (int)sizeof head && more >= 12 * (int)sizeof(int) && room + more <= (int)sizeof buffer);
    MPI_Pack(&head, 1, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Pack(body, 1, t, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    CHECK(position <= room + more);
    MPI_Sendrecv_replace(buffer, position, MPI_PACKED, next, 60, previous, 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    position = 0;
    MPI_Unpack(buffer, sizeof buffer, &position, &got_head, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Unpack(buffer, sizeof buffer, &position, got, 1, t, MPI_COMM_WORLD);
    CHECK(got_head == 0.5 + previous);
    for (int k = 0; k < 24; k++)
        CHECK_EQ(got[k], k % 6 < 3 && k < 24 ? number(previous, k) : -77);
    MPI_Type_free(&t);
}

/* A type whose data is one run that does not begin at the buffer's address: through each way to send and to receive. */
static void one_run_further_on(void)
{
    int out[4] = {1, 2, 3, 4}, one = 1;
    MPI_Aint displacement = 2 * sizeof(int);
    MPI_Datatype t;
    MPI_Type_create_hindexed(1, &one, &displacement, MPI_INT, &t);
    MPI_Type_commit(&t);
    for (int way = 0; way < 4; way++) {
        int in[4] = {0, 0, 0, 0};
        MPI_Request send, receive;
        if (way & 1)
            MPI_Irecv(in, 1, t, previous, way, MPI_COMM_WORLD, &receive);
        if (way & 2 || !(way & 1))
            MPI_Isend(out, 1, t, next, way, MPI_COMM_WORLD, &send);
        else
            MPI_Send(out, 1, t, next, way, MPI_COMM_WORLD), send = MPI_REQUEST_NULL;
        if (way & 1)
            MPI_Wait(&receive, MPI_STATUS_IGNORE);
        else
            MPI_Recv(in, 1, t, previous, way, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        CHECK(in[0] == 0 && in[1] == 0 && in[2] == 3 && in[3] == 0);
    }
    MPI_Type_free(&t);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "datatype_basic");
    next = (check_rank + 1) % check_ranks;
    previous = (check_rank + check_ranks - 1) % check_ranks;
    shapes();
    every_pair(12);
    every_pair(1200);
    every_pair(262152); /* a little over 1 MiB of data, far more of memory */
    one_run_further_on();
    freed_while_used();
    packed();
    return finish();
}

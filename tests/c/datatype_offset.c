/*
 * Types whose data is one run that does not begin at the buffer's address (MPI 5.0 section 5.1): through every way to
 * send and to receive, through all collectives blocking, nonblocking and persistent, in place too, in sizes of every
 * protocol. Who takes the buffer's address for the data's is caught, and so is who writes beside it.
 */
// seconds: 300
#include "check.h"

enum { LOW = 64, SPACE = 8 * 60000 + 4 * LOW };

/* In ints: `n` of data from `off` on, elements `ext` apart. */
struct shape {
    MPI_Datatype t;
    int n, off, ext;
};

static int out_space[SPACE], in_space[SPACE], wanted_space[SPACE];
static int *const out = out_space + LOW, *const in = in_space + LOW, *const wanted = wanted_space + LOW;
static int next, previous, span; /* of the spaces, what a case may touch */

static struct shape shape(int n, int off, int gap)
{
    struct shape s = {MPI_DATATYPE_NULL, n, off, n + gap};
    MPI_Datatype t;
    MPI_Aint at = off * (MPI_Aint)sizeof(int);
    MPI_Type_create_hindexed(1, &n, &at, MPI_INT, &t);
    MPI_Type_create_resized(t, at, (n + gap) * (MPI_Aint)sizeof(int), &s.t);
    MPI_Type_commit(&s.t);
    MPI_Type_free(&t);
    return s;
}

static int value(int seed, int k)
{
    return seed * 1000003 + k * 7 + 1;
}

static void clear(int *base)
{
    memset(base - LOW, 0xff, (size_t)span * sizeof(int));
}

/* `count` elements from element `first` on, numbered from 0, of `seed`. */
static void put(int *base, const struct shape *s, int first, int count, int seed)
{
    for (int e = 0; e < count; e++)
        for (int k = 0; k < s->n; k++)
            base[s->off + (first + e) * s->ext + k] = value(seed, e * s->n + k);
}

/* The receive buffer is what `wanted` says, everywhere. */
static void same(const struct shape *s, int count, const char *way)
{
    for (int k = 0; k < span; k++)
        if (in_space[k] != wanted_space[k]) {
            check_fail(__FILE__, __LINE__, "%s of %d x %d ints at %d, %d apart: int %d is %d, expected %d", way, count, s->n,
                       s->off, s->ext, k - LOW, in_space[k], wanted_space[k]);
            return;
        }
}

static void begin(const struct shape *s, int count)
{
    clear(out), clear(in), clear(wanted);
    put(out, s, 0, count, check_rank);
}

enum { SENDS = 10, RECEIVES = 5 };

static void sent(int way, const struct shape *s, int count, int to, MPI_Comm c, MPI_Request *q)
{
    *q = MPI_REQUEST_NULL;
    switch (way) {
    case 0: MPI_Send(out, count, s->t, to, way, c); break;
    case 1: MPI_Ssend(out, count, s->t, to, way, c); break;
    case 2: MPI_Bsend(out, count, s->t, to, way, c); break;
    case 3: MPI_Isend(out, count, s->t, to, way, c, q); break;
    case 4: MPI_Issend(out, count, s->t, to, way, c, q); break;
    case 5: MPI_Ibsend(out, count, s->t, to, way, c, q); break;
    case 6: MPI_Send_init(out, count, s->t, to, way, c, q); break;
    case 7: MPI_Ssend_init(out, count, s->t, to, way, c, q); break;
    case 8: MPI_Bsend_init(out, count, s->t, to, way, c, q); break;
    default: MPI_Irsend(out, count, s->t, to, way, c, q); break;
    }
    if (way >= 6 && way <= 8)
        MPI_Start(q);
}

/* Every way to send with every way to receive; to oneself, too. */
static void point_to_point(const struct shape *s, int count, MPI_Comm c)
{
    int to = c == MPI_COMM_SELF ? 0 : next, from = c == MPI_COMM_SELF ? 0 : previous;
    int seed = c == MPI_COMM_SELF ? check_rank : previous;
    for (int way = 0; way < SENDS; way++)
        for (int receive = 0; receive < RECEIVES; receive++) {
            /* Blocking sends need a receive that waits, a ready send one that is posted. */
            int early = way < 2 || way == 9;
            MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
            MPI_Message m;
            char name[64];
            if (early && receive >= 2)
                continue;
            begin(s, count);
            put(wanted, s, 0, count, seed);
            if (receive == 0 && (early || way & 1))
                MPI_Irecv(in, count, s->t, from, way, c, &q[0]);
            else if (receive == 1)
                MPI_Recv_init(in, count, s->t, from, way, c, &q[0]), MPI_Start(&q[0]);
            if (way == 9)
                MPI_Barrier(c);
            sent(way, s, count, to, c, &q[1]);
            if (receive == 0 && q[0] == MPI_REQUEST_NULL)
                MPI_Recv(in, count, s->t, from, way, c, MPI_STATUS_IGNORE);
            else if (receive == 2)
                MPI_Mprobe(from, way, c, &m, MPI_STATUS_IGNORE), MPI_Mrecv(in, count, s->t, &m, MPI_STATUS_IGNORE);
            else if (receive == 3)
                MPI_Mprobe(from, way, c, &m, MPI_STATUS_IGNORE), MPI_Imrecv(in, count, s->t, &m, &q[0]);
            else if (receive == 4)
                /* The receiver's type is another one with the same signature. */
                MPI_Recv(in + s->off, count * s->n, MPI_INT, from, way, c, MPI_STATUS_IGNORE);
            MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
            if (receive == 1)
                MPI_Request_free(&q[0]);
            if (way >= 6 && way <= 8)
                MPI_Request_free(&q[1]);
            if (receive == 4) {
                clear(wanted);
                for (int k = 0; k < count * s->n; k++)
                    wanted[s->off + k] = value(seed, k);
            }
            snprintf(name, sizeof name, "send %d, receive %d", way, receive);
            same(s, count, name);
        }
}

static void both_ways(const struct shape *s, int count, MPI_Comm c)
{
    int to = c == MPI_COMM_SELF ? 0 : next, from = c == MPI_COMM_SELF ? 0 : previous;
    int seed = c == MPI_COMM_SELF ? check_rank : previous;
    for (int way = 0; way < 4; way++) {
        MPI_Request q = MPI_REQUEST_NULL;
        begin(s, count);
        put(wanted, s, 0, count, seed);
        if (way & 1)
            put(in, s, 0, count, check_rank);
        switch (way) {
        case 0:
            MPI_Sendrecv(out, count, s->t, to, 1, in, count, s->t, from, 1, c, MPI_STATUS_IGNORE);
            break;
        case 1: MPI_Sendrecv_replace(in, count, s->t, to, 2, from, 2, c, MPI_STATUS_IGNORE); break;
        case 2: MPI_Isendrecv(out, count, s->t, to, 3, in, count, s->t, from, 3, c, &q); break;
        default: MPI_Isendrecv_replace(in, count, s->t, to, 4, from, 4, c, &q); break;
        }
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        same(s, count, way & 1 ? "sendrecv_replace" : "sendrecv");
    }
}

/* Packed from the run and unpacked to it. */
static void packed(const struct shape *s, int count)
{
    int at = 0, bytes = count * s->n * (int)sizeof(int);
    int *between = check_alloc((size_t)bytes);
    begin(s, count);
    put(wanted, s, 0, count, check_rank);
    MPI_Pack(out, count, s->t, between, bytes, &at, MPI_COMM_WORLD);
    for (int k = 0; k < count * s->n; k++)
        if (between[k] != value(check_rank, k)) {
            CHECK_EQ(between[k], value(check_rank, k));
            break;
        }
    at = 0;
    MPI_Unpack(between, bytes, &at, in, count, s->t, MPI_COMM_WORLD);
    same(s, count, "pack");
    free(between);
}

/* Adds runs where the type says that they lie. */
static const struct shape *adding;

static void add(void *a, void *b, int *count, MPI_Datatype *t)
{
    (void)t;
    for (int e = 0; e < *count; e++)
        for (int k = 0; k < adding->n; k++) {
            int at = adding->off + e * adding->ext + k;
            ((int *)b)[at] = (int)((unsigned)((int *)a)[at] + (unsigned)((int *)b)[at]);
        }
}

/* What the sum of `count` elements from `first` of ranks `low` to `high` is, at element `to`. */
static void sum(const struct shape *s, int to, int first, int count, int low, int high)
{
    for (int e = 0; e < count; e++)
        for (int k = 0; k < s->n; k++) {
            unsigned total = 0;
            for (int rank = low; rank <= high; rank++)
                total += (unsigned)value(rank, (first + e) * s->n + k);
            wanted[s->off + (to + e) * s->ext + k] = (int)total;
        }
}

#define RUN(mode, Name, name, ...)                                                                                        \
    do {                                                                                                                  \
        MPI_Request q_ = MPI_REQUEST_NULL;                                                                                \
        if (mode == 0)                                                                                                    \
            MPI_##Name(__VA_ARGS__);                                                                                      \
        else if (mode == 1)                                                                                               \
            MPI_I##name(__VA_ARGS__, &q_), MPI_Wait(&q_, MPI_STATUS_IGNORE);                                              \
        else {                                                                                                            \
            MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &q_);                                                           \
            MPI_Start(&q_), MPI_Wait(&q_, MPI_STATUS_IGNORE), MPI_Request_free(&q_);                                      \
        }                                                                                                                 \
        same(s, count, #Name);                                                                                            \
    } while (0)

static int counts[64], at[64], bytes_at[64];
static MPI_Datatype types[64];

/* What each rank sends goes to all, or a block of it to each. */
static void moved(const struct shape *s, int count, int mode)
{
    const MPI_Comm c = MPI_COMM_WORLD;
    const int p = check_ranks, me = check_rank, last = p - 1;
    for (int r = 0; r < p; r++) {
        counts[r] = count, at[r] = r * count, bytes_at[r] = r * count * s->ext * (int)sizeof(int), types[r] = s->t;
    }
    begin(s, count);
    put(wanted, s, 0, count, last);
    put(in, s, 0, count, me);
    RUN(mode, Bcast, bcast, in, count, s->t, last, c);
    for (int place = 0; place < 2; place++) {
        begin(s, count);
        if (place)
            put(in, s, me * count, count, me), put(wanted, s, me * count, count, me);
        if (me == last)
            for (int r = 0; r < p; r++)
                put(wanted, s, r * count, count, r);
        void *from = place && me == last ? MPI_IN_PLACE : out;
        RUN(mode, Gather, gather, from, count, s->t, in, count, s->t, last, c);
        RUN(mode, Gatherv, gatherv, from, count, s->t, in, counts, at, s->t, last, c);
        for (int r = 0; r < p; r++)
            put(wanted, s, r * count, count, r);
        from = place ? MPI_IN_PLACE : out;
        RUN(mode, Allgather, allgather, from, count, s->t, in, count, s->t, c);
        RUN(mode, Allgatherv, allgatherv, from, count, s->t, in, counts, at, s->t, c);

        begin(s, p * count);
        int *to = place && me == last ? MPI_IN_PLACE : in;
        if (me != last || !place)
            for (int k = 0; k < count * s->n; k++)
                wanted[s->off + k / s->n * s->ext + k % s->n] = value(last, me * count * s->n + k);
        RUN(mode, Scatter, scatter, out, count, s->t, to, count, s->t, last, c);
        RUN(mode, Scatterv, scatterv, out, counts, at, s->t, to, count, s->t, last, c);

        begin(s, p * count);
        for (int r = 0; r < p; r++)
            for (int k = 0; k < count * s->n; k++)
                wanted[s->off + (r * count + k / s->n) * s->ext + k % s->n] = value(r, me * count * s->n + k);
        for (int which = 0; which < 3; which++) {
            clear(in);
            if (place)
                put(in, s, 0, p * count, me);
            if (which == 0)
                RUN(mode, Alltoall, alltoall, from, count, s->t, in, count, s->t, c);
            else if (which == 1)
                RUN(mode, Alltoallv, alltoallv, from, counts, at, s->t, in, counts, at, s->t, c);
            else
                RUN(mode, Alltoallw, alltoallw, from, counts, bytes_at, types, in, counts, bytes_at, types, c);
        }
    }
}

static void reduced(const struct shape *s, int count, int mode, MPI_Op op)
{
    const MPI_Comm c = MPI_COMM_WORLD;
    const int p = check_ranks, me = check_rank, last = p - 1;
    adding = s;
    for (int r = 0; r < p; r++)
        counts[r] = count;
    for (int place = 0; place < 2; place++) {
        void *from = place ? MPI_IN_PLACE : out;
        begin(s, count);
        if (place)
            put(in, s, 0, count, me), put(wanted, s, 0, count, me);
        if (me == last)
            sum(s, 0, 0, count, 0, last);
        RUN(mode, Reduce, reduce, me == last ? from : out, in, count, s->t, op, last, c);
        if (place)
            put(in, s, 0, count, me);
        sum(s, 0, 0, count, 0, last);
        RUN(mode, Allreduce, allreduce, from, in, count, s->t, op, c);
        if (place)
            put(in, s, 0, count, me);
        sum(s, 0, 0, count, 0, me);
        RUN(mode, Scan, scan, from, in, count, s->t, op, c);
        begin(s, count);
        if (place)
            put(in, s, 0, count, me), put(wanted, s, 0, count, me);
        if (me > 0)
            sum(s, 0, 0, count, 0, me - 1);
        RUN(mode, Exscan, exscan, from, in, count, s->t, op, c);
        if (place)
            continue; /* what remains beyond the own block is undefined then */
        begin(s, p * count);
        sum(s, 0, me * count, count, 0, last);
        RUN(mode, Reduce_scatter, reduce_scatter, from, in, counts, s->t, op, c);
        RUN(mode, Reduce_scatter_block, reduce_scatter_block, from, in, count, s->t, op, c);
    }
}

/* Absolute addresses behind MPI_BOTTOM: two buffers that differ although both begin at address 0. */
static void bottom(int n)
{
    struct shape from = {MPI_DATATYPE_NULL, n, 0, n}, to = from;
    MPI_Aint places[2];
    MPI_Datatype t[2];
    MPI_Get_address(out, &places[0]), MPI_Get_address(in, &places[1]);
    for (int k = 0; k < 2; k++) {
        MPI_Type_create_hindexed(1, &n, &places[k], MPI_INT, &t[k]);
        MPI_Type_commit(&t[k]);
    }
    span = 2 * LOW + check_ranks * n;
    from.t = t[0], to.t = t[1];
    begin(&from, 1);
    put(wanted, &to, 0, 1, previous);
    MPI_Sendrecv(MPI_BOTTOM, 1, t[0], next, 1, MPI_BOTTOM, 1, t[1], previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    same(&to, 1, "sendrecv behind MPI_BOTTOM");
    for (int rank = 0; rank < check_ranks; rank++)
        put(wanted, &to, rank, 1, rank);
    clear(in);
    MPI_Allgather(MPI_BOTTOM, 1, t[0], MPI_BOTTOM, 1, t[1], MPI_COMM_WORLD);
    same(&to, 1, "allgather behind MPI_BOTTOM");
    clear(in);
    if (check_rank != 0)
        clear(wanted);
    MPI_Gather(MPI_BOTTOM, 1, t[0], MPI_BOTTOM, 1, t[1], 0, MPI_COMM_WORLD);
    same(&to, 1, "gather behind MPI_BOTTOM");
    MPI_Type_free(&t[0]), MPI_Type_free(&t[1]);
}

int main(int argc, char **argv)
{
    MPI_Op op[2];
    static char attached[1 << 21];
    start(&argc, &argv, "datatype_offset");
    next = (check_rank + 1) % check_ranks;
    previous = (check_rank + check_ranks - 1) % check_ranks;
    MPI_Buffer_attach(attached, sizeof attached);
    MPI_Op_create(add, 1, &op[0]), MPI_Op_create(add, 0, &op[1]);
    /* Ints of an element, where they begin, and the gap behind them. */
    static const int shapes[][3] = {{3, 2, 0}, {3, 2, 4}, {5, -7, 0}, {500, 1, 0}, {3000, 9, 0}, {3000, -5, 3}, {60000, 2, 0}};
    for (int which = 0; which < (int)(sizeof shapes / sizeof *shapes); which++) {
        struct shape s = shape(shapes[which][0], shapes[which][1], shapes[which][2]);
        for (int count = 1; count <= (s.n > 1000 ? 1 : 2); count++) {
            span = 2 * LOW + check_ranks * count * s.ext;
            if (span > SPACE) {
                check_fail(__FILE__, __LINE__, "%d ranks are too many for this program", check_ranks);
                return finish();
            }
            point_to_point(&s, count, MPI_COMM_WORLD), point_to_point(&s, count, MPI_COMM_SELF);
            both_ways(&s, count, MPI_COMM_WORLD), both_ways(&s, count, MPI_COMM_SELF);
            packed(&s, count);
            for (int mode = 0; mode < 3; mode++) {
                moved(&s, count, mode);
                reduced(&s, count, mode, op[count & 1]);
            }
        }
        MPI_Type_free(&s.t);
    }
    bottom(5), bottom(30000);
    MPI_Op_free(&op[0]), MPI_Op_free(&op[1]);
    int size;
    void *detached;
    MPI_Buffer_detach(&detached, &size);
    return finish();
}

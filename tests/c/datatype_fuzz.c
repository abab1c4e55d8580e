// covers: MPI_Type_contiguous MPI_Type_vector MPI_Type_create_hvector MPI_Type_indexed MPI_Type_create_hindexed MPI_Type_create_indexed_block MPI_Type_create_hindexed_block MPI_Type_create_struct MPI_Type_create_resized MPI_Type_create_subarray MPI_Type_dup MPI_Pack MPI_Unpack MPI_Get_elements MPI_Type_get_true_extent
// ranks: 1 2 3
// args: 1 600
// args: 2 600
/*
 * Random datatypes against a model: a list of basic types and displacements, and bounds (MPI 5.0 section 5.1). The first
 * argument is the seed, the second how many types are made; all ranks make the same ones.
 */
#include "check.h"

enum { ENTRIES = 1500, SPAN = 200000, POOL = 24, ROOM = 1 << 20, MIDDLE = ROOM / 2 };

enum kind { BYTE_, SHORT_, INT_, DOUBLE_, BASICS };
static const int bytes_of[] = {1, 2, 4, 8};

struct entry {
    long at;
    enum kind kind;
};

/* A bound that nothing in the type says, one from its data, or one of MPI_Type_create_resized, which outweighs others. */
enum origin { NOTHING, DATA, RESIZED };

struct bound {
    long at;
    enum origin origin;
};

struct model {
    MPI_Datatype type;
    struct bound lb, ub;
    int align, entries;
    struct entry *entry;
};

static struct model pool[POOL];
static unsigned long long state;

static int below(int n)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((state >> 33) % (unsigned)n);
}

static MPI_Datatype basic(enum kind kind)
{
    MPI_Datatype all[] = {MPI_BYTE, MPI_SHORT, MPI_INT, MPI_DOUBLE};
    return all[kind];
}

static long extent(const struct model *m)
{
    return m->ub.at - m->lb.at;
}

static int size(const struct model *m)
{
    int bytes = 0;
    for (int i = 0; i < m->entries; i++)
        bytes += bytes_of[m->entry[i].kind];
    return bytes;
}

static void join(struct bound *to, struct bound from, long by, int sign)
{
    from.at += by;
    if (from.origin == NOTHING)
        return;
    if (from.origin > to->origin || (from.origin == to->origin && sign * from.at > sign * to->at))
        *to = from;
}

/* Appends `count` copies of a type, the first `at` bytes from the beginning; false if it gets too large. */
static int append(struct model *to, const struct model *from, long at, int count)
{
    long step = extent(from);
    if (count > 0 && from->align > to->align)
        to->align = from->align;
    for (int k = 0; k < count; k++) {
        join(&to->lb, from->lb, at + k * step, -1);
        join(&to->ub, from->ub, at + k * step, 1);
        for (int i = 0; i < from->entries; i++) {
            long place = at + k * step + from->entry[i].at;
            if (to->entries == ENTRIES || place < -SPAN || place > SPAN)
                return 0;
            to->entry[to->entries++] = (struct entry){place, from->entry[i].kind};
        }
    }
    return 1;
}

/* New bounds instead of those of the data. */
static int mark(struct model *to, long lb, long ub)
{
    to->lb = (struct bound){lb, RESIZED};
    to->ub = (struct bound){ub, RESIZED};
    return 1;
}

static int indexed(struct model *to, const struct model *old, int how)
{
    int n = below(4), lengths[4], places[4], same = below(4), ok = 1;
    MPI_Aint aplaces[4];
    for (int i = 0; i < n; i++) {
        lengths[i] = how == 2 || how == 3 ? same : below(4);
        places[i] = below(30) - 10;
        aplaces[i] = (how == 1 || how == 3) ? below(200) - 60 : places[i] * extent(old);
        ok = ok && append(to, old, (long)aplaces[i], lengths[i]);
    }
    if (!ok)
        return 0;
    switch (how) {
    case 0:
        return MPI_Type_indexed(n, lengths, places, old->type, &to->type) == MPI_SUCCESS;
    case 1:
        return MPI_Type_create_hindexed(n, lengths, aplaces, old->type, &to->type) == MPI_SUCCESS;
    case 2:
        return MPI_Type_create_indexed_block(n, same, places, old->type, &to->type) == MPI_SUCCESS;
    default:
        return MPI_Type_create_hindexed_block(n, same, aplaces, old->type, &to->type) == MPI_SUCCESS;
    }
}

static int structure(struct model *to)
{
    int n = below(4), lengths[4], ok = 1;
    MPI_Aint places[4];
    MPI_Datatype types[4];
    for (int i = 0; i < n; i++) {
        const struct model *old = &pool[below(POOL)];
        lengths[i] = below(3), places[i] = below(400) - 100, types[i] = old->type;
        ok = ok && append(to, old, (long)places[i], lengths[i]);
    }
    return ok && MPI_Type_create_struct(n, lengths, places, types, &to->type) == MPI_SUCCESS;
}

static int subarray(struct model *to, const struct model *old)
{
    int whole[2] = {1 + below(5), 1 + below(5)}, part[2], start[2], order = below(2), ok = 1;
    int slow = order ? 1 : 0, fast = 1 - slow; /* order 1: Fortran's */
    for (int d = 0; d < 2; d++)
        part[d] = 1 + below(whole[d]), start[d] = below(whole[d] - part[d] + 1);
    for (int i = 0; i < part[slow]; i++)
        for (int j = 0; j < part[fast]; j++)
            ok = ok && append(to, old, (long)((start[slow] + i) * whole[fast] + start[fast] + j) * extent(old), 1);
    return ok && mark(to, 0, whole[0] * whole[1] * extent(old)) &&
        MPI_Type_create_subarray(2, whole, part, start, order ? MPI_ORDER_FORTRAN : MPI_ORDER_C, old->type, &to->type) == MPI_SUCCESS;
}

static int resized(struct model *to, const struct model *old)
{
    long lb = below(60) - 30, span = below(300);
    return append(to, old, 0, 1) && mark(to, lb, lb + span) && MPI_Type_create_resized(old->type, lb, span, &to->type) == MPI_SUCCESS;
}

static int derived(struct model *to)
{
    const struct model *old = &pool[below(POOL)];
    int how = below(10), n = below(4), length = below(4), stride = below(12) - 4;
    int ok = 1;
    switch (how) {
    case 0:
        return append(to, old, 0, n) && MPI_Type_contiguous(n, old->type, &to->type) == MPI_SUCCESS;
    case 1:
    case 2:
        for (int i = 0; i < n; i++)
            ok = ok && append(to, old, how == 1 ? i * stride * extent(old) : i * stride * 5L, length);
        if (!ok)
            return 0;
        return (how == 1 ? MPI_Type_vector(n, length, stride, old->type, &to->type)
                         : MPI_Type_create_hvector(n, length, stride * 5L, old->type, &to->type)) == MPI_SUCCESS;
    case 3:
    case 4:
    case 5:
    case 6:
        return indexed(to, old, how - 3);
    case 7:
        return structure(to);
    case 8:
        return subarray(to, old);
    default:
        return resized(to, old);
    }
}

static void basic_model(struct model *to, enum kind kind)
{
    to->lb = (struct bound){0, DATA}, to->ub = (struct bound){bytes_of[kind], DATA};
    to->align = bytes_of[kind], to->entries = 1, to->entry[0] = (struct entry){0, kind};
    MPI_Type_dup(basic(kind), &to->type);
}

/* One more type from those of the pool; false if it would be too large. */
static int make(struct model *to)
{
    to->lb = to->ub = (struct bound){0, NOTHING};
    to->align = 1, to->entries = 0;
    if (!derived(to))
        return 0;
    /* Room for the strictest alignment, unless the upper bound was chosen. */
    if (to->ub.origin == DATA && extent(to) % to->align != 0)
        to->ub.at += to->align - ((extent(to) % to->align) + to->align) % to->align;
    return 1;
}

static unsigned char user[ROOM], other[ROOM], want[ROOM], packed[ROOM], expected[ROOM], is_written[ROOM];

/* The bytes of `count` of them in their order; returns how many. Counts bytes that are there twice in `*twice`. */
static int gather(const struct model *m, int count, const unsigned char *from, unsigned char *to, int *twice)
{
    int n = 0;
    long step = extent(m);
    memset(is_written, 0, ROOM);
    *twice = 0;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < m->entries; i++) {
            long at = MIDDLE + k * step + m->entry[i].at;
            for (int b = 0; b < bytes_of[m->entry[i].kind]; b++) {
                *twice += is_written[at + b], is_written[at + b] = 1;
                to[n++] = from[at + b];
            }
        }
    return n;
}

static void scatter(const struct model *m, int count, const unsigned char *from, unsigned char *to)
{
    long step = extent(m);
    for (int k = 0; k < count; k++)
        for (int i = 0; i < m->entries; i++)
            for (int b = 0; b < bytes_of[m->entry[i].kind]; b++)
                to[MIDDLE + k * step + m->entry[i].at + b] = *from++;
}

static void shape(const struct model *m)
{
    MPI_Count bytes = -1;
    MPI_Aint lb = -1, span = -1, true_lb = 0, true_span = 0;
    long least = 0, most = 0;
    int any = 0;
    MPI_Type_size_c(m->type, &bytes);
    MPI_Type_get_extent(m->type, &lb, &span);
    MPI_Type_get_true_extent(m->type, &true_lb, &true_span);
    CHECK_EQ(bytes, size(m));
    CHECK_EQ(lb, m->lb.at);
    CHECK_EQ(span, extent(m));
    for (int i = 0; i < m->entries; i++) {
        struct entry e = m->entry[i];
        if (!any || e.at < least)
            least = e.at;
        if (!any || e.at + bytes_of[e.kind] > most)
            most = e.at + bytes_of[e.kind];
        any = 1;
    }
    CHECK_EQ(true_lb, least);
    CHECK_EQ(true_span, most - least);
}

/* Packed and unpacked as the model says; gaps keep what they had. */
static void pack(const struct model *m, int count, int seed)
{
    int twice, at = 0, room = 0, n;
    fill(user, ROOM, seed);
    n = gather(m, count, user, expected, &twice);
    MPI_Pack_size(count, m->type, MPI_COMM_SELF, &room);
    CHECK_MSG(room >= n && room <= ROOM, "MPI_Pack_size: %d bytes, expected at least %d", room, n);
    MPI_Pack(user + MIDDLE, count, m->type, packed, ROOM, &at, MPI_COMM_SELF);
    CHECK_EQ(at, n);
    CHECK_MSG(memcmp(packed, expected, (size_t)n) == 0, "type %d is packed wrongly", seed);
    if (twice)
        return;
    fill(other, ROOM, seed + 1), fill(want, ROOM, seed + 1);
    scatter(m, count, expected, want);
    at = 0;
    MPI_Unpack(packed, n, &at, other + MIDDLE, count, m->type, MPI_COMM_SELF);
    CHECK_EQ(at, n);
    CHECK_MSG(memcmp(other, want, ROOM) == 0, "type %d is unpacked wrongly", seed);
}

/* Round the ring: sent as `m`; received as `m` or as the basic types that it is made of, if they are all alike; or a
 * part of it, which ends within a type. */
static void message(const struct model *m, int count, int seed)
{
    int next = (check_rank + 1) % check_ranks, previous = (check_rank + check_ranks - 1) % check_ranks, twice, n, alike = 1;
    int from = seed + previous * 7, elements = 0, got = -1, whole = -1;
    enum kind kind = BASICS;
    MPI_Status status;
    for (int i = 0; i < m->entries; i++) {
        if (elements++ == 0)
            kind = m->entry[i].kind;
        alike &= kind == m->entry[i].kind;
    }
    fill(user, ROOM, from);
    n = gather(m, count, user, expected, &twice);
    fill(user, ROOM, seed + check_rank * 7);
    if (elements > 0 && alike) {
        memset(other, 0, (size_t)n + 8);
        MPI_Sendrecv(user + MIDDLE, count, m->type, next, 1, other, count * elements + 1, basic(kind), previous, 1, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, basic(kind), &got);
        CHECK_EQ(got, count * elements);
        CHECK_MSG(memcmp(other, expected, (size_t)n) == 0, "type %d arrives wrongly as basic types", seed);
    }
    if (twice)
        return;
    fill(other, ROOM, seed + 3), fill(want, ROOM, seed + 3);
    scatter(m, count, expected, want);
    MPI_Sendrecv(user + MIDDLE, count, m->type, next, 2, other + MIDDLE, count, m->type, previous, 2, MPI_COMM_WORLD, &status);
    CHECK_MSG(memcmp(other, want, ROOM) == 0, "type %d arrives wrongly", seed);
    MPI_Get_count(&status, m->type, &whole);
    CHECK_EQ(whole, size(m) == 0 ? 0 : count);
    if (elements == 0 || !alike || count == 0)
        return;
    /* Fewer elements than a whole number of types. */
    int part = below(count * elements + 1);
    fill(user, ROOM, seed + 5); /* the same on all ranks */
    fill(other, ROOM, seed + 4), fill(want, ROOM, seed + 4);
    for (int i = 0, left = part; i < count * m->entries && left > 0; i++) {
        struct entry e = m->entry[i % m->entries];
        memcpy(want + MIDDLE + i / m->entries * extent(m) + e.at, user + (part - left) * bytes_of[kind], (size_t)bytes_of[kind]);
        left--;
    }
    MPI_Sendrecv(user, part, basic(kind), next, 3, other + MIDDLE, count, m->type, previous, 3, MPI_COMM_WORLD, &status);
    CHECK_MSG(memcmp(other, want, ROOM) == 0, "a part of type %d arrives wrongly", seed);
    MPI_Get_elements(&status, m->type, &got);
    CHECK_EQ(got, part);
    MPI_Get_count(&status, m->type, &whole);
    CHECK_EQ(whole, part % elements ? MPI_UNDEFINED : part / elements);
}

int main(int argc, char **argv)
{
    int types = argc > 2 ? atoi(argv[2]) : 100, first = check_failures;
    start(&argc, &argv, "datatype_fuzz");
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    for (int i = 0; i < POOL; i++) {
        pool[i].entry = check_alloc(ENTRIES * sizeof(struct entry));
        basic_model(&pool[i], (enum kind)(i % BASICS));
    }
    struct model made = {.entry = check_alloc(ENTRIES * sizeof(struct entry))};
    for (int number = 1; number <= types && check_failures == first; number++) {
        int count = below(4), place = below(POOL);
        if (!make(&made))
            continue;
        MPI_Type_commit(&made.type);
        shape(&made);
        if (labs(extent(&made)) * 4 < SPAN) {
            pack(&made, count, number);
            message(&made, count, number);
        }
        if (check_failures > first)
            check_fail(__FILE__, __LINE__, "that was type %d of seed %s", number, argc > 1 ? argv[1] : "1");
        /* It takes the place of an older one, which others may be made of. */
        MPI_Type_free(&pool[place].type);
        struct model old = pool[place];
        pool[place] = made, made = old;
        if (below(8) == 0) { /* else all of them would become large */
            MPI_Type_free(&pool[place].type);
            basic_model(&pool[place], (enum kind)below(BASICS));
        }
    }
    for (int i = 0; i < POOL; i++)
        MPI_Type_free(&pool[i].type), free(pool[i].entry);
    free(made.entry);
    return finish();
}

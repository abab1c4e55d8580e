// covers: MPI_Barrier MPI_Bcast MPI_Gather MPI_Gatherv MPI_Scatter MPI_Scatterv MPI_Allgather MPI_Allgatherv MPI_Alltoall MPI_Alltoallv MPI_Alltoallw MPI_Reduce MPI_Allreduce MPI_Reduce_scatter MPI_Reduce_scatter_block
// ranks: 2 3 4 5 8
/*
 * Collectives on intercommunicators, MPI 5.0 sections 6.2.2 to 6.10: all families, every process of either group as the
 * root, groups of equal and of different sizes, counts that differ by direction, 0 among them. Each value names its
 * sender, its receiver and its place; reductions have an operation that commutes and one that does not.
 */
#include "check.h"
#include <time.h>

enum { EMPTY = -77 };

/* The nonblocking and the persistent program wait by testing, which takes its time where cores are few. */
#ifdef COLL_AS_H
enum { FEW = 1 };
#else
enum { FEW = 0 };
#endif

static MPI_Comm inter;
static int upper, rank, here, there; /* side, rank and sizes of the groups */
static MPI_Op compose;

#ifdef SEED_WRONG_GROUP_MISTAKE
#define OTHER upper
#else
#define OTHER (!upper)
#endif

static int value(int side, int from, int to, int k)
{
    return (int)((unsigned)(side + 1) * 40000003u + (unsigned)from * 1000003u + (unsigned)to * 10007u + (unsigned)k * 3u);
}

static int *ints(long n)
{
    int *p = check_alloc((size_t)(n + 1) * sizeof(int));
    for (long i = 0; i <= n; i++)
        p[i] = EMPTY;
    return p;
}

static void put(int *p, int n, int from, int to)
{
    for (int k = 0; k < n; k++)
        p[k] = value(upper, from, to, k);
}

/* `n` ints `step` apart are those that `from` of the other group has for `to`. */
static void expect(const int *p, int n, int step, int from, int to, int line)
{
    for (int k = 0; k < n; k++)
        if (p[(long)k * step] != value(OTHER, from, to, k)) {
            check_fail(__FILE__, line, "%d ints from %d to %d, element %d: expected %d, got %d (%s group, %d to %d)", n, from, to, k,
                       value(OTHER, from, to, k), p[(long)k * step], upper ? "upper" : "lower", here, there);
            return;
        }
}
#define EXPECT(p, n, from, to) expect(p, n, 1, from, to, __LINE__)

static void untouched(const int *p, long from, int line)
{
    if (p[from] != EMPTY)
        check_fail(__FILE__, line, "int %ld was written", from);
}
#define UNTOUCHED(p, from) untouched(p, from, __LINE__)

/* What a process passes as the root that is `root` of group `side`. */
static int as_root(int side, int root)
{
    return side != upper ? root : root == rank ? MPI_ROOT : MPI_PROC_NULL;
}

static MPI_Datatype every_other(int n)
{
    MPI_Datatype t;
    MPI_Type_vector(n, 1, 2, MPI_INT, &t);
    MPI_Type_commit(&t);
    return t;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* When a rank came, and where: ranks of two machines have no clock in common. */
struct arrival {
    double when;
    char where[MPI_MAX_PROCESSOR_NAME];
};

/* Nobody leaves before the last one of the other group has come. */
static void barriers(void)
{
    for (int late = 0; late < 2; late++) {
        struct arrival own = {0, ""}, other;
        double left;
        int length;
        MPI_Get_processor_name(own.where, &length);
        if (upper == late && rank == here - 1)
            nanosleep(&(struct timespec){0, 30000000}, NULL);
        own.when = now();
        CHECK_EQ(MPI_Barrier(inter), MPI_SUCCESS);
        left = now();
        if (upper == late && rank == here - 1)
            for (int r = 0; r < there; r++)
                MPI_Send(&own, sizeof own, MPI_BYTE, r, 8, inter);
        if (upper != late) {
            MPI_Recv(&other, sizeof other, MPI_BYTE, there - 1, 8, inter, MPI_STATUS_IGNORE);
            if (!strcmp(own.where, other.where))
                CHECK_MSG(left >= other.when, "left a barrier %g s before the last one came", other.when - left);
        }
    }
}

static void rooted(int side, int root, int n)
{
    int arg = as_root(side, root), is_root = arg == MPI_ROOT, takes = side != upper;
    int *a = ints((long)n * there + 2L * n), *b = ints((long)n * there + 2L * n);
    int *counts = ints(there), *displs = ints(there);
    MPI_Datatype gaps = every_other(n);
    /* Broadcast: as it is, and to every other place. */
    if (is_root)
        put(a, n, root, 0);
    CHECK_EQ(MPI_Bcast(a, n, MPI_INT, arg, inter), MPI_SUCCESS);
    if (takes)
        EXPECT(a, n, root, 0);
    else if (!is_root)
        UNTOUCHED(a, 0);
    CHECK_EQ(MPI_Bcast(takes ? b : a, takes ? 1 : n, takes ? gaps : MPI_INT, arg, inter), MPI_SUCCESS);
    if (takes)
        expect(b, n, 2, root, 0, __LINE__);
    free(a), free(b);
    /* Gather: the other group's to the root. What counts nowhere else is wrong there. */
    a = ints(n), b = ints((long)n * there);
    put(a, n, rank, root);
    CHECK_EQ(MPI_Gather(takes ? a : NULL, takes ? n : -1, takes ? MPI_INT : MPI_DATATYPE_NULL, is_root ? b : NULL, is_root ? n : -1,
                        is_root ? MPI_INT : MPI_DATATYPE_NULL, arg, inter), MPI_SUCCESS);
    for (int r = 0; is_root && r < there; r++)
        EXPECT(b + (long)r * n, n, r, root);
    free(b), b = ints((long)(n + 2) * there);
    for (int r = 0; r < there; r++)
        counts[r] = n - (n > 0 && r % 2), displs[r] = (there - 1 - r) * (n + 2);
    CHECK_EQ(MPI_Gatherv(takes ? a : NULL, takes ? n - (n > 0 && rank % 2) : -1, MPI_INT, b, is_root ? counts : NULL, is_root ? displs : NULL, MPI_INT, arg, inter),
             MPI_SUCCESS);
    for (int r = 0; is_root && r < there; r++) {
        EXPECT(b + displs[r], counts[r], r, root);
        UNTOUCHED(b, displs[r] + counts[r]);
    }
    free(a), free(b);
    /* Scatter: the root's to the other group. */
    a = ints((long)(n + 2) * there), b = ints(n);
    for (int r = 0; r < there; r++)
        put(a + (long)r * n, n, root, r);
    CHECK_EQ(MPI_Scatter(is_root ? a : NULL, is_root ? n : -1, is_root ? MPI_INT : MPI_DATATYPE_NULL, takes ? b : NULL, takes ? n : -1,
                         takes ? MPI_INT : MPI_DATATYPE_NULL, arg, inter), MPI_SUCCESS);
    if (takes)
        EXPECT(b, n, root, rank);
    for (int r = 0; r < there; r++)
        put(a + displs[r], counts[r], root, r);
    free(b), b = ints(n);
    CHECK_EQ(MPI_Scatterv(a, is_root ? counts : NULL, is_root ? displs : NULL, MPI_INT, b, takes ? n - (n > 0 && rank % 2) : -1, MPI_INT, arg, inter), MPI_SUCCESS);
    if (takes)
        EXPECT(b, n - (n > 0 && rank % 2), root, rank);
    MPI_Type_free(&gaps);
    free(a), free(b), free(counts), free(displs);
}

/* The lower group sends `low` to each, the upper one `high`. */
static void all_to_each(int low, int high)
{
    int out = upper ? high : low, in = upper ? low : high;
    int *a = ints((long)(out + 3) * there), *b = ints((long)(in + 3) * there);
    int *oc = ints(there), *od = ints(there), *ic = ints(there), *id = ints(there);
    MPI_Datatype *ot = check_alloc((size_t)there * sizeof *ot), *it = check_alloc((size_t)there * sizeof *it);
    put(a, out, rank, 0);
    CHECK_EQ(MPI_Allgather(a, out, MPI_INT, b, in, MPI_INT, inter), MPI_SUCCESS);
    for (int r = 0; r < there; r++)
        EXPECT(b + (long)r * in, in, r, 0);
    UNTOUCHED(b, (long)in * there);
    for (int r = 0; r < there; r++)
        ic[r] = in + r % 3, id[r] = r * (in + 3);
    free(a), free(b), a = ints(out + 3), b = ints((long)(in + 3) * there);
    put(a, out + rank % 3, rank, 0);
    CHECK_EQ(MPI_Allgatherv(a, out + rank % 3, MPI_INT, b, ic, id, MPI_INT, inter), MPI_SUCCESS);
    for (int r = 0; r < there; r++)
        EXPECT(b + id[r], ic[r], r, 0);
    free(a), free(b), a = ints((long)(out + 3) * there), b = ints((long)(in + 3) * there);
    for (int r = 0; r < there; r++)
        put(a + (long)r * out, out, rank, r);
    CHECK_EQ(MPI_Alltoall(a, out, MPI_INT, b, in, MPI_INT, inter), MPI_SUCCESS);
    for (int r = 0; r < there; r++)
        EXPECT(b + (long)r * in, in, r, rank);
    for (int w = 0; w < 2; w++) { /* v, then w */
        int unit = w ? (int)sizeof(int) : 1, code;
        free(b), b = ints((long)(in + 3) * there);
        for (int r = 0; r < there; r++) {
            oc[r] = out + (rank + 2 * r) % 3, od[r] = r * (out + 3);
            ic[r] = in + (r + 2 * rank) % 3, id[r] = r * (in + 3);
            put(a + od[r], oc[r], rank, r);
            od[r] *= unit, id[r] *= unit;
            ot[r] = it[r] = MPI_INT;
        }
        code = w ? MPI_Alltoallw(a, oc, od, ot, b, ic, id, it, inter) : MPI_Alltoallv(a, oc, od, MPI_INT, b, ic, id, MPI_INT, inter);
        CHECK_EQ(code, MPI_SUCCESS);
        for (int r = 0; r < there; r++) {
            EXPECT(b + id[r] / unit, ic[r], r, rank);
            UNTOUCHED(b, id[r] / unit + ic[r]);
        }
    }
    free(a), free(b), free(oc), free(od), free(ic), free(id), free(ot), free(it);
}

/* x -> a x + b: first the left one, then the right one. Pairs of ints that overflow as they like. */
static void affine(void *in, void *inout, int *n, MPI_Datatype *t)
{
    unsigned *l = in, *r = inout;
    int size = 0;
    MPI_Type_size(*t, &size);
    for (int i = 0; i < *n * (size / 8); i++, l += 2, r += 2) {
        r[1] += r[0] * l[1];
        r[0] *= l[0];
    }
}

/* What the other group's contributions give, element `k` of pairs or of ints. */
static void combined(int *out, int pairs, int user)
{
    for (int k = 0; k < 2 * pairs; k++)
        out[k] = value(OTHER, 0, 0, k);
    for (int r = 1; r < there; r++)
        for (int k = 0; k < 2 * pairs; k += 2) {
            unsigned a = (unsigned)value(OTHER, r, 0, k), b = (unsigned)value(OTHER, r, 0, k + 1);
            unsigned *o = (unsigned *)out + k;
            if (user)
                o[1] = a * o[1] + b, o[0] *= a;
            else
                o[0] += a, o[1] += b;
        }
}

static void same(const int *got, const int *want, long n, int line)
{
    for (long k = 0; k < n; k++)
        if (got[k] != want[k]) {
            check_fail(__FILE__, line, "element %ld of %ld: expected %d, got %d (%s group, %d to %d)", k, n, want[k], got[k],
                       upper ? "upper" : "lower", here, there);
            return;
        }
}

static void reductions(int pairs, int user)
{
    MPI_Datatype pair, t;
    MPI_Op op = user ? compose : MPI_SUM;
    int each = user ? 1 : 2, all = here * there * pairs, before = 0; /* elements of a pair, pairs of a scattered reduction */
    int *a = ints(2L * all), *b = ints(2L * all), *want = ints(2L * all), *counts = ints(here);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    t = user ? pair : MPI_INT;
    put(a, 2 * all, rank, 0);
    combined(want, all, user);
    for (int side = 0; side < 2; side++) {
        int root = (pairs + side) % (side == upper ? here : there), arg = as_root(side, root), is_root = arg == MPI_ROOT;
        CHECK_EQ(MPI_Reduce(side == upper ? NULL : a, is_root ? b : NULL, side == upper && !is_root ? 0 : pairs * each, t, op, arg, inter), MPI_SUCCESS);
        if (is_root)
            same(b, want, 2L * pairs, __LINE__);
    }
    CHECK_EQ(MPI_Allreduce(a, b, pairs * each, t, op, inter), MPI_SUCCESS);
    same(b, want, 2L * pairs, __LINE__);
    free(b), b = ints(2L * all);
    CHECK_EQ(MPI_Reduce_scatter_block(a, b, there * pairs * each, t, op, inter), MPI_SUCCESS);
    same(b, want + 2L * rank * there * pairs, 2L * there * pairs, __LINE__);
    UNTOUCHED(b, 2L * there * pairs);
    free(b), b = ints(2L * all);
    for (int r = 0; r < here; r++) { /* neighbours differ by two pairs */
        int more = pairs == 0 || (r == here - 1 && here % 2) ? 0 : r % 2 ? -1 : 1;
        counts[r] = (there * pairs + more) * each;
        before += r < rank ? counts[r] / each : 0;
    }
    CHECK_EQ(MPI_Reduce_scatter(a, b, counts, t, op, inter), MPI_SUCCESS);
    same(b, want + 2L * before, 2L * counts[rank] / each, __LINE__);
    MPI_Type_free(&pair);
    free(a), free(b), free(want), free(counts);
}

static void mistakes(void)
{
    int a[64] = {0}, b[64] = {0};
    CHECK_CLASS(MPI_Bcast(a, 1, MPI_INT, there, inter), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast(a, 1, MPI_INT, -1, inter), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Allreduce(MPI_IN_PLACE, b, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, b, 1, MPI_INT, inter), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allgather(MPI_IN_PLACE, 1, MPI_INT, b, 1, MPI_INT, inter), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Scan(a, b, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Exscan(a, b, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
}

static void everything(void)
{
    int posted = EMPTY, sent = 5 + upper;
    MPI_Request q = MPI_REQUEST_NULL;
    if (rank < there) /* takes whatever comes, but nothing of the collectives */
        MPI_Irecv(&posted, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &q);
    for (int side = 0; side < 2; side++)
        for (int root = FEW ? (side == upper ? here : there) - 1 : 0; root < (side == upper ? here : there); root++)
            for (int n = 0; n < 3; n++)
                rooted(side, root, n == 2 ? (root == 0 || FEW ? 20011 : 5) : n);
    if (!FEW)
        all_to_each(1, 1);
    all_to_each(0, 3);
    all_to_each(700, 0);
    all_to_each(6000, 9001);
    for (int user = 0; user < 2; user++) {
        reductions(0, user);
        if (!FEW)
            reductions(1, user);
        reductions(3, user);
        reductions(1200, user);
    }
    MPI_Barrier(inter);
    CHECK_EQ(posted, EMPTY);
    MPI_Barrier(inter); /* nobody sends before all have looked */
    if (rank < there) {
        MPI_Send(&sent, 1, MPI_INT, rank, 3, inter);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        CHECK_EQ(posted, 5 + !upper);
    }
    barriers();
    mistakes();
}

/* The first `low` processes and the others, backwards; the groups' first processes know each other. */
static void cut(int low)
{
    MPI_Comm half, copy;
    upper = check_rank >= low;
    here = upper ? check_ranks - low : low;
    there = check_ranks - here;
    MPI_Comm_split(MPI_COMM_WORLD, upper, upper ? -check_rank : check_rank, &half);
    MPI_Comm_rank(half, &rank);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : check_ranks - 1, 77, &inter);
    everything();
    MPI_Comm_dup(inter, &copy);
    MPI_Comm_free(&inter);
    inter = copy;
    reductions(2, 1);
    barriers();
    /* Only the first of each: groups of one. */
    MPI_Comm_split(inter, rank == 0 ? 1 : MPI_UNDEFINED, 0, &copy);
    MPI_Comm_free(&inter);
    if (copy != MPI_COMM_NULL) {
        inter = copy;
        here = there = 1;
        if (!FEW)
            everything();
        MPI_Comm_free(&inter);
    }
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "coll_inter");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Op_create(affine, 0, &compose);
    /* The first alone, half of them, all but the last. */
    for (int low = 1; low < check_ranks; low++)
        if (FEW ? low == check_ranks / 2 : low == 1 || low == check_ranks / 2 || low == check_ranks - 1)
            cut(low);
    CHECK_CLASS(MPI_Bcast(&check_failures, 1, MPI_INT, MPI_ROOT, MPI_COMM_WORLD), MPI_ERR_ROOT);
    MPI_Op_free(&compose);
    return finish();
}

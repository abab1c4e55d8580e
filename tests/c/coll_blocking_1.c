// covers: MPI_Barrier MPI_Bcast MPI_Gather MPI_Gatherv MPI_Scatter MPI_Scatterv MPI_Allgather MPI_Allgatherv MPI_Alltoall MPI_Alltoallv MPI_Alltoallw
/*
 * Blocking collectives that move data, MPI 5.0 sections 6.3 to 6.8. Each value names its sender, its receiver and its
 * place, so the reference is a formula. Variants: plain, MPI_IN_PLACE, and one side with a strided type (signatures must
 * match across ranks, layouts need not). Run on MPI_COMM_WORLD, on it with ranks reversed, and on its halves.
 */
#include "check.h"

enum { PLAIN, IN_PLACE, STRIDED, VARIANTS, EMPTY = -77, GUARD = 4 };

static MPI_Comm comm;
static int rank, ranks;

static int value(int from, int to, int k)
{
    return (int)((unsigned)from * 1000003u + (unsigned)to * 10007u + (unsigned)k);
}

/* Room that knows whether someone wrote behind it. */
static int *ints(long n)
{
    int *p = check_alloc((size_t)(n + GUARD) * sizeof(int));
    for (long i = 0; i < n + GUARD; i++)
        p[i] = EMPTY;
    return p;
}

static void done(int *p, long n, int line)
{
    for (long i = n; i < n + GUARD; i++)
        if (p[i] != EMPTY)
            check_fail(__FILE__, line, "int %ld behind a buffer of %ld was written", i - n, n);
    free(p);
}

/* `n` ints at `p`, `step` apart, must be those that `from` has for `to`; what lies between them must be untouched. */
static void expect(const int *p, int n, int step, int from, int to, int line)
{
    for (int k = 0; k < n; k++) {
        if (p[(long)k * step] != value(from, to, k)) {
            check_fail(__FILE__, line, "size %d, from %d to %d, element %d: expected %d, got %d (comm rank %d of %d)", n, from, to, k,
                       value(from, to, k), p[(long)k * step], rank, ranks);
            return;
        }
        for (int gap = 1; gap < step && k < n - 1; gap++)
            if (p[(long)k * step + gap] != EMPTY)
                check_fail(__FILE__, line, "gap behind element %d was written", k);
    }
}

static void put(int *p, int n, int step, int from, int to)
{
    for (int k = 0; k < n; k++)
        p[(long)k * step] = value(from, to, k);
}

/* Every other int of 2n-1: `ranks` such blocks in a row lie 2n-1 apart. */
static MPI_Datatype strided(int n)
{
    MPI_Datatype t;
    MPI_Type_vector(n, 1, 2, MPI_INT, &t);
    MPI_Type_commit(&t);
    return t;
}

/* One empty type is as many bytes as none, and the signatures match; MPICH 5.0 and Open MPI 4.1 look at the count alone,
 * leave on one side only, and hang or mix up the next messages. */
static int one(int n)
{
    return n > 0 || !(library_is("MPICH") || library_is("Open MPI"));
}

static int span(int n)
{
    return n > 0 ? 2 * n - 1 : 0;
}

/* A rank that leaves too early posts a receive; the late rank's synchronous sends would then complete before it has
 * entered itself. Cause and effect, no clocks of two processes compared. */
static void barrier(void)
{
    for (int late = 0; late < ranks; late++) {
        MPI_Request *q = check_alloc((size_t)ranks * sizeof *q);
        double begin = MPI_Wtime();
        for (int r = 0; r < ranks && rank == late; r++) {
            q[r] = MPI_REQUEST_NULL;
            if (r != rank)
                MPI_Issend(NULL, 0, MPI_INT, r, 9, comm, &q[r]);
        }
        while (rank == late && ranks > 1 && MPI_Wtime() - begin < 0.005) {
            int flag = 0, index = MPI_UNDEFINED;
            MPI_Testany(ranks, q, &index, &flag, MPI_STATUS_IGNORE);
            CHECK_MSG(!flag, "rank %d left the barrier before rank %d entered", index, rank);
            if (flag)
                break;
        }
        MPI_Barrier(comm);
        if (rank == late)
            MPI_Waitall(ranks, q, MPI_STATUSES_IGNORE);
        else
            MPI_Recv(NULL, 0, MPI_INT, late, 9, comm, MPI_STATUS_IGNORE);
        free(q);
    }
}

static void bcast(int n, int root, int variant)
{
    int step = variant == STRIDED && rank % 2 == root % 2 ? 2 : 1;
    long room = step == 2 ? span(n) : n;
    int *p = ints(room);
    if (rank == root)
        put(p, n, step, root, 0);
    if (step == 2) {
        MPI_Datatype t = strided(n);
        MPI_Bcast(p, one(n), t, root, comm);
        MPI_Type_free(&t);
    } else if (variant == IN_PLACE) { /* nothing in place here: the same bytes under another count instead */
        MPI_Bcast(p, 4 * n, MPI_BYTE, root, comm);
    } else {
        MPI_Bcast(p, n, MPI_INT, root, comm);
    }
    expect(p, n, step, root, 0, __LINE__);
    done(p, room, __LINE__);
}

static void gather(int n, int root, int variant)
{
    int step = variant == STRIDED ? 2 : 1, each = step == 2 ? span(n) : n;
    long room = rank == root ? (long)each * ranks : 0;
    int *all = ints(room), *mine = ints(n);
    MPI_Datatype t = step == 2 ? strided(n) : MPI_INT;
    put(mine, n, 1, rank, root);
    if (variant == IN_PLACE && rank == root)
        put(all + (long)root * n, n, 1, rank, root);
    MPI_Gather(variant == IN_PLACE && rank == root ? MPI_IN_PLACE : mine, n, MPI_INT, all, step == 2 ? one(n) : n, t, root, comm);
    for (int r = 0; r < ranks && rank == root; r++)
        expect(all + (long)r * each, n, step, r, root, __LINE__);
    if (step == 2)
        MPI_Type_free(&t);
    done(all, room, __LINE__);
    done(mine, n, __LINE__);
}

static void scatter(int n, int root, int variant)
{
    int step = variant == STRIDED ? 2 : 1, each = step == 2 ? span(n) : n, in_place = variant == IN_PLACE && rank == root;
    long room = rank == root ? (long)each * ranks : 0;
    int *all = ints(room), *mine = ints(n);
    MPI_Datatype t = step == 2 ? strided(n) : MPI_INT;
    for (int r = 0; r < ranks && rank == root; r++)
        put(all + (long)r * each, n, step, root, r);
    MPI_Scatter(all, step == 2 ? one(n) : n, t, in_place ? MPI_IN_PLACE : mine, n, MPI_INT, root, comm);
    if (in_place)
        expect(all + (long)root * n, n, 1, root, rank, __LINE__);
    else
        expect(mine, n, 1, root, rank, __LINE__);
    if (step == 2)
        MPI_Type_free(&t);
    done(all, room, __LINE__);
    done(mine, n, __LINE__);
}

/* Uneven shares for the v calls, some of them empty, laid out last rank first with one int between them. */
struct shares {
    int *counts, *displs;
    long room;
};

static int share(int n, int r)
{
    return n * ((r + 1) % 3) / 2 + (n > 0 && r % 2);
}

static struct shares make_shares(int n)
{
    struct shares s = {check_alloc((size_t)ranks * sizeof(int)), check_alloc((size_t)ranks * sizeof(int)), 0};
    for (int r = ranks - 1; r >= 0; r--) {
        s.counts[r] = share(n, r);
        s.displs[r] = (int)s.room;
        s.room += s.counts[r] + 1;
    }
    return s;
}

static void check_shares(const int *all, const struct shares *s, int to, int line)
{
    for (int r = 0; r < ranks; r++) {
        expect(all + s->displs[r], s->counts[r], 1, r, to, line);
        if (all[s->displs[r] + s->counts[r]] != EMPTY)
            check_fail(__FILE__, line, "the gap behind the share of rank %d was written", r);
    }
}

static void free_shares(struct shares *s)
{
    free(s->counts);
    free(s->displs);
}

static void gatherv(int n, int root, int variant)
{
    struct shares s = make_shares(n);
    int *all = ints(s.room), *mine = ints(share(n, rank)), in_place = variant == IN_PLACE && rank == root;
    put(in_place ? all + s.displs[rank] : mine, share(n, rank), 1, rank, root);
    MPI_Gatherv(in_place ? MPI_IN_PLACE : mine, share(n, rank), MPI_INT, all, s.counts, s.displs, MPI_INT, root, comm);
    if (rank == root)
        check_shares(all, &s, root, __LINE__);
    done(all, s.room, __LINE__);
    done(mine, share(n, rank), __LINE__);
    free_shares(&s);
}

static void scatterv(int n, int root, int variant)
{
    struct shares s = make_shares(n);
    int *all = ints(s.room), *mine = ints(share(n, rank)), in_place = variant == IN_PLACE && rank == root;
    for (int r = 0; r < ranks && rank == root; r++)
        put(all + s.displs[r], s.counts[r], 1, root, r);
    MPI_Scatterv(all, s.counts, s.displs, MPI_INT, in_place ? MPI_IN_PLACE : mine, share(n, rank), MPI_INT, root, comm);
    expect(in_place ? all + s.displs[rank] : mine, share(n, rank), 1, root, rank, __LINE__);
    done(all, s.room, __LINE__);
    done(mine, share(n, rank), __LINE__);
    free_shares(&s);
}

static void allgather(int n, int variant)
{
    int step = variant == STRIDED ? 2 : 1, each = step == 2 ? span(n) : n;
    int *all = ints((long)each * ranks), *mine = ints(n);
    MPI_Datatype t = step == 2 ? strided(n) : MPI_INT;
    put(variant == IN_PLACE ? all + (long)rank * n : mine, n, 1, rank, 0);
    MPI_Allgather(variant == IN_PLACE ? MPI_IN_PLACE : mine, n, MPI_INT, all, step == 2 ? one(n) : n, t, comm);
    for (int r = 0; r < ranks; r++)
        expect(all + (long)r * each, n, step, r, 0, __LINE__);
    if (step == 2)
        MPI_Type_free(&t);
    done(all, (long)each * ranks, __LINE__);
    done(mine, n, __LINE__);
}

static void allgatherv(int n, int variant)
{
    struct shares s = make_shares(n);
    int *all = ints(s.room), *mine = ints(share(n, rank)), in_place = variant == IN_PLACE;
    put(in_place ? all + s.displs[rank] : mine, share(n, rank), 1, rank, 0);
    MPI_Allgatherv(in_place ? MPI_IN_PLACE : mine, share(n, rank), MPI_INT, all, s.counts, s.displs, MPI_INT, comm);
    check_shares(all, &s, 0, __LINE__);
    done(all, s.room, __LINE__);
    done(mine, share(n, rank), __LINE__);
    free_shares(&s);
}

static void alltoall(int n, int variant)
{
    int step = variant == STRIDED ? 2 : 1, each = step == 2 ? span(n) : n, in_place = variant == IN_PLACE;
    int *out = ints((long)each * ranks), *in = ints((long)n * ranks);
    MPI_Datatype t = step == 2 ? strided(n) : MPI_INT;
    for (int r = 0; r < ranks; r++)
        put((in_place ? in : out) + (long)r * each, n, step, rank, r);
    MPI_Alltoall(in_place ? MPI_IN_PLACE : out, step == 2 ? one(n) : n, t, in, n, MPI_INT, comm);
    for (int r = 0; r < ranks; r++)
        expect(in + (long)r * n, n, 1, r, rank, __LINE__);
    if (step == 2)
        MPI_Type_free(&t);
    done(out, (long)each * ranks, __LINE__);
    done(in, (long)n * ranks, __LINE__);
}

/* What i sends to j must be what j expects of i; in place the counts both ways are the same, hence the symmetric sum.
 * Alltoallw: displacements in bytes and a type per peer, strided towards odd ranks. */
static void alltoallvw(int n, int variant, int w)
{
    int *counts = check_alloc((size_t)ranks * sizeof(int)), *at = check_alloc((size_t)ranks * sizeof(int));
    int *from = check_alloc((size_t)ranks * sizeof(int)), *sends = check_alloc((size_t)ranks * sizeof(int));
    MPI_Datatype *plain = check_alloc((size_t)ranks * sizeof *plain), *mixed = check_alloc((size_t)ranks * sizeof *mixed);
    int in_place = variant == IN_PLACE, unit = w ? 4 : 1, *in, *out;
    long room = 0, wide = 0;
    for (int r = ranks - 1; r >= 0; r--) {
        int odd = w && variant == STRIDED && r % 2;
        counts[r] = share(n, rank + r);
        at[r] = (int)room * unit, from[r] = (int)wide * unit;
        sends[r] = odd ? one(counts[r]) : counts[r];
        mixed[r] = odd ? strided(counts[r]) : MPI_INT;
        plain[r] = MPI_INT;
        room += counts[r] + 1, wide += (odd ? span(counts[r]) : counts[r]) + 1;
    }
    in = ints(room), out = ints(wide);
    for (int r = 0; r < ranks; r++)
        put(in_place ? in + at[r] / unit : out + from[r] / unit, counts[r], mixed[r] == MPI_INT ? 1 : 2, rank, r);
    if (w)
        MPI_Alltoallw(in_place ? MPI_IN_PLACE : out, sends, from, mixed, in, counts, at, plain, comm);
    else
        MPI_Alltoallv(in_place ? MPI_IN_PLACE : out, counts, from, MPI_INT, in, counts, at, MPI_INT, comm);
    for (int r = 0; r < ranks; r++) {
        expect(in + at[r] / unit, counts[r], 1, r, rank, __LINE__);
        CHECK_EQ(in[at[r] / unit + counts[r]], EMPTY);
        if (mixed[r] != MPI_INT)
            MPI_Type_free(&mixed[r]);
    }
    done(in, room, __LINE__), done(out, wide, __LINE__);
    free(counts), free(at), free(from), free(sends), free(plain), free(mixed);
}

static void all_calls(int n)
{
    for (int variant = PLAIN; variant < VARIANTS; variant++) {
        for (int root = 0; root < ranks; root++) {
            if (ranks > 4 && n != 7 && root != 0 && root != ranks - 2)
                continue; /* with many ranks all roots in one size, two in the others: time must stay bounded */
            bcast(n, root, variant);
            gather(n, root, variant);
            scatter(n, root, variant);
            if (variant != STRIDED) {
                gatherv(n, root, variant);
                scatterv(n, root, variant);
            }
        }
        allgather(n, variant);
        if (variant != STRIDED || ranks < 12 || !library_is("Open MPI")) /* 4.1's Bruck uses the send type for both sides */
            alltoall(n, variant);
        alltoallvw(n, variant, 1);
        if (variant != STRIDED) {
            allgatherv(n, variant);
            alltoallvw(n, variant, 0);
        }
    }
}

static void on(MPI_Comm c, const int *sizes, int count)
{
    comm = c;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    barrier();
    for (int i = 0; i < count; i++)
        all_calls(sizes[i]);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 1, 7, 1000, 70000};
    MPI_Comm reversed, half;
    start(&argc, &argv, "coll_blocking_1");
    on(MPI_COMM_WORLD, sizes, 5);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &reversed);
    on(reversed, sizes + (check_ranks > 4 ? 3 : 2), check_ranks > 4 ? 1 : 2);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &half);
    on(half, sizes + 3, 1);
    MPI_Comm_free(&reversed);
    MPI_Comm_free(&half);
    return finish();
}

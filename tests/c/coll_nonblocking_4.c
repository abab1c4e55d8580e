// covers: MPI_Ibarrier MPI_Ibcast MPI_Igather MPI_Iscatter MPI_Iallgather MPI_Ialltoall MPI_Ireduce MPI_Iallreduce MPI_Ireduce_scatter_block MPI_Iscan MPI_Iexscan MPI_Ialltoallw MPI_Request_free MPI_Cancel
/*
 * Many nonblocking collectives under way at once, MPI 5.0 section 6.12: of two communicators, with blocking ones and
 * messages of the program between them, completed in an order that differs from rank to rank, with types, operations and
 * communicators freed meanwhile; and what is an error. Values name their sender, receiver, operation and place.
 */
#include "check.h"

#ifdef SEED_EARLY_MISTAKE /* ranks do not wait for their barriers: this must show */
#define PATIENCE 0.3
#else
#define PATIENCE 0.005
#endif
enum { MANY = 64, MOST = 40, KINDS = 11, GUARD = -99 };

static unsigned state = 1;

static unsigned draw(unsigned below) /* the same on all ranks as long as they draw alike */
{
    state = state * 1664525u + 1013904223u;
    return (state >> 12) % below;
}

static int value(int from, int to, int which, int k)
{
    return from * 1009 + to * 40009 + which * 31 + k * 7;
}

/* 2x2 matrices of unsigned: the product tells a wrong order. It asks the library for what it may ask (section 6.9.5). */
static void product(void *a, void *b, int *n, MPI_Datatype *t)
{
    unsigned(*x)[4] = a, (*y)[4] = b;
    int size = -1, self = -1;
    MPI_Type_size(*t, &size);
    MPI_Comm_rank(MPI_COMM_SELF, &self);
    CHECK(size == 16 && self == 0);
    for (int i = 0; i < *n; i++) {
        unsigned c[4] = {x[i][0] * y[i][0] + x[i][1] * y[i][2], x[i][0] * y[i][1] + x[i][1] * y[i][3],
                         x[i][2] * y[i][0] + x[i][3] * y[i][2], x[i][2] * y[i][1] + x[i][3] * y[i][3]};
        memcpy(y[i], c, sizeof c);
    }
}

static unsigned entry(int rank, int which, int k, int e)
{
    return (unsigned)(rank + 2) * (unsigned)(e + 1) + (unsigned)(which + k) + (unsigned)(e == 3 ? rank : 0);
}

static void fold(unsigned *c, int ranks, int which, int k)
{
    for (int e = 0; e < 4; e++)
        c[e] = entry(0, which, k, e);
    for (int r = 1; r < ranks; r++) {
        unsigned x[4], y[4];
        memcpy(x, c, sizeof x);
        for (int e = 0; e < 4; e++)
            y[e] = entry(r, which, k, e);
        c[0] = x[0] * y[0] + x[1] * y[2], c[1] = x[0] * y[1] + x[1] * y[3];
        c[2] = x[2] * y[0] + x[3] * y[2], c[3] = x[2] * y[1] + x[3] * y[3];
    }
}

struct operation {
    int kind, n, root, which, rank, ranks;
    int *out, *in;
    long room;
    MPI_Request request;
};

static MPI_Op matrix_product;
static MPI_Datatype matrix;

static void begin(struct operation *o, MPI_Comm c)
{
    int n = o->n, all = n * o->ranks;
    o->room = 4L * all + 4;
    o->out = check_alloc((size_t)o->room * sizeof(int)), o->in = check_alloc((size_t)o->room * sizeof(int));
    for (long i = 0; i < o->room; i++)
        o->in[i] = GUARD;
    for (int r = 0; r < o->ranks; r++)
        for (int k = 0; k < n; k++)
            o->out[r * n + k] = value(o->rank, r, o->which, k);
    switch (o->kind) {
    case 0: MPI_Ibarrier(c, &o->request); break;
    case 1:
        for (int k = 0; k < n && o->rank == o->root; k++)
            o->in[k] = value(o->root, 0, o->which, k);
        MPI_Ibcast(o->in, n, MPI_INT, o->root, c, &o->request);
        break;
    case 2: MPI_Igather(o->out, n, MPI_INT, o->in, n, MPI_INT, o->root, c, &o->request); break;
    case 3: MPI_Iscatter(o->out, n, MPI_INT, o->in, n, MPI_INT, o->root, c, &o->request); break;
    case 4: MPI_Iallgather(o->out, n, MPI_INT, o->in, n, MPI_INT, c, &o->request); break;
    case 5: MPI_Ialltoall(o->out, n, MPI_INT, o->in, n, MPI_INT, c, &o->request); break;
    case 6: MPI_Ireduce(o->out, o->in, n, MPI_INT, MPI_SUM, o->root, c, &o->request); break;
    case 7:
        for (int k = 0; k < n; k++)
            for (int e = 0; e < 4; e++)
                ((unsigned *)o->in)[4 * k + e] = entry(o->rank, o->which, k, e);
        MPI_Iallreduce(MPI_IN_PLACE, o->in, n, matrix, matrix_product, c, &o->request);
        break;
    case 8: MPI_Ireduce_scatter_block(o->out, o->in, n, MPI_INT, MPI_SUM, c, &o->request); break;
    case 9: MPI_Iscan(o->out, o->in, n, MPI_INT, MPI_SUM, c, &o->request); break;
    default: MPI_Iexscan(o->out, o->in, n, MPI_INT, MPI_SUM, c, &o->request);
    }
}

/* What must lie at place i of the result. */
static int wanted(const struct operation *o, int i)
{
    int n = o->n, root = o->rank == o->root, k = n > 0 ? i % n : 0, r = n > 0 ? i / n : 0, sum = 0;
    int first = i < n, all = i < n * o->ranks;
    int to = o->kind == 8 ? o->rank : 0, upto = o->kind == 9 ? o->rank + 1 : o->kind == 10 ? o->rank : o->ranks;
    switch (o->kind) {
    case 0: return GUARD;
    case 1: return first ? value(o->root, 0, o->which, k) : GUARD;
    case 2: return root && all ? value(r, 0, o->which, k) : GUARD;
    case 3: return first ? value(o->root, o->rank, o->which, k) : GUARD;
    case 4: return all ? value(r, 0, o->which, k) : GUARD;
    case 5: return all ? value(r, o->rank, o->which, k) : GUARD;
    case 7: {
        unsigned c[4];
        if (i >= 4 * n)
            return GUARD;
        fold(c, o->ranks, o->which, i / 4);
        return (int)c[i % 4];
    }
    default:
        if (!first || upto == 0 || (o->kind == 6 && !root))
            return GUARD;
        for (int s = 0; s < upto; s++)
            sum += value(s, to, o->which, k);
        return sum;
    }
}

static void end(struct operation *o)
{
    for (int i = 0; i < o->room; i++) {
        int want = wanted(o, i);
        if (o->in[i] != want) {
            check_fail(__FILE__, __LINE__, "operation %d of kind %d, %d elements, root %d, place %d: expected %d, got %d", o->which,
                       o->kind, o->n, o->root, i, want, o->in[i]);
            break;
        }
    }
    free(o->out), free(o->in);
}

/* Begins many; completes them while others are begun, the order drawn by each rank for itself. */
static void many(int round)
{
    struct operation *all = check_alloc(MANY * sizeof *all);
    MPI_Request *requests = check_alloc(MANY * sizeof *requests);
    MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_NULL};
    unsigned mine = (unsigned)(check_rank * 7919 + round);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comms[1]);
    MPI_Type_contiguous(4, MPI_UNSIGNED, &matrix);
    MPI_Type_commit(&matrix);
    MPI_Op_create(product, 0, &matrix_product);
    for (int i = 0; i < MANY; i++) {
        struct operation *o = &all[i];
        MPI_Comm c = comms[draw(2)];
        MPI_Comm_rank(c, &o->rank);
        o->ranks = check_ranks, o->which = i;
        o->kind = (int)draw(KINDS), o->n = draw(8) == 0 ? 5000 : (int)draw(MOST), o->root = (int)draw((unsigned)check_ranks);
        begin(o, c);
        requests[i] = o->request;
        if (draw(8) == 0) { /* a blocking one of the same communicator between them */
            int sum = -1;
            MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, c);
            CHECK_EQ(sum, i * check_ranks);
        }
        if (draw(8) == 0) { /* and messages of the program */
            int to = (check_rank + 1) % check_ranks, from = (check_rank + check_ranks - 1) % check_ranks, got = -1;
            MPI_Sendrecv(&i, 1, MPI_INT, to, i, &got, 1, MPI_INT, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_EQ(got, i);
        }
        if ((mine = mine * 1664525u + 1013904223u) >> 30 == 0) {
            int index, flag;
            MPI_Testany(i + 1, requests, &index, &flag, MPI_STATUS_IGNORE);
        }
    }
    MPI_Op_free(&matrix_product);
    MPI_Type_free(&matrix);
    MPI_Comm_free(&comms[1]);
    for (int left = MANY; left > 0;) {
        int index, flag, i = (int)((mine = mine * 1664525u + 1013904223u) >> 12) % MANY;
        if (left % 3 == 0 && requests[i] != MPI_REQUEST_NULL) {
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        } else if (left % 3 == 1) {
            MPI_Waitany(MANY, requests, &index, MPI_STATUS_IGNORE);
        } else {
            MPI_Testany(MANY, requests, &index, &flag, MPI_STATUS_IGNORE);
        }
        left = 0;
        for (int k = 0; k < MANY; k++)
            left += requests[k] != MPI_REQUEST_NULL;
    }
    for (int i = 0; i < MANY; i++)
        end(&all[i]);
    free(all), free(requests);
}

/* Nobody's barrier is complete before the last rank has begun its own; that rank's synchronous sends tell. */
static void barriers(void)
{
    for (int late = 0; late < check_ranks; late++) {
        MPI_Request barrier, *q = check_alloc((size_t)check_ranks * sizeof *q);
        int flag = 0, index = MPI_UNDEFINED;
        double begin = MPI_Wtime();
        if (check_rank != late)
            MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        for (int r = 0; r < check_ranks && check_rank == late; r++) {
            q[r] = MPI_REQUEST_NULL;
            if (r != late)
                MPI_Issend(NULL, 0, MPI_INT, r, 9, MPI_COMM_WORLD, &q[r]);
        }
        while (check_rank == late && !flag && check_ranks > 1 && MPI_Wtime() - begin < PATIENCE) {
            MPI_Testany(check_ranks, q, &index, &flag, MPI_STATUS_IGNORE);
            CHECK_MSG(!flag, "rank %d's barrier was complete before rank %d began", index, late);
        }
        if (check_rank == late)
            MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
#ifndef SEED_EARLY_MISTAKE
        MPI_Wait(&barrier, MPI_STATUS_IGNORE);
#endif
        if (check_rank == late)
            MPI_Waitall(check_ranks, q, MPI_STATUSES_IGNORE);
        else
            MPI_Recv(NULL, 0, MPI_INT, late, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#ifdef SEED_EARLY_MISTAKE
        MPI_Wait(&barrier, MPI_STATUS_IGNORE);
#endif
        free(q);
    }
}

static void errors(void)
{
    int a[4] = {1, 2, 3, 4}, b[64] = {0}, flag = 0, count = -1, tail = check_rank == check_ranks - 1, here = 0;
    MPI_Request q = MPI_REQUEST_NULL, kept;
    MPI_Comm node;
    MPI_Status s;
    MPI_Datatype pair;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    /* Section 6.12: a nonblocking collective cannot be cancelled; it goes on. (Freed: accepted.c.) */
    if (!library_is("MPICH") && !library_is("Open MPI")) {
        MPI_Ibarrier(MPI_COMM_WORLD, &q);
        kept = q;
        CHECK_CLASS(MPI_Cancel(&q), MPI_ERR_REQUEST);
        CHECK(q == kept);
        MPI_Request_get_status(q, &flag, MPI_STATUS_IGNORE);
        while (!flag)
            MPI_Request_get_status(q, &flag, MPI_STATUS_IGNORE);
        CHECK_CLASS(MPI_Wait(&q, &s), MPI_SUCCESS);
        CHECK(q == MPI_REQUEST_NULL);
        MPI_Test_cancelled(&s, &flag);
        MPI_Get_count(&s, MPI_BYTE, &count);
        CHECK(!flag && count == 0);
    }
    CHECK_CLASS(MPI_Ibcast(a, 1, MPI_INT, check_ranks, MPI_COMM_WORLD, &q), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Ibcast(a, 1, MPI_INT, -1, MPI_COMM_WORLD, &q), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Ibcast(a, -1, MPI_INT, 0, MPI_COMM_WORLD, &q), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Ibcast(NULL, 1, MPI_INT, 0, MPI_COMM_WORLD, &q), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Ibarrier(MPI_COMM_NULL, &q), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Iallreduce(a, b, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD, &q), MPI_ERR_OP);
    CHECK_CLASS(MPI_Iallgather(a, 1, MPI_DATATYPE_NULL, b, 1, MPI_INT, MPI_COMM_WORLD, &q), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Iallreduce(a, a, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q), MPI_ERR_BUFFER);
    /* Predefined operations are for predefined types (section 6.9.2), whoever applies them. */
    MPI_Type_contiguous(2, MPI_INT, &pair);
    CHECK_CLASS(MPI_Ibcast(a, 1, pair, 0, MPI_COMM_WORLD, &q), MPI_ERR_TYPE);
    MPI_Type_commit(&pair);
    if (!library_is("MPICH") && !library_is("Open MPI")) {
        CHECK_CLASS(MPI_Iallreduce(a, b, 1, pair, MPI_SUM, MPI_COMM_WORLD, &q), MPI_ERR_OP);
        CHECK_CLASS(MPI_Reduce_local(a, b, 1, pair, MPI_SUM), MPI_ERR_OP);
        CHECK_CLASS(MPI_Iallreduce(a, b, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD, &q), MPI_ERR_OP);
        CHECK_CLASS(MPI_Iallreduce(a, b, 1, MPI_INT, MPI_REPLACE, MPI_COMM_WORLD, &q), MPI_ERR_OP);
    }
    MPI_Type_free(&pair);
    CHECK(q == MPI_REQUEST_NULL);
    /* A receive that is too short is found when it happens, and the call that completes the operation says so. Over several
     * hosts a rank between the last one and the root may find it, and the root waits for ever. */
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    if (!library_is("MPICH") && !library_is("Open MPI") && here == check_ranks) {
        MPI_Igather(a, tail ? 4 : 2, MPI_INT, b, 2, MPI_INT, 0, MPI_COMM_WORLD, &q);
        CHECK_CLASS(MPI_Wait(&q, MPI_STATUS_IGNORE), check_rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Counts, displacements and types are given up when the call returns; types of each rank are freed at once. */
static void arrays(void)
{
    int n = check_ranks, *counts = check_alloc((size_t)n * sizeof *counts), *places = check_alloc((size_t)n * sizeof *places);
    int *out = check_alloc((size_t)n * 3 * sizeof *out), *in = check_alloc((size_t)n * 3 * sizeof *in);
    MPI_Datatype *types = check_alloc((size_t)n * sizeof *types);
    MPI_Request q;
    for (int r = 0; r < n; r++) {
        counts[r] = 1, places[r] = r * 3 * (int)sizeof(int);
        MPI_Type_vector(2, 1, 2, MPI_INT, &types[r]);
        MPI_Type_commit(&types[r]);
        for (int k = 0; k < 3; k++)
            out[3 * r + k] = value(check_rank, r, 0, k), in[3 * r + k] = GUARD;
    }
    MPI_Ialltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD, &q);
    for (int r = 0; r < n; r++)
        MPI_Type_free(&types[r]);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    for (int r = 0; r < n; r++)
        for (int k = 0; k < 3; k++)
            CHECK_EQ(in[3 * r + k], k == 1 ? GUARD : value(r, check_rank, 0, k));
    free(counts), free(places), free(out), free(in), free(types);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "coll_nonblocking_4");
    barriers();
    for (int round = 0; round < 12; round++)
        many(round);
    arrays();
    errors();
    return finish();
}

// covers: MPI_Reduce MPI_Allreduce MPI_Reduce_scatter MPI_Reduce_scatter_block MPI_Scan MPI_Exscan MPI_Op_create MPI_Op_free MPI_Op_commutative MPI_Reduce_local
/*
 * Blocking reductions, MPI 5.0 sections 6.9 to 6.11: sizes, roots, MPI_IN_PLACE, user operations. The hard operation is
 * the product of 2x2 matrices modulo 2^32: associative but not commutative, so a library that swaps two ranks, or folds
 * them in an order of its own, gets another result. The reference is folded locally, rank 0 first.
 * coll_blocking_3.c has the predefined operations and types.
 */
#include "check.h"

enum { SUM, USER_SUM, MATRIX, KINDS };

static MPI_Comm comm;
static int rank, ranks;
static MPI_Datatype matrix_type;
static MPI_Op user_sum, matrix_product;

struct matrix {
    unsigned a, b, c, d;
};

static struct matrix multiply(struct matrix x, struct matrix y)
{
    struct matrix z = {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
    return z;
}

/* MPI's order: inout = in * inout, `in` being the lower ranks' part. */
static void fold_matrix(void *in, void *inout, int *length, MPI_Datatype *type)
{
    struct matrix *x = in, *y = inout;
    CHECK(*type == matrix_type);
    for (int k = 0; k < *length; k++)
        y[k] = multiply(x[k], y[k]);
}

static void fold_sum(void *in, void *inout, int *length, MPI_Datatype *type)
{
    unsigned *x = in, *y = inout;
    CHECK(*type == MPI_UNSIGNED);
    for (int k = 0; k < *length; k++)
        y[k] += x[k];
}

/* All kinds as rows of unsigned words: `words` per element. */
static const int words[KINDS] = {1, 1, 4};

static MPI_Datatype type_of(int kind)
{
    return kind == MATRIX ? matrix_type : MPI_UNSIGNED;
}

static MPI_Op op_of(int kind)
{
    return kind == SUM ? MPI_SUM : kind == USER_SUM ? user_sum : matrix_product;
}

static unsigned word(int r, long i)
{
    return (unsigned)r * 2654435761u + (unsigned)i * 40503u + 12345u;
}

static void put(int kind, unsigned *p, int n)
{
    for (long i = 0; i < (long)n * words[kind]; i++)
        p[i] = word(rank, i);
}

/* Element `k` folded over ranks first..last, in that order. */
static struct matrix reference(int kind, long k, int last)
{
    struct matrix all = {0, 0, 0, 0};
    for (int r = 0; r <= last; r++) {
        struct matrix m = {word(r, kind == MATRIX ? 4 * k : k), word(r, 4 * k + 1), word(r, 4 * k + 2), word(r, 4 * k + 3)};
        if (kind != MATRIX)
            all.a += m.a;
        else
            all = r == 0 ? m : multiply(all, m);
    }
    return all;
}

/* Large vectors are checked everywhere near both ends and at every 7th place, to keep the reference cheap. */
static void expect(int kind, const unsigned *p, int n, long first, int last, int line)
{
    for (int k = 0; k < n; k++) {
        struct matrix want;
        const unsigned *got = p + (long)k * words[kind];
        if (n > 5000 && k > 100 && k < n - 100 && k % 7 != 0)
            continue;
        want = reference(kind, first + k, last);
        if (memcmp(&want, got, (size_t)words[kind] * sizeof(unsigned)) != 0) {
            check_fail(__FILE__, line, "%s, %d ranks, size %d, element %d: expected %u, got %u (comm rank %d)",
                       kind == SUM ? "MPI_SUM" : kind == USER_SUM ? "user sum" : "matrix product", ranks, n, k, want.a, got[0], rank);
            return;
        }
    }
}

static unsigned *room(int kind, long n)
{
    return check_alloc((size_t)(n * words[kind] + 1) * sizeof(unsigned));
}

static void reduce(int kind, int n, int root, int in_place)
{
    unsigned *mine = room(kind, n), *all = room(kind, n);
    if (library_is("MPICH Version:\t4.0") && root != 0)
        in_place = 0; /* its shared-memory reduction copies from the address MPI_IN_PLACE there */
    in_place = in_place && rank == root;
    all[(long)n * words[kind]] = 99;
    put(kind, in_place ? all : mine, n);
    MPI_Reduce(in_place ? MPI_IN_PLACE : mine, rank == root ? all : NULL, n, type_of(kind), op_of(kind), root, comm);
    if (rank == root)
        expect(kind, all, n, 0, ranks - 1, __LINE__);
    CHECK_EQ(all[(long)n * words[kind]], 99);
    if (!in_place && n > 0)
        CHECK_MSG(mine[0] == word(rank, 0), "MPI_Reduce changed the send buffer of rank %d", rank);
    free(mine), free(all);
}

static void allreduce(int kind, int n, int in_place)
{
    unsigned *mine = room(kind, n), *all = room(kind, n);
    put(kind, in_place ? all : mine, n);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : mine, all, n, type_of(kind), op_of(kind), comm);
    expect(kind, all, n, 0, ranks - 1, __LINE__);
    free(mine), free(all);
}

static void scan(int kind, int n, int in_place)
{
    unsigned *mine = room(kind, n), *all = room(kind, n);
    put(kind, in_place ? all : mine, n);
    MPI_Scan(in_place ? MPI_IN_PLACE : mine, all, n, type_of(kind), op_of(kind), comm);
    expect(kind, all, n, 0, rank, __LINE__);
    free(mine), free(all);
}

/* Rank 0's result is undefined, and rank 1 gets rank 0's contribution as it is. */
static void exscan(int kind, int n, int in_place)
{
    unsigned *mine = room(kind, n), *all = room(kind, n);
    put(kind, in_place ? all : mine, n);
    MPI_Exscan(in_place ? MPI_IN_PLACE : mine, all, n, type_of(kind), op_of(kind), comm);
    if (rank > 0)
        expect(kind, all, n, 0, rank - 1, __LINE__);
    free(mine), free(all);
}

/* Uneven shares, among them empty ones. In place the whole input lies in the receive buffer. */
static void reduce_scatter(int kind, int n, int in_place)
{
    int *counts = check_alloc((size_t)ranks * sizeof(int)), total = 0, first = 0;
    unsigned *mine, *all;
    for (int r = 0; r < ranks; r++) {
        counts[r] = n * ((r + 1) % 3) / 2 / ranks + (n > 0 && r % 2);
        first += r < rank ? counts[r] : 0;
        total += counts[r];
    }
    mine = room(kind, total), all = room(kind, total);
    put(kind, in_place ? all : mine, total);
    MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : mine, all, counts, type_of(kind), op_of(kind), comm);
    expect(kind, all, counts[rank], first, ranks - 1, __LINE__);
    free(mine), free(all), free(counts);
}

static void reduce_scatter_block(int kind, int n, int in_place)
{
    int each = n > 0 ? n / ranks + 1 : 0;
    unsigned *mine = room(kind, (long)each * ranks), *all = room(kind, (long)each * ranks);
    put(kind, in_place ? all : mine, each * ranks);
    MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : mine, all, each, type_of(kind), op_of(kind), comm);
    expect(kind, all, each, (long)each * rank, ranks - 1, __LINE__);
    free(mine), free(all);
}

static void all_calls(int kind, int n, int first, int last)
{
    for (int root = 0; root < ranks; root++)
        if ((n == 7 && kind != USER_SUM) || root == ranks - 2)
            reduce(kind, n, root, (root + n) % 2);
    for (int in_place = first; in_place <= last; in_place++) {
        reduce(kind, n, ranks / 2, in_place);
        allreduce(kind, n, in_place);
        scan(kind, n, in_place);
        exscan(kind, n, in_place);
        reduce_scatter(kind, n, in_place);
        reduce_scatter_block(kind, n, in_place);
    }
}

/* Not every kind in every size and both ways: the sizes choose a library's algorithm, the kinds forbid it some orders, and
 * in place or not is its first copy. Each pair of these occurs; all triples would take too long with many ranks. */
static void on(MPI_Comm c, int small)
{
    static const int sizes[KINDS][5] = {{7, 0, 1, 1000, 70000}, {7, 70000, -1, -1, -1}, {7, 1, 1000, 20000, -1}};
    comm = c;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int kind = SUM; kind < KINDS; kind++)
        for (int i = 0; i < (small ? 1 : 5) && sizes[kind][i] >= 0; i++)
            all_calls(kind, sizes[kind][i], ranks > 2 ? (i + ranks) % 2 : 0, ranks > 2 ? (i + ranks) % 2 : 1);
}

static void operations(void)
{
    unsigned x[4] = {1, 2, 3, 4}, y[4] = {5, 6, 7, 8};
    int commutes = -1;
    MPI_Op_commutative(matrix_product, &commutes);
    CHECK_EQ(commutes, 0);
    MPI_Op_commutative(user_sum, &commutes);
    CHECK_EQ(commutes, 1);
    MPI_Reduce_local(x, y, 1, matrix_type, matrix_product);
    CHECK(y[0] == 1 * 5 + 2 * 7 && y[1] == 1 * 6 + 2 * 8 && y[2] == 3 * 5 + 4 * 7 && y[3] == 3 * 6 + 4 * 8);
    MPI_Reduce_local(x, y, 4, MPI_UNSIGNED, user_sum);
    CHECK_EQ(y[0], 20);
    MPI_Reduce_local(x, y, 1, MPI_UNSIGNED, MPI_MAX);
    CHECK_EQ(y[0], 20);
}

/* The standard recommends, and a solver that branches on a residual needs, that every rank gets the same bits from a
 * sum that rounds (section 6.9.1). Sizes that take the short and the long algorithm. */
static void same_everywhere(void)
{
    static const int sizes[] = {1, 5, 1000, 30000};
    for (int s = 0; s < 4; s++) {
        int n = sizes[s];
        double *mine = check_alloc((size_t)n * sizeof *mine), *all = check_alloc((size_t)n * sizeof *all);
        double *root = check_alloc((size_t)n * sizeof *root);
        for (int k = 0; k < n; k++)
            mine[k] = 1.0 / (1 + k + 7 * check_rank) + (k % 2 ? 1e9 : -1e-9) * check_rank;
        MPI_Allreduce(mine, all, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        memcpy(root, all, (size_t)n * sizeof *root);
        MPI_Bcast(root, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        CHECK_MSG(memcmp(root, all, (size_t)n * sizeof *root) == 0, "%d doubles: the sum differs in bits from that of rank 0", n);
        free(mine), free(all), free(root);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm reversed, half;
    start(&argc, &argv, "coll_blocking_2");
    MPI_Type_contiguous(4, MPI_UNSIGNED, &matrix_type);
    MPI_Type_commit(&matrix_type);
    MPI_Op_create(fold_matrix, 0, &matrix_product);
    MPI_Op_create(fold_sum, 1, &user_sum);
    operations();
    same_everywhere();
    on(MPI_COMM_WORLD, 0);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &reversed);
    on(reversed, 1);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &half);
    on(half, 1);
    MPI_Comm_free(&reversed);
    MPI_Comm_free(&half);
    MPI_Op_free(&user_sum);
    MPI_Op_free(&matrix_product);
    MPI_Type_free(&matrix_type);
    CHECK(user_sum == MPI_OP_NULL && matrix_product == MPI_OP_NULL);
    return finish();
}

// covers: MPI_Group_union MPI_Group_intersection MPI_Group_difference MPI_Group_incl MPI_Group_excl MPI_Group_range_incl MPI_Group_range_excl MPI_Group_translate_ranks MPI_Group_compare
/*
 * Making groups, MPI 5.0 section 7.3.2: each group is compared, member by member, with the list of world ranks that the
 * definition gives. Every rank makes the same groups, so that each is seen from inside and from outside.
 */
#include "check.h"

static MPI_Group world;

/* The members of `g` are these world ranks in this order. */
static void expect(MPI_Group g, const int *want, int n, int line)
{
    int size = -1, rank = -2, place = MPI_UNDEFINED;
    int *mine = check_alloc((size_t)(n + 1) * sizeof *mine), *there = check_alloc((size_t)(n + 1) * sizeof *there);
    MPI_Group_size(g, &size);
    MPI_Group_rank(g, &rank);
    for (int i = 0; i < n; i++) {
        mine[i] = i, there[i] = -7;
        if (want[i] == check_rank)
            place = i;
    }
    if (size != n || rank != place)
        check_fail(__FILE__, line, "expected size %d and rank %d, got %d and %d", n, place, size, rank);
    if (size == n)
        MPI_Group_translate_ranks(g, n, mine, world, there);
    for (int i = 0; i < n && size == n; i++)
        if (there[i] != want[i])
            check_fail(__FILE__, line, "member %d: expected rank %d of MPI_COMM_WORLD, got %d", i, want[i], there[i]);
    free(mine), free(there);
    if (g != MPI_GROUP_EMPTY)
        MPI_Group_free(&g);
}

static void lists(void)
{
    MPI_Group g;
    int n = 0, *ranks = check_alloc((size_t)check_ranks * sizeof(int)), *rest = check_alloc((size_t)check_ranks * sizeof(int));
    for (int r = check_ranks - 1; r >= 0; r -= 2) /* every other one, backwards */
        ranks[n++] = r;
    MPI_Group_incl(world, n, ranks, &g);
    expect(g, ranks, n, __LINE__);
    MPI_Group_excl(world, n, ranks, &g);
    int m = 0;
    for (int r = 0; r < check_ranks; r++)
        if ((check_ranks - 1 - r) % 2)
            rest[m++] = r;
    expect(g, rest, m, __LINE__);
    MPI_Group_incl(world, 0, NULL, &g);
    CHECK(g == MPI_GROUP_EMPTY);
    MPI_Group_excl(world, 0, NULL, &g);
    int result = -1;
    MPI_Group_compare(g, world, &result);
    CHECK_EQ(result, MPI_IDENT);
    MPI_Group_free(&g);
    int twice[2] = {0, 0}, none[1] = {check_ranks};
    CHECK_CLASS(MPI_Group_incl(world, 2, twice, &g), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Group_incl(world, 1, none, &g), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Group_excl(world, 1, none, &g), MPI_ERR_RANK);
    free(ranks), free(rest);
}

static void ranges(void)
{
    MPI_Group g;
    int last = check_ranks - 1, n = 0, *want = check_alloc((size_t)check_ranks * sizeof(int));
    int down[1][3] = {{last, 0, -1}};
    for (int r = last; r >= 0; r--)
        want[n++] = r;
    MPI_Group_range_incl(world, 1, down, &g);
    expect(g, want, n, __LINE__);
    int two[2][3] = {{1, last, 2}, {0, last, 2}}; /* the odd ones, then the even ones */
    n = 0;
    for (int r = 1; r <= last; r += 2)
        want[n++] = r;
    int odd = n;
    for (int r = 0; r <= last; r += 2)
        want[n++] = r;
    if (last > 0) {
        MPI_Group_range_incl(world, 2, two, &g);
        expect(g, want, n, __LINE__);
        MPI_Group_range_excl(world, 1, &two[1], &g);
        expect(g, want, odd, __LINE__);
    }
    MPI_Group_range_excl(world, 1, down, &g);
    CHECK(g == MPI_GROUP_EMPTY);
    int nowhere[1][3] = {{0, last, 0}}, away[1][3] = {{0, 0, 1}};
    CHECK_CLASS(MPI_Group_range_incl(world, 1, nowhere, &g), MPI_ERR_ARG);
    MPI_Group_range_incl(world, 1, away, &g);
    want[0] = 0;
    expect(g, want, 1, __LINE__);
    free(want);
}

/* Sets: the order is that of the first group, then that of the second. */
static void sets(void)
{
    MPI_Group low, high, g;
    int half = check_ranks / 2 + 1, from = check_ranks / 2, n = 0, *want = check_alloc((size_t)check_ranks * sizeof(int));
    int a[1][3] = {{half - 1, 0, -1}}, b[1][3] = {{from, check_ranks - 1, 1}}; /* they share rank `from` */
    if (half > check_ranks)
        half = check_ranks;
    a[0][0] = half - 1;
    MPI_Group_range_incl(world, 1, a, &low);
    MPI_Group_range_incl(world, 1, b, &high);
    for (int r = half - 1; r >= 0; r--)
        want[n++] = r;
    for (int r = half; r < check_ranks; r++)
        want[n++] = r;
    MPI_Group_union(low, high, &g);
    expect(g, want, n, __LINE__);
    n = 0;
    for (int r = half - 1; r >= from; r--)
        want[n++] = r;
    MPI_Group_intersection(low, high, &g);
    expect(g, want, n, __LINE__);
    n = 0;
    for (int r = half; r < check_ranks; r++)
        want[n++] = r;
    MPI_Group_difference(high, low, &g);
    expect(g, want, n, __LINE__);
    MPI_Group_difference(low, low, &g);
    CHECK(g == MPI_GROUP_EMPTY);
    MPI_Group_union(low, MPI_GROUP_EMPTY, &g);
    int result = -1;
    MPI_Group_compare(low, g, &result);
    CHECK_EQ(result, MPI_IDENT);
    MPI_Group_free(&g);
    MPI_Group_intersection(MPI_GROUP_EMPTY, high, &g);
    CHECK(g == MPI_GROUP_EMPTY);
    MPI_Group_free(&low), MPI_Group_free(&high);
    CHECK_CLASS(MPI_Group_union(MPI_GROUP_NULL, world, &g), MPI_ERR_GROUP);
    free(want);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "group");
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    lists();
    ranges();
    sets();
    MPI_Group_free(&world);
    return finish();
}

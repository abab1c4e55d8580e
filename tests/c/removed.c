// covers: MPI_Get_address MPI_Type_create_hindexed MPI_Type_create_hvector MPI_Type_create_struct MPI_Type_get_extent
// ranks: 1 2
/*
 * Functions that MPI 3.0 removed (MPI 5.0 section 17), inline in the header over their replacements; MPI_LB and MPI_UB in
 * structures by the rules of MPI 1.1 section 3.12.3.
 */
#include "check.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void bounds(MPI_Datatype t, MPI_Aint want_lb, MPI_Aint want_ub, int want_size, const char *what)
{
    MPI_Aint lb = -1, ub = -1, extent = -1;
    int size = -1;
    CHECK_EQ(MPI_Type_lb(t, &lb), MPI_SUCCESS);
    CHECK_EQ(MPI_Type_ub(t, &ub), MPI_SUCCESS);
    CHECK_EQ(MPI_Type_extent(t, &extent), MPI_SUCCESS);
    MPI_Type_size(t, &size);
    CHECK_MSG(lb == want_lb && ub == want_ub && extent == ub - lb && size == want_size,
              "%s: lb %ld ub %ld extent %ld size %d, expected %ld %ld %ld %d", what, (long)lb, (long)ub, (long)extent, size,
              (long)want_lb, (long)want_ub, (long)(want_ub - want_lb), want_size);
}

static void datatypes(void)
{
    struct pair {
        int a;
        double b;
    } pairs[2];
    MPI_Aint first = 0, second = 0, apart[2] = {4, 16};
    MPI_Datatype t;
    int lengths[2] = {1, 2};
    CHECK_EQ(MPI_Address(&pairs[0].a, &first), MPI_SUCCESS);
    CHECK_EQ(MPI_Address(&pairs[0].b, &second), MPI_SUCCESS);
    CHECK_EQ(second - first, (char *)&pairs[0].b - (char *)&pairs[0].a);
    CHECK_EQ(MPI_Type_hindexed(2, lengths, apart, MPI_INT, &t), MPI_SUCCESS);
    bounds(t, 4, 24, 12, "hindexed");
    MPI_Type_free(&t);
    CHECK_EQ(MPI_Type_hvector(3, 1, 10, MPI_SHORT, &t), MPI_SUCCESS);
    bounds(t, 0, 22, 6, "hvector");
    MPI_Type_free(&t);
}

static MPI_Datatype structure(int n, int *lengths, MPI_Aint *at, MPI_Datatype *types)
{
    MPI_Datatype t = MPI_DATATYPE_NULL;
    CHECK_EQ(MPI_Type_struct(n, lengths, at, types, &t), MPI_SUCCESS);
    return t;
}

static void markers(void)
{
    int ones[4] = {1, 1, 1, 1}, none[2] = {1, 0};
    MPI_Datatype plain = structure(2, ones, (MPI_Aint[]){0, 4}, (MPI_Datatype[]){MPI_INT, MPI_INT});
    bounds(plain, 0, 8, 8, "no marker");
    MPI_Datatype both = structure(3, ones, (MPI_Aint[]){-3, 0, 6}, (MPI_Datatype[]){MPI_LB, MPI_INT, MPI_UB});
    bounds(both, -3, 6, 4, "the example of MPI 1.1");
    MPI_Datatype upper = structure(2, ones, (MPI_Aint[]){0, 40}, (MPI_Datatype[]){plain, MPI_UB});
    bounds(upper, 0, 40, 8, "MPI_UB alone");
    MPI_Datatype inside = structure(2, ones, (MPI_Aint[]){4, 0}, (MPI_Datatype[]){MPI_LB, plain});
    bounds(inside, 4, 8, 8, "MPI_LB within the data");
    MPI_Datatype low = structure(4, ones, (MPI_Aint[]){2, -8, 0, 9}, (MPI_Datatype[]){MPI_LB, MPI_LB, MPI_INT, MPI_UB});
    bounds(low, -8, 9, 4, "the lowest MPI_LB");
    MPI_Datatype nested = structure(2, ones, (MPI_Aint[]){0, 5}, (MPI_Datatype[]){both, MPI_UB});
    bounds(nested, -3, 6, 4, "a member's marker beyond");
    MPI_Datatype shorter = structure(2, none, (MPI_Aint[]){0, 2}, (MPI_Datatype[]){MPI_INT, MPI_UB});
    bounds(shorter, 0, 4, 4, "a marker of length 0");
    MPI_Datatype high = structure(3, ones, (MPI_Aint[]){9, 0, 7}, (MPI_Datatype[]){MPI_UB, MPI_INT, MPI_UB});
    bounds(high, 0, 9, 4, "the highest MPI_UB");
    /* One marker alone leaves the other bound to the data, in structures of structures, too. */
    MPI_Datatype items = structure(2, (int[]){1, 2}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_INT, upper});
    bounds(items, 0, 88, 20, "MPI_UB in a member");
    MPI_Datatype behind = structure(2, ones, (MPI_Aint[]){-4, 0}, (MPI_Datatype[]){MPI_LB, MPI_INT});
    MPI_Datatype longer = structure(2, ones, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){behind, MPI_INT});
    bounds(longer, -4, 12, 8, "MPI_LB in a member");
    MPI_Datatype alone = structure(1, ones, (MPI_Aint[]){8}, (MPI_Datatype[]){MPI_UB}), created;
    bounds(alone, 0, 8, 0, "nothing but MPI_UB");
    MPI_Type_create_struct(2, ones, (MPI_Aint[]){0, 12}, (MPI_Datatype[]){MPI_INT, MPI_UB}, &created);
    bounds(created, 0, 12, 4, "MPI_UB as MPI 2 has it");
    MPI_Datatype *all[] = {&plain, &both, &upper, &inside, &low, &nested, &shorter, &high, &items, &behind, &longer, &alone, &created};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        MPI_Type_free(all[i]);
}

/* A column of a matrix with MPI_UB, as books of that time send it. */
static void used(void)
{
    double matrix[5][4], column[5];
    MPI_Datatype t = structure(2, (int[]){1, 1}, (MPI_Aint[]){0, sizeof matrix[0]}, (MPI_Datatype[]){MPI_DOUBLE, MPI_UB});
    MPI_Type_commit(&t);
    for (int i = 0; i < 20; i++)
        matrix[i / 4][i % 4] = check_rank * 100 + i;
    int next = (check_rank + 1) % check_ranks, previous = (check_rank + check_ranks - 1) % check_ranks;
    MPI_Sendrecv(&matrix[0][1], 5, t, next, 0, column, 5, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 5; i++)
        CHECK_EQ(column[i], previous * 100 + 4 * i + 1);
    MPI_Type_free(&t);
}

static int handled;

static void note(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    handled = error_class(*code);
}

static int doubled(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static void errors_and_attributes(void)
{
    MPI_Errhandler e, old;
    MPI_Handler_function *function = note;
    MPI_Copy_function *copy = doubled;
    char place[2], *found = NULL;
    int keyval = MPI_KEYVAL_INVALID, flag = 0;
    MPI_Comm c;
    CHECK_EQ(MPI_Errhandler_create(function, &e), MPI_SUCCESS);
    CHECK_EQ(MPI_Errhandler_get(MPI_COMM_WORLD, &old), MPI_SUCCESS);
    CHECK(old == MPI_ERRORS_ARE_FATAL);
    CHECK_EQ(MPI_Errhandler_set(MPI_COMM_WORLD, e), MPI_SUCCESS);
    MPI_Send(NULL, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    CHECK_EQ(handled, MPI_ERR_COUNT);
    handled = 0;
    MPI_Errhandler_set(MPI_COMM_SELF, e);
    MPI_Type_contiguous(1, MPI_LB, &(MPI_Datatype){0});
    CHECK_EQ(handled, MPI_ERR_TYPE);
    MPI_Errhandler_set(MPI_COMM_SELF, old);
    MPI_Errhandler_set(MPI_COMM_WORLD, old);
    MPI_Errhandler_free(&e);
    CHECK_EQ(MPI_Keyval_create(copy, MPI_NULL_DELETE_FN, &keyval, NULL), MPI_SUCCESS);
    MPI_Attr_put(MPI_COMM_WORLD, keyval, place);
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Attr_get(c, keyval, &found, &flag);
    CHECK(flag && found == place + 1);
    MPI_Attr_delete(MPI_COMM_WORLD, keyval);
    MPI_Comm_free(&c);
    MPI_Keyval_free(&keyval);
    CHECK_EQ(keyval, MPI_KEYVAL_INVALID);
}

static const char *combiner(int value)
{
    switch (value) {
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_HVECTOR_INTEGER: return "hvector";
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_HINDEXED_INTEGER: return "hindexed";
    case MPI_COMBINER_STRUCT:
    case MPI_COMBINER_STRUCT_INTEGER: return "struct";
    default: return "another";
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "removed");
    datatypes();
    markers();
    used();
    errors_and_attributes();
    CHECK(strcmp(combiner(MPI_COMBINER_STRUCT), "struct") == 0);
    return finish();
}

// covers: MPI_Get_count_c MPI_Get_elements MPI_Get_elements_c MPI_Get_elements_x MPI_Status_set_elements MPI_Status_set_elements_c MPI_Status_set_elements_x MPI_Type_get_name MPI_Type_set_name MPI_Type_get_value_index MPI_Type_match_size MPI_Type_create_f90_real MPI_Type_create_f90_complex MPI_Type_create_f90_integer MPI_Type_contiguous_c MPI_Type_size_x MPI_Get_address MPI_Aint_add MPI_Aint_diff
/*
 * What datatypes and statuses tell: names (MPI 5.0 section 7.8), counts of whole and of basic elements (5.1.11), Fortran's
 * types by precision (19.1.9), sizes beyond int, and addresses (5.1.5).
 */
#include "check.h"

static int next, previous;

static int name_is(MPI_Datatype t, const char *want)
{
    char name[MPI_MAX_OBJECT_NAME];
    int n = -1;
    memset(name, '#', sizeof name);
    MPI_Type_get_name(t, name, &n);
    return strcmp(name, want) == 0 && n == (int)strlen(want);
}

static void names(void)
{
    MPI_Datatype t, u;
    static char longest[2 * MPI_MAX_OBJECT_NAME], got[MPI_MAX_OBJECT_NAME];
    int n = -1;
    CHECK(name_is(MPI_INT, "MPI_INT"));
    CHECK(name_is(MPI_DOUBLE_INT, "MPI_DOUBLE_INT"));
    CHECK(name_is(MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL"));
    MPI_Type_contiguous(2, MPI_INT, &t);
    CHECK(name_is(t, ""));
    MPI_Type_set_name(t, "two of them");
    CHECK(name_is(t, "two of them"));
    MPI_Type_dup(t, &u);
    CHECK(name_is(u, "")); /* a name does not travel with a copy */
    memset(longest, 'x', sizeof longest - 1);
    MPI_Type_set_name(t, longest);
    MPI_Type_get_name(t, got, &n);
    CHECK(n == MPI_MAX_OBJECT_NAME - 1 && strncmp(got, longest, (size_t)n) == 0 && got[n] == '\0');
    MPI_Type_free(&t), MPI_Type_free(&u);
}

/* Seven ints of a type of three, which has a double in it: two wholes, and basic elements beyond them. */
static void elements(void)
{
    struct pair {
        double d;
        int i, j;
    } out[3] = {{1.5, 2, 3}, {4.5, 5, 6}, {7.5, 8, 9}}, in[4];
    MPI_Datatype t, part, member[2] = {MPI_DOUBLE, MPI_INT};
    MPI_Aint at[2] = {0, 8};
    int lengths[2] = {1, 2}, n = -1;
    MPI_Count c = -1;
    MPI_Status s;
    MPI_Type_create_struct(2, lengths, at, member, &t);
    MPI_Type_commit(&t);
    MPI_Sendrecv(out, 3, t, next, 1, in, 4, t, previous, 1, MPI_COMM_WORLD, &s);
    MPI_Get_count(&s, t, &n);
    CHECK_EQ(n, 3);
    MPI_Get_elements(&s, t, &n);
    CHECK_EQ(n, 9);
    MPI_Get_elements_x(&s, t, &c);
    CHECK_EQ(c, 9);
    /* A message that ends within the second element: after its double. */
    lengths[1] = 0;
    MPI_Type_create_struct(2, lengths, at, member, &part);
    MPI_Type_commit(&part);
    char packed[64];
    int size = 0;
    MPI_Pack(out, 1, t, packed, sizeof packed, &size, MPI_COMM_WORLD);
    MPI_Pack(&out[1], 1, part, packed, sizeof packed, &size, MPI_COMM_WORLD);
    MPI_Sendrecv(packed, size, MPI_PACKED, next, 2, in, 4, t, previous, 2, MPI_COMM_WORLD, &s);
    MPI_Get_count(&s, t, &n);
    CHECK_EQ(n, MPI_UNDEFINED);
    MPI_Get_count_c(&s, t, &c);
    CHECK_EQ(c, MPI_UNDEFINED);
    MPI_Get_elements_c(&s, t, &c);
    CHECK_EQ(c, 4);
    MPI_Status_set_elements(&s, t, 5); /* a whole one, a double and an int */
    MPI_Get_elements(&s, t, &n);
    CHECK_EQ(n, 5);
    MPI_Get_count(&s, t, &n);
    CHECK_EQ(n, MPI_UNDEFINED);
    MPI_Status_set_elements_c(&s, MPI_BYTE, ((MPI_Count)1 << 40) + 4);
    MPI_Get_count_c(&s, MPI_BYTE, &c);
    CHECK_EQ(c, ((MPI_Count)1 << 40) + 4);
    MPI_Get_count_c(&s, MPI_INT, &c);
    CHECK_EQ(c, ((MPI_Count)1 << 38) + 1);
    MPI_Get_count(&s, MPI_BYTE, &n);
    CHECK_EQ(n, MPI_UNDEFINED); /* more than int can say */
    MPI_Status_set_elements_x(&s, MPI_INT, 6);
    MPI_Get_count(&s, MPI_INT, &n);
    CHECK_EQ(n, 6);
    MPI_Type_free(&t), MPI_Type_free(&part);
}

static void wide(void)
{
    const MPI_Count many = ((MPI_Count)1 << 33) + 7;
    MPI_Datatype t;
    MPI_Count size = -1, lb = -1, extent = -1;
    int n = 0;
    MPI_Type_contiguous_c(many, MPI_INT, &t);
    MPI_Type_size_c(t, &size);
    CHECK_EQ(size, 4 * many);
    MPI_Type_size_x(t, &size);
    CHECK_EQ(size, 4 * many);
    MPI_Type_size(t, &n);
    CHECK_EQ(n, MPI_UNDEFINED);
    MPI_Type_get_extent_c(t, &lb, &extent);
    CHECK(lb == 0 && extent == 4 * many);
    MPI_Type_free(&t);
}

static int size_of(MPI_Datatype t)
{
    int n = -1;
    MPI_Type_size(t, &n);
    return n;
}

static void fortran(void)
{
    MPI_Datatype t = MPI_DATATYPE_NULL, again = MPI_DATATYPE_NULL;
    int ni = -1, na = -1, nd = -1, combiner = -1, arguments[2] = {-1, -1};
    MPI_Type_create_f90_real(15, 307, &t);
    CHECK_EQ(size_of(t), 8);
    MPI_Type_create_f90_real(15, 307, &again);
    CHECK(t == again); /* the same for the same arguments */
    MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner);
    CHECK(combiner == MPI_COMBINER_F90_REAL && ni == 2 && na == 0 && nd == 0);
    MPI_Type_get_contents(t, 2, 0, 0, arguments, NULL, NULL);
    CHECK(arguments[0] == 15 && arguments[1] == 307);
    CHECK_CLASS(MPI_Type_free(&t), MPI_ERR_TYPE); /* predefined, though without a name */
    double sent = 0.5 + check_rank, got = -1;
    MPI_Sendrecv(&sent, 1, again, next, 3, &got, 1, again, previous, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == 0.5 + previous);
    MPI_Type_create_f90_real(6, 30, &t);
    CHECK_EQ(size_of(t), 4);
    MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &t);
    CHECK_EQ(size_of(t), 16);
    MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner);
    CHECK_EQ(combiner, MPI_COMBINER_F90_COMPLEX);
    MPI_Type_create_f90_integer(9, &t);
    CHECK_EQ(size_of(t), 4);
    MPI_Type_create_f90_integer(18, &t);
    CHECK_EQ(size_of(t), 8);
    MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner);
    CHECK(combiner == MPI_COMBINER_F90_INTEGER && ni == 1);
    CHECK_CLASS(MPI_Type_create_f90_integer(200, &t), MPI_ERR_ARG);
    static const int classes[] = {MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_REAL, MPI_TYPECLASS_COMPLEX};
    for (int i = 0; i < 3; i++)
        for (int size = 4 << (i == 2); size <= 8 << (i == 2); size *= 2) {
            MPI_Type_match_size(classes[i], size, &t);
            CHECK_EQ(size_of(t), size);
            MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner);
            CHECK_EQ(combiner, MPI_COMBINER_NAMED);
        }
    CHECK_CLASS(MPI_Type_match_size(MPI_TYPECLASS_REAL, 5, &t), MPI_ERR_ARG);
}

static void pairs(void)
{
    MPI_Datatype t = MPI_DATATYPE_NULL;
    MPI_Type_get_value_index(MPI_FLOAT, MPI_INT, &t);
    CHECK(t == MPI_FLOAT_INT);
    MPI_Type_get_value_index(MPI_INT, MPI_INT, &t);
    CHECK(t == MPI_2INT);
    MPI_Type_get_value_index(MPI_CHAR, MPI_PACKED, &t);
    CHECK(t == MPI_DATATYPE_NULL);
    /* Whatever it is, a reduction with it finds the largest value and where it is. */
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &t);
    struct {
        double value;
        int index;
    } mine = {check_rank % 3, check_rank}, most = {-1, -1};
    MPI_Allreduce(&mine, &most, 1, t, MPI_MAXLOC, MPI_COMM_WORLD);
    int top = check_ranks > 2 ? 2 : check_ranks - 1;
    CHECK(most.value == top && most.index == top);
}

static void addresses(void)
{
    int a[10];
    MPI_Aint from = 0, to = 0;
    MPI_Get_address(&a[2], &from);
    MPI_Get_address(&a[7], &to);
    CHECK_EQ(MPI_Aint_diff(to, from), 20);
    CHECK_EQ(MPI_Aint_add(from, 20), to);
    CHECK((int *)from == &a[2]);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "datatype_query");
    next = (check_rank + 1) % check_ranks;
    previous = (check_rank + check_ranks - 1) % check_ranks;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    names();
    elements();
    wide();
    fortran();
    pairs();
    addresses();
    return finish();
}

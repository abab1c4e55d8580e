// covers: MPI_Comm_create_keyval MPI_Comm_free_keyval MPI_Comm_set_attr MPI_Comm_get_attr MPI_Comm_delete_attr MPI_Type_create_keyval MPI_Type_free_keyval MPI_Type_set_attr MPI_Type_get_attr MPI_Type_delete_attr MPI_Keyval_create MPI_Keyval_free MPI_Attr_put MPI_Attr_get MPI_Attr_delete MPI_Win_create_keyval MPI_Win_free_keyval
/*
 * Attributes, MPI 5.0 section 7.7: what is cached comes back, copies follow their callbacks, callbacks see the right
 * arguments and may call MPI, a key that is freed lives on in its attributes, and MPI_Finalize deletes those of
 * MPI_COMM_SELF, the last one first (section 11.2.4).
 */
#include "check.h"

static int copies, deletes, refuse;
static void *last_value, *last_extra;
static MPI_Comm last_comm;
static MPI_Datatype last_type;
static int last_key;
static char state[4], value[8];

static int copy_up(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    copies++, last_comm = c, last_key = key, last_extra = extra;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int copy_not(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key, (void)extra, (void)in, (void)out;
    copies++;
    *flag = 0;
    return MPI_SUCCESS;
}

static int copy_fails(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key, (void)extra, (void)in, (void)out, (void)flag;
    return MPI_ERR_OTHER;
}

static int delete(MPI_Comm c, int key, void *v, void *extra)
{
    int rank = -1, got = -1;
    deletes++, last_comm = c, last_key = key, last_value = v, last_extra = extra;
    MPI_Comm_rank(c, &rank); /* the communicator is whole while its attributes are deleted */
    MPI_Sendrecv(&deletes, 1, MPI_INT, rank, 3, &got, 1, MPI_INT, rank, 3, c, MPI_STATUS_IGNORE);
    CHECK_EQ(got, deletes);
    return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int type_copy(MPI_Datatype t, int key, void *extra, void *in, void *out, int *flag)
{
    copies++, last_type = t, last_key = key, last_extra = extra;
    *(void **)out = (char *)in + 2;
    *flag = 1;
    return MPI_SUCCESS;
}

static int type_delete(MPI_Datatype t, int key, void *v, void *extra)
{
    int size = 0;
    deletes++, last_type = t, last_key = key, last_value = v, last_extra = extra;
    MPI_Type_size(t, &size);
    CHECK_EQ(size, 4);
    return MPI_SUCCESS;
}

static void *got(MPI_Comm c, int key)
{
    void *v = NULL;
    int flag = -1;
    MPI_Comm_get_attr(c, key, &v, &flag);
    return flag == 1 ? v : NULL;
}

static void set_get_delete(void)
{
    int key = MPI_KEYVAL_INVALID;
    void *v = state;
    int flag = -1;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &key, state);
    CHECK(key != MPI_KEYVAL_INVALID);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &v, &flag);
    CHECK(flag == 0 && v == state); /* nothing is set, nothing is written */
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, value);
    CHECK(got(MPI_COMM_WORLD, key) == value);
    CHECK(got(MPI_COMM_SELF, key) == NULL);
    deletes = 0;
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, value + 1); /* replaces, so the old value is deleted */
    CHECK_EQ(deletes, 1);
    CHECK(last_value == value && last_extra == state && last_key == key && last_comm == MPI_COMM_WORLD);
    CHECK(got(MPI_COMM_WORLD, key) == value + 1);
    refuse = 1;
    CHECK_CLASS(MPI_Comm_delete_attr(MPI_COMM_WORLD, key), MPI_ERR_OTHER);
    CHECK(got(MPI_COMM_WORLD, key) == value + 1);
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, key, value + 2), MPI_ERR_OTHER);
    CHECK(got(MPI_COMM_WORLD, key) == value + 1);
    refuse = 0;
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    CHECK_EQ(deletes, 4);
    CHECK(got(MPI_COMM_WORLD, key) == NULL);
    CHECK_CLASS(MPI_Comm_delete_attr(MPI_COMM_WORLD, 4711), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, value), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, value), MPI_ERR_KEYVAL);
    MPI_Comm_free_keyval(&key);
    CHECK_EQ(key, MPI_KEYVAL_INVALID);
    CHECK_CLASS(MPI_Comm_free_keyval(&key), MPI_ERR_KEYVAL);
}

/* A callback that changes the value, one that says no, the two predefined ones. */
static void duplicates(void)
{
    int up, not, null, dup;
    MPI_Comm parent, child;
    MPI_Comm_create_keyval(copy_up, delete, &up, state + 1);
    MPI_Comm_create_keyval(copy_not, MPI_COMM_NULL_DELETE_FN, &not, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &null, NULL);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &dup, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Comm_set_attr(parent, up, value);
    MPI_Comm_set_attr(parent, not, value + 1);
    MPI_Comm_set_attr(parent, null, value + 2);
    MPI_Comm_set_attr(parent, dup, value + 3);
    copies = deletes = 0;
    MPI_Comm_dup(parent, &child);
    CHECK_EQ(copies, 2);
    CHECK(last_comm == parent && last_key == up && last_extra == state + 1);
    CHECK(got(child, up) == value + 1);
    CHECK(got(child, not) == NULL);
    CHECK(got(child, null) == NULL);
    CHECK(got(child, dup) == value + 3);
    CHECK(got(parent, up) == value);
    MPI_Comm_free(&child);
    CHECK_EQ(deletes, 1);
    CHECK(last_value == value + 1);
    MPI_Comm_split(parent, 0, 0, &child); /* no attributes travel with a split */
    CHECK(got(child, dup) == NULL);
    MPI_Comm_free(&child);
    refuse = 1; /* a callback that fails keeps the communicator */
    CHECK_CLASS(MPI_Comm_free(&parent), MPI_ERR_OTHER);
    refuse = 0;
    CHECK(parent != MPI_COMM_NULL);
    /* Freed keys go with their last attribute. */
    int kept = up;
    MPI_Comm_free_keyval(&up);
    CHECK(got(parent, kept) == value);
    MPI_Comm_dup(parent, &child);
    CHECK(got(child, kept) == value + 1);
    deletes = 0;
    MPI_Comm_delete_attr(child, kept);
    CHECK_EQ(deletes, 1);
    MPI_Comm_free(&child);
    CHECK_EQ(deletes, 1);
    MPI_Comm_free(&parent);
    CHECK_EQ(deletes, 2);
    void *v;
    int flag;
    CHECK_CLASS(MPI_Comm_get_attr(MPI_COMM_WORLD, kept, &v, &flag), MPI_ERR_KEYVAL);
    MPI_Comm_free_keyval(&not);
    MPI_Comm_free_keyval(&null);
    MPI_Comm_free_keyval(&dup);
}

/* The call that copies returns the callback's code and makes no communicator. */
static void failing_copy(void)
{
    int key, sum = 0, one = 1;
    MPI_Comm parent, child = MPI_COMM_SELF;
    MPI_Comm_create_keyval(copy_fails, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    MPI_Comm_set_attr(parent, key, value);
    CHECK_CLASS(MPI_Comm_dup(parent, &child), MPI_ERR_OTHER);
    CHECK(child == MPI_COMM_NULL);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, parent);
    CHECK_EQ(sum, check_ranks);
    MPI_Comm_free(&parent);
    MPI_Comm_free_keyval(&key);
}

static void datatypes(void)
{
    int key, flag = -1;
    void *v = NULL;
    MPI_Datatype t, u;
    MPI_Type_create_keyval(type_copy, type_delete, &key, state + 2);
    MPI_Type_contiguous(4, MPI_BYTE, &t);
    MPI_Type_set_attr(t, key, value);
    copies = deletes = 0;
    MPI_Type_dup(t, &u);
    CHECK_EQ(copies, 1);
    CHECK(last_type == t && last_key == key && last_extra == state + 2);
    MPI_Type_get_attr(u, key, &v, &flag);
    CHECK(flag == 1 && v == value + 2);
    MPI_Type_delete_attr(u, key);
    CHECK_EQ(deletes, 1);
    CHECK(last_type == u && last_value == value + 2);
    MPI_Type_get_attr(u, key, &v, &flag);
    CHECK_EQ(flag, 0);
    MPI_Type_free(&u);
    CHECK_EQ(deletes, 1);
    MPI_Type_free(&t);
    CHECK_EQ(deletes, 2);
    MPI_Type_set_attr(MPI_INT, key, value); /* predefined types have attributes, too */
    MPI_Type_get_attr(MPI_INT, key, &v, &flag);
    CHECK(flag == 1 && v == value);
    MPI_Type_delete_attr(MPI_INT, key);
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, key, value), MPI_ERR_KEYVAL); /* a key of datatypes */
    MPI_Type_free_keyval(&key);
    CHECK_EQ(key, MPI_KEYVAL_INVALID);
}

/* Keys of windows are none of communicators. */
static void windows(void)
{
    int key = MPI_KEYVAL_INVALID;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
    CHECK(key != MPI_KEYVAL_INVALID);
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, key, value), MPI_ERR_KEYVAL);
    MPI_Win_free_keyval(&key);
    CHECK_EQ(key, MPI_KEYVAL_INVALID);
}

static void deprecated(void)
{
    int key, flag = -1;
    void *v = NULL;
    MPI_Comm c;
    MPI_Keyval_create(copy_up, delete, &key, state + 3);
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Attr_put(c, key, value);
    MPI_Attr_get(c, key, &v, &flag);
    CHECK(flag == 1 && v == value);
    deletes = 0;
    MPI_Attr_delete(c, key);
    CHECK(deletes == 1 && last_extra == state + 3);
    MPI_Attr_get(c, key, &v, &flag);
    CHECK_EQ(flag, 0);
    MPI_Attr_get(c, MPI_TAG_UB, &v, &flag);
    CHECK(flag == 1 && *(int *)v >= 32767);
    MPI_Comm_free(&c);
    MPI_Keyval_free(&key);
    CHECK_EQ(key, MPI_KEYVAL_INVALID);
}

/* Attributes within attributes: the callback deletes another one. */
static int other_key;
static int delete_other(MPI_Comm c, int key, void *v, void *extra)
{
    (void)key, (void)v, (void)extra;
    deletes++;
    return got(c, other_key) ? MPI_Comm_delete_attr(c, other_key) : MPI_SUCCESS;
}

static void reentrant(void)
{
    int key;
    MPI_Comm c;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_other, &key, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &other_key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_attr(c, other_key, value);
    MPI_Comm_set_attr(c, key, value);
    deletes = 0;
    MPI_Comm_free(&c);
    CHECK_EQ(deletes, 2);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free_keyval(&other_key);
}

static int order[3], ends;
static int at_the_end(MPI_Comm c, int key, void *v, void *extra)
{
    int flag = 1, rank = -1;
    (void)key, (void)extra;
    MPI_Finalized(&flag);
    CHECK(!flag);
    MPI_Comm_rank(c, &rank);
    CHECK(c == MPI_COMM_SELF && rank == 0);
    if (ends < 3)
        order[ends] = (int)((char *)v - value);
    ends++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int key[3];
    start(&argc, &argv, "attr");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    set_get_delete();
    duplicates();
    failing_copy();
    datatypes();
    windows();
    deprecated();
    reentrant();
    for (int i = 0; i < 3; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &key[i], NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key[i], value + i);
        MPI_Comm_free_keyval(&key[i]);
    }
    MPI_Finalize();
    CHECK_EQ(ends, 3);
    CHECK_MSG(order[0] == 2 && order[1] == 1 && order[2] == 0, "deleted in the order %d %d %d", order[0], order[1], order[2]);
    return verdict();
}

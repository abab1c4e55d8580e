// covers: MPI_Win_get_group MPI_Win_set_info MPI_Win_get_info MPI_Win_set_name MPI_Win_get_name MPI_Win_set_attr MPI_Win_get_attr MPI_Win_delete_attr MPI_Win_create_keyval MPI_Win_free_keyval MPI_Win_set_errhandler MPI_Win_get_errhandler MPI_Win_call_errhandler MPI_Win_create_errhandler MPI_Win_create_dynamic MPI_Win_attach MPI_Win_detach MPI_Win_toint MPI_Win_fromint
// ranks: 1 2 3
/*
 * The window as an object: attributes of MPI's and of the user's, hints, names, error handlers, group; and windows to which
 * memory is attached. MPI 5.0 sections 7.7.3, 7.8, 9.3.2, 12.2.4, 12.2.6 and 12.2.7.
 */
#include "check.h"

static int deleted, called, last_code;

static int on_delete(MPI_Win win, int keyval, void *value, void *extra)
{
    (void)win, (void)keyval;
    deleted += *(int *)value + *(int *)extra;
    return MPI_SUCCESS;
}

static void on_error(MPI_Win *win, int *code, ...)
{
    (void)win;
    called++, last_code = *code;
}

static void attributes(MPI_Win win, void *base, MPI_Aint size, int unit, int flavor)
{
    void *value = NULL;
    int flag = 0;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag);
    CHECK(flag && value == base);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag);
    CHECK(flag && *(MPI_Aint *)value == size);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag);
    CHECK(flag && *(int *)value == unit);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag);
    CHECK(flag && *(int *)value == flavor);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag);
    CHECK(flag && *(int *)value == MPI_WIN_UNIFIED);
}

static void own_attributes(void)
{
    int key, extra = 100, value = 7, other = 11, flag = 1, *got = NULL;
    char memory[8];
    MPI_Win win;
    MPI_Win_create(memory, sizeof memory, 2, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    attributes(win, memory, sizeof memory, 2, MPI_WIN_FLAVOR_CREATE);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, &extra);
    MPI_Win_get_attr(win, key, &got, &flag);
    CHECK_EQ(flag, 0);
    MPI_Win_set_attr(win, key, &value);
    MPI_Win_get_attr(win, key, &got, &flag);
    CHECK(flag && got == &value);
    MPI_Win_set_attr(win, key, &other);
    CHECK_EQ(deleted, 107);
    MPI_Win_delete_attr(win, key);
    CHECK_EQ(deleted, 107 + 111);
    MPI_Win_set_attr(win, key, &value);
    MPI_Win_free_keyval(&key);
    MPI_Win_free(&win);
    CHECK_EQ(deleted, 107 + 111 + 107);
}

static void names_and_hints(void)
{
    char name[MPI_MAX_OBJECT_NAME] = "x", value[64];
    int length = -1, flag = 0, size = -1, relation = -1;
    long *memory = NULL;
    MPI_Info info, used;
    MPI_Group group, world;
    MPI_Win win;
    MPI_Info_create(&info);
    MPI_Info_set(info, "accumulate_ordering", "none");
    MPI_Info_set(info, "same_size", "perhaps");
    MPI_Win_allocate(24, 8, info, MPI_COMM_WORLD, &memory, &win);
    attributes(win, memory, 24, 8, MPI_WIN_FLAVOR_ALLOCATE);
    MPI_Win_get_name(win, name, &length);
    CHECK(length == 0 && name[0] == '\0');
    MPI_Win_set_name(win, "the window");
    MPI_Win_get_name(win, name, &length);
    CHECK(length == 10 && strcmp(name, "the window") == 0);
    MPI_Win_get_name(MPI_WIN_NULL, name, &length);
    CHECK(strcmp(name, "MPI_WIN_NULL") == 0);
    MPI_Win_get_info(win, &used);
    MPI_Info_get(used, "accumulate_ordering", 63, value, &flag);
    CHECK(flag && strcmp(value, "none") == 0);
    MPI_Info_get(used, "same_size", 63, value, &flag);
    CHECK(flag && strcmp(value, "false") == 0);
    MPI_Info_get(used, "no_locks", 63, value, &flag);
    CHECK(flag && strcmp(value, "false") == 0);
    MPI_Info_get(used, "accumulate_ops", 63, value, &flag);
    CHECK(flag && strcmp(value, "same_op_no_op") == 0);
    MPI_Info_free(&used);
    MPI_Info_set(info, "same_size", "true");
    MPI_Win_set_info(win, info);
    MPI_Win_set_info(win, MPI_INFO_NULL);
    MPI_Win_get_info(win, &used);
    MPI_Info_get(used, "same_size", 63, value, &flag);
    CHECK(flag && strcmp(value, "true") == 0);
    MPI_Info_free(&used), MPI_Info_free(&info);
    MPI_Win_get_group(win, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &relation);
    CHECK_EQ(relation, MPI_IDENT);
    MPI_Group_size(group, &size);
    CHECK_EQ(size, check_ranks);
    MPI_Group_free(&group), MPI_Group_free(&world);
#ifdef MPI_ABI_VERSION
    CHECK(MPI_Win_fromint(MPI_Win_toint(win)) == win);
#endif
    MPI_Win_free(&win);
}

static void handlers(void)
{
    MPI_Errhandler handler, got;
    MPI_Win win;
    char memory[8], byte = 1;
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_errhandler(win, &got);
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    MPI_Win_create_errhandler(on_error, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Win_get_errhandler(win, &got);
    CHECK(got == handler);
    MPI_Errhandler_free(&got), MPI_Errhandler_free(&handler);
    MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    CHECK(called == 1 && last_code == MPI_ERR_OTHER);
    MPI_Win_fence(0, win);
    int code = MPI_Put(&byte, 1, MPI_BYTE, check_ranks + 3, 0, 1, MPI_BYTE, win);
    CHECK(error_class(code) == MPI_ERR_RANK && called == 2 && last_code == code);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* Memory comes and goes; addresses are told by messages. */
static void dynamic(void)
{
    enum { PIECES = 3, N = 3000 };
    int *pieces[PIECES], value[N], next = (check_rank + 1) % check_ranks;
    int previous = (check_rank + check_ranks - 1) % check_ranks;
    MPI_Aint mine[PIECES], theirs[PIECES];
    MPI_Win win;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    attributes(win, MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
    for (int i = 0; i < PIECES; i++) {
        pieces[i] = check_alloc(N * sizeof(int));
        memset(pieces[i], 0, N * sizeof(int));
        MPI_Win_attach(win, pieces[i], N * sizeof(int));
        MPI_Get_address(pieces[i], &mine[i]);
    }
    MPI_Sendrecv(mine, PIECES, MPI_AINT, previous, 0, theirs, PIECES, MPI_AINT, next, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        value[i] = check_rank + i;
    MPI_Win_lock_all(0, win);
    MPI_Put(value, N, MPI_INT, next, theirs[0], N, MPI_INT, win);
    MPI_Accumulate(value, 1, MPI_INT, next, theirs[1] + (MPI_Aint)sizeof(int) * (N - 1), 1, MPI_INT, MPI_SUM, win);
    MPI_Put(value, N, MPI_INT, next, theirs[2], N, MPI_INT, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(pieces[0][0] == previous && pieces[0][N - 1] == previous + N - 1 && pieces[2][5] == previous + 5);
    CHECK(pieces[1][N - 1] == previous && pieces[1][0] == 0);
    MPI_Win_detach(win, pieces[1]);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK(MPI_Win_attach(win, pieces[0] + 1, sizeof(int)) != MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (library_is("ompi-rs")) {
        /* What is not attached any more: the access says so, or the next synchronisation where only the target knows. */
        int accessed, synchronised;
        MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
        accessed = MPI_Put(value, 1, MPI_INT, next, theirs[1], 1, MPI_INT, win);
        synchronised = MPI_Win_flush(next, win);
        CHECK_EQ(error_class(accessed ? accessed : synchronised), MPI_ERR_RMA_RANGE);
        accessed = MPI_Get(value, 1, MPI_INT, next, theirs[1], 1, MPI_INT, win);
        synchronised = MPI_Win_unlock(next, win);
        CHECK_EQ(error_class(accessed ? accessed : synchronised), MPI_ERR_RMA_RANGE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_attach(win, pieces[1], N * sizeof(int));
    MPI_Win_free(&win);
    for (int i = 0; i < PIECES; i++)
        free(pieces[i]);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "rma_objects");
    own_attributes();
    names_and_hints();
    handlers();
    dynamic();
    return finish();
}

// covers: MPI_Barrier MPI_Bcast MPI_Allreduce MPI_Alltoall MPI_Iallreduce MPI_Ibarrier MPI_Allreduce_init MPI_Comm_split MPI_Comm_dup MPI_Comm_idup MPI_Comm_set_attr MPI_Comm_get_attr MPI_Comm_delete_attr MPI_Comm_create_keyval MPI_Type_vector MPI_Type_commit MPI_Type_free MPI_Info_set MPI_Info_get_string MPI_Group_incl MPI_Op_create MPI_Comm_create_errhandler MPI_Comm_call_errhandler MPI_Add_error_class MPI_Pack MPI_Unpack
// seconds: 240
/*
 * Collectives on different communicators at the same time, and objects of all kinds made, used and freed by four threads
 * per rank, with callbacks that call MPI.
 */
#include "threads.h"

enum { ROUNDS = 30, SETS = 5000, LENGTH = 3000 };

static int next(void) { return (check_rank + 1) % check_ranks; }
static int previous(void) { return (check_rank + check_ranks - 1) % check_ranks; }

static void second(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++)
        ((int *)inout)[i] += ((int *)in)[i] * 1;
}

static void collectives(struct thread *thread)
{
    int *a = check_alloc(LENGTH * sizeof *a), *b = check_alloc(LENGTH * sizeof *b), *c = check_alloc(LENGTH * sizeof *c);
    int ranks[64], all[64], total = check_ranks * (check_ranks - 1) / 2;
    MPI_Op own;
    MPI_Request q[3];
    MPI_Op_create(second, 1, &own);
    MPI_Allreduce_init(a, c, LENGTH, MPI_INT, MPI_SUM, thread->own, MPI_INFO_NULL, &q[2]);
    for (int round = 0; round < 10 * ROUNDS; round++) {
        int root = (round + thread->number) % check_ranks, salt = thread->number * 100 + round, n = round % 2 ? LENGTH : 1;
        for (int i = 0; i < LENGTH; i++)
            a[i] = check_rank + salt + i, b[i] = c[i] = -1;
        MPI_Iallreduce(a, b, n, MPI_INT, round % 3 ? MPI_SUM : own, thread->own, &q[0]);
        MPI_Ibarrier(thread->own, &q[1]);
        MPI_Start(&q[2]);
        for (int i = 0; i < check_ranks; i++)
            ranks[i] = check_rank * 64 + i + salt;
        MPI_Alltoall(ranks, 1, MPI_INT, all, 1, MPI_INT, thread->own);
        for (int i = 0; i < check_ranks; i++)
            CHECK_EQ(all[i], i * 64 + check_rank + salt);
        MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
        CHECK_EQ(b[n - 1], total + check_ranks * (salt + n - 1));
        CHECK_EQ(c[LENGTH - 1], total + check_ranks * (salt + LENGTH - 1));
        if (check_rank == root)
            memcpy(b, a, LENGTH * sizeof *a);
        MPI_Bcast(b, LENGTH, MPI_INT, root, thread->own);
        CHECK_EQ(b[LENGTH - 1], root + salt + LENGTH - 1);
        MPI_Allreduce(a, c, 1, MPI_INT, own, thread->own);
        CHECK_EQ(c[0], total + check_ranks * salt);
        MPI_Barrier(thread->own);
    }
    MPI_Request_free(&q[2]);
    MPI_Op_free(&own);
    free(a), free(b), free(c);
}

/* Callbacks that communicate, on a communicator that the extra state tells. */
static int copies, deletions;

static int copy(MPI_Comm from, int key, void *extra, void *value, void *out, int *flag)
{
    int sum = 0, one = 1;
    (void)from, (void)key;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, *(MPI_Comm *)extra);
    CHECK_EQ(sum, check_ranks);
    __atomic_add_fetch(&copies, 1, __ATOMIC_SEQ_CST);
    *(void **)out = (char *)value + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int gone(MPI_Comm from, int key, void *value, void *extra)
{
    int out = check_rank, in = -1;
    (void)from, (void)key, (void)value;
    MPI_Sendrecv(&out, 1, MPI_INT, next(), 3, &in, 1, MPI_INT, previous(), 3, *(MPI_Comm *)extra, MPI_STATUS_IGNORE);
    CHECK_EQ(in, previous());
    __atomic_add_fetch(&deletions, 1, __ATOMIC_SEQ_CST);
    return MPI_SUCCESS;
}

static void attributes(struct thread *thread)
{
    MPI_Comm talk, base;
    int key, flag;
    void *value;
    MPI_Comm_dup(thread->own, &talk);
    MPI_Comm_dup(thread->own, &base);
    MPI_Comm_create_keyval(copy, gone, &key, &talk);
    MPI_Comm_set_attr(base, key, (void *)(size_t)(1000 * thread->number + 1));
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm made;
        MPI_Request q = MPI_REQUEST_NULL;
        if (round % 2)
            MPI_Comm_dup(base, &made);
        else
            MPI_Comm_idup(base, &made, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        MPI_Comm_get_attr(made, key, &value, &flag);
        CHECK(flag && (size_t)value == (size_t)(1000 * thread->number + 2));
        MPI_Comm_free(&made);
    }
    MPI_Comm_delete_attr(base, key);
    MPI_Comm_get_attr(base, key, &value, &flag);
    CHECK_EQ(flag, 0);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free(&base), MPI_Comm_free(&talk);
}

/* All threads set and delete the same attribute of the same communicator: each value is deleted once. */
static MPI_Comm shared;
static int shared_key, values[THREADS * SETS];

static int count_deletion(MPI_Comm from, int key, void *value, void *extra)
{
    (void)from, (void)key, (void)extra;
    __atomic_add_fetch(&values[(size_t)value], 1, __ATOMIC_SEQ_CST);
    return MPI_SUCCESS;
}

static void same_attribute(struct thread *thread)
{
    for (int i = 0; i < SETS; i++) {
        void *value;
        int flag = 0;
        MPI_Comm_set_attr(shared, shared_key, (void *)(size_t)(thread->number * SETS + i));
        MPI_Comm_get_attr(shared, shared_key, &value, &flag);
        CHECK(!flag || (size_t)value < THREADS * SETS);
    }
}

static MPI_Info shared_info;

static void others(struct thread *thread)
{
    for (int round = 0; round < ROUNDS * 20; round++) {
        int in[8], out[8] = {0}, position = 0, length = 32, flag, class, code, members[1] = {0}, size;
        char packed[64], key[16], text[32], error[MPI_MAX_ERROR_STRING];
        MPI_Datatype type;
        MPI_Group world, one;
        MPI_Info info;
        MPI_Type_vector(2, 2, 4, MPI_INT, &type);
        MPI_Type_commit(&type);
        for (int i = 0; i < 8; i++)
            in[i] = thread->number * 100 + round + i;
        MPI_Pack(in, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF);
        CHECK_EQ(position, 16);
        position = 0;
        MPI_Unpack(packed, sizeof packed, &position, out, 1, type, MPI_COMM_SELF);
        CHECK_EQ(out[5], in[5]);
        MPI_Type_free(&type);
        snprintf(key, sizeof key, "k%d", thread->number);
        snprintf(text, sizeof text, "%d", round);
        MPI_Info_create(&info);
        MPI_Info_set(info, key, text);
        MPI_Info_set(shared_info, key, text);
        MPI_Info_get_string(info, key, &length, error, &flag);
        CHECK(flag && strcmp(error, text) == 0);
        length = 32;
        MPI_Info_get_string(shared_info, key, &length, error, &flag);
        CHECK(flag && strcmp(error, text) == 0);
        MPI_Info_free(&info);
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_incl(world, 1, members, &one);
        MPI_Group_size(one, &size);
        CHECK_EQ(size, 1);
        MPI_Group_free(&one), MPI_Group_free(&world);
        if (round % 20 == 0) {
            MPI_Add_error_class(&class);
            MPI_Add_error_code(class, &code);
            MPI_Add_error_string(code, key);
            MPI_Error_class(code, &size);
            CHECK_EQ(size, class);
            MPI_Error_string(code, error, &length);
            CHECK(strcmp(error, key) == 0);
        }
    }
}

static __thread int handled;

static void handle(MPI_Comm *comm, int *code, ...)
{
    int rank = -1, class;
    MPI_Comm_rank(*comm, &rank);
    CHECK_EQ(rank, check_rank);
    MPI_Error_class(*code, &class);
    handled = class;
}

static void handlers(struct thread *thread)
{
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Errhandler handler;
        int x = 0;
        MPI_Comm_create_errhandler(handle, &handler);
        MPI_Comm_set_errhandler(thread->own, handler);
        MPI_Errhandler_free(&handler);
        handled = 0;
        MPI_Send(&x, 1, MPI_INT, check_ranks + 5, 0, thread->own);
        CHECK_EQ(handled, MPI_ERR_RANK);
        MPI_Comm_call_errhandler(thread->own, MPI_ERR_OTHER);
        CHECK_EQ(handled, MPI_ERR_OTHER);
    }
}

int main(int argc, char **argv)
{
    int deleted = 0;
    start_threads_multiple(&argc, &argv, "threads_objects");
    in_threads(collectives);
    in_threads(attributes);
    CHECK_EQ(copies, THREADS * ROUNDS);
    CHECK_EQ(deletions, THREADS * (ROUNDS + 1));
    MPI_Comm_dup(MPI_COMM_WORLD, &shared);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deletion, &shared_key, NULL);
    in_threads(same_attribute);
    MPI_Comm_free(&shared);
    MPI_Comm_free_keyval(&shared_key);
    for (int i = 0; i < THREADS * SETS; i++)
        deleted += values[i] == 1;
    CHECK_EQ(deleted, THREADS * SETS);
    MPI_Info_create(&shared_info);
    in_threads(others);
    MPI_Info_free(&shared_info);
    in_threads(handlers);
    return finish();
}

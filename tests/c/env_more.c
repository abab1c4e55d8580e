// covers: MPI_Init MPI_Alloc_mem MPI_Free_mem MPI_Pcontrol MPI_Abi_get_info MPI_Abi_get_fortran_info MPI_Abi_set_fortran_info MPI_Abi_get_fortran_booleans MPI_Abi_set_fortran_booleans MPI_Op_create_c MPI_Op_free
/*
 * The rest of the environment: MPI_Init (MPI 5.0 section 11.2.1), memory (9.2), a profiling level that nobody reads (15.2),
 * what the binary interface says of itself (20), and an operation that counts with MPI_Count (6.9.5).
 */
#include "check.h"
#include <stdint.h>

static void memory(void)
{
    static const MPI_Aint sizes[] = {0, 1, 4096, 1 << 22};
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "64");
    for (int i = 0; i < 4; i++) {
        char *a = NULL, *b = NULL;
        MPI_Alloc_mem(sizes[i], MPI_INFO_NULL, &a);
        MPI_Alloc_mem(sizes[i], info, &b);
        CHECK(a != NULL && b != NULL && a != b);
        CHECK_EQ((uintptr_t)b % 64, 0);
        fill(a, (size_t)sizes[i], 1);
        fill(b, (size_t)sizes[i], 2);
        CHECK_BYTES(a, (size_t)sizes[i], 1);
        CHECK_EQ(MPI_Free_mem(a), MPI_SUCCESS);
        CHECK_BYTES(b, (size_t)sizes[i], 2);
        CHECK_EQ(MPI_Free_mem(b), MPI_SUCCESS);
    }
    MPI_Info_free(&info);
    void *p = NULL;
    CHECK_CLASS(MPI_Alloc_mem(-1, MPI_INFO_NULL, &p), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Alloc_mem(INTPTR_MAX, MPI_INFO_NULL, &p), MPI_ERR_NO_MEM);
    CHECK(p == NULL);
}

static int number(MPI_Info info, const char *key)
{
    char text[32];
    int room = sizeof text, flag = 0;
    MPI_Info_get_string(info, key, &room, text, &flag);
    return flag ? atoi(text) : -1;
}

static void interface(void)
{
    MPI_Info info = MPI_INFO_NULL;
    int set = -1;
    int32_t yes = -1, no = -1;
    MPI_Abi_get_info(&info);
    CHECK_EQ(number(info, "mpi_aint_size"), sizeof(MPI_Aint));
    CHECK_EQ(number(info, "mpi_count_size"), sizeof(MPI_Count));
    CHECK_EQ(number(info, "mpi_offset_size"), sizeof(MPI_Offset));
    MPI_Info_free(&info);
    MPI_Abi_get_fortran_info(&info);
    int bytes = -1;
    MPI_Type_size(MPI_INTEGER, &bytes);
    CHECK_EQ(number(info, "mpi_integer_size"), bytes);
    MPI_Type_size(MPI_DOUBLE_PRECISION, &bytes);
    CHECK_EQ(number(info, "mpi_double_precision_size"), bytes);
    CHECK_CLASS(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI); /* it is known already */
    MPI_Info_free(&info);
    CHECK_EQ(MPI_Abi_get_fortran_booleans(4, &yes, &no, &set), MPI_SUCCESS);
    CHECK(set == 1 && yes != no && no == 0);
    CHECK_CLASS(MPI_Abi_set_fortran_booleans(4, &yes, &no), MPI_ERR_ABI);
    CHECK_CLASS(MPI_Abi_get_fortran_booleans(3, &yes, &no, &set), MPI_ERR_ARG);
}

/* Not commutative: the leftmost rank's digit comes first. */
static void append(void *in, void *inout, MPI_Count *n, MPI_Datatype *t)
{
    CHECK(*t == MPI_INT64_T);
    for (MPI_Count i = 0; i < *n; i++) {
        int64_t left = ((int64_t *)in)[i], right = ((int64_t *)inout)[i], shift = 1;
        while (shift <= right)
            shift *= 10;
        ((int64_t *)inout)[i] = left * shift + right;
    }
}

static void operation(void)
{
    MPI_Op op = MPI_OP_NULL;
    int64_t mine[3], all[3] = {0}, want = 0;
    int commutes = -1;
    MPI_Op_create_c(append, 0, &op);
    MPI_Op_commutative(op, &commutes);
    CHECK_EQ(commutes, 0);
    for (int i = 0; i < 3; i++)
        mine[i] = check_rank % 9 + 1;
    for (int r = 0; r < check_ranks && r < 18; r++)
        want = want * 10 + r % 9 + 1;
    if (check_ranks <= 18) {
        MPI_Allreduce(mine, all, 3, MPI_INT64_T, op, MPI_COMM_WORLD);
        for (int i = 0; i < 3; i++)
            CHECK_EQ(all[i], want);
    }
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
}

int main(int argc, char **argv)
{
    int before = -1, after = -1, count = argc;
    char *name = argv[0];
    MPI_Initialized(&before);
    start(&argc, &argv, "env_more"); /* calls MPI_Init */
    MPI_Initialized(&after);
    CHECK(before == 0 && after == 1);
    CHECK(argc == count && argv[0] == name);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Init(&argc, &argv), MPI_ERR_OTHER); /* once is enough */
    CHECK_EQ(MPI_Pcontrol(1, "more", 2.0), MPI_SUCCESS);
    CHECK_EQ(MPI_Pcontrol(0), MPI_SUCCESS);
    memory();
    interface();
    operation();
    return finish();
}

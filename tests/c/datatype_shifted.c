// covers: MPI_Alltoallw MPI_Type_create_struct MPI_Type_indexed
/*
 * Datatypes whose data is one run that does not begin at the buffer's address: blocks with a displacement, and addresses
 * of their own with MPI_BOTTOM. They travel like any other data of one run, from and to where the type says. MPI 5.0
 * sections 5.1.2 and 5.1.12.
 */
#include "check.h"

#define LONGEST (1 << 18)
#define SHIFT 24

static unsigned char out[LONGEST + 2 * SHIFT], in[LONGEST + 2 * SHIFT];

static MPI_Datatype shifted(int bytes, MPI_Aint from)
{
    MPI_Datatype type, byte = MPI_BYTE;
    MPI_Type_create_struct(1, &bytes, &from, &byte, &type);
    MPI_Type_commit(&type);
    return type;
}

static void prepare(int bytes, int seed)
{
    memset(in, 0xee, sizeof in);
    memset(out, 0xdd, sizeof out);
    for (int i = 0; i < bytes; i++)
        out[SHIFT + i] = (unsigned char)(seed + i % 251);
}

static void arrived(int line, int bytes, int seed)
{
    int wrong = 0;
    for (int i = 0; i < bytes; i++)
        wrong += in[SHIFT + i] != (unsigned char)(seed + i % 251);
    for (int i = 0; i < SHIFT; i++)
        wrong += (in[i] != 0xee) + (in[SHIFT + bytes + i] != 0xee);
    if (wrong)
        check_fail(__FILE__, line, "%d of %d bytes are wrong or lie elsewhere", wrong, bytes);
}

/* From every rank to the next; the blocking receive and the posted one, from the buffer and from MPI_BOTTOM. */
static void around(int bytes)
{
    const int next = (check_rank + 1) % check_ranks, previous = (check_rank + check_ranks - 1) % check_ranks;
    MPI_Datatype relative = shifted(bytes, SHIFT), from, to;
    MPI_Aint address;
    MPI_Get_address(out + SHIFT, &address);
    from = shifted(bytes, address);
    MPI_Get_address(in + SHIFT, &address);
    to = shifted(bytes, address);
    for (int absolute = 0; absolute < 2; absolute++) {
        void *a = absolute ? MPI_BOTTOM : (void *)out, *b = absolute ? MPI_BOTTOM : (void *)in;
        MPI_Datatype ta = absolute ? from : relative, tb = absolute ? to : relative;
        MPI_Request request;
        int token = 0;
        prepare(bytes, check_rank);
        MPI_Isend(a, 1, ta, next, 1, MPI_COMM_WORLD, &request);
        MPI_Recv(b, 1, tb, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        arrived(__LINE__, bytes, previous);
        prepare(bytes, check_rank + 7);
        MPI_Irecv(b, 1, tb, previous, 2, MPI_COMM_WORLD, &request);
        MPI_Send(a, 1, ta, next, 2, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        arrived(__LINE__, bytes, previous + 7);
        /* The receiver waits already, so that the direct path of a blocking receive is open. */
        prepare(bytes, check_rank + 9);
        if (check_ranks > 1 && check_rank % 2 == 0 && next == check_rank + 1) {
            MPI_Recv(&token, 1, MPI_INT, next, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(a, 1, ta, next, 4, MPI_COMM_WORLD);
        } else if (check_rank % 2 == 1) {
            MPI_Send(&token, 1, MPI_INT, previous, 3, MPI_COMM_WORLD);
            MPI_Recv(b, 1, tb, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            arrived(__LINE__, bytes, previous + 9);
        }
    }
    MPI_Type_free(&relative);
    MPI_Type_free(&from);
    MPI_Type_free(&to);
}

/* Both buffers are MPI_BOTTOM: equal arguments, but not the same memory. */
static void collective(void)
{
    enum { MOST = 16 };
    int blocks[MOST], zeros[MOST] = {0}, values[MOST], all[MOST], length = 1;
    MPI_Datatype from[MOST], to[MOST], one, row;
    MPI_Aint address;
    if (check_ranks > MOST)
        return;
    for (int i = 0; i < check_ranks; i++) {
        MPI_Datatype type = MPI_INT;
        blocks[i] = 1;
        values[i] = 100 * check_rank + i;
        all[i] = -1;
        MPI_Get_address(&values[i], &address);
        MPI_Type_create_struct(1, &length, &address, &type, &from[i]);
        MPI_Type_commit(&from[i]);
        MPI_Get_address(&all[i], &address);
        MPI_Type_create_struct(1, &length, &address, &type, &to[i]);
        MPI_Type_commit(&to[i]);
    }
    MPI_Alltoallw(MPI_BOTTOM, blocks, zeros, from, MPI_BOTTOM, blocks, zeros, to, MPI_COMM_WORLD);
    for (int i = 0; i < check_ranks; i++)
        CHECK_EQ(all[i], 100 * i + check_rank);
    /* Rank r's block of the gathered row is r extents further on. */
    one = from[0];
    MPI_Type_create_resized(to[0], 0, sizeof(int), &row);
    MPI_Type_commit(&row);
    CHECK_EQ(MPI_Allgather(MPI_BOTTOM, 1, one, MPI_BOTTOM, 1, row, MPI_COMM_WORLD), MPI_SUCCESS);
    for (int i = 0; i < check_ranks; i++)
        CHECK_EQ(all[i], 100 * i);
    MPI_Type_free(&row);
    for (int i = 0; i < check_ranks; i++) {
        MPI_Type_free(&from[i]);
        MPI_Type_free(&to[i]);
    }
}

/* One block of an indexed type: as many elements as one likes, each shifted in its own extent. */
static void indexed(void)
{
    const int next = (check_rank + 1) % check_ranks, previous = (check_rank + check_ranks - 1) % check_ranks;
    int length = 3, from = 5, wrong = 0, numbers[64], got[64];
    MPI_Datatype type;
    MPI_Type_indexed(1, &length, &from, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 64; i++) {
        numbers[i] = 1000 * check_rank + i;
        got[i] = -1;
    }
    MPI_Sendrecv(numbers, 4, type, next, 5, got, 4, type, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 64; i++)
        wrong += got[i] != (i >= 5 && i < 17 ? 1000 * previous + i : -1);
    CHECK_EQ(wrong, 0);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {1, 8, 13, 48, 64, 200, 4000, 20000, 100000, LONGEST};
    start(&argc, &argv, "datatype_shifted");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        around(sizes[i]);
    collective();
    indexed();
    return finish();
}

// covers: MPI_Alltoallv MPI_Alltoallw MPI_Allgatherv
// ranks: 2 3 4 8
/*
 * MPI_Alltoallv and MPI_Alltoallw (MPI 5.0 section 6.8), where each rank knows its own lengths only: what is short on some
 * ranks and long on others, nothing at all, one long block among empty ones; more than its receiver has room for, which is
 * an error there and nowhere else, whatever the length; less than it has room for. What comes next is right each time.
 */
#include "check.h"

enum { LONGEST = 300000, TURNS = 4 };
static unsigned char *out, *in;
static int *out_counts, *in_counts, *places;
static MPI_Datatype *types;

/* Bytes from a rank to another, in a case. */
static int length(int kind, int from, int to)
{
    switch (kind) {
    case 0: return 0;
    case 1: return (from * 3 + to) % 9; /* some of them empty */
    case 2: return 100 + from + to;
    case 3: return from == 0 ? 5000 : 5; /* long on one rank only */
    case 4: return from == 1 && to == 0 ? LONGEST : 0;
    case 5: return 70000 + from * 100 + to;
    default: return LONGEST - from - to;
    }
}
enum { KINDS = 7 };

static unsigned char element(int kind, int from, int to, int i)
{
    return (unsigned char)(kind * 7 + from * 31 + to * 17 + i + (i >> 8) * 3);
}

/* The receiver of rank 0's block to rank 1 has room for so many bytes more; returns what the call does. */
static int exchange(int kind, int more, int is_typed)
{
    for (int r = 0; r < check_ranks; r++) {
        out_counts[r] = length(kind, check_rank, r);
        in_counts[r] = length(kind, r, check_rank) + (r == 0 && check_rank == 1 ? more : 0);
        for (int i = 0; i < out_counts[r]; i++)
            out[places[r] + i] = element(kind, check_rank, r, i);
    }
    memset(in, 0xee, (size_t)LONGEST * (size_t)check_ranks);
    if (is_typed)
        return MPI_Alltoallw(out, out_counts, places, types, in, in_counts, places, types, MPI_COMM_WORLD);
    return MPI_Alltoallv(out, out_counts, places, MPI_BYTE, in, in_counts, places, MPI_BYTE, MPI_COMM_WORLD);
}

/* What came from all but perhaps one rank, and nothing behind it. */
static void compare(int kind, int but)
{
    for (int r = 0; r < check_ranks; r++) {
        int n = length(kind, r, check_rank), i = 0;
        if (r == but)
            continue;
        while (i < n && in[places[r] + i] == element(kind, r, check_rank, i))
            i++;
        CHECK_MSG(i == n, "case %d, from %d: byte %d of %d is %02x", kind, r, i, n, in[places[r] + i]);
        if (n < LONGEST)
            CHECK_MSG(in[places[r] + n] == 0xee, "case %d, from %d: byte %d is behind the end", kind, r, n);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "coll_lengths_apart");
    out = check_alloc((size_t)LONGEST * (size_t)check_ranks);
    in = check_alloc((size_t)LONGEST * (size_t)check_ranks);
    out_counts = check_alloc(sizeof(int) * (size_t)check_ranks);
    in_counts = check_alloc(sizeof(int) * (size_t)check_ranks);
    places = check_alloc(sizeof(int) * (size_t)check_ranks);
    types = check_alloc(sizeof(MPI_Datatype) * (size_t)check_ranks);
    for (int r = 0; r < check_ranks; r++) {
        places[r] = r * LONGEST;
        types[r] = MPI_BYTE;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int turn = 0; turn < TURNS; turn++)
        for (int kind = 0; kind < KINDS; kind++) {
            int typed = turn % 2;
            CHECK_EQ(exchange(kind, 0, typed), MPI_SUCCESS);
            compare(kind, -1);
            if (length(kind, 0, 1) == 0)
                continue;
            CHECK_EQ(exchange(kind, kind == 6 ? 1 : 3, typed), MPI_SUCCESS);
            compare(kind, -1);
            if (check_rank == 1) {
                CHECK_CLASS(exchange(kind, -1, typed), MPI_ERR_TRUNCATE);
                compare(kind, 0);
            } else {
                CHECK_EQ(exchange(kind, -1, typed), MPI_SUCCESS);
                compare(kind, -1);
            }
        }
    free(out), free(in), free(out_counts), free(in_counts), free(places), free(types);
    MPI_Finalize();
    return verdict();
}

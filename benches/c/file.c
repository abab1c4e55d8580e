/*
 * What files cost: one call, of a size for each rank, to a file in the folder TMPDIR (else /dev/shm, which no device slows).
 *
 *   mpirun -n 2 file --contiguous | --interleaved | --clustered | --strided | --small | --shared | --open | --subarray
 *                    [--read] [--alone] [--unique] [--nonblocking]
 *
 * interleaved: pieces of 512 bytes of all ranks in turn, collectively; strided: pieces of 64 bytes with gaps as long, each rank
 * its own part, independently; clustered: interleaved in two places of the file, far apart; --alone: without the others; --unique:
 * nobody else has the file open; --nonblocking: four of these calls under way at a time. subarray: the rank's part of a cube of doubles, of as
 * many bytes for each rank.
 */
#include "bench.h"

static int contiguous, interleaved, clustered, unique, nonblocking, strided, small, shared, opening, subarray, reading, alone;

struct access {
    MPI_File file;
    char *data;
    int size;
    int rank;
    const char *name;
};

static void chunk(void *with, int iterations)
{
    struct access *a = with;
    int failed = 0;
    for (int i = 0; i < iterations; i++)
        if (opening) {
            failed |= MPI_File_open(MPI_COMM_WORLD, a->name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &a->file);
            failed |= MPI_File_close(&a->file);
        } else if (shared) {
            failed |= reading ? MPI_File_read_shared(a->file, a->data, a->size, MPI_BYTE, MPI_STATUS_IGNORE)
                              : MPI_File_write_shared(a->file, a->data, a->size, MPI_BYTE, MPI_STATUS_IGNORE);
        } else if (nonblocking) {
            MPI_Request requests[4];
            MPI_Status statuses[4];
            for (int j = 0; j < 4; j++)
                failed |= reading ? MPI_File_iread_at(a->file, 0, a->data, a->size, MPI_BYTE, &requests[j])
                                  : MPI_File_iwrite_at(a->file, 0, a->data, a->size, MPI_BYTE, &requests[j]);
            failed |= MPI_Waitall(4, requests, statuses);
        } else if ((interleaved || clustered || subarray) && !alone) {
            failed |= reading ? MPI_File_read_at_all(a->file, 0, a->data, a->size, MPI_BYTE, MPI_STATUS_IGNORE)
                              : MPI_File_write_at_all(a->file, 0, a->data, a->size, MPI_BYTE, MPI_STATUS_IGNORE);
        } else {
            failed |= reading ? MPI_File_read_at(a->file, 0, a->data, a->size, MPI_BYTE, MPI_STATUS_IGNORE)
                              : MPI_File_write_at(a->file, 0, a->data, a->size, MPI_BYTE, MPI_STATUS_IGNORE);
        }
    if (failed != MPI_SUCCESS) {
        fprintf(stderr, "file: a call on %s failed with code %d\n", a->name, failed);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* What the rank sees of the file. */
static void view(const struct bench *b, struct access *a)
{
    MPI_Datatype piece = MPI_BYTE, spread = MPI_BYTE;
    MPI_Offset from = (MPI_Offset)a->size * b->rank;
    if (subarray) {
        int edge = 1, whole[3], part[3], start[3] = {0, 0, 0};
        while ((size_t)edge * (size_t)edge * (size_t)edge * 8 < (size_t)a->size * (size_t)b->ranks)
            edge++;
        edge = (edge + b->ranks - 1) / b->ranks * b->ranks;
        for (int i = 0; i < 3; i++)
            whole[i] = part[i] = edge;
        /* cut along the dimension whose neighbors lie together in the file */
        part[2] = edge / b->ranks, start[2] = part[2] * b->rank, from = 0;
        MPI_Type_create_subarray(3, whole, part, start, MPI_ORDER_C, MPI_DOUBLE, &spread);
    } else if (clustered) {
        int pieces = a->size / 512, *lengths = (int *)bench_memory(b, (size_t)pieces * sizeof *lengths);
        MPI_Aint *places = (MPI_Aint *)bench_memory(b, (size_t)pieces * sizeof *places);
        for (int i = 0; i < pieces; i++) {
            lengths[i] = 512;
            places[i] = 512 * ((MPI_Aint)i * b->ranks + b->rank) + (i < pieces / 2 ? 0 : (MPI_Aint)1 << 30);
        }
        MPI_Type_create_hindexed(pieces, lengths, places, MPI_BYTE, &spread);
        free(lengths);
        free(places);
        from = 0;
    } else if (interleaved) {
        MPI_Type_contiguous(512, MPI_BYTE, &piece);
        MPI_Type_create_resized(piece, 0, 512 * b->ranks, &spread);
        from = 512 * b->rank;
    } else if (strided) {
        MPI_Type_contiguous(64, MPI_BYTE, &piece);
        MPI_Type_create_resized(piece, 0, 128, &spread);
        from *= 2;
    }
    if (spread != MPI_BYTE)
        MPI_Type_commit(&spread);
    MPI_File_set_view(a->file, from, MPI_BYTE, spread, "native", MPI_INFO_NULL);
    if (spread != MPI_BYTE)
        MPI_Type_free(&spread);
    if (piece != MPI_BYTE)
        MPI_Type_free(&piece);
}

static void measure(const struct bench *b, int size, const char *name)
{
    struct access a = {.size = size, .rank = b->rank, .name = name};
    a.data = bench_memory(b, (size_t)size);
    bench_fill(a.data, (size_t)size, b->rank);
    int amode = MPI_MODE_RDWR | MPI_MODE_CREATE | (unique ? MPI_MODE_UNIQUE_OPEN : 0);
    if (MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &a.file) != MPI_SUCCESS)
        bench_die(b, "the file cannot be opened", 0);
    view(b, &a);
    if (!shared && !opening) {
        /* What is read later was written, and what is there is what was written. */
        int was = reading;
        reading = 0, chunk(&a, 1);
        MPI_File_sync(a.file);
        MPI_Barrier(MPI_COMM_WORLD);
        memset(a.data, 0, (size_t)size);
        reading = 1, chunk(&a, 1);
        bench_verify(b, a.data, (size_t)size, b->rank);
        reading = was;
    }
    if (opening)
        MPI_File_close(&a.file);
    bench_measure(b, chunk, &a, size, MICROSECONDS, 1, size);
    if (!opening)
        MPI_File_close(&a.file);
    if (b->rank == 0)
        MPI_File_delete(name, MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    free(a.data);
}

int main(int argc, char **argv)
{
    struct bench b = {.o = {.program = "file", .repetitions = 20, .chunk_us = 20000, .sizes = {1 << 20}, .size_count = 1}, .lone = 1, .all = 1};
    struct flag flags[] = {{"--clustered", "as --interleaved, in two places of the file far apart", &clustered},
                           {"--unique", "nobody else has the file open", &unique},
                           {"--nonblocking", "four of these calls under way at a time", &nonblocking},
                           {"--contiguous", "each rank one piece (the default)", &contiguous},
                           {"--interleaved", "pieces of 512 bytes of all ranks in turn, collectively", &interleaved},
                           {"--strided", "pieces of 64 bytes with gaps, independently", &strided},
                           {"--small", "as --contiguous, for small sizes", &small},
                           {"--shared", "at the shared file pointer", &shared},
                           {"--open", "MPI_File_open and MPI_File_close", &opening},
                           {"--subarray", "a part of a cube of doubles, collectively", &subarray},
                           {"--read", "read instead of write", &reading},
                           {"--alone", "independently what would be collective", &alone}};
    char name[512] = "";
    memcpy(b.o.flags, flags, sizeof flags);
    b = bench_start(&argc, &argv, b);
    if (b.rank == 0) {
        const char *folder = getenv("TMPDIR");
        snprintf(name, sizeof name, "%s/ompi-rs-bench-%d", folder && *folder ? folder : "/dev/shm", (int)getpid());
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < b.o.size_count; i++)
        measure(&b, b.o.sizes[i], name);
    bench_finish();
    return 0;
}

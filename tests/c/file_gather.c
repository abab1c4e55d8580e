// covers: MPI_File_write_at_all MPI_File_read_at_all MPI_File_get_info MPI_File_set_view
// ranks: 1 2 3 4 8
// args: default
// args: two_phase
// args: dynamic
/*
 * Small pieces of all ranks in turn, which lie in few places far apart: whoever gathers them, the same bytes are in the file, and what
 * lies between them stays. With the name of a component: how much memory a rank takes to gather, no more than the hint cb_buffer_size
 * says.
 */
#include "file.h"

enum { PIECE = 512, EACH = 96, CLUSTERS = 3, MANY = 48 << 20 };
/* KiB beside the buffers: what collective operations take, most of it shared with the other ranks. */
enum { ALLOWED = 5120 };
#define APART ((MPI_Aint)1 << 30)

static MPI_File file;

static unsigned char value(int rank, int turn, int at)
{
    return (unsigned char)(rank * 67 + turn * 13 + at * 5 + at / 256 + 1);
}

static MPI_Info hints(const char *fcoll, const char *buffer)
{
    MPI_Info info;
    MPI_Info_create(&info);
    if (*fcoll)
        MPI_Info_set(info, "ompio_fcoll", fcoll);
    if (*buffer)
        MPI_Info_set(info, "cb_buffer_size", buffer);
    return info;
}

/* The pieces of a rank in every cluster: in turn with those of the others. In the first cluster there are eight times as many. */
static MPI_Datatype clusters(int *pieces)
{
    int lengths[CLUSTERS * EACH + 7 * EACH], count = 0;
    MPI_Aint starts[CLUSTERS * EACH + 7 * EACH];
    for (int cluster = 0; cluster < CLUSTERS; cluster++)
        for (int i = 0; i < (cluster == 0 ? 8 * EACH : EACH); i++) {
            lengths[count] = PIECE;
            starts[count++] = cluster * APART + ((MPI_Aint)i * check_ranks + check_rank) * PIECE;
        }
    MPI_Datatype type;
    MPI_Type_create_hindexed(count, lengths, starts, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    *pieces = count;
    return type;
}

static void apart(const char *name, const char *fcoll, const char *buffer)
{
    int pieces;
    MPI_Datatype type = clusters(&pieces);
    MPI_Info info = hints(fcoll, buffer);
    MPI_Status status;
    unsigned char *data = check_alloc((size_t)pieces * PIECE), *back = check_alloc((size_t)pieces * PIECE);
    char between = 'b';
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, info, &file));
    if (check_rank == 0)
        GOOD(MPI_File_write_at(file, APART / 2, &between, 1, MPI_BYTE, &status));
    for (int i = 0; i < pieces * PIECE; i++)
        data[i] = value(check_rank, i / PIECE, i % PIECE);
    GOOD(MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL));
    GOOD(MPI_File_write_at_all(file, 0, data, pieces * PIECE, MPI_BYTE, &status));
    COUNT(status, MPI_BYTE, pieces * PIECE);
    GOOD(MPI_File_sync(file));
    /* Each for itself, and the part of the next rank. */
    GOOD(MPI_File_read_at(file, 0, back, pieces * PIECE, MPI_BYTE, &status));
    CHECK_MSG(memcmp(data, back, (size_t)pieces * PIECE) == 0, "'%s' %s: other bytes than were written", fcoll, buffer);
    memset(back, 0, (size_t)pieces * PIECE);
    GOOD(MPI_File_read_at_all(file, 0, back, pieces * PIECE, MPI_BYTE, &status));
    COUNT(status, MPI_BYTE, pieces * PIECE);
    CHECK_MSG(memcmp(data, back, (size_t)pieces * PIECE) == 0, "'%s' %s: other bytes are read together", fcoll, buffer);
    GOOD(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    unsigned char mine[PIECE], next = (unsigned char)((check_rank + 1) % check_ranks);
    GOOD(MPI_File_read_at(file, 2 * APART + (MPI_Offset)next * PIECE, mine, PIECE, MPI_BYTE, &status));
    for (int i = 0; i < PIECE; i++)
        CHECK_EQ(mine[i], value(next, 9 * EACH, i));
    between = 0;
    GOOD(MPI_File_read_at(file, APART / 2, &between, 1, MPI_BYTE, &status));
    CHECK_EQ(between, 'b');
    GOOD(MPI_File_read_at(file, APART / 2 + 1, &between, 1, MPI_BYTE, &status));
    CHECK_EQ(between, 0);
    /* What is not there is not in force, and one rank has nobody to gather for. */
    MPI_Info used;
    char named[64] = "";
    int flag, room = sizeof named;
    GOOD(MPI_File_get_info(file, &used));
    MPI_Info_get_string(used, "ompio_fcoll", &room, named, &flag);
    if (library_is("ompi-rs") && check_ranks > 1)
        CHECK_MSG(strcmp(named, strstr(fcoll, "none") ? "" : fcoll) == 0, "ompio_fcoll is '%s', not '%s'", named, fcoll);
    MPI_Info_free(&used);
    GOOD(MPI_File_close(&file));
    MPI_Info_free(&info);
    MPI_Type_free(&type);
    free(data);
    free(back);
}

static long memory_kb(const char *what)
{
    char line[256];
    long kb = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, what, strlen(what)) == 0)
            kb = atol(line + strlen(what));
    if (status)
        fclose(status);
    return kb;
}

/* Lets the most memory that was ever used be what is used now; whether the system could. */
static int forget_most(void)
{
    FILE *clear = fopen("/proc/self/clear_refs", "w");
    int forgot = clear && fputs("5", clear) >= 0;
    return clear && fclose(clear) == 0 && forgot;
}

/* The rank's own data is much longer than what it may take for all. Counted from before the first collective access: what the library
   has given back may stay with the process. */
static void memory(const char *name, const char *fcoll, int size, char *data, long before)
{
    MPI_Datatype piece, turn;
    MPI_Info info = hints(fcoll, "4194304");
    MPI_Status status;
    int total = MANY / check_ranks / size * size;
    MPI_Type_contiguous(size, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)size * check_ranks, &turn);
    MPI_Type_commit(&turn);
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, info, &file));
    GOOD(MPI_File_set_view(file, (MPI_Offset)size * check_rank, MPI_BYTE, turn, "native", MPI_INFO_NULL));
    for (int reads = 0; reads < 2; reads++) {
        long most;
        int forgot = forget_most();
        GOOD((reads ? MPI_File_read_at_all(file, 0, data, total, MPI_BYTE, &status)
                    : MPI_File_write_at_all(file, 0, data, total, MPI_BYTE, &status)));
        COUNT(status, MPI_BYTE, total);
        most = memory_kb("VmHWM:");
        if (forgot && before > 0 && library_is("ompi-rs"))
            CHECK_MSG(most - before < 4096 + ALLOWED, "'%s', pieces of %d bytes, %s: %ld KiB of memory", fcoll, size,
                      reads ? "reading" : "writing", most - before);
    }
    for (int i = 0; i < total; i += 997)
        CHECK_EQ(data[i], 'm');
    GOOD(MPI_File_close(&file));
    MPI_Info_free(&info);
    MPI_Type_free(&piece);
    MPI_Type_free(&turn);
}

int main(int argc, char **argv)
{
    static const char *const components[] = {"", "individual", "two_phase", "dynamic", "none_of_this_name"};
    start(&argc, &argv, "file_gather");
    const char *name = file_at("data");
    if (argc > 1 && strcmp(argv[1], "default") != 0) {
        char *data = check_alloc((size_t)(MANY / check_ranks));
        memset(data, 'm', (size_t)(MANY / check_ranks));
        memory(name, argv[1], 512, data, memory_kb("VmRSS:"));
        free(data);
        return finish();
    }
    for (size_t i = 0; i < sizeof components / sizeof *components; i++) {
        apart(name, components[i], "");
        if (i >= 2)
            apart(name, components[i], "65536");
    }
    return finish();
}

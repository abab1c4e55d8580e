// covers: MPI_File_set_view MPI_File_read_at MPI_File_write_at MPI_File_read_at_all MPI_File_write_at_all MPI_File_read_all MPI_File_write_all MPI_File_iread_at MPI_File_iwrite_at MPI_File_seek MPI_File_get_byte_offset MPI_File_set_size
// ranks: 1 2 3 5
// args: default
// args: windows
// args: two_phase
// args: dynamic
// args: individual
/*
 * Random views, types, sizes and calls against a model: an array of bytes. All ranks draw the same numbers, so that each
 * knows what all of them have written. The seed is fixed unless OMPI_RS_SEED says another one. With "windows" collective
 * accesses are gathered in many small rounds; with the name of a component of framework fcoll it does them, whether that pays or not.
 */
#include "file.h"

enum { STEPS = 150, LONGEST = 1 << 20, MOST_RANKS = 32, MOST_CELLS = MOST_RANKS + 8, MOST_ETYPES = 90 };

static unsigned char model[LONGEST];
static long length;
static unsigned long long dice = 1;
static MPI_File file;
static int step;

static unsigned draw(unsigned below)
{
    dice = dice * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(dice >> 33) % below;
}

/* What one rank sees: the places of its bytes in a row, and how long the row is. */
struct view {
    long disp, row;
    int unit, bytes, cells;
    int start[MOST_CELLS], size[MOST_CELLS]; /* in bytes */
};

/* What one rank does: offset and number of etypes. */
struct access {
    int offset, etypes;
};

static long place(const struct view *view, long byte)
{
    long turn = byte / view->bytes, within = byte % view->bytes;
    for (int i = 0; i < view->cells; i++) {
        if (within < view->size[i])
            return view->disp + turn * view->row + view->start[i] + within;
        within -= view->size[i];
    }
    return -1;
}

/* A row of cells that are dealt out to the ranks, or left out. */
static void deal(struct view views[], int together)
{
    static const int units[] = {1, 2, 4, 8};
    int unit = units[draw(4)], cells = check_ranks + (int)draw(8);
    long disp = (long)draw(60), at = 0;
    for (int rank = 0; rank < check_ranks; rank++) {
        views[rank].disp = disp;
        views[rank].unit = unit;
        views[rank].bytes = views[rank].cells = 0;
    }
    int first = (int)draw((unsigned)check_ranks);
    for (int i = 0; i < cells; i++) {
        int owner = i < check_ranks ? (first + i) % check_ranks : (int)draw((unsigned)check_ranks + 1);
        int size = unit * (1 + (int)draw(6));
        for (int rank = 0; rank < check_ranks; rank++)
            if (rank == owner || (together && draw(2) == 0)) {
                struct view *view = &views[rank];
                view->start[view->cells] = (int)at;
                view->size[view->cells++] = size;
                view->bytes += size;
            }
        at += size + (draw(3) == 0 ? (long)draw(9) : 0);
    }
    for (int rank = 0; rank < check_ranks; rank++)
        views[rank].row = at;
}

static void see(const struct view *view)
{
    static const int sizes[] = {1, 2, 4, 8};
    const MPI_Datatype of[] = {MPI_BYTE, MPI_SHORT, MPI_INT, MPI_DOUBLE};
    MPI_Datatype etype = MPI_BYTE, cells, filetype;
    MPI_Aint starts[MOST_CELLS];
    int lengths[MOST_CELLS];
    for (int i = 0; i < 4; i++)
        if (sizes[i] == view->unit)
            etype = of[i];
    for (int i = 0; i < view->cells; i++) {
        starts[i] = view->start[i];
        lengths[i] = view->size[i] / view->unit;
    }
    MPI_Type_create_hindexed(view->cells, lengths, starts, etype, &cells);
    MPI_Type_create_resized(cells, 0, view->row, &filetype);
    MPI_Type_commit(&filetype);
    GOOD(MPI_File_set_view(file, view->disp, etype, filetype, draw(2) ? "native" : "internal", MPI_INFO_NULL));
    MPI_Type_free(&cells);
    MPI_Type_free(&filetype);
}

/* One of the calls, from or into memory with gaps or without. */
static void call(int writes, int how, const struct view *view, const struct access *access, unsigned char *bytes, int gap,
                 MPI_Status *status)
{
    MPI_Datatype elements;
    MPI_Request request = MPI_REQUEST_NULL;
    int count = access->etypes;
    MPI_Type_contiguous(view->unit, MPI_BYTE, &elements);
    if (gap) {
        MPI_Datatype close = elements;
        MPI_Type_create_resized(close, 0, view->unit + gap, &elements);
        MPI_Type_free(&close);
    }
    MPI_Type_commit(&elements);
    if (how >= 3)
        GOOD(MPI_File_seek(file, access->offset, MPI_SEEK_SET));
    switch (how) {
    case 0: GOOD((writes ? MPI_File_write_at(file, access->offset, bytes, count, elements, status)
                         : MPI_File_read_at(file, access->offset, bytes, count, elements, status)));
        break;
    case 1: GOOD((writes ? MPI_File_write_at_all(file, access->offset, bytes, count, elements, status)
                         : MPI_File_read_at_all(file, access->offset, bytes, count, elements, status)));
        break;
    case 2: GOOD((writes ? MPI_File_iwrite_at(file, access->offset, bytes, count, elements, &request)
                         : MPI_File_iread_at(file, access->offset, bytes, count, elements, &request)));
        MPI_Wait(&request, status);
        break;
    default: GOOD((writes ? MPI_File_write_all(file, bytes, count, elements, status)
                          : MPI_File_read_all(file, bytes, count, elements, status)));
    }
    MPI_Type_free(&elements);
}

static unsigned char value(int rank, long byte)
{
    return (unsigned char)(step * 37 + rank * 101 + byte * 13 + (byte >> 8) + 1);
}

static void write_some(const struct view views[], const struct access accesses[], int how, int gap)
{
    static unsigned char bytes[MOST_ETYPES * 20];
    const struct view *view = &views[check_rank];
    const struct access *access = &accesses[check_rank];
    MPI_Status status;
    int moved = -1;
    memset(bytes, 0xee, sizeof bytes);
    for (int i = 0; i < access->etypes * view->unit; i++)
        bytes[i / view->unit * (view->unit + gap) + i % view->unit] = value(check_rank, i);
    call(1, how, view, access, bytes, gap, &status);
    MPI_Get_count(&status, MPI_BYTE, &moved);
    CHECK_MSG(moved == access->etypes * view->unit, "step %d: wrote %d of %d bytes", step, moved, access->etypes * view->unit);
    for (int rank = 0; rank < check_ranks; rank++)
        for (int i = 0; i < accesses[rank].etypes * views[rank].unit; i++) {
            long at = place(&views[rank], (long)accesses[rank].offset * views[rank].unit + i);
            model[at] = value(rank, i);
            length = at >= length ? at + 1 : length;
        }
}

static void read_some(const struct view *view, const struct access *access, int how, int gap)
{
    static unsigned char bytes[MOST_ETYPES * 20];
    MPI_Status status;
    int moved = -1, there = 0, wrong = 0;
    memset(bytes, 0xee, sizeof bytes);
    call(0, how, view, access, bytes, gap, &status);
    MPI_Get_count(&status, MPI_BYTE, &moved);
    for (int i = 0; i < access->etypes * view->unit; i++) {
        long at = place(view, (long)access->offset * view->unit + i);
        int here = at < length;
        there += here;
        wrong += bytes[i / view->unit * (view->unit + gap) + i % view->unit] != (here ? model[at] : 0xee);
    }
    if (gap)
        for (int i = 0; i < access->etypes; i++)
            for (int j = 0; j < gap; j++)
                wrong += bytes[i * (view->unit + gap) + view->unit + j] != 0xee;
    CHECK_MSG(moved == there, "step %d: read %d bytes, %d are there", step, moved, there);
    CHECK_MSG(wrong == 0, "step %d: %d of %d bytes differ from the model", step, wrong, access->etypes * view->unit);
}

int main(int argc, char **argv)
{
    struct view views[MOST_RANKS];
    struct access accesses[MOST_RANKS];
    const char *seed = getenv("OMPI_RS_SEED");
    const char *how_all = argc > 1 ? argv[1] : "";
    if (strcmp(how_all, "windows") == 0) {
        setenv("OMPI_MCA_fcoll_two_phase_buffer_size", "4096", 1); /* another MPI does not look at it */
        setenv("OMPI_MCA_fcoll_two_phase_read_alone", "0", 1);
    }
    start(&argc, &argv, "file_differential");
    dice = seed ? strtoull(seed, NULL, 10) : 1;
    const char *name = file_at("data");
    MPI_Info info;
    MPI_Info_create(&info);
    if (strcmp(how_all, "windows") != 0 && strcmp(how_all, "default") != 0 && *how_all) {
        MPI_Info_set(info, "ompio_fcoll", how_all);
        MPI_Info_set(info, "cb_buffer_size", "16384");
    }
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file));
    MPI_Info_free(&info);
    for (step = 0; step < STEPS && check_ranks <= MOST_RANKS; step++) {
        int writes = draw(2) == 0, how = (int)draw(4), gap = draw(2) ? 0 : 1 + (int)draw(9);
        if (draw(12) == 0) {
            long size = (long)draw(6000);
            GOOD(MPI_File_set_size(file, size));
            if (size < length)
                memset(model + size, 0, (size_t)(length - size));
            length = size;
        }
        if (draw(8) == 0)
            GOOD(MPI_File_set_atomicity(file, (int)draw(2)));
        deal(views, !writes);
        for (int rank = 0; rank < check_ranks; rank++) {
            accesses[rank].offset = (int)draw(200);
            accesses[rank].etypes = draw(9) == 0 ? 0 : (int)draw(MOST_ETYPES);
        }
        see(&views[check_rank]);
        MPI_Offset at = -1;
        GOOD(MPI_File_get_byte_offset(file, accesses[check_rank].offset, &at));
        CHECK_EQ(at, place(&views[check_rank], (long)accesses[check_rank].offset * views[check_rank].unit));
        if (writes)
            write_some(views, accesses, how, gap);
        else
            read_some(&views[check_rank], &accesses[check_rank], how, gap);
        GOOD(MPI_File_sync(file));
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Offset size = -1;
        GOOD(MPI_File_get_size(file, &size));
        CHECK_MSG(size == length, "step %d: the file has %lld bytes, the model %ld", step, (long long)size, length);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    GOOD(MPI_File_close(&file));
    if (check_rank == 0)
        GOOD(MPI_File_delete(name, MPI_INFO_NULL));
    return finish();
}

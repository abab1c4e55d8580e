// covers: MPI_Isend MPI_Irecv MPI_Waitall MPI_Type_vector MPI_Type_commit MPI_Type_free MPI_Allreduce MPI_Gatherv MPI_Gather MPI_Reduce MPI_Bcast
/*
 * Heat in a plate: the Jacobi iteration for Laplace's equation on NX x NY cells inside a fixed rim, cut into
 * rectangular blocks, one per rank. It uses the calls that most grid codes live on: MPI 5.0 sections 3.7
 * (nonblocking halo exchange), 5.1.2 (vector types for columns), 6.5 (gather of uneven blocks), 6.9 (reduction).
 *
 * What makes it a test: each new cell is 0.25 * ((north + south) + (west + east)), always in that order, so the
 * field must not depend on the cut by a single bit. Rank 0 therefore repeats the whole run alone, with the same
 * function, and compares bits. Only the residual is summed in another order; see RESIDUAL_BOUND.
 *
 * --barriers adds what the iteration does not need, a barrier after each step, to see them beside other traffic.
 * -DSEED_HALO_MISTAKE sends the neighbour the line one cell too far out; the comparison must then fail at 2 or more ranks.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__unix__)
#include <unistd.h>
#define IS_TERMINAL isatty(STDOUT_FILENO)
#else
#define IS_TERMINAL 0
#endif

/* Sums of non-negative terms, first along rows, then over rows and ranks: either order is off by at most about
 * (nx + ny + ranks) units of 1.1e-16, so 1e-12 holds as long as that sum stays below 4500; beyond, the bound grows with it. */
#define RESIDUAL_BOUND 1e-12

#ifdef SEED_HALO_MISTAKE
#define SLIP 1
#else
#define SLIP 0
#endif

struct options {
    int nx, ny, iters, check_every, quiet, serial, help, barriers;
    const char *pgm;
};

/* One rank's rectangle: cells [x0, x0+w) x [y0, y0+h) of the plate, stored with a ring of one ghost cell. */
struct block {
    int x0, y0, w, h, stride;
    double *now, *next;
};

struct world {
    int rank, ranks, px, py;
    int west, east, north, south;
};

static void *need(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (p == NULL) {
        fprintf(stderr, "heat: no memory for %zu bytes; try a smaller --nx or --ny\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 3), exit(3);
    }
    return p;
}

/* The first cell of part `i` when `n` cells are cut into `parts` as evenly as whole cells allow. */
static int cut(int n, int parts, int i)
{
    return (int)((long long)n * i / parts);
}

/* Rim and starting field in one formula, a function of the place alone, so that every rank fills its own part.
 * It changes from each cell to the next in both directions: a halo from the wrong line cannot go unnoticed. */
static double start_value(const struct options *o, int x, int y)
{
    double u = (x + 1.0) / (o->nx + 1), v = (y + 1.0) / (o->ny + 1);
    double du = u - 0.35, dv = v - 0.55;
    if (x < 0 || y < 0 || x >= o->nx || y >= o->ny)
        return y < 0 ? 1.0 : 0.75 * (1.0 - v) * (1.0 - v) + 0.1 * u;
    return (du * du + dv * dv < 0.04 ? 0.8 : 0.05) + 0.1 * u * v;
}

static struct block make_block(const struct options *o, int x0, int x1, int y0, int y1)
{
    struct block b = {x0, y0, x1 - x0, y1 - y0, x1 - x0 + 2, NULL, NULL};
    size_t cells = (size_t)b.stride * (size_t)(b.h + 2);
    b.now = need(cells * sizeof(double));
    b.next = need(cells * sizeof(double));
    for (int y = -1; y <= b.h; y++)
        for (int x = -1; x <= b.w; x++)
            b.now[(size_t)(y + 1) * b.stride + (x + 1)] = start_value(o, x0 + x, y0 + y);
    memcpy(b.next, b.now, cells * sizeof(double)); /* the rim must stand in both copies */
    return b;
}

static double *cell(struct block *b, int x, int y)
{
    return b->now + (size_t)(y + 1) * b->stride + (x + 1);
}

/* One Jacobi step; returns the sum of the squared changes when it is wanted. */
static double sweep(struct block *b, int want_sum)
{
    double total = 0.0, *swap;
    for (int y = 1; y <= b->h; y++) {
        const double *c = b->now + (size_t)y * b->stride;
        double *n = b->next + (size_t)y * b->stride, row = 0.0;
        for (int x = 1; x <= b->w; x++)
            n[x] = 0.25 * ((c[x - b->stride] + c[x + b->stride]) + (c[x - 1] + c[x + 1]));
        if (want_sum) {
            for (int x = 1; x <= b->w; x++)
                row += (n[x] - c[x]) * (n[x] - c[x]);
            total += row;
        }
    }
    swap = b->now, b->now = b->next, b->next = swap;
    return total;
}

/* Edges of the plate have MPI_PROC_NULL as neighbour, so that all ranks issue the same eight calls. */
static void exchange_halo(struct block *b, const struct world *w, MPI_Datatype column)
{
    enum { GO_WEST = 1, GO_EAST, GO_NORTH, GO_SOUTH };
    MPI_Comm c = MPI_COMM_WORLD;
    MPI_Request q[8];
    MPI_Irecv(cell(b, -1, 0), 1, column, w->west, GO_EAST, c, &q[0]);
    MPI_Irecv(cell(b, b->w, 0), 1, column, w->east, GO_WEST, c, &q[1]);
    MPI_Irecv(cell(b, 0, -1), b->w, MPI_DOUBLE, w->north, GO_SOUTH, c, &q[2]);
    MPI_Irecv(cell(b, 0, b->h), b->w, MPI_DOUBLE, w->south, GO_NORTH, c, &q[3]);
    MPI_Isend(cell(b, 0 + SLIP, 0), 1, column, w->west, GO_WEST, c, &q[4]);
    MPI_Isend(cell(b, b->w - 1, 0), 1, column, w->east, GO_EAST, c, &q[5]);
    MPI_Isend(cell(b, 0, 0 + SLIP), b->w, MPI_DOUBLE, w->north, GO_NORTH, c, &q[6]);
    MPI_Isend(cell(b, 0, b->h - 1), b->w, MPI_DOUBLE, w->south, GO_SOUTH, c, &q[7]);
    MPI_Waitall(8, q, MPI_STATUSES_IGNORE);
}

static int is_check(const struct options *o, int step)
{
    return step % o->check_every == 0 || step == o->iters;
}

static int run(const struct options *o, struct block *b, const struct world *w, double *residuals)
{
    MPI_Datatype column = MPI_DATATYPE_NULL;
    int checks = 0;
    if (w != NULL) {
        MPI_Type_vector(b->h, 1, b->stride, MPI_DOUBLE, &column);
        MPI_Type_commit(&column);
    }
    for (int step = 1; step <= o->iters; step++) {
        double sum, all;
        if (w != NULL)
            exchange_halo(b, w, column);
        all = sum = sweep(b, is_check(o, step));
        if (w != NULL && o->barriers)
            MPI_Barrier(MPI_COMM_WORLD);
        if (!is_check(o, step))
            continue;
        if (w != NULL)
            MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        residuals[checks++] = sqrt(all / ((double)o->nx * o->ny));
    }
    if (w != NULL)
        MPI_Type_free(&column);
    return checks;
}

/* Every factorisation is tried; the shortest total cut wins, since that is what the halo carries. */
static int choose_grid(const struct options *o, struct world *w)
{
    long long best = -1;
    for (int px = 1; px <= w->ranks; px++) {
        int py = w->ranks / px;
        long long length = (long long)(px - 1) * o->ny + (long long)(py - 1) * o->nx;
        if (px * py != w->ranks || px > o->nx || py > o->ny || (best >= 0 && length >= best))
            continue;
        best = length, w->px = px, w->py = py;
    }
    return best >= 0;
}

static void place(struct world *w)
{
    int x = w->rank % w->px, y = w->rank / w->px;
    w->west = x > 0 ? w->rank - 1 : MPI_PROC_NULL;
    w->east = x < w->px - 1 ? w->rank + 1 : MPI_PROC_NULL;
    w->north = y > 0 ? w->rank - w->px : MPI_PROC_NULL;
    w->south = y < w->py - 1 ? w->rank + w->px : MPI_PROC_NULL;
}

static struct block block_of(const struct options *o, const struct world *w, int rank)
{
    int x = rank % w->px, y = rank / w->px;
    return make_block(o, cut(o->nx, w->px, x), cut(o->nx, w->px, x + 1), cut(o->ny, w->py, y), cut(o->ny, w->py, y + 1));
}

/* The interior leaves as one vector (no packing by hand) and arrives as plain rows; rank 0 sorts blocks into the plate.
 * The block's rectangle travels too, so that the reassembly believes the sender and not its own arithmetic. */
static double *collect(const struct options *o, const struct world *w, struct block *b)
{
    int mine[4] = {b->x0, b->y0, b->w, b->h}, *where = NULL, *counts = NULL, *displs = NULL;
    double *packed = NULL, *field = NULL;
    size_t cells = (size_t)o->nx * (size_t)o->ny;
    MPI_Datatype interior;
    if (w->rank == 0) {
        where = need((size_t)w->ranks * sizeof mine);
        counts = need((size_t)w->ranks * sizeof(int));
        displs = need((size_t)w->ranks * sizeof(int));
        packed = need(cells * sizeof(double));
        field = need(cells * sizeof(double));
    }
    MPI_Gather(mine, 4, MPI_INT, where, 4, MPI_INT, 0, MPI_COMM_WORLD);
    for (int r = 0, at = 0; w->rank == 0 && r < w->ranks; at += counts[r++])
        displs[r] = at, counts[r] = where[4 * r + 2] * where[4 * r + 3];
    MPI_Type_vector(b->h, b->w, b->stride, MPI_DOUBLE, &interior);
    MPI_Type_commit(&interior);
    MPI_Gatherv(cell(b, 0, 0), 1, interior, packed, counts, displs, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Type_free(&interior);
    for (int r = 0; w->rank == 0 && r < w->ranks; r++) {
        const int *at = where + 4 * r;
        for (int y = 0; y < at[3]; y++)
            memcpy(field + (size_t)(at[1] + y) * o->nx + at[0], packed + displs[r] + (size_t)y * at[2],
                   (size_t)at[2] * sizeof(double));
    }
    free(where), free(counts), free(displs), free(packed);
    return field;
}

/* Rank 0 alone: the same plate as one block. Returns the number of findings, each of them printed. */
static int compare_with_serial(const struct options *o, const double *field, const double *residuals, double *seconds)
{
    struct block b = make_block(o, 0, o->nx, 0, o->ny);
    double *again = need(((size_t)o->iters / o->check_every + 1) * sizeof(double)), bound = RESIDUAL_BOUND;
    int wrong = 0, bad_residuals = 0, checks;
    if (o->nx + o->ny > 4500)
        bound *= (o->nx + o->ny) / 4500.0;
    *seconds = -MPI_Wtime();
    checks = run(o, &b, NULL, again);
    *seconds += MPI_Wtime();
    for (int y = 0; y < o->ny; y++)
        for (int x = 0; x < o->nx; x++)
            if (memcmp(cell(&b, x, y), &field[(size_t)y * o->nx + x], sizeof(double)) != 0 && wrong++ == 0)
                printf("  MISMATCH    first at x=%d y=%d: serial %.17g, parallel %.17g\n", x, y, *cell(&b, x, y),
                       field[(size_t)y * o->nx + x]);
    for (int i = 0; i < checks; i++)
        if (!(fabs(residuals[i] - again[i]) <= bound * again[i]) && bad_residuals++ == 0)
            printf("  MISMATCH    residual of check %d: serial %.17g, parallel %.17g, allowed %.1e relative\n", i, again[i],
                   residuals[i], bound);
    if (wrong > 0)
        printf("  MISMATCH    %d of %lld cells differ\n", wrong, (long long)o->nx * o->ny);
    free(again), free(b.now), free(b.next);
    return wrong + bad_residuals;
}

/* Colour only where it can be seen: a terminal, or on request (mpirun's pipes hide the terminal); NO_COLOR always wins. */
static int use_color(void)
{
    const char *no = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE");
    if (no != NULL && no[0] != '\0')
        return 0;
    if (force != NULL && force[0] != '\0' && strcmp(force, "0") != 0)
        return 1;
    return IS_TERMINAL;
}

static void draw(const struct options *o, const double *field)
{
    static const char shades[] = " .:-=+*#%@";
    static const char *const hues[] = {"34", "34", "36", "36", "32", "32", "33", "33", "31", "31"};
    int color = use_color();
    for (int row = 0; row < 16; row++) {
        int last = -1;
        printf("    ");
        for (int col = 0; col < 48; col++) {
            int x = cut(o->nx, 48, col), y = cut(o->ny, 16, row);
            int shade = (int)(field[(size_t)y * o->nx + x] * 10.0);
            shade = shade < 0 ? 0 : shade > 9 ? 9 : shade;
            if (color && (last < 0 || strcmp(hues[last], hues[shade]) != 0))
                printf("\033[%sm", hues[shade]);
            putchar(shades[last = shade]);
        }
        puts(color ? "\033[0m" : "");
    }
}

static int write_pgm(const struct options *o, const double *field)
{
    FILE *f = fopen(o->pgm, "wb");
    int bad;
    if (f == NULL)
        return fprintf(stderr, "heat: cannot write %s (from -o)\n", o->pgm) != 0;
    fprintf(f, "P5\n%d %d\n255\n", o->nx, o->ny);
    for (size_t i = 0; i < (size_t)o->nx * (size_t)o->ny; i++)
        fputc((int)(255.0 * (field[i] < 0.0 ? 0.0 : field[i] > 1.0 ? 1.0 : field[i])), f);
    bad = ferror(f);
    return fclose(f) != 0 || bad;
}

static int report(const struct options *o, const struct world *w, const double *field, const double *residuals, double seconds)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, wrong, checks = (o->iters + o->check_every - 1) / o->check_every;
    double serial_seconds = 0.0;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\r\n")] = '\0';
    if (!o->quiet) {
        printf("heat: %s\n", version);
        printf("  grid        %d x %d cells, %d iterations\n", o->nx, o->ny, o->iters);
        printf("  ranks       %d as %d x %d\n", w->ranks, w->px, w->py);
        printf("  residual    %.6e (rms change of the last iteration, %d checks)\n", residuals[checks - 1], checks);
        printf("  time        %.3f s\n", seconds);
    }
    wrong = o->serial ? compare_with_serial(o, field, residuals, &serial_seconds) : 0;
    if (!o->quiet) {
        if (o->serial)
            printf("  serial run  %.3f s on rank 0\n", serial_seconds);
        draw(o, field);
    }
    if (o->pgm != NULL)
        wrong += write_pgm(o, field);
    printf("heat: %s\n", wrong ? "FAILED" : o->serial ? "field identical to the serial run" : "done, not compared (--no-serial)");
    /* The first rank that ends with a failure may take the others with it: what was found must be out by then. */
    fflush(stdout);
    return wrong != 0;
}

static int parse(int argc, char **argv, struct options *o, char *why, size_t room)
{
    for (int i = 1; i < argc; i++) {
        const struct { const char *name; int *value; } numbers[] = {
            {"--nx", &o->nx}, {"--ny", &o->ny}, {"--iters", &o->iters}, {"--check-every", &o->check_every}};
        size_t n = 0, known = sizeof numbers / sizeof numbers[0];
        while (n < known && strcmp(argv[i], numbers[n].name) != 0)
            n++;
        if (n < known || strcmp(argv[i], "-o") == 0) {
            const char *word = i + 1 < argc ? argv[i + 1] : "";
            char *end = NULL;
            long value = strtol(word, &end, 10);
            if (n == known && word[0] != '\0') {
                o->pgm = word;
            } else if (n == known || end == word || *end != '\0' || value < 1 || value > 100000) {
                snprintf(why, room, "%s needs %s, not '%s'", argv[i], n < known ? "a number from 1 to 100000" : "a file name", word);
                return 0;
            } else {
                *numbers[n].value = (int)value;
            }
            i++;
        } else if (strcmp(argv[i], "--quiet") == 0) {
            o->quiet = 1;
        } else if (strcmp(argv[i], "--barriers") == 0) {
            o->barriers = 1;
        } else if (strcmp(argv[i], "--no-serial") == 0) {
            o->serial = 0;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            o->help = 1;
        } else {
            snprintf(why, room, "unknown option '%s'; see --help", argv[i]);
            return 0;
        }
    }
    if ((long long)o->nx * o->ny <= 0x7fffffff)
        return 1; /* displacements of MPI_Gatherv are ints */
    snprintf(why, room, "%d x %d is more than 2^31-1 cells", o->nx, o->ny);
    return 0;
}

static const char usage[] =
    "usage: heat [--nx N] [--ny N] [--iters N] [--check-every N] [-o FILE.pgm] [--quiet] [--no-serial] [--barriers]\n"
    "  --nx, --ny, --iters   cells of the plate and Jacobi iterations (256, 192, 400)\n"
    "  --check-every         iterations from one residual to the next (50)\n"
    "  -o FILE.pgm           write the final field as a grey picture\n"
    "  --quiet, --no-serial  print only the verdict; do not repeat the run on rank 0\n"
    "  --barriers            a barrier after each iteration\n"
    "NO_COLOR switches colours off, CLICOLOR_FORCE=1 on where stdout is no terminal.\n"
    "Exit status: 0 the field is identical to the serial run, 1 it is not, 2 wrong use.";

int main(int argc, char **argv)
{
    struct options o = {256, 192, 400, 50, 0, 1, 0, 0, NULL};
    struct world w = {0, 1, 1, 1, 0, 0, 0, 0};
    char why[256] = "";
    int status = 0, ok;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &w.ranks);
    ok = parse(argc, argv, &o, why, sizeof why);
    if (ok && !o.help && !choose_grid(&o, &w)) {
        snprintf(why, sizeof why, "%d x %d cells cannot be cut into %d blocks; use fewer ranks or more cells", o.nx, o.ny, w.ranks);
        ok = 0;
    }
    if (ok && !o.help) {
        double *residuals = need(((size_t)o.iters / o.check_every + 1) * sizeof(double)), seconds, slowest = 0.0, *field;
        struct block b;
        place(&w);
        b = block_of(&o, &w, w.rank);
        seconds = -MPI_Wtime();
        run(&o, &b, &w, residuals);
        seconds += MPI_Wtime();
        MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        field = collect(&o, &w, &b);
        if (w.rank == 0)
            status = report(&o, &w, field, residuals, slowest);
        MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
        free(field), free(residuals), free(b.now), free(b.next);
    } else {
        status = ok ? 0 : 2;
        if (w.rank == 0)
            fprintf(ok ? stdout : stderr, "%s%s\n", ok ? usage : "heat: ", why);
    }
    MPI_Finalize();
    return status;
}

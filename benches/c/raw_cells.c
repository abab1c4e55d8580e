/*
 * What shared memory does for long messages from and to buffers that nobody touches in between: each is copied in and out by
 * `rep movsb`, through a cell as long as the message, and both sides copy at the same time. The yardstick for osu.c. No MPI, no
 * matching; both sides know the size.
 *
 * A sender takes the cell that came back last, whose lines are in a cache, and says after each piece how much is there. The
 * receiver says how many messages it has taken. Pieces: 2 KiB up to 8 KiB, 8 KiB up to 64 KiB, 16 KiB above.
 *
 *   raw_cells [-s size[,size]] [-r samples] [--windows | --both] [--pin] [--json]
 */
#include "raw.h"
#include <stdint.h>

#define CELLS 16 /* a direction */
#define BEHIND 64 /* messages of a window, at most as many are outstanding */

static int windows, both;

/* In memory that both see: one direction. */
struct direction {
    struct {
        _Alignas(64) _Atomic uint64_t message; /* number of the message, 24 bits; its cell */
    } order[BEHIND];
    struct {
        _Alignas(64) _Atomic uint64_t there; /* number of the message, 32 bits; bytes that are there */
    } cell[CELLS];
    _Alignas(64) _Atomic uint64_t taken;
};

struct side {
    struct direction *to, *from;
    char *cells_to, *cells_from;
    struct raw *raw;
    char *out, *in;
    size_t size, room, piece;
    uint64_t sent, known, received;
    int free[CELLS], frees, used[BEHIND];
};

static void copy(void *to, const void *from, size_t n)
{
#if defined(__x86_64__)
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
#else
    memcpy(to, from, n);
#endif
}

/* Cells come back in the order of their messages; the one on top came last. */
static void collect(struct side *s)
{
    uint64_t taken = atomic_load_explicit(&s->to->taken, memory_order_acquire);
    for (; s->known < taken; s->known++)
        s->free[s->frees++] = s->used[s->known % BEHIND];
}

/* Whether there was a cell. */
static int put(struct side *s)
{
    collect(s);
    if (s->frees == 0)
        return 0;
    int cell = s->free[--s->frees];
    uint64_t number = ++s->sent;
    s->used[(number - 1) % BEHIND] = cell;
    for (size_t at = 0; at < s->size;) {
        size_t n = s->size - at < s->piece ? s->size - at : s->piece;
        copy(s->cells_to + (size_t)cell * s->room + at, s->out + at, n);
        int first = at == 0;
        at += n;
        /* Release: pairs with the acquire loads in `get`. */
        atomic_store_explicit(&s->to->cell[cell].there, number << 32 | at, memory_order_release);
        if (first)
            atomic_store_explicit(&s->to->order[(number - 1) % BEHIND].message, number << 8 | (uint64_t)cell, memory_order_release);
    }
    return 1;
}

/* Whether there was a message. */
static int get(struct side *s)
{
    uint64_t number = s->received + 1;
    uint64_t message = atomic_load_explicit(&s->from->order[s->received % BEHIND].message, memory_order_acquire);
    if (message >> 8 != number)
        return 0;
    size_t cell = message & 255;
    for (size_t at = 0; at < s->size;) {
        uint64_t there = atomic_load_explicit(&s->from->cell[cell].there, memory_order_acquire);
        size_t end = there >> 32 == (number & 0xffffffff) ? there & 0xffffffff : 0;
        if (end <= at) {
            raw_pause();
            continue;
        }
        copy(s->in + at, s->cells_from + cell * s->room + at, end - at);
        at = end;
    }
    atomic_store_explicit(&s->from->taken, ++s->received, memory_order_release);
    return 1;
}

static void surely(int (*step)(struct side *), struct side *s)
{
    while (!step(s))
        raw_pause();
}

static void round_trips(void *with, int iterations)
{
    struct side *s = with;
    for (int i = 0; i < iterations; i++) {
        if (s->raw->rank == 0)
            surely(put, s);
        surely(get, s);
        if (s->raw->rank == 1)
            surely(put, s);
    }
}

static void stream(void *with, int iterations)
{
    struct side *s = with;
    for (int i = 0; i < iterations; i++) {
        int out = both || s->raw->rank == 0 ? s->raw->o.window : 0, in = both || s->raw->rank == 1 ? s->raw->o.window : 0;
        while (out > 0 || in > 0) {
            int moved = 0;
            if (out > 0 && put(s))
                moved = 1, out--;
            if (in > 0 && get(s))
                moved = 1, in--;
            if (!moved)
                raw_pause();
        }
        for (collect(s); s->known < s->sent; collect(s))
            raw_pause();
    }
}

static void measure(struct side *s, struct direction *directions, char *cells, int size)
{
    int rank = s->raw->rank, streams = windows || both;
    s->size = (size_t)size;
    s->piece = size <= 8 << 10 ? 2 << 10 : size <= 64 << 10 ? 8 << 10 : 16 << 10;
    s->to = &directions[rank], s->from = &directions[1 - rank];
    s->cells_to = cells + (size_t)rank * CELLS * s->room, s->cells_from = cells + (size_t)(1 - rank) * CELLS * s->room;
    memset(s->out, rank + 1, s->size);
    memset(s->in, 0, s->size);
    if (streams)
        raw_measure(s->raw, stream, s, size, BYTES_PER_SECOND, s->raw->o.window * (both ? 2 : 1),
                    (double)s->raw->o.window * size * (both ? 2 : 1));
    else
        raw_measure(s->raw, round_trips, s, size, MICROSECONDS, 2, 2.0 * size);
    for (size_t i = 0; i < s->size && (!windows || rank == 1); i++)
        if (s->in[i] != 2 - rank) {
            fprintf(stderr, "raw_cells: received data differ, first wrong byte %zu\n", i);
            exit(1);
        }
}

int main(int argc, char **argv)
{
    struct raw r = {.o = {.program = "raw_cells", .repetitions = 20, .chunk_us = 4000, .window = 64}};
    r.o.flags[0] = (struct flag){"--windows", "windows in one direction", &windows};
    r.o.flags[1] = (struct flag){"--both", "windows in both directions at once", &both};
    for (int size = 4 << 10; size <= 4 << 20; size *= 4)
        r.o.sizes[r.o.size_count++] = size;
    raw_parse(&r, argc, argv);
    if (r.o.window > BEHIND) {
        fprintf(stderr, "raw_cells: -w %d: at most %d\n", r.o.window, BEHIND);
        return 2;
    }
    struct side s = {.raw = &r};
    for (int i = 0; i < r.o.size_count; i++)
        s.room = (size_t)r.o.sizes[i] > s.room ? ((size_t)r.o.sizes[i] + 4095) / 4096 * 4096 : s.room;
    struct direction *directions = raw_shared(2 * sizeof *directions);
    char *cells = raw_shared(2 * CELLS * s.room);
    for (s.frees = 0; s.frees < CELLS; s.frees++)
        s.free[s.frees] = s.frees;
    raw_fork(&r);
    s.out = aligned_alloc(4096, s.room), s.in = aligned_alloc(4096, s.room);
    if (s.out == NULL || s.in == NULL)
        raw_die("memory");
    for (int i = 0; i < r.o.size_count; i++)
        measure(&s, directions, cells, r.o.sizes[i]);
    return raw_finish(&r);
}

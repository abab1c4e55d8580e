/*
 * What shared memory itself does on this machine: the yardstick for the rows within a node. No MPI, no matching, no
 * requests, one message layout known to both sides. Two processes; up to 56 bytes go within one cache line, up to 24 KiB
 * through a ring of bytes, and above each side copies half with process_vm_readv or process_vm_writev.
 *
 *   raw_sm [-s size[,size]] [-r samples] [--pin] [--json] [--stream | --rate | --barrier] [--rewrite]
 */
#include "raw.h"
#include <stdint.h>
#include <sys/uio.h>

#define SLOTS 64
#define INLINE 56
#define RING (256 << 10)
#define COPIED (24 << 10) /* larger ones go directly from buffer to buffer */
#define MEMORY (32 << 20)
#define CREDIT 16 /* messages between two stores of what was consumed */

static int stream, rate, barrier, rewrite;

struct slot {
    _Atomic uint64_t header; /* bit 0: parity of the lap, so that nothing is ever cleared; above: size or offset */
    char payload[INLINE];
};

/* One direction. */
struct ring {
    _Alignas(64) struct slot slots[SLOTS];
    _Alignas(64) _Atomic uint64_t consumed;
    _Alignas(4096) char bytes[RING];
};

/* Two ranks' barrier flags and a place each for an address; all in memory that both see. */
struct shared {
    struct ring ring[2];
    _Alignas(64) _Atomic uint64_t flag[2];
};

struct side {
    struct shared *shared;
    struct raw *raw;
    uint64_t sent, received, credit, offset, taken, turn;
    char *out, *in;
    size_t size, window;
    volatile char sum;
};

/* The line will be written: without asking for it as such now, each store waits for it (15 instead of 55 M messages/s). */
static void soon(void *line)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

static uint64_t parity(uint64_t index)
{
    return ((index / SLOTS) & 1) ^ 1;
}

/* A header, and up to 56 bytes with it. The header is stored last: release, pairs with the acquire in `next`. */
static void post(struct side *s, uint64_t word, const char *data, size_t n)
{
    struct ring *ring = &s->shared->ring[s->raw->rank];
    struct slot *slot = &ring->slots[s->sent % SLOTS];
    while (s->sent - s->credit >= SLOTS) {
        s->credit = atomic_load_explicit(&ring->consumed, memory_order_acquire);
        raw_pause();
    }
    memcpy(slot->payload, data, n);
    atomic_store_explicit(&slot->header, word << 1 | parity(s->sent), memory_order_release);
    s->sent++;
    soon(&ring->slots[s->sent % SLOTS]);
}

static struct slot *next(struct side *s, uint64_t *word)
{
    struct ring *ring = &s->shared->ring[1 - s->raw->rank];
    struct slot *slot = &ring->slots[s->received % SLOTS];
    uint64_t header;
    while (((header = atomic_load_explicit(&slot->header, memory_order_acquire)) & 1) != parity(s->received))
        raw_pause();
    *word = header >> 1;
    return slot;
}

static void consumed(struct side *s)
{
    s->received++;
    if (s->received % CREDIT == 0)
        atomic_store_explicit(&s->shared->ring[1 - s->raw->rank].consumed, s->received, memory_order_release);
}

static void copy_half(struct side *s, int pull, char *mine, uint64_t theirs, size_t n)
{
    struct iovec local = {mine, n}, remote = {(void *)(uintptr_t)theirs, n};
    ssize_t k = pull ? process_vm_readv(s->raw->other, &local, 1, &remote, 1, 0)
                     : process_vm_writev(s->raw->other, &local, 1, &remote, 1, 0);
    if (k != (ssize_t)n)
        raw_die("process_vm_readv or process_vm_writev");
}

/* One message from `out`. */
static void put(struct side *s, const char *out)
{
    uint64_t word, theirs;
    size_t n = s->size;
    if (n <= INLINE) {
        post(s, n, out, n);
    } else if (n <= COPIED) {
        /* Lines of the ring are reused after a quarter of a megabyte: at most SLOTS messages are under way. */
        struct ring *ring = &s->shared->ring[s->raw->rank];
        size_t room = (n + 63) / 64 * 64;
        if (s->offset + room > RING)
            s->offset = 0;
        /* Few enough messages under way that their bytes fit into the ring with the unused end of it. */
        while (s->sent - s->credit >= RING / 2 / room) {
            s->credit = atomic_load_explicit(&ring->consumed, memory_order_acquire);
            raw_pause();
        }
        memcpy(ring->bytes + s->offset, out, n);
        post(s, s->offset, NULL, 0);
        s->offset += room;
    } else {
        theirs = (uint64_t)(uintptr_t)out;
        post(s, n, (char *)&theirs, sizeof theirs);
        memcpy(&theirs, next(s, &word)->payload, sizeof theirs);
        consumed(s);
        copy_half(s, 0, (char *)(uintptr_t)out + n / 2, theirs + n / 2, n - n / 2);
        post(s, 0, NULL, 0);
        next(s, &word); /* the other half has been read */
        consumed(s);
    }
}

static void get(struct side *s, char *in)
{
    uint64_t word, theirs, mine = (uint64_t)(uintptr_t)in;
    size_t n = s->size;
    struct slot *slot = next(s, &word);
    if (n <= INLINE) {
        memcpy(in, slot->payload, n);
        consumed(s);
    } else if (n <= COPIED) {
        memcpy(in, s->shared->ring[1 - s->raw->rank].bytes + word, n);
        s->received++;
        /* Bytes are scarcer than slots. */
        if (s->received % CREDIT == 0 || n > 512)
            atomic_store_explicit(&s->shared->ring[1 - s->raw->rank].consumed, s->received, memory_order_release);
    } else {
        memcpy(&theirs, slot->payload, sizeof theirs);
        consumed(s);
        post(s, 0, (char *)&mine, sizeof mine);
        copy_half(s, 1, in, theirs, n / 2);
        post(s, 0, NULL, 0);
        next(s, &word);
        consumed(s);
    }
}

static void send(struct side *s)
{
    for (size_t i = 0; i < s->size && rewrite; i += 64)
        s->out[i]++;
    put(s, s->out);
}

static void receive(struct side *s)
{
    char sum = 0;
    get(s, s->in);
    for (size_t i = 0; i < s->size && rewrite; i += 64)
        sum = (char)(sum + s->in[i]);
    s->sum = sum;
}

static void ping_pong(void *with, int iterations)
{
    struct side *s = with;
    for (int i = 0; i < iterations; i++) {
        if (s->raw->rank == 0) {
            send(s);
            receive(s);
        } else {
            receive(s);
            send(s);
        }
    }
}

/* Large ones: addresses of the whole window once, then both sides copy their halves of all messages without waiting. */
static void direct_window(struct side *s)
{
    uint64_t theirs, word, mine = (uint64_t)(uintptr_t)s->out;
    size_t half = s->size / 2;
    post(s, 0, (char *)&mine, sizeof mine);
    memcpy(&theirs, next(s, &word)->payload, sizeof theirs);
    consumed(s);
    for (size_t m = 0; m < s->window; m++) {
        size_t at = m * s->size + (s->raw->rank == 0 ? half : 0);
        copy_half(s, s->raw->rank, s->out + at, theirs + at, s->raw->rank == 0 ? s->size - half : half);
    }
    post(s, 0, NULL, 0);
    next(s, &word);
    consumed(s);
}

static void windows(void *with, int iterations)
{
    struct side *s = with;
    uint64_t word;
    for (int i = 0; i < iterations; i++) {
        if (s->size > COPIED) {
            direct_window(s);
            continue;
        }
        for (size_t m = 0; m < s->window; m++) {
            if (s->raw->rank == 0)
                put(s, s->out + m * s->size);
            else
                get(s, s->out + m * s->size);
        }
        if (s->raw->rank == 0) {
            next(s, &word);
            consumed(s);
        } else {
            post(s, 0, NULL, 0);
        }
    }
}

static void barriers(void *with, int iterations)
{
    struct side *s = with;
    _Atomic uint64_t *flag = s->shared->flag;
    for (int i = 0; i < iterations; i++) {
        atomic_store_explicit(&flag[s->raw->rank], ++s->turn, memory_order_release);
        while (atomic_load_explicit(&flag[1 - s->raw->rank], memory_order_acquire) < s->turn)
            raw_pause();
    }
}

static void measure(struct side *s, int size)
{
    size_t window = stream || rate ? (size_t)s->raw->o.window : 1;
    while (window > 1 && window * (size_t)size > MEMORY)
        window /= 2;
    s->size = (size_t)size, s->window = window;
    s->out = malloc(window * s->size + 1), s->in = malloc(s->size + 1);
    if (s->out == NULL || s->in == NULL)
        raw_die("memory");
    memset(s->out, s->raw->rank + 1, window * s->size + 1);
    memset(s->in, 0, s->size + 1);
    if (barrier)
        raw_measure(s->raw, barriers, s, size, MICROSECONDS, 1, 0);
    else if (stream || rate)
        raw_measure(s->raw, windows, s, size, rate ? PER_SECOND : BYTES_PER_SECOND, (double)window, (double)window * size);
    else
        raw_measure(s->raw, ping_pong, s, size, MICROSECONDS, 2, 2.0 * size);
    const char *arrived = stream || rate ? s->out : s->in;
    int wanted = stream || rate ? 1 : 2 - s->raw->rank;
    for (size_t i = 0; i < s->size && !rewrite && !barrier; i++)
        if (arrived[i] != wanted) {
            fprintf(stderr, "raw_sm: received data differ, first wrong byte %zu\n", i);
            exit(1);
        }
    free(s->out);
    free(s->in);
}

int main(int argc, char **argv)
{
    struct raw r = {.o = {.program = "raw_sm", .repetitions = 20, .chunk_us = 4000, .window = 64, .sizes = {8}, .size_count = 1}};
    r.o.flags[0] = (struct flag){"--stream", "windows, bytes per second", &stream};
    r.o.flags[1] = (struct flag){"--rate", "windows, messages per second", &rate};
    r.o.flags[2] = (struct flag){"--barrier", "a barrier of two instead of messages", &barrier};
    r.o.flags[3] = (struct flag){"--rewrite", "write each message before it is sent, read it after", &rewrite};
    raw_parse(&r, argc, argv);
    struct side s = {.shared = raw_shared(sizeof(struct shared)), .raw = &r};
    raw_fork(&r);
    for (int i = 0; i < r.o.size_count; i++)
        measure(&s, r.o.sizes[i]);
    return raw_finish(&r);
}

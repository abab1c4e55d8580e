/*
 * A libfabric that reaches memory as a card does: by the pages that were there when the memory was registered, whatever lies at its address
 * since. It stands before the real one (`--mca btl_ofi_library`) and changes memory that peers read, nothing else: io_uring pins the pages, the
 * provider is given a shadow of them, and the shadow is made anew from the pinned pages before each call in which peers may read it. A
 * cache that finds a registration of pages that are gone sends what was there before.
 *
 * For tcp;ofi_rxm, and only for reading by peers: what they put lies in the shadow. One thread at a time calls, as btl/ofi promises the provider.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/io_uring.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { REGIONS = 256, ARENA = 1 << 28 };

static void stop(const char *what)
{
    dprintf(2, "pins: %s: %s\n", what, strerror(errno));
    _exit(70);
}

/* ---- The card: pages that io_uring holds, and a file into which it copies them. ---- */

static struct {
    int ring, file;
    unsigned *tail, *mask, *array, *head, *done, *done_mask;
    struct io_uring_sqe *entries;
    struct io_uring_cqe *ends;
    /* The file, where the provider reads it. */
    char *shadow;
} card;

static struct region {
    struct fid_mr *mr;
    struct fi_ops ops;
    int (*close)(struct fid *);
    const char *user;
    size_t bytes, at;
} regions[REGIONS];

/* By hand: the library under test has a place for mmap of its own, which should not hear of this. */
static char *map(void *at, size_t bytes, int flags, int file, long offset)
{
    long base = syscall(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE, flags, file, offset);
    if (base == -1)
        stop("mmap");
    return (char *)base;
}

static void power_on(void)
{
    struct io_uring_params shape;
    struct io_uring_rsrc_register slots = {.nr = REGIONS, .flags = IORING_RSRC_REGISTER_SPARSE};
    char *queue, *ends;
    if (card.shadow != NULL)
        return;
    memset(&shape, 0, sizeof shape);
    card.ring = syscall(SYS_io_uring_setup, 4, &shape);
    if (card.ring < 0)
        stop("this system pins no memory for a program, io_uring_setup");
    queue = map(NULL, shape.sq_off.array + shape.sq_entries * sizeof(unsigned), MAP_SHARED, card.ring, IORING_OFF_SQ_RING);
    ends = map(NULL, shape.cq_off.cqes + shape.cq_entries * sizeof(struct io_uring_cqe), MAP_SHARED, card.ring, IORING_OFF_CQ_RING);
    card.entries = (struct io_uring_sqe *)map(NULL, shape.sq_entries * sizeof(struct io_uring_sqe), MAP_SHARED, card.ring, IORING_OFF_SQES);
    card.tail = (unsigned *)(queue + shape.sq_off.tail);
    card.mask = (unsigned *)(queue + shape.sq_off.ring_mask);
    card.array = (unsigned *)(queue + shape.sq_off.array);
    card.head = (unsigned *)(ends + shape.cq_off.head);
    card.done = (unsigned *)(ends + shape.cq_off.tail);
    card.done_mask = (unsigned *)(ends + shape.cq_off.ring_mask);
    card.ends = (struct io_uring_cqe *)(ends + shape.cq_off.cqes);
    if (syscall(SYS_io_uring_register, card.ring, IORING_REGISTER_BUFFERS2, &slots, sizeof slots) != 0)
        stop("this system pins no memory for a program, IORING_REGISTER_BUFFERS2");
    card.file = memfd_create("shadow", MFD_CLOEXEC);
    if (card.file < 0 || ftruncate(card.file, ARENA) != 0)
        stop("memfd_create");
    card.shadow = map(NULL, ARENA, MAP_SHARED, card.file, 0);
}

/* Pins the pages that are at an address now; NULL: lets those of the slot go. Whether it could. */
static int pin(int slot, const void *user, size_t bytes)
{
    struct iovec pages = {(void *)user, user != NULL ? bytes : 0};
    struct io_uring_rsrc_update2 update = {.offset = slot, .data = (unsigned long)&pages, .nr = 1};
    return syscall(SYS_io_uring_register, card.ring, IORING_REGISTER_BUFFERS_UPDATE, &update, sizeof update) == 1;
}

/* Copies the pinned pages, which need not be at that address any more, into the shadow. */
static void look(int slot)
{
    const struct region *region = &regions[slot];
    size_t copied = 0;
    while (copied < region->bytes) {
        unsigned tail = *card.tail, at = tail & *card.mask, head = *card.head;
        struct io_uring_sqe *entry = &card.entries[at];
        memset(entry, 0, sizeof *entry);
        entry->opcode = IORING_OP_WRITE_FIXED;
        entry->fd = card.file;
        entry->off = region->at + copied;
        entry->addr = (unsigned long)region->user + copied;
        entry->len = region->bytes - copied;
        entry->buf_index = slot;
        card.array[at] = at;
        __atomic_store_n(card.tail, tail + 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(card.done, __ATOMIC_ACQUIRE) == head)
            if (syscall(SYS_io_uring_enter, card.ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0 && errno != EINTR)
                stop("io_uring_enter");
        errno = -card.ends[head & *card.done_mask].res;
        if (card.ends[head & *card.done_mask].res <= 0)
            stop("a copy of pinned pages");
        copied += card.ends[head & *card.done_mask].res;
        __atomic_store_n(card.head, head + 1, __ATOMIC_RELEASE);
    }
}

static void look_at_all(void)
{
    int before = errno;
    for (int slot = 0; slot < REGIONS; slot++)
        if (regions[slot].mr != NULL)
            look(slot);
    errno = before;
}

/* ---- libfabric, with memory registered by that card. ---- */

static struct fi_ops_domain domain_ops, *real_domain;
static struct fi_ops_mr mr_ops, *real_mr;
static struct fi_ops_cq cq_ops, *real_cq;
static struct fi_ops_msg msg_ops, *real_msg;
static struct fi_ops_fabric fabric_ops, *real_fabric;

static int close_region(struct fid *fid)
{
    for (int slot = 0; slot < REGIONS; slot++) {
        struct region *region = &regions[slot];
        if (region->mr != NULL && &region->mr->fid == fid) {
            pin(slot, NULL, 0);
            region->mr = NULL;
            return region->close(fid);
        }
    }
    stop("a registration that is none was ended");
    return -FI_EINVAL;
}

/* The first place in the shadow that no region has. */
static size_t place(size_t bytes)
{
    size_t at = 0;
    for (int slot = 0; slot < REGIONS; slot++) {
        const struct region *region = &regions[slot];
        if (region->mr != NULL && region->at < at + bytes && at < region->at + region->bytes) {
            at = (region->at + region->bytes + 4095) & ~4095ul;
            slot = -1;
        }
    }
    if (at + bytes > ARENA)
        stop("the shadow is full");
    return at;
}

static int reg(struct fid *fid, const void *user, size_t bytes, uint64_t access, uint64_t offset, uint64_t key, uint64_t flags,
               struct fid_mr **mr, void *context)
{
    int slot = 0, code;
    struct region *region;
    while (slot < REGIONS && regions[slot].mr != NULL)
        slot++;
    if (slot == REGIONS)
        return -FI_ENOMEM;
    region = &regions[slot];
    region->user = user;
    region->at = place(bytes);
    region->bytes = bytes;
    if (!pin(slot, user, bytes))
        return -FI_ENOMEM;
    code = real_mr->reg(fid, card.shadow + region->at, bytes, access, offset, key, flags, mr, context);
    if (code != 0) {
        pin(slot, NULL, 0);
        return code;
    }
    region->mr = *mr;
    region->ops = *region->mr->fid.ops;
    region->close = region->ops.close;
    region->ops.close = close_region;
    region->mr->fid.ops = &region->ops;
    look(slot);
    return 0;
}

static ssize_t cq_read(struct fid_cq *cq, void *entries, size_t count)
{
    look_at_all();
    return real_cq->read(cq, entries, count);
}

static ssize_t msg_send(struct fid_ep *ep, const void *data, size_t bytes, void *descriptor, fi_addr_t to, void *context)
{
    look_at_all();
    return real_msg->send(ep, data, bytes, descriptor, to, context);
}

static ssize_t msg_sendmsg(struct fid_ep *ep, const struct fi_msg *message, uint64_t flags)
{
    look_at_all();
    return real_msg->sendmsg(ep, message, flags);
}

static int cq_open(struct fid_domain *domain, struct fi_cq_attr *attributes, struct fid_cq **cq, void *context)
{
    int code = real_domain->cq_open(domain, attributes, cq, context);
    if (code == 0) {
        real_cq = (*cq)->ops;
        cq_ops = *real_cq;
        cq_ops.read = cq_read;
        (*cq)->ops = &cq_ops;
    }
    return code;
}

static int endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context)
{
    int code = real_domain->endpoint(domain, info, ep, context);
    if (code == 0) {
        real_msg = (*ep)->msg;
        msg_ops = *real_msg;
        msg_ops.send = msg_send;
        msg_ops.sendmsg = msg_sendmsg;
        (*ep)->msg = &msg_ops;
    }
    return code;
}

static int open_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain, void *context)
{
    int code = real_fabric->domain(fabric, info, domain, context);
    if (code == 0) {
        real_domain = (*domain)->ops;
        domain_ops = *real_domain;
        domain_ops.cq_open = cq_open;
        domain_ops.endpoint = endpoint;
        (*domain)->ops = &domain_ops;
        real_mr = (*domain)->mr;
        mr_ops = *real_mr;
        mr_ops.reg = reg;
        (*domain)->mr = &mr_ops;
    }
    return code;
}

static void *real(const char *name)
{
    static void *library;
    void *function;
    if (library == NULL)
        library = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
    function = library != NULL ? dlsym(library, name) : NULL;
    if (function == NULL)
        stop(dlerror());
    return function;
}

#define PASSED_ON(result, name, version, parameters, arguments)                                                           \
    __attribute__((symver(#name "@@" version))) result pins_##name parameters                                             \
    {                                                                                                                     \
        result(*function) parameters = (result(*) parameters)real(#name);                                                 \
        return function arguments;                                                                                        \
    }

PASSED_ON(int, fi_getinfo, "FABRIC_1.3",
          (uint32_t version, const char *node, const char *service, uint64_t flags, const struct fi_info *hints, struct fi_info **info),
          (version, node, service, flags, hints, info))
PASSED_ON(void, fi_freeinfo, "FABRIC_1.3", (struct fi_info * info), (info))
PASSED_ON(struct fi_info *, fi_dupinfo, "FABRIC_1.3", (const struct fi_info *info), (info))
PASSED_ON(const char *, fi_strerror, "FABRIC_1.0", (int error), (error))
PASSED_ON(uint32_t, fi_version, "FABRIC_1.0", (void), ())

__attribute__((symver("fi_fabric@@FABRIC_1.1"))) int pins_fi_fabric(struct fi_fabric_attr *attributes, struct fid_fabric **fabric,
                                                                      void *context)
{
    int (*open_fabric)(struct fi_fabric_attr *, struct fid_fabric **, void *) =
        (int (*)(struct fi_fabric_attr *, struct fid_fabric **, void *))real("fi_fabric");
    int code = open_fabric(attributes, fabric, context);
    if (code == 0) {
        power_on();
        real_fabric = (*fabric)->ops;
        fabric_ops = *real_fabric;
        fabric_ops.domain = open_domain;
        (*fabric)->ops = &fabric_ops;
    }
    return code;
}

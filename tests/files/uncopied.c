/*
 * Collective accesses whose data the system does not copy between processes, though it copied other memory when they began: `forbidden`
 * as in a sandbox that a program enters after MPI_Init, `device` as for memory that no other process may touch. All data comes by
 * messages then, and none is lost.
 */
#define _GNU_SOURCE
#include "../c/file.h"
#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>

enum { PIECE = 1024, BYTES = 512 << 10, MOST = 8, FORBIDDEN = 1, DEVICE = 2 };

static char data[BYTES], back[BYTES];
static struct { long pid; char *data, *back; } peers[MOST];
static int mode, refused, spared;

static int within(const char *at, const char *buffer)
{
    return at >= buffer && at < buffer + BYTES;
}

/* Some copies are made before the first one is refused. */
static int refuses(pid_t pid, const struct iovec *there)
{
    int is_refused = mode == FORBIDDEN;
    for (int peer = 0; peer < MOST && mode == DEVICE; peer++)
        is_refused |= peers[peer].pid == pid && (within(there[0].iov_base, peers[peer].data) || within(there[0].iov_base, peers[peer].back));
    if (!is_refused || spared-- > 0)
        return 0;
    refused++;
    errno = mode == FORBIDDEN ? EPERM : EFAULT;
    return 1;
}

/* The library's calls come here: a program's own symbols go before those of the C library. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long n, const struct iovec *there, unsigned long m,
                         unsigned long flags)
{
    return refuses(pid, there) ? -1 : syscall(SYS_process_vm_readv, pid, here, n, there, m, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *here, unsigned long n, const struct iovec *there, unsigned long m,
                          unsigned long flags)
{
    return refuses(pid, there) ? -1 : syscall(SYS_process_vm_writev, pid, here, n, there, m, flags);
}

/* One access as the mode says; how many copies were refused on all ranks. */
#define REFUSED(call, as)                                                                                                 \
    (MPI_Barrier(MPI_COMM_WORLD), mode = (as), spared = 1, refused = 0, GOOD_CALL(call), mode = 0,                        \
     MPI_Allreduce(MPI_IN_PLACE, &refused, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), refused)

static void GOOD_CALL(int code)
{
    GOOD(code);
}

static void fill_data(int turn)
{
    for (int i = 0; i < BYTES; i++)
        data[i] = (char)(i * 7 + (i >> 10) * 3 + check_rank + turn);
}

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Datatype piece, spread;
    MPI_Status status;
    start(&argc, &argv, "uncopied");
    int as = argc > 1 && strcmp(argv[1], "device") == 0 ? DEVICE : FORBIDDEN;
    CHECK(check_ranks <= MOST);
    peers[check_rank].pid = getpid(), peers[check_rank].data = data, peers[check_rank].back = back;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, peers, sizeof peers[0], MPI_BYTE, MPI_COMM_WORLD);
    const char *name = file_at("data");
    GOOD(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)PIECE * check_ranks, &spread);
    MPI_Type_commit(&spread);
    GOOD(MPI_File_set_view(file, (MPI_Offset)PIECE * check_rank, MPI_BYTE, spread, "native", MPI_INFO_NULL));
    /* The library sees that the system copies. */
    GOOD(MPI_File_write_at_all(file, 0, data, BYTES, MPI_BYTE, &status));
    for (int turn = 0; turn < 4; turn++) {
        /* What is forbidden is tried in the first turn only: once by writing, then by nobody any more. */
        int tried = as == DEVICE || turn == 0;
        fill_data(turn);
        int writing = REFUSED(MPI_File_write_at_all(file, 0, data, BYTES, MPI_BYTE, &status), as);
        COUNT(status, MPI_BYTE, BYTES);
        CHECK_MSG(!tried || writing > 0, "turn %d: no copy was refused", turn);
        memset(back, 0, BYTES);
        int reading = REFUSED(MPI_File_read_at_all(file, 0, back, BYTES, MPI_BYTE, &status), as);
        COUNT(status, MPI_BYTE, BYTES);
        CHECK_MSG(as != DEVICE || reading > 0, "turn %d: no copy was refused", turn);
        CHECK_MSG(memcmp(back, data, BYTES) == 0, "turn %d: not what was written", turn);
    }
    MPI_Type_free(&piece);
    MPI_Type_free(&spread);
    GOOD(MPI_File_close(&file));
    if (check_rank == 0)
        GOOD(MPI_File_delete(name, MPI_INFO_NULL));
    return finish();
}

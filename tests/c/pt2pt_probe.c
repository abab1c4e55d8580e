// covers: MPI_Probe MPI_Iprobe MPI_Mprobe MPI_Improbe MPI_Mrecv MPI_Imrecv
/*
 * Probe and matched probe, MPI 5.0 section 3.8. Every rank sends to its right neighbour in a ring, nonblocking, so that
 * one rank alone can run the program too.
 */
#include "check.h"

static const int sizes[] = {0, 1, 8, 57, 1000, 4097, 65536, 300001};
enum { SIZES = sizeof sizes / sizeof sizes[0], LARGEST = 300001 };

static unsigned char *out[SIZES], *in;
static MPI_Request sends[SIZES];
static int next, previous;

/* Each phase has its own tags from `base` on, since the neighbour may be a phase ahead. */
static void post_all(int base)
{
    for (int i = 0; i < SIZES; i++) {
        fill(out[i], (size_t)sizes[i], check_rank + i);
        MPI_Isend(out[i], sizes[i], MPI_BYTE, next, base + i, MPI_COMM_WORLD, &sends[i]);
    }
}

/* Lengths are learnt from the probe alone, the receive has exactly that room. */
static void probe(void)
{
    for (int wild = 0; wild < 4; wild++) {
        post_all(0);
        for (int k = 0; k < SIZES; k++) {
            /* With a wildcard tag messages must show up in the order sent; with a given tag any order may be asked for. */
            int i = wild & 1 ? k : SIZES - 1 - k, count = -1;
            int source = wild & 2 ? MPI_ANY_SOURCE : previous, tag = wild & 1 ? MPI_ANY_TAG : i;
            MPI_Status s, r;
            MPI_Probe(source, tag, MPI_COMM_WORLD, &s);
            CHECK_STATUS(s, previous, i, sizes[i]);
            MPI_Get_count(&s, MPI_BYTE, &count);
            MPI_Recv(in, count, MPI_BYTE, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, &r);
            CHECK_STATUS(r, previous, i, sizes[i]);
            CHECK_BYTES(in, (size_t)sizes[i], previous + i);
        }
        MPI_Waitall(SIZES, sends, MPI_STATUSES_IGNORE);
    }
}

/* A nonblocking probe does not wait, finds a message in the end, and leaves it where it is. */
static void iprobe(void)
{
    int flag = 1, again = 0;
    MPI_Status s;
    MPI_Iprobe(previous, 12345, MPI_COMM_WORLD, &flag, &s);
    CHECK(!flag);
    post_all(100);
    for (int i = 0; i < SIZES; i++) {
        for (flag = 0; !flag;)
            MPI_Iprobe(i % 2 ? MPI_ANY_SOURCE : previous, 100 + i, MPI_COMM_WORLD, &flag, &s);
        CHECK_STATUS(s, previous, 100 + i, sizes[i]);
        MPI_Iprobe(previous, 100 + i, MPI_COMM_WORLD, &again, MPI_STATUS_IGNORE);
        CHECK(again);
        MPI_Recv(in, LARGEST, MPI_BYTE, previous, 100 + i, MPI_COMM_WORLD, &s);
        CHECK_BYTES(in, (size_t)sizes[i], previous + i);
        MPI_Iprobe(previous, 100 + i, MPI_COMM_WORLD, &again, MPI_STATUS_IGNORE);
        CHECK(!again);
    }
    MPI_Waitall(SIZES, sends, MPI_STATUSES_IGNORE);
}

/* A matched message is out of reach for every other receive: of two with the same tag the later one is received first. */
static void mprobe(void)
{
    int first = 100 + check_rank, second = 200 + check_rank, got = -1;
    MPI_Request q[2];
    MPI_Message m = MPI_MESSAGE_NULL;
    MPI_Status s;
    MPI_Isend(&first, 1, MPI_INT, next, 40, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(&second, 1, MPI_INT, next, 40, MPI_COMM_WORLD, &q[1]);
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &m, &s);
    CHECK(m != MPI_MESSAGE_NULL && m != MPI_MESSAGE_NO_PROC);
    CHECK_STATUS(s, previous, 40, sizeof(int));
    MPI_Recv(&got, 1, MPI_INT, previous, 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(got, 200 + previous);
    MPI_Mrecv(&got, 1, MPI_INT, &m, &s);
    CHECK_EQ(got, 100 + previous);
    CHECK(m == MPI_MESSAGE_NULL);
    CHECK_EQ(s.MPI_SOURCE, previous);
    CHECK_EQ(s.MPI_TAG, 40);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
}

/* All messages are matched first and then received backwards, half of them by nonblocking receives. */
static void improbe(void)
{
    MPI_Message m[SIZES];
    MPI_Request q[SIZES];
    MPI_Status s;
    unsigned char *place[SIZES];
    int flag = 1;
    MPI_Improbe(previous, 12345, MPI_COMM_WORLD, &flag, &m[0], &s);
    CHECK(!flag);
    post_all(200);
    for (int i = 0; i < SIZES; i++) {
        for (flag = 0; !flag;)
            MPI_Improbe(previous, i % 3 ? 200 + i : MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &m[i], &s);
        CHECK_STATUS(s, previous, 200 + i, sizes[i]);
    }
    for (int i = SIZES - 1; i >= 0; i--) {
        place[i] = check_alloc((size_t)sizes[i]);
        q[i] = MPI_REQUEST_NULL;
        if (i % 2)
            MPI_Mrecv(place[i], sizes[i], MPI_BYTE, &m[i], &s);
        else
            MPI_Imrecv(place[i], sizes[i], MPI_BYTE, &m[i], &q[i]);
        CHECK(m[i] == MPI_MESSAGE_NULL);
        if (i % 2 == 0 && i % 4 == 0) {
            MPI_Wait(&q[i], &s);
            CHECK_STATUS(s, previous, 200 + i, sizes[i]);
        }
    }
    MPI_Waitall(SIZES, q, MPI_STATUSES_IGNORE);
    MPI_Waitall(SIZES, sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < SIZES; i++) {
        CHECK_BYTES(place[i], (size_t)sizes[i], previous + i);
        free(place[i]);
    }
}

/* The empty process has always a message, of length zero. */
static void proc_null(void)
{
    MPI_Message m = MPI_MESSAGE_NULL;
    MPI_Request q;
    MPI_Status s;
    int flag = 0, untouched = 17;
    MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &s);
    CHECK_STATUS(s, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &s);
    CHECK(flag);
    CHECK_STATUS(s, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &m, &s);
    CHECK(m == MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(&untouched, 1, MPI_INT, &m, &s);
    CHECK(m == MPI_MESSAGE_NULL);
    CHECK_STATUS(s, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    flag = 0;
    MPI_Improbe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &m, &s);
    CHECK(flag && m == MPI_MESSAGE_NO_PROC);
    MPI_Imrecv(&untouched, 1, MPI_INT, &m, &q);
    MPI_Wait(&q, &s);
    CHECK_STATUS(s, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    CHECK_EQ(untouched, 17);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "pt2pt_probe");
    next = (check_rank + 1) % check_ranks;
    previous = (check_rank + check_ranks - 1) % check_ranks;
    in = check_alloc(LARGEST);
    for (int i = 0; i < SIZES; i++)
        out[i] = check_alloc((size_t)sizes[i]);
    probe();
    iprobe();
    mprobe();
    improbe();
    proc_null();
    for (int i = 0; i < SIZES; i++)
        free(out[i]);
    free(in);
    return finish();
}

// covers: MPI_Send MPI_Recv MPI_Irecv MPI_Waitany MPI_Isend MPI_Waitall
/*
 * All ranks to one, MPI 5.0 section 3.5. The standard promises no fairness between senders, but it does promise
 * progress and order: every message of every sender arrives, once, and those of one sender in the order sent, through
 * wildcard receives, through a pool of posted ones, and when each sender waits for an answer before it goes on.
 */
#include "check.h"

enum { MESSAGES = 120, POOL = 16, LONG = 20000 };

struct note {
    int from, number, check;
};

static int served[4096]; /* messages seen of each rank, which is also the number the next one must have */

static void accept(const struct note *n, const MPI_Status *s)
{
    CHECK_EQ(n->from, s->MPI_SOURCE);
    CHECK_EQ(n->check, n->from * 1000 + n->number);
    if (s->MPI_SOURCE < 0 || s->MPI_SOURCE >= check_ranks)
        return;
    CHECK_MSG(n->number == served[s->MPI_SOURCE], "message %d of rank %d arrived where %d was due", n->number, s->MPI_SOURCE,
              served[s->MPI_SOURCE]);
    served[s->MPI_SOURCE]++;
}

static void check_all_served(int each)
{
    for (int r = 1; r < check_ranks; r++)
        CHECK_MSG(served[r] == each, "rank %d: expected %d messages, got %d", r, each, served[r]);
    memset(served, 0, sizeof served);
}

static struct note make_note(int number)
{
    struct note n = {check_rank, number, check_rank * 1000 + number};
    return n;
}

/* Every seventh message is long: one sender's stream mixes paths, and still must not overtake itself. */
static void stream(void)
{
    char *room = check_alloc(LONG);
    struct note n;
    if (check_rank != 0) {
        memset(room, check_rank, LONG);
        for (int i = 0; i < MESSAGES; i++) {
            n = make_note(i);
            memcpy(room, &n, sizeof n);
            MPI_Send(room, i % 7 == 3 ? LONG : (int)sizeof n, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    }
    for (int k = 0; check_rank == 0 && k < MESSAGES * (check_ranks - 1); k++) {
        MPI_Status s;
        MPI_Recv(room, LONG, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &s);
        memcpy(&n, room, sizeof n);
        CHECK_STATUS(s, n.from, 1, n.number % 7 == 3 ? LONG : (int)sizeof n);
        CHECK(n.number % 7 != 3 || room[LONG - 1] == (char)n.from);
        accept(&n, &s);
    }
    check_all_served(check_rank == 0 ? MESSAGES : 0);
    free(room);
}

/* A pool of wildcard receives: which of them completes first is open, but they match in the order posted. So they are
 * read in that order, oldest first, and the per-sender order must hold. */
static void pool(void)
{
    struct note room[POOL];
    MPI_Request q[POOL];
    int total = MESSAGES * (check_ranks - 1), posted = 0;
    if (check_rank != 0) {
        for (int i = 0; i < MESSAGES; i += 4) {
            struct note n[4];
            MPI_Request out[4];
            for (int k = 0; k < 4; k++) {
                n[k] = make_note(i + k);
                MPI_Isend(&n[k], (int)sizeof n[k], MPI_BYTE, 0, 2, MPI_COMM_WORLD, &out[k]);
            }
            MPI_Waitall(4, out, MPI_STATUSES_IGNORE);
        }
        return;
    }
    for (; posted < POOL && posted < total; posted++)
        MPI_Irecv(&room[posted], (int)sizeof room[0], MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &q[posted]);
    for (int k = 0; k < total; k++) {
        MPI_Status s;
        MPI_Wait(&q[k % POOL], &s);
        accept(&room[k % POOL], &s);
        if (posted++ < total)
            MPI_Irecv(&room[k % POOL], (int)sizeof room[0], MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &q[k % POOL]);
    }
    check_all_served(MESSAGES);
}

/* One message per sender in flight, answered at once: who is never answered would hang here, and a watchdog sees it. */
static void ask_and_answer(void)
{
    enum { ROUNDS = 25 };
    struct note n;
    MPI_Status s;
    if (check_rank != 0) {
        for (int i = 0; i < ROUNDS; i++) {
            int answer = -1;
            n = make_note(i);
            MPI_Send(&n, (int)sizeof n, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
            MPI_Recv(&answer, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_EQ(answer, i * 3 + check_rank);
        }
        return;
    }
    for (int k = 0; k < ROUNDS * (check_ranks - 1); k++) {
        int answer;
        MPI_Recv(&n, (int)sizeof n, MPI_BYTE, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &s);
        accept(&n, &s);
        answer = n.number * 3 + n.from;
        MPI_Send(&answer, 1, MPI_INT, s.MPI_SOURCE, 4, MPI_COMM_WORLD);
    }
    check_all_served(ROUNDS);
}

/* One receive posted per sender, completed in whatever order they come. */
static void one_each(void)
{
    MPI_Request *q = check_alloc((size_t)check_ranks * sizeof *q);
    struct note *room = check_alloc((size_t)check_ranks * sizeof *room), n = make_note(0);
    if (check_rank != 0)
        MPI_Send(&n, (int)sizeof n, MPI_BYTE, 0, 5, MPI_COMM_WORLD);
    q[0] = MPI_REQUEST_NULL;
    for (int r = 1; r < check_ranks && check_rank == 0; r++)
        MPI_Irecv(&room[r], (int)sizeof n, MPI_BYTE, r, 5, MPI_COMM_WORLD, &q[r]);
    for (int k = 1; k < check_ranks && check_rank == 0; k++) {
        int index = -1;
        MPI_Status s;
        MPI_Waitany(check_ranks, q, &index, &s);
        CHECK_EQ(index, s.MPI_SOURCE);
        if (index > 0 && index < check_ranks)
            accept(&room[index], &s);
    }
    check_all_served(check_rank == 0 ? 1 : 0);
    free(q);
    free(room);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "pt2pt_fairness");
    stream();
    pool();
    ask_and_answer();
    one_each();
    return finish();
}

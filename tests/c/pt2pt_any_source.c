// covers: MPI_Recv
/*
 * A blocking receive from MPI_ANY_SOURCE beside everything that could come before it, MPI 5.0 sections 3.2.4 and 3.5: messages
 * that are here already, receives that were posted earlier, other communicators, other senders, this very process.
 * Rank 0 receives; it tells the others when they may send, so that they find it as each case wants it.
 */
#include "check.h"

enum { GO = 100, MANY = 50, LONG = 100000, FLOOD = 3000 };

static MPI_Comm comm;

/* From here on every other rank sends. */
static void go(void)
{
    for (int r = 1; r < check_ranks && check_rank == 0; r++)
        MPI_Send(NULL, 0, MPI_INT, r, GO, comm);
    if (check_rank != 0)
        MPI_Recv(NULL, 0, MPI_INT, 0, GO, comm, MPI_STATUS_IGNORE);
}

static void put(int number, int tag)
{
    MPI_Send(&number, 1, MPI_INT, 0, tag, comm);
}

/* What comes next with a tag, or any: its number and its sender. */
static int get(int tag, int *source)
{
    int number = -1;
    MPI_Status s;
    MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, tag, comm, &s);
    CHECK_STATUS(s, s.MPI_SOURCE, tag == MPI_ANY_TAG ? s.MPI_TAG : tag, sizeof number);
    CHECK(s.MPI_SOURCE >= 0 && s.MPI_SOURCE < check_ranks);
    if (source != NULL)
        *source = s.MPI_SOURCE;
    return number;
}

/* From each sender in turn, so that there is no doubt of what comes next. */
static void each_in_turn(void (*with)(int sender))
{
    for (int r = 1; r < check_ranks; r++) {
        if (check_rank == 0 || check_rank == r)
            with(r);
        MPI_Barrier(comm);
    }
}

static void expect(int tag, int sender, int number)
{
    int source = -1;
    CHECK_EQ(get(tag, &source), number);
    CHECK_EQ(source, sender);
}

/* The first message is here already when the second is waited for, and the third comes behind both. */
static void earlier_messages(int sender)
{
    int number = -1;
    if (check_rank == sender) {
        put(1, 1), put(2, 2), put(3, 1), put(4, 2);
        for (int i = 0; i < MANY; i++)
            put(i, 10 + i);
        put(5, 1), put(6, 2);
        return;
    }
    MPI_Recv(&number, 1, MPI_INT, sender, 2, comm, MPI_STATUS_IGNORE);
    CHECK_EQ(number, 2);
    expect(1, sender, 1);
    /* Now nothing is here that matches, or much that does not. */
    expect(2, sender, 4);
    expect(2, sender, 6);
    expect(1, sender, 3);
    expect(MPI_ANY_TAG, sender, 0);
    for (int i = MANY - 1; i > 0; i--)
        expect(10 + i, sender, i);
    expect(MPI_ANY_TAG, sender, 5);
}

/* Receives that were posted before take the first messages that they match, from whomever they are. */
static void earlier_receives(int sender)
{
    int others[] = {MPI_ANY_SOURCE, sender, check_ranks - sender, 0};
    for (int i = 0; i < 4; i++) {
        for (int any_tag = 0; any_tag < 2; any_tag++) {
            MPI_Request q[2];
            MPI_Status s;
            int first = -1, other = -1, wanted = others[i];
            int takes = wanted == MPI_ANY_SOURCE || wanted == sender;
            if (check_rank == sender) {
                MPI_Recv(NULL, 0, MPI_INT, 0, GO, comm, MPI_STATUS_IGNORE);
                put(1, 1), put(2, 1), put(7, 7);
                continue;
            }
            MPI_Irecv(&first, 1, MPI_INT, wanted, any_tag ? MPI_ANY_TAG : 1, comm, &q[0]);
            MPI_Irecv(&other, 1, MPI_INT, MPI_ANY_SOURCE, 7, comm, &q[1]);
            MPI_Send(NULL, 0, MPI_INT, sender, GO, comm);
            expect(any_tag ? MPI_ANY_TAG : 1, sender, takes ? 2 : 1);
            if (!takes) {
                expect(1, sender, 2);
                MPI_Cancel(&q[0]);
            }
            MPI_Wait(&q[0], &s);
            CHECK_EQ(first, takes ? 1 : -1);
            MPI_Wait(&q[1], &s);
            CHECK_STATUS(s, sender, 7, sizeof other);
            CHECK_EQ(other, 7);
        }
    }
}

/* So many receives of other tags that they are looked up by tag: the way is open beside them, and closed by one of them. */
static void many_receives(int sender)
{
    MPI_Request q[MANY];
    int numbers[MANY];
    if (check_rank == sender) {
        MPI_Recv(NULL, 0, MPI_INT, 0, GO, comm, MPI_STATUS_IGNORE);
        for (int i = 0; i < MANY; i++)
            put(-i, 5), put(i, 10 + i), put(1000 + i, 10 + i);
        return;
    }
    for (int i = 0; i < MANY; i++)
        MPI_Irecv(&numbers[i], 1, MPI_INT, i % 2 ? sender : MPI_ANY_SOURCE, 10 + i, comm, &q[i]);
    MPI_Send(NULL, 0, MPI_INT, sender, GO, comm);
    for (int i = 0; i < MANY; i++) {
        expect(5, sender, -i);
        expect(10 + i, sender, 1000 + i);
    }
    MPI_Waitall(MANY, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(numbers[i], i);
}

/* Messages of another communicator with the same tag come first. */
static void another_communicator(int sender)
{
    int number = -1;
    if (check_rank == sender) {
        for (int i = 0; i < 3; i++) {
            number = 10 + i;
            MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
        put(1, 1);
        return;
    }
    expect(1, sender, 1);
    for (int i = 0; i < 3; i++) {
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(number, 10 + i);
    }
}

/* Every way in which a message travels, in the order sent, to one run and to blocks with gaps. */
static void all_kinds(int sender)
{
    static const int sizes[] = {0, 1, 8, 56, 57, 500, 5000, 70000, LONG, 4};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    unsigned char *bytes = check_alloc(2 * LONG);
    MPI_Datatype gaps;
    MPI_Type_vector(LONG / 4, 4, 8, MPI_BYTE, &gaps);
    MPI_Type_commit(&gaps);
    for (int i = 0; i < 4 * SIZES; i++) {
        int size = sizes[i % SIZES], seed = sender + i;
        MPI_Status s;
        if (check_rank == sender) {
            fill(bytes, (size_t)size, seed);
            (i % 3 ? MPI_Send : MPI_Ssend)(bytes, size, MPI_BYTE, 0, i, comm);
            continue;
        }
        memset(bytes, 0, 2 * LONG);
        MPI_Recv(bytes, i % 4 == 3 ? 1 : LONG, i % 4 == 3 ? gaps : MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &s);
        CHECK_STATUS(s, sender, i, size);
        for (int at = 0; at < size && i % 4 == 3; at++)
            CHECK_EQ(bytes[at / 4 * 8 + at % 4], pattern((size_t)at, seed));
        if (i % 4 != 3)
            CHECK_BYTES(bytes, (size_t)size, seed);
    }
    MPI_Type_free(&gaps);
    free(bytes);
}

/* What does not fit is an error, what fits is there, nothing else is written, and the next message is whole again. */
static void too_long(int sender)
{
    static const int sizes[] = {8, 56, 57, 4000, LONG};
    unsigned char bytes[64];
    MPI_Status s;
    for (int i = 0; i < 5; i++) {
        if (check_rank == sender) {
            unsigned char *longer = check_alloc(LONG);
            fill(longer, LONG, i);
            MPI_Send(longer, sizes[i], MPI_BYTE, 0, 3, comm);
            put(i, 4);
            free(longer);
            continue;
        }
        memset(bytes, 7, sizeof bytes);
        CHECK_CLASS(MPI_Recv(bytes, 5, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &s), MPI_ERR_TRUNCATE);
        CHECK_EQ(s.MPI_SOURCE, sender);
        CHECK_EQ(s.MPI_TAG, 3);
        CHECK_BYTES(bytes, 5, i);
        for (size_t k = 5; k < sizeof bytes; k++)
            CHECK_EQ(bytes[k], 7);
        expect(MPI_ANY_TAG, sender, i);
    }
}

/* Who promised to name its sources is refused, and the message stays. */
static void promised(void)
{
    MPI_Info info;
    MPI_Comm named;
    MPI_Comm_dup(comm, &named);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_source", "true");
    MPI_Comm_set_info(named, info);
    MPI_Info_free(&info);
    for (int i = 0; i < FLOOD && check_rank == 1; i++)
        MPI_Send(&i, 1, MPI_INT, 0, 1, named);
    for (int i = 0; i < FLOOD && check_rank == 0 && check_ranks > 1; i++) {
        int got = -1, code = MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 1, named, MPI_STATUS_IGNORE);
        CHECK_CLASS(code, MPI_ERR_RANK);
        if (code == MPI_SUCCESS)
            continue;
        MPI_Recv(&got, 1, MPI_INT, 1, 1, named, MPI_STATUS_IGNORE);
        CHECK_EQ(got, i);
    }
    MPI_Comm_free(&named);
}

/* All at once, and now and then this process itself: each one's messages in their order, everyone's in the end. */
static void everybody(void)
{
    int *next = check_alloc((size_t)check_ranks * sizeof *next), all = FLOOD * (check_ranks - 1) + MANY, own = 0;
    for (int r = 0; r < check_ranks; r++)
        next[r] = 0;
    go();
    for (int i = 0; i < FLOOD && check_rank != 0; i++)
        put(i, i % 3);
    for (int k = 0; k < all && check_rank == 0; k++) {
        int source = 0, number;
        if (own < MANY && (check_ranks == 1 || k % 40 == 0)) {
            MPI_Request q;
            MPI_Isend(&own, 1, MPI_INT, 0, own % 3, comm, &q);
            MPI_Wait(&q, MPI_STATUS_IGNORE);
            own++;
        }
        number = get(MPI_ANY_TAG, &source);
        CHECK_MSG(number == next[source], "message %d of rank %d where %d was due", number, source, next[source]);
        next[source] = number + 1;
    }
    for (int r = 0; r < check_ranks && check_rank == 0; r++)
        CHECK_EQ(next[r], r == 0 ? MANY : FLOOD);
    free(next);
}

/* Who is never without a message from others still sees what comes in another way: from this very process. */
static void own_message_among_others(void)
{
    int stop = 0, own = -7, received = 0, ended = 1;
    MPI_Request q;
    go();
    for (int i = 0; check_rank != 0 && !stop; i++) {
        put(i, 1);
        MPI_Iprobe(0, 2, comm, &stop, MPI_STATUS_IGNORE);
    }
    if (check_rank != 0) {
        MPI_Recv(NULL, 0, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE);
        put(0, 3);
        return;
    }
    for (int i = 0; i < FLOOD && check_ranks > 1; i++)
        get(1, NULL);
    MPI_Isend(&own, 1, MPI_INT, 0, 4, comm, &q);
    for (int source = -1; source != 0; received++)
        get(MPI_ANY_TAG, &source);
    CHECK_MSG(received < 2 * FLOOD, "%d messages of others came first", received - 1);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    for (int r = 1; r < check_ranks; r++)
        MPI_Send(NULL, 0, MPI_INT, r, 2, comm);
    while (ended < check_ranks) {
        MPI_Status s;
        int number;
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &s);
        ended += s.MPI_TAG == 3;
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "pt2pt_any_source");
    /* Ranks are not the numbers that processes have elsewhere, except that rank 0 is who receives. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, check_rank == 0 ? 0 : check_ranks - check_rank, &comm);
    MPI_Comm_rank(comm, &check_rank);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    each_in_turn(earlier_messages);
    each_in_turn(earlier_receives);
    each_in_turn(many_receives);
    each_in_turn(another_communicator);
    each_in_turn(all_kinds);
    each_in_turn(too_long);
    promised();
    everybody();
    own_message_among_others();
    MPI_Comm_free(&comm);
    return finish();
}

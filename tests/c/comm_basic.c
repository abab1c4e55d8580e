// covers: MPI_Comm_rank MPI_Comm_size MPI_Comm_dup MPI_Comm_split MPI_Comm_free MPI_Comm_compare MPI_Comm_group MPI_Group_size MPI_Group_rank MPI_Group_translate_ranks MPI_Group_compare MPI_Group_free MPI_Comm_get_name MPI_Comm_set_name
/*
 * Communicators and groups, MPI 5.0 sections 7.3 (groups), 7.4 (communicators, duplication, splitting), 7.8 (names).
 * What counts about a communicator is its context: messages of one never meet receives of another.
 */
#include "check.h"

static void predefined(void)
{
    int rank = -1, size = -1;
    MPI_Comm_rank(MPI_COMM_SELF, &rank);
    MPI_Comm_size(MPI_COMM_SELF, &size);
    CHECK_EQ(rank, 0);
    CHECK_EQ(size, 1);
    CHECK(check_rank >= 0 && check_rank < check_ranks);
}

static int compare(MPI_Comm a, MPI_Comm b)
{
    int result = -1;
    MPI_Comm_compare(a, b, &result);
    return result;
}

/* Same group: congruent. Same processes in another order: similar. */
static void compares(void)
{
    MPI_Comm copy, reversed, alone;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &reversed);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank, 0, &alone);
    CHECK_EQ(compare(MPI_COMM_WORLD, MPI_COMM_WORLD), MPI_IDENT);
    CHECK_EQ(compare(copy, copy), MPI_IDENT);
    CHECK_EQ(compare(MPI_COMM_WORLD, copy), MPI_CONGRUENT);
    CHECK_EQ(compare(MPI_COMM_WORLD, reversed), check_ranks > 1 ? MPI_SIMILAR : MPI_CONGRUENT);
    CHECK_EQ(compare(alone, MPI_COMM_SELF), MPI_CONGRUENT);
    CHECK_EQ(compare(MPI_COMM_WORLD, alone), check_ranks > 1 ? MPI_UNEQUAL : MPI_CONGRUENT);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&reversed);
    MPI_Comm_free(&alone);
    CHECK(copy == MPI_COMM_NULL && reversed == MPI_COMM_NULL);
}

/* New ranks are ordered by key, and by old rank where keys are equal. */
static void split_by_key(void)
{
    MPI_Comm c;
    int rank = -1, size = -1, third = (check_rank + 1) % 3, members = 0, before = 0;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 3, third * 10, &c);
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    for (int r = check_rank % 3; r < check_ranks; r += 3)
        members++, before += r < check_rank; /* all of a colour have the same key: old order */
    CHECK_EQ(size, members);
    CHECK_EQ(rank, before);
    MPI_Comm_free(&c);
    MPI_Comm_split(MPI_COMM_WORLD, 5, check_rank % 2 ? 0 : 1, &c); /* odd ranks first */
    MPI_Comm_rank(c, &rank);
    CHECK_EQ(rank, check_rank % 2 ? check_rank / 2 : check_ranks / 2 + check_rank / 2);
    /* It must also work: a ring in the new order. */
    {
        int got = -1;
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % check_ranks, 1, &got, 1, MPI_INT, (rank + check_ranks - 1) % check_ranks, 1, c,
                     MPI_STATUS_IGNORE);
        CHECK_EQ(got, (rank + check_ranks - 1) % check_ranks);
    }
    MPI_Comm_free(&c);
}

static void split_undefined(void)
{
    MPI_Comm c = MPI_COMM_SELF;
    int size = -1;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2 ? MPI_UNDEFINED : 0, 0, &c);
    if (check_rank % 2) {
        CHECK(c == MPI_COMM_NULL);
        return;
    }
    MPI_Comm_size(c, &size);
    CHECK_EQ(size, (check_ranks + 1) / 2);
    MPI_Comm_free(&c);
}

/* Same processes, same tag, three contexts, received in another order than sent, wildcards included. */
static void isolation(void)
{
    int next = (check_rank + 1) % check_ranks, previous = (check_rank + check_ranks - 1) % check_ranks;
    int sent[3] = {0, 1, 2}, got[3] = {-1, -1, -1}, flag = 0;
    MPI_Comm c[3] = {MPI_COMM_WORLD, MPI_COMM_NULL, MPI_COMM_NULL};
    MPI_Request q[3];
    MPI_Comm_dup(MPI_COMM_WORLD, &c[1]);
    MPI_Comm_dup(c[1], &c[2]);
    for (int i = 0; i < 3; i++)
        MPI_Isend(&sent[i], 1, MPI_INT, next, 7, c[i], &q[i]);
    for (int i = 2; i >= 0; i--) {
        MPI_Recv(&got[i], 1, MPI_INT, i == 1 ? previous : MPI_ANY_SOURCE, i == 1 ? 7 : MPI_ANY_TAG, c[i], MPI_STATUS_IGNORE);
        CHECK_EQ(got[i], i);
    }
    MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c[1], &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    /* A collective on one communicator between a send and its receive on the same one: collectives have a context of
     * their own. */
    MPI_Isend(&sent[2], 1, MPI_INT, next, 0, c[2], &q[0]);
    MPI_Bcast(&sent[1], 1, MPI_INT, 0, c[2]);
    MPI_Barrier(c[2]);
    MPI_Recv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, c[2], MPI_STATUS_IGNORE);
    CHECK_EQ(got[0], 2);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    MPI_Comm_free(&c[1]);
    MPI_Comm_free(&c[2]);
}

static void groups(void)
{
    MPI_Comm reversed;
    MPI_Group world, other;
    int n = -1, rank = -1, result = -1;
    int *all = check_alloc((size_t)(check_ranks + 1) * sizeof(int)), *there = check_alloc((size_t)(check_ranks + 1) * sizeof(int));
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &reversed);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(reversed, &other);
    MPI_Group_size(world, &n);
    MPI_Group_rank(world, &rank);
    CHECK_EQ(n, check_ranks);
    CHECK_EQ(rank, check_rank);
    MPI_Group_rank(other, &rank);
    CHECK_EQ(rank, check_ranks - 1 - check_rank);
    for (int r = 0; r < check_ranks; r++)
        all[r] = r, there[r] = -1;
    all[check_ranks] = MPI_PROC_NULL;
    MPI_Group_translate_ranks(world, check_ranks + 1, all, other, there);
    for (int r = 0; r < check_ranks; r++)
        CHECK_EQ(there[r], check_ranks - 1 - r);
    CHECK_EQ(there[check_ranks], MPI_PROC_NULL);
    MPI_Group_compare(world, other, &result);
    CHECK_EQ(result, check_ranks > 1 ? MPI_SIMILAR : MPI_IDENT);
    MPI_Group_free(&other);
    MPI_Comm_group(MPI_COMM_SELF, &other);
    MPI_Group_translate_ranks(world, check_ranks, all, other, there);
    for (int r = 0; r < check_ranks; r++)
        CHECK_EQ(there[r], r == check_rank ? 0 : MPI_UNDEFINED);
    MPI_Group_size(MPI_GROUP_EMPTY, &n);
    CHECK_EQ(n, 0);
    MPI_Group_rank(MPI_GROUP_EMPTY, &rank);
    CHECK_EQ(rank, MPI_UNDEFINED);
    MPI_Group_free(&other);
    MPI_Group_free(&world);
    CHECK(world == MPI_GROUP_NULL);
    MPI_Comm_free(&reversed);
    free(all), free(there);
}

/* Contexts must be given back: 200 times, with a message in between, and a freed communicator must keep its pending
 * traffic alive (section 7.4.3). */
static void many_times(void)
{
    int next = (check_rank + 1) % check_ranks, previous = (check_rank + check_ranks - 1) % check_ranks;
    for (int i = 0; i < 200; i++) {
        MPI_Comm c;
        MPI_Request q[2];
        int got = -1, sent = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        if (i % 20 == 0) {
            MPI_Irecv(&got, 1, MPI_INT, previous, 3, c, &q[0]);
            MPI_Isend(&sent, 1, MPI_INT, next, 3, c, &q[1]);
        }
        MPI_Comm_free(&c);
        if (i % 20 == 0) {
            MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
            CHECK_EQ(got, i);
        }
    }
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length = -1;
    MPI_Comm copy;
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK_MSG(strcmp(name, "MPI_COMM_WORLD") == 0, "expected MPI_COMM_WORLD, got %s", name);
    CHECK_EQ(length, strlen("MPI_COMM_WORLD"));
    MPI_Comm_get_name(MPI_COMM_NULL, name, &length);
    CHECK_MSG(strcmp(name, "MPI_COMM_NULL") == 0, "expected MPI_COMM_NULL, got %s", name);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_get_name(copy, name, &length);
    CHECK_MSG(name[0] == '\0' && length == 0, "a duplicate has no name, got '%s' of length %d", name, length);
    MPI_Comm_set_name(copy, "left half");
    MPI_Comm_get_name(copy, name, &length);
    CHECK_MSG(strcmp(name, "left half") == 0 && length == 9, "expected 'left half', got '%s' of length %d", name, length);
    MPI_Comm_free(&copy);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "comm_basic");
    predefined();
    compares();
    split_by_key();
    split_undefined();
    isolation();
    groups();
    many_times();
    names();
    return finish();
}

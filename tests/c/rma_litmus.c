// covers: MPI_Accumulate MPI_Get_accumulate MPI_Fetch_and_op MPI_Put MPI_Get MPI_Win_flush MPI_Win_lock_all
// ranks: 1 2 3
// args: sm,han,am
// args: am
// args: sm,cma
// seconds: 90
/*
 * What two threads may see of each other's accesses (MPI 5.0 sections 12.6.3, 12.7.1 and 12.7.2), on one rank or on two, while other threads
 * access the same window: accumulates of one origin to one element are done in their order, elements are whole, what was flushed is there
 * before what comes after it, of two that write and then read at least one sees the other, and two that only read do not see writes of two
 * others in different orders. The arguments: the components that may serve, over memory of MPI's, and with cma over the program's; then, if
 * it is there, the seed of the pauses between accesses.
 */
#include "threads.h"

enum { ROUNDS = 150, WORDS = 16, DATA = 4 };
enum { X, FLAG = ROUNDS, BEGIN, ACK = BEGIN + 2, ARRAY, NOISE = ARRAY + WORDS, BODY, LENGTH = BODY + DATA };

static MPI_Win win;
static volatile int over;
static long saw[2][ROUNDS];  /* what this rank's two parties read of each other */
static long watched[2][ROUNDS]; /* what its two readers found, first word and second word */
static unsigned seed = 1;

static int last(void)
{
    return check_ranks - 1;
}

static void store(long value, int target, int at)
{
    MPI_Accumulate(&value, 1, MPI_LONG, target, at, 1, MPI_LONG, MPI_REPLACE, win);
    MPI_Win_flush(target, win);
}

static long load(int target, int at)
{
    long value = -1;
    MPI_Fetch_and_op(NULL, &value, MPI_LONG, target, at, MPI_NO_OP, win);
    MPI_Win_flush(target, win);
    return value;
}

/* So that every order comes about. */
static void pause_for_a_while(unsigned *state)
{
    *state = *state * 1103515245u + 12345u;
    for (volatile unsigned left = *state >> 16 & 511; left > 0; left--)
        ;
}

static int await(int target, int at, long value)
{
    for (double end = seconds() + 20; load(target, at) < value; sched_yield())
        if (seconds() > end)
            return 0;
    return 1;
}

/* Both write a word, then read the other's: party 0 that of rank 0, party 1 that of the last one. */
static void write_and_read(int party)
{
    int mine = party == 0 ? 0 : last(), other = last() - mine;
    int at = party == 0 ? 0 : 1;
    unsigned state = seed * 4 + (unsigned)party;
    for (int round = 0; round < ROUNDS / 2; round++) {
        /* They begin together. */
        store(round + 1, mine, BEGIN + at);
        if (!await(other, BEGIN + 1 - at, round + 1)) {
            CHECK_EQ(round, -1);
            return;
        }
        pause_for_a_while(&state);
        store(1, mine, X + 2 * round + at);
        saw[party][round] = load(other, X + 2 * round + 1 - at);
    }
}

/* Reads the words that both write in a round: reader 0 that of rank 0 first, reader 1 that of the last one. */
static void *reader(void *number)
{
    int me = (int)(size_t)number, first = me == 0 ? 0 : last(), second = last() - first;
    unsigned state = seed * 4 + 2 + (unsigned)me;
    for (int round = 0; round < ROUNDS / 2; round++) {
        if (!await(first, BEGIN + me, round + 1)) {
            CHECK_EQ(round, -1);
            return NULL;
        }
        pause_for_a_while(&state);
        watched[me][2 * round] = load(first, X + 2 * round + me);
        watched[me][2 * round + 1] = load(second, X + 2 * round + 1 - me);
    }
    return NULL;
}

/* One hands data on by a flag at another rank. */
static void pass_on(int party)
{
    long data[DATA];
    for (long round = 1; round <= ROUNDS; round++) {
        if (party == 0) {
            for (int i = 0; i < DATA; i++)
                data[i] = round;
            MPI_Put(data, DATA, MPI_LONG, last(), BODY, DATA, MPI_LONG, win);
            MPI_Win_flush(last(), win);
            store(round, 0, FLAG);
            CHECK(await(last(), ACK, round));
        } else {
            CHECK(await(0, FLAG, round));
            MPI_Get(data, DATA, MPI_LONG, last(), BODY, DATA, MPI_LONG, win);
            MPI_Win_flush(last(), win);
            for (int i = 0; i < DATA; i++)
                if (data[i] != round)
                    CHECK_EQ(data[i], round);
            store(round, last(), ACK);
        }
    }
}

/* Replacements in order, each element whole. */
static void replace(int party)
{
    unsigned long words[WORDS];
    if (party == 0) {
        for (unsigned long round = 1; round <= ROUNDS; round++) {
            for (int i = 0; i < WORDS; i++)
                words[i] = round * 0x0101010101010101ul;
            MPI_Accumulate(words, WORDS, MPI_UNSIGNED_LONG, 0, ARRAY, WORDS, MPI_UNSIGNED_LONG, MPI_REPLACE, win);
            MPI_Win_flush_local(0, win);
        }
        MPI_Win_flush(0, win);
        return;
    }
    unsigned long before[WORDS] = {0};
    for (double end = seconds() + 20; before[0] != ROUNDS * 0x0101010101010101ul; sched_yield()) {
        MPI_Get_accumulate(NULL, 0, MPI_UNSIGNED_LONG, words, WORDS, MPI_UNSIGNED_LONG, 0, ARRAY, WORDS, MPI_UNSIGNED_LONG,
                           MPI_NO_OP, win);
        MPI_Win_flush(0, win);
        for (int i = 0; i < WORDS; i++) {
            if (words[i] != words[i] % 256 * 0x0101010101010101ul)
                CHECK_EQ(words[i], words[i] % 256 * 0x0101010101010101ul);
            if (words[i] < before[i])
                CHECK_EQ(words[i], before[i]);
            before[i] = words[i];
        }
        if (seconds() > end) {
            CHECK(seconds() <= end);
            return;
        }
    }
}

static void *party(void *number)
{
    int me = (int)(size_t)number;
    write_and_read(me);
    pass_on(me);
    replace(me);
    return NULL;
}

/* Everybody adds to everybody, and each sees its own sum grow. */
static void *noise(void *unused)
{
    long one = 1, before[8] = {0};
    (void)unused;
    for (int i = 0; !over; i++) {
        long old = -1;
        int target = i % check_ranks;
        MPI_Fetch_and_op(&one, &old, MPI_LONG, target, NOISE, MPI_SUM, win);
        MPI_Win_flush(target, win);
        if (target < 8 && old < before[target])
            CHECK_EQ(old, before[target]);
        if (target < 8)
            before[target] = old + 1;
        sched_yield();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const char *components = argc > 1 ? argv[1] : "sm,han,am";
    long *memory = check_alloc(LENGTH * sizeof(long));
    seed = argc > 2 ? (unsigned)atoi(argv[2]) : seed;
    int is_created = strstr(components, "cma") != NULL;
    setenv("OMPI_MCA_osc", components, 1);
    start_threads_multiple(&argc, &argv, "rma_litmus");
    if (is_created)
        MPI_Win_create(memory, LENGTH * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    else {
        free(memory);
        MPI_Win_allocate(LENGTH * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    }
    memset(memory, 0, LENGTH * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_t threads[5];
    int is_party[2] = {check_rank == 0, check_rank == last()};
    pthread_create(&threads[2], NULL, noise, NULL);
    for (size_t t = 0; t < 2; t++)
        if (is_party[t]) {
            pthread_create(&threads[t], NULL, party, (void *)t);
            pthread_create(&threads[3 + t], NULL, reader, (void *)t);
        }
    for (int t = 0; t < 2; t++)
        if (is_party[t]) {
            pthread_join(threads[t], NULL);
            pthread_join(threads[3 + t], NULL);
        }
    /* Those that only serve and make noise go on until the parties are done. */
    MPI_Barrier(MPI_COMM_WORLD);
    over = 1;
    pthread_join(threads[2], NULL);
    MPI_Win_unlock_all(win);
    MPI_Bcast(saw[1], ROUNDS, MPI_LONG, last(), MPI_COMM_WORLD);
    MPI_Bcast(watched[1], ROUNDS, MPI_LONG, last(), MPI_COMM_WORLD);
    for (int round = 0; check_rank == 0 && round < ROUNDS / 2; round++) {
        const long *one = &watched[0][2 * round], *other = &watched[1][2 * round];
        if (saw[0][round] == 0 && saw[1][round] == 0)
            CHECK_MSG(0, "in round %d neither saw what the other had written before (seed %u)", round, seed);
        if (one[0] == 1 && one[1] == 0 && other[0] == 1 && other[1] == 0)
            CHECK_MSG(0, "in round %d two readers saw the writes in different orders (seed %u)", round, seed);
    }
    MPI_Win_free(&win);
    if (is_created)
        free(memory);
    return finish();
}

// covers: MPI_Win_create_dynamic MPI_Win_attach MPI_Win_detach MPI_Compare_and_swap MPI_Fetch_and_op MPI_Accumulate MPI_Get MPI_Aint_add
// ranks: 1 2 3 5
// seconds: 60
/*
 * A list whose elements lie on all ranks, in memory that each attaches to one window as it goes: who wants to append an element swaps the rank of the
 * last one's successor, then tells its address. MPI 5.0 section 12.9 has the same list.
 *
 * -DSEED_FORGOTTEN_MISTAKE: one element is not appended.
 */
#include "check.h"
#include <stddef.h>

enum { OWN = 60 };

struct place {
    MPI_Aint at;
    int rank, padding;
};

struct element {
    long value;
    struct place next;
};

static MPI_Win win;
static struct element *own[OWN];
static int made;

static struct place new_element(long value)
{
    struct place place = {.rank = check_rank};
    struct element *element;
    MPI_Alloc_mem(sizeof *element, MPI_INFO_NULL, &element);
    *element = (struct element){.value = value, .next = {.rank = -1}};
    MPI_Win_attach(win, element, sizeof *element);
    MPI_Get_address(element, &place.at);
    own[made++] = element;
    return place;
}

#define FIELD(place, field) MPI_Aint_add((place).at, offsetof(struct element, field))

/* Behind the last element, which is `place` or comes after it. */
static struct place append(struct place place, struct place element)
{
    for (;;) {
        int none = -1, successor;
        MPI_Aint at = 0;
        MPI_Compare_and_swap(&check_rank, &none, &successor, MPI_INT, place.rank, FIELD(place, next.rank), win);
        MPI_Win_flush(place.rank, win);
        if (successor == -1) {
            MPI_Accumulate(&element.at, 1, MPI_AINT, place.rank, FIELD(place, next.at), 1, MPI_AINT, MPI_REPLACE, win);
            MPI_Win_flush(place.rank, win);
            return element;
        }
        while (at == 0) {
            MPI_Fetch_and_op(NULL, &at, MPI_AINT, place.rank, FIELD(place, next.at), MPI_NO_OP, win);
            MPI_Win_flush(place.rank, win);
        }
        place = (struct place){.at = at, .rank = successor};
    }
}

/* Each rank's elements are there, in the order in which it appended them. */
static void walk(struct place place)
{
    int *seen = calloc((size_t)check_ranks, sizeof *seen), all = 0;
    while (place.rank != -1) {
        struct element element;
        MPI_Get(&element, sizeof element, MPI_BYTE, place.rank, place.at, sizeof element, MPI_BYTE, win);
        MPI_Win_flush(place.rank, win);
        if (element.value >= 0) {
            CHECK_EQ(element.value, place.rank * 1000 + seen[place.rank]);
            seen[place.rank]++;
            all++;
        }
        place = element.next;
    }
    CHECK_EQ(all, check_ranks * (OWN - 1));
    free(seen);
}

int main(int argc, char **argv)
{
    struct place head = {0}, last;
    start(&argc, &argv, "rma_list");
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (check_rank == 0)
        head = new_element(-1);
    MPI_Bcast(&head, sizeof head, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    last = head;
    for (int i = 0; i < OWN - 1; i++) {
#ifdef SEED_FORGOTTEN_MISTAKE
        if (check_rank == 0 && i == OWN / 2)
            continue;
#endif
        last = append(last, new_element(check_rank * 1000 + i));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    walk(head);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < made; i++) {
        MPI_Win_detach(win, own[i]);
        MPI_Free_mem(own[i]);
    }
    MPI_Win_free(&win);
    return finish();
}

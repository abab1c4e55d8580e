// covers: MPI_Put MPI_Get MPI_Accumulate MPI_Get_accumulate MPI_Fetch_and_op MPI_Compare_and_swap
// ranks: 1 2 3 4 5
// args: 1
// args: 2 300
// args: 3 150 am
// args: 4 150 sm,cma
// args: 5 100 am
// args: 6 100 sm,cma
/*
 * Random accesses, datatypes and synchronisations of all ranks against a model in one process: every rank knows every rank's
 * memory, because all draw the same numbers. In one epoch each element is written by one access, or combined by any number of
 * them with one operation, or read. The arguments are a seed, a number of epochs, and the components of framework osc that may serve.
 */
#include "check.h"

enum { N = 240, ACCESSES = 12 };

static int *model; /* what every rank's memory must be */
static unsigned long long dice;

static int draw(int below)
{
    dice = dice * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((dice >> 33) % (unsigned)below);
}

static int *at(int rank, int element)
{
    return model + rank * N + element;
}

struct access {
    int kind, origin, target, first, count, gap, value;
};

/* Elements first, first + gap, ... of the target: as ints, as a vector, or as an indexed type. */
static MPI_Datatype target_type(const struct access *a, int *count)
{
    MPI_Datatype type;
    if (a->gap == 1) {
        *count = a->count;
        return MPI_INT;
    }
    *count = 1;
    if (a->value % 2)
        MPI_Type_vector(a->count, 1, a->gap, MPI_INT, &type);
    else {
        int *places = check_alloc(sizeof(int) * (size_t)a->count);
        for (int i = 0; i < a->count; i++)
            places[i] = i * a->gap;
        MPI_Type_create_indexed_block(a->count, 1, places, MPI_INT, &type);
        free(places);
    }
    MPI_Type_commit(&type);
    return type;
}

static MPI_Op operation(int epoch)
{
    static MPI_Op all[] = {0, 0, 0, 0};
    if (all[0] == 0)
        all[0] = MPI_SUM, all[1] = MPI_MAX, all[2] = MPI_BXOR, all[3] = MPI_PROD;
    return all[epoch % 4];
}

static int combined(int epoch, int a, int b)
{
    switch (epoch % 4) {
    case 0: return a + b;
    case 1: return a > b ? a : b;
    case 2: return a ^ b;
    default: return (int)((unsigned)a * (unsigned)b);
    }
}

static void begin(MPI_Win win, int how, MPI_Group all)
{
    switch (how) {
    case 0: MPI_Win_fence(0, win); break;
    case 1: MPI_Barrier(MPI_COMM_WORLD), MPI_Win_lock_all(0, win); break;
    case 2: MPI_Barrier(MPI_COMM_WORLD); break; /* each access has a lock of its own */
    default: MPI_Win_post(all, 0, win), MPI_Win_start(all, 0, win);
    }
}

static void end(MPI_Win win, int how)
{
    switch (how) {
    case 0: MPI_Win_fence(MPI_MODE_NOSUCCEED, win); break;
    case 1: MPI_Win_unlock_all(win), MPI_Barrier(MPI_COMM_WORLD); break;
    case 2:
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win), MPI_Win_unlock(check_rank, win);
        break;
    default: MPI_Win_complete(win), MPI_Win_wait(win);
    }
}

/* One epoch: draws accesses that may happen together, does this rank's, and changes the model. */
static void epoch(MPI_Win win, int number, MPI_Group all, int *memory)
{
    static struct access list[ACCESSES];
    char *used = check_alloc((size_t)check_ranks * N); /* 0 free, 1 written or read, 2 combined */
    int *buffers[ACCESSES], *results[ACCESSES], accesses = 0, how = draw(4), *before;
    before = check_alloc(sizeof(int) * N * (size_t)check_ranks);
    memcpy(before, model, sizeof(int) * N * (size_t)check_ranks);
    memset(used, 0, (size_t)check_ranks * N);
    for (int i = 0; i < ACCESSES; i++) {
        struct access a = {draw(6), draw(check_ranks), draw(check_ranks), draw(N), 1 + draw(40), 1 + draw(3), draw(1000)};
        if (a.kind >= 4)
            a.count = 1, a.gap = 1;
        if (a.first + (a.count - 1) * a.gap >= N)
            continue;
        int class = a.kind == 2 || a.kind == 3 || a.kind == 4 ? 2 : 1, fits = 1;
        for (int e = 0; e < a.count; e++) {
            char was = used[a.target * N + a.first + e * a.gap];
            /* an access that tells the old value must be alone to have one that the model knows */
            fits &= was == 0 || (class == 2 && was == 2 && a.kind == 2);
        }
        if (!fits)
            continue;
        for (int e = 0; e < a.count; e++)
            used[a.target * N + a.first + e * a.gap] = (char)(a.kind == 2 ? 2 : 1);
        list[accesses++] = a;
    }
    begin(win, how, all);
    for (int i = 0; i < accesses; i++) {
        struct access *a = &list[i];
        int count;
        buffers[i] = check_alloc(sizeof(int) * (size_t)a->count), results[i] = check_alloc(sizeof(int) * (size_t)a->count);
        for (int e = 0; e < a->count; e++)
            buffers[i][e] = a->value + e, results[i][e] = -1;
        if (a->kind == 5)
            buffers[i][0] = a->value % 2 ? *at(a->target, a->first) : *at(a->target, a->first) + 1;
        for (int e = 0; e < a->count; e++) {
            int *element = at(a->target, a->first + e * a->gap);
            switch (a->kind) {
            case 0: *element = a->value + e; break;
            case 1: break;
            case 5: *element = a->value % 2 ? a->value : *element; break;
            default: *element = combined(number, *element, a->value + e);
            }
        }
        if (a->origin != check_rank)
            continue;
        MPI_Datatype type = target_type(a, &count);
        int *b = buffers[i], *r = results[i];
        if (how == 2)
            MPI_Win_lock(a->value % 3 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, a->target, 0, win);
        switch (a->kind) {
        case 0: MPI_Put(b, a->count, MPI_INT, a->target, a->first, count, type, win); break;
        case 1: MPI_Get(r, a->count, MPI_INT, a->target, a->first, count, type, win); break;
        case 2: MPI_Accumulate(b, a->count, MPI_INT, a->target, a->first, count, type, operation(number), win); break;
        case 3:
            MPI_Get_accumulate(b, a->count, MPI_INT, r, a->count, MPI_INT, a->target, a->first, count, type,
                               operation(number), win);
            break;
        case 4: MPI_Fetch_and_op(b, r, MPI_INT, a->target, a->first, operation(number), win); break;
        default: MPI_Compare_and_swap(&a->value, b, r, MPI_INT, a->target, a->first, win);
        }
        if (how == 2)
            MPI_Win_unlock(a->target, win);
        if (type != MPI_INT)
            MPI_Type_free(&type);
    }
    end(win, how);
    for (int i = 0; i < accesses; i++) {
        struct access *a = &list[i];
        if (a->origin == check_rank && (a->kind == 1 || a->kind >= 3))
            for (int e = 0; e < a->count; e++)
                CHECK_MSG(results[i][e] == before[a->target * N + a->first + e * a->gap],
                          "epoch %d, access %d of kind %d, element %d: %d instead of %d", number, i, a->kind, e,
                          results[i][e], before[a->target * N + a->first + e * a->gap]);
        free(buffers[i]), free(results[i]);
    }
    for (int e = 0; e < N; e++)
        CHECK_MSG(memory[e] == *at(check_rank, e), "epoch %d (kind %d), element %d of this rank: %d instead of %d", number,
                  how, e, memory[e], *at(check_rank, e));
    MPI_Barrier(MPI_COMM_WORLD);
    free(used), free(before);
}

int main(int argc, char **argv)
{
    int epochs = argc > 2 ? atoi(argv[2]) : 150, *memory, mine[N];
    MPI_Group all;
    MPI_Win win;
    if (argc > 3)
        setenv("OMPI_MCA_osc", argv[3], 1);
    start(&argc, &argv, "rma_differential");
    dice = (unsigned long long)(argc > 1 ? atoi(argv[1]) : 1);
    model = check_alloc(sizeof(int) * N * (size_t)check_ranks);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int how = 0; how < 3; how++) {
        if (how == 2)
            MPI_Win_allocate(sizeof mine, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        else if (how == 1)
            MPI_Alloc_mem(sizeof mine, MPI_INFO_NULL, &memory);
        else
            memory = mine;
        if (how < 2)
            MPI_Win_create(memory, sizeof mine, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        for (int rank = 0; rank < check_ranks; rank++)
            for (int e = 0; e < N; e++)
                *at(rank, e) = rank * 1000 + e;
        memcpy(memory, at(check_rank, 0), sizeof mine);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int number = 0; number < epochs && check_failures == 0; number++)
            epoch(win, number, all, memory);
        MPI_Win_free(&win);
        if (how == 1)
            MPI_Free_mem(memory);
    }
    MPI_Group_free(&all);
    free(model);
    return finish();
}

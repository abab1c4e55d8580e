// covers: MPI_T_source_get_num MPI_T_source_get_info MPI_T_source_get_timestamp MPI_T_event_get_num MPI_T_event_get_info MPI_T_event_get_index MPI_T_event_handle_alloc MPI_T_event_handle_set_info MPI_T_event_handle_get_info MPI_T_event_register_callback MPI_T_event_callback_set_info MPI_T_event_callback_get_info MPI_T_event_handle_free MPI_T_event_set_dropped_handler MPI_T_event_read MPI_T_event_copy MPI_T_event_get_timestamp MPI_T_event_get_source
// ranks: 1 3
/*
 * Events, MPI 5.0 section 15.3.8: sources and event types are what they say; callbacks hear of every blocking collective operation
 * on their communicator, its begin and its end, and of none on another one; a callback may call MPI and free its own registration.
 */
#include "tool.h"
#include <stddef.h>

struct heard {
    int begins, ends, nested, freed;
    int function[64];
    unsigned long long operation[64], last;
    char by[256];
    MPI_Count time;
    MPI_Comm inner;
};

static int begin_index, end_index, dropped_calls;

static void dropped(MPI_Count count, MPI_T_event_registration registration, int source, MPI_T_cb_safety safety, void *data)
{
    (void)count, (void)registration, (void)source, (void)safety, (void)data;
    dropped_calls++;
}

static void freed(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    (void)registration, (void)safety;
    ((struct heard *)data)->freed++;
}

static void began(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    struct heard *heard = data;
    struct {
        int function;
        unsigned long long operation;
    } all = {-1, 0};
    int function = -1, source = -1, at = heard->begins++ % 64;
    MPI_Count time = -1, later = -1;
    (void)registration;
    CHECK_EQ(safety, MPI_T_CB_REQUIRE_NONE);
    OK(MPI_T_event_read(instance, 0, &function));
    OK(MPI_T_event_read(instance, 1, &heard->operation[at]));
    heard->function[at] = function;
    OK(MPI_T_event_copy(instance, &all));
    CHECK_EQ(all.function, function);
    CHECK_EQ(all.operation, heard->operation[at]);
    TOOL(MPI_T_event_read(instance, 2, &function), MPI_T_ERR_INVALID_INDEX);
    TOOL(MPI_T_event_read(instance, -1, &function), MPI_T_ERR_INVALID_INDEX);
    TOOL(MPI_T_event_read(instance, 0, NULL), MPI_T_ERR_INVALID);
    OK(MPI_T_event_get_source(instance, &source));
    CHECK_EQ(source, 0);
    OK(MPI_T_event_get_timestamp(instance, &time));
    OK(MPI_T_source_get_timestamp(source, &later));
    CHECK(time >= heard->time && later >= time);
    heard->time = time;
}

static void ended(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    struct heard *heard = data;
    MPI_Count time = -1;
    (void)registration, (void)safety;
    heard->ends++;
    OK(MPI_T_event_read(instance, 1, &heard->last));
    /* The variable of the algorithm. */
    int variable = -1, length = sizeof heard->by, class = -1;
    OK(MPI_T_event_read(instance, 2, &variable));
    OK(MPI_T_pvar_get_info(variable, heard->by, &length, NULL, &class, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_EQ(class, MPI_T_PVAR_CLASS_COUNTER);
    OK(MPI_T_event_get_timestamp(instance, &time));
    CHECK(time >= heard->time);
    /* It may communicate, here on another communicator. */
    if (heard->inner != MPI_COMM_NULL) {
        int one = 1, sum = 0;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, heard->inner);
        CHECK_EQ(sum, check_ranks);
        heard->nested++;
    }
}

static void frees_itself(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    struct heard *heard = data;
    int function = -1;
    (void)safety;
    heard->begins++;
    OK(MPI_T_event_handle_free(registration, heard, freed));
    CHECK_EQ(heard->freed, 0); /* not while it runs */
    OK(MPI_T_event_read(instance, 0, &function));
}

static void walk(void)
{
    int sources = -1, events = -1, same = -1;
    OK(MPI_T_source_get_num(&sources));
    OK(MPI_T_event_get_num(&events));
    CHECK(sources == 2 && events == 9);
    for (int index = 0; index < sources; index++) {
        char name[64], description[256];
        int name_length = sizeof name, description_length = sizeof description;
        MPI_T_source_order order;
        MPI_Count ticks = 0, most = 0, first = -1, second = -1;
        MPI_Info info = MPI_INFO_NULL;
        OK(MPI_T_source_get_info(index, name, &name_length, description, &description_length, &order, &ticks, &most, &info));
        CHECK(strlen(name) + 1 == (size_t)name_length && strlen(description) + 1 == (size_t)description_length);
        CHECK(order == (index == 0 ? MPI_T_SOURCE_UNORDERED : MPI_T_SOURCE_ORDERED) && ticks == 1000000000 && most > ticks && info != MPI_INFO_NULL);
        MPI_Info_free(&info);
        OK(MPI_T_source_get_timestamp(index, &first));
        OK(MPI_T_source_get_timestamp(index, &second));
        CHECK(first > 0 && second >= first);
    }
    for (int index = 0; index < events; index++) {
        char name[64], description[512];
        int name_length = sizeof name, description_length = sizeof description, verbosity, bind, elements = 4, words = 0, short_of = 1;
        MPI_Datatype types[4] = {0, 0, 0, 0};
        MPI_Aint displacements[4] = {-1, -1, -1, -1};
        MPI_T_enum functions = MPI_T_ENUM_NULL;
        MPI_Info info = MPI_INFO_NULL;
        OK(MPI_T_event_get_info(index, name, &name_length, &verbosity, types, displacements, &elements, &functions, &info,
                                description, &description_length, &bind));
        CHECK(strlen(name) + 1 == (size_t)name_length && strlen(description) + 1 == (size_t)description_length);
        CHECK(types[0] == MPI_INT && displacements[0] == 0);
        int is_of_transport = strncmp(name, "btl_", 4) == 0;
        CHECK_EQ(bind, is_of_transport ? MPI_T_BIND_NO_OBJECT : MPI_T_BIND_MPI_COMM);
        if (is_of_transport) {
            CHECK(elements == 2 && types[1] == MPI_INT && types[2] == 0 && displacements[1] == 4 && displacements[2] == -1);
            OK(MPI_T_enum_get_info(functions, &words, NULL, NULL));
            CHECK(words >= 2);
        } else if (strncmp(name, "coll_", 5) == 0) {
            int is_end = strcmp(name, "coll_end") == 0;
            CHECK(elements == 2 + is_end && types[1] == MPI_UNSIGNED_LONG_LONG && types[2] == (is_end ? MPI_INT : 0));
            CHECK(displacements[1] == 8 && displacements[2] == (is_end ? 16 : -1) && displacements[3] == -1);
            OK(MPI_T_enum_get_info(functions, &words, NULL, NULL));
            CHECK(words > 15);
        } else {
            CHECK(elements == 3 && types[1] == MPI_INT && types[2] == MPI_UNSIGNED_LONG_LONG && types[3] == 0);
            CHECK(displacements[1] == 4 && displacements[2] == 8 && displacements[3] == -1);
            CHECK(functions == MPI_T_ENUM_NULL);
        }
        MPI_Info_free(&info);
        OK(MPI_T_event_get_index(name, &same));
        CHECK_EQ(same, index);
        types[1] = 0;
        OK(MPI_T_event_get_info(index, NULL, NULL, NULL, types, NULL, &short_of, NULL, NULL, NULL, NULL, NULL));
        CHECK(short_of == elements && types[1] == 0);
    }
    OK(MPI_T_event_get_index("coll_begin", &begin_index));
    OK(MPI_T_event_get_index("coll_end", &end_index));
}

static void name_is(int function, const char *wanted)
{
    char name[64];
    int length = sizeof name, value = -1;
    MPI_T_enum functions;
    OK(MPI_T_event_get_info(begin_index, NULL, NULL, NULL, NULL, NULL, NULL, &functions, NULL, NULL, NULL, NULL));
    OK(MPI_T_enum_get_item(functions, function, &value, name, &length));
    CHECK_MSG(value == function && strcmp(name, wanted) == 0, "expected %s, heard of %s", wanted, name);
}

static MPI_T_event_registration hear(int event, MPI_Comm comm, MPI_T_event_cb_function function, struct heard *heard)
{
    MPI_T_event_registration registration = 0;
    OK(MPI_T_event_handle_alloc(event, &comm, MPI_INFO_NULL, &registration));
    OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, heard, function));
    OK(MPI_T_event_set_dropped_handler(registration, dropped));
    return registration;
}

static void collectives(void)
{
    struct heard heard = {.inner = MPI_COMM_NULL}, once = {.inner = MPI_COMM_NULL};
    MPI_Comm comm, other;
    int value = check_rank, sum = 0, all[64];
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_T_event_registration begin = hear(begin_index, comm, began, &heard), end = hear(end_index, comm, ended, &heard);
    MPI_Barrier(comm);
    MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, comm);
    MPI_Barrier(other);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(heard.begins == 4 && heard.ends == 4);
    static const char *const names[] = {"MPI_Barrier", "MPI_Bcast", "MPI_Allreduce", "MPI_Allgather"};
    for (int at = 0; at < 4; at++) {
        name_is(heard.function[at], names[at]);
        CHECK(at == 0 || heard.operation[at] > heard.operation[at - 1]);
    }
    CHECK_EQ(heard.last, heard.operation[3]);
    CHECK_MSG(strncmp(heard.by, "coll_", 5) == 0 && strstr(heard.by, "_allgather_"), "%s by %s", names[3], heard.by);
    /* From within a callback. */
    heard.inner = other;
    MPI_Barrier(comm);
    CHECK(heard.ends == 5 && heard.nested == 1);
    heard.inner = MPI_COMM_NULL;
    /* A wrong call is no operation. */
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Bcast(&value, 1, MPI_INT, check_ranks, comm), MPI_ERR_ROOT);
    CHECK_EQ(heard.begins, 5);
    /* Without a callback nothing is heard, and without a registration. */
    OK(MPI_T_event_register_callback(begin, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, NULL));
    MPI_Barrier(comm);
    CHECK(heard.begins == 5 && heard.ends == 6);
    OK(MPI_T_event_register_callback(begin, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, &heard, began));
    MPI_Barrier(comm);
    CHECK(heard.begins == 6 && heard.ends == 7);
    OK(MPI_T_event_handle_free(end, &heard, freed));
    CHECK_EQ(heard.freed, 1);
    MPI_Barrier(comm);
    CHECK(heard.begins == 7 && heard.ends == 7);
    /* One that frees itself. */
    hear(begin_index, comm, frees_itself, &once);
    MPI_Barrier(comm);
    CHECK(once.begins == 1 && once.freed == 1);
    MPI_Barrier(comm);
    CHECK(once.begins == 1 && once.freed == 1);
    /* The communicator goes first. */
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int before = heard.begins;
    MPI_Barrier(comm);
    CHECK_EQ(heard.begins, before);
    OK(MPI_T_event_handle_free(begin, NULL, NULL));
    MPI_Comm_free(&comm);
    MPI_Comm_free(&other);
    CHECK_EQ(dropped_calls, 0);
}

static void refused(void)
{
    MPI_T_event_registration registration, stale;
    MPI_T_event_instance instance = (MPI_T_event_instance)0x4711;
    MPI_Comm world = MPI_COMM_WORLD, none = MPI_COMM_NULL;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Count time;
    int index;
    char room[64];
    for (int wrong = -1; wrong < 10; wrong += 10) {
        TOOL(MPI_T_source_get_info(wrong, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
        TOOL(MPI_T_source_get_timestamp(wrong, &time), MPI_T_ERR_INVALID_INDEX);
        TOOL(MPI_T_event_get_info(wrong, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
             MPI_T_ERR_INVALID_INDEX);
        TOOL(MPI_T_event_handle_alloc(wrong, &world, MPI_INFO_NULL, &registration), MPI_T_ERR_INVALID_INDEX);
    }
    TOOL(MPI_T_event_get_index("no such event", &index), MPI_T_ERR_INVALID_NAME);
    TOOL(MPI_T_event_handle_alloc(begin_index, NULL, MPI_INFO_NULL, &registration), MPI_T_ERR_INVALID);
    TOOL(MPI_T_event_handle_alloc(begin_index, &none, MPI_INFO_NULL, &registration), MPI_T_ERR_INVALID);
    OK(MPI_T_event_handle_alloc(begin_index, &world, MPI_INFO_NULL, &registration));
    OK(MPI_T_event_handle_set_info(registration, MPI_INFO_NULL));
    OK(MPI_T_event_handle_get_info(registration, &info));
    MPI_Info_free(&info);
    TOOL(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &info), MPI_T_ERR_INVALID);
    TOOL(MPI_T_event_register_callback(registration, (MPI_T_cb_safety)1, MPI_INFO_NULL, room, began), MPI_T_ERR_INVALID);
    OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, room, began));
    OK(MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL));
    OK(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, &info));
    MPI_Info_free(&info);
    stale = registration;
    OK(MPI_T_event_handle_free(registration, NULL, NULL));
    TOOL(MPI_T_event_handle_free(stale, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_event_handle_set_info(stale, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_event_set_dropped_handler(stale, dropped), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_event_register_callback(stale, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, room, began), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_event_read(instance, 0, room), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_event_copy(instance, room), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_event_get_timestamp(instance, &time), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_event_get_source(instance, &index), MPI_T_ERR_INVALID_HANDLE);
}

int main(int argc, char **argv)
{
    int number;
    MPI_T_event_registration registration;
    MPI_Comm world = MPI_COMM_WORLD;
    check_name = "tool_events";
    TOOL(MPI_T_event_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    TOOL(MPI_T_event_read(NULL, 0, NULL), MPI_T_ERR_NOT_INITIALIZED);
    tool_start();
    walk();
    TOOL(MPI_T_event_handle_alloc(begin_index, &world, MPI_INFO_NULL, &registration), MPI_T_ERR_NOT_ACCESSIBLE);
    start(&argc, &argv, "tool_events");
    walk();
    collectives();
    refused();
    OK(MPI_T_finalize());
    return finish();
}

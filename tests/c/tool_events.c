// covers: MPI_T_source_get_num MPI_T_source_get_info MPI_T_source_get_timestamp MPI_T_event_get_num MPI_T_event_get_info MPI_T_event_get_index MPI_T_event_handle_alloc MPI_T_event_handle_set_info MPI_T_event_handle_get_info MPI_T_event_register_callback MPI_T_event_callback_set_info MPI_T_event_callback_get_info MPI_T_event_handle_free MPI_T_event_set_dropped_handler MPI_T_event_read MPI_T_event_copy MPI_T_event_get_timestamp MPI_T_event_get_source
// ranks: 1
/*
 * Events, MPI 5.0 section 15.3.8: a tool that walks through sources and events finds as many as it was told, none; what it makes
 * up is refused with the class for it.
 */
#include "tool.h"

static int called;

static void happened(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    (void)instance, (void)registration, (void)safety, (void)data;
    called++;
}

static void dropped(MPI_Count count, MPI_T_event_registration registration, int source, MPI_T_cb_safety safety, void *data)
{
    (void)count, (void)registration, (void)source, (void)safety, (void)data;
    called++;
}

static void freed(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    (void)registration, (void)safety, (void)data;
    called++;
}

static void walk(void)
{
    int sources = -1, events = -1;
    OK(MPI_T_source_get_num(&sources));
    OK(MPI_T_event_get_num(&events));
    CHECK_EQ(sources, 0);
    CHECK_EQ(events, 0);
    TOOL(MPI_T_source_get_num(NULL), MPI_T_ERR_INVALID);
    TOOL(MPI_T_event_get_num(NULL), MPI_T_ERR_INVALID);
}

static void refused(void)
{
    MPI_T_event_registration registration;
    MPI_T_event_instance instance = (MPI_T_event_instance)0x4711;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Count time;
    int index;
    char room[64];
    for (int wrong = -1; wrong < 2; wrong++) {
        TOOL(MPI_T_source_get_info(wrong, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
        TOOL(MPI_T_source_get_timestamp(wrong, &time), MPI_T_ERR_INVALID_INDEX);
        TOOL(MPI_T_event_get_info(wrong, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
             MPI_T_ERR_INVALID_INDEX);
        TOOL(MPI_T_event_handle_alloc(wrong, NULL, MPI_INFO_NULL, &registration), MPI_T_ERR_INVALID_INDEX);
    }
    TOOL(MPI_T_event_get_index("no such event", &index), MPI_T_ERR_INVALID_NAME);
    registration = (MPI_T_event_registration)0x4711;
    TOOL(MPI_T_event_handle_set_info(registration, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_event_handle_get_info(registration, &info), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, room, happened),
         MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &info), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_event_set_dropped_handler(registration, dropped), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_event_handle_free(registration, room, freed), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_event_read(instance, 0, room), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_event_copy(instance, room), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_event_get_timestamp(instance, &time), MPI_T_ERR_INVALID_HANDLE);
    TOOL(MPI_T_event_get_source(instance, &index), MPI_T_ERR_INVALID_HANDLE);
    CHECK(info == MPI_INFO_NULL && called == 0);
}

int main(int argc, char **argv)
{
    int number;
    check_name = "tool_events";
    TOOL(MPI_T_event_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    TOOL(MPI_T_event_read(NULL, 0, NULL), MPI_T_ERR_NOT_INITIALIZED);
    tool_start();
    walk();
    start(&argc, &argv, "tool_events");
    walk();
    refused();
    OK(MPI_T_finalize());
    return finish();
}

// covers: MPI_T_category_get_num MPI_T_category_get_info MPI_T_category_get_index MPI_T_category_get_cvars MPI_T_category_get_pvars MPI_T_category_get_categories MPI_T_category_changed MPI_T_category_get_events MPI_T_category_get_num_events
// ranks: 1
/*
 * Categories, MPI 5.0 section 15.3.9: what they say of themselves agrees with what they hold; every control variable is in one.
 */
#include "tool.h"

enum { MOST = 4096 };

static int in_category[MOST], below[MOST];

static void one(int index)
{
    char name[256], description[1024];
    int name_length = sizeof name, description_length = sizeof description, cvars = -1, pvars = -1, inner = -1, same = -1;
    static int list[MOST];
    OK(MPI_T_category_get_info(index, name, &name_length, description, &description_length, &cvars, &pvars, &inner));
    CHECK(strlen(name) + 1 == (size_t)name_length && name_length > 1);
    OK(MPI_T_category_get_index(name, &same));
    CHECK_EQ(same, index);
    CHECK(cvars >= 0 && pvars >= 0 && inner >= 0 && cvars < MOST && pvars < MOST && inner < MOST);
    memset(list, -1, sizeof list);
    OK(MPI_T_category_get_cvars(index, cvars, list));
    for (int at = 0; at < cvars; at++) {
        CHECK(list[at] >= 0 && list[at] < MOST);
        in_category[list[at] % MOST]++;
    }
    memset(list, -1, sizeof list);
    OK(MPI_T_category_get_pvars(index, pvars, list));
    for (int at = 0; at < pvars; at++)
        CHECK(list[at] >= 0);
    memset(list, -1, sizeof list);
    OK(MPI_T_category_get_categories(index, inner, list));
    for (int at = 0; at < inner; at++) {
        CHECK(list[at] >= 0 && list[at] < MOST && list[at] != index);
        below[list[at] % MOST]++;
    }
    if (!is_ours())
        return;
    CHECK_EQ(list[inner], -1);
    /* Less room than there is something for. */
    if (inner > 1) {
        list[1] = -7;
        OK(MPI_T_category_get_categories(index, 1, list));
        CHECK(list[0] >= 0 && list[1] == -7);
    }
    OK(MPI_T_category_get_categories(index, 0, NULL));
    TOOL(MPI_T_category_get_categories(index, -1, list), MPI_T_ERR_INVALID);
    OK(MPI_T_category_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
}

#ifdef MPI_ABI_VERSION
static void events(int number)
{
    for (int index = 0; index < number; index++) {
        int events = -1, list[64];
        OK(MPI_T_category_get_num_events(index, &events));
        CHECK(events >= 0 && events <= 64);
        OK(MPI_T_category_get_events(index, events, list));
    }
    TOOL(MPI_T_category_get_num_events(number, &number), MPI_T_ERR_INVALID_INDEX);
}
#endif

static void tree(void)
{
    static const char *const inner[] = {"btl_self", "pml_ob1", "coll_basic"};
    static const char *const outer[] = {"opal", "orte", "ompi"};
    int index = -1;
    for (int at = 0; at < 3; at++) {
        OK(MPI_T_category_get_index(inner[at], &index));
        CHECK_EQ(below[index], 1);
        OK(MPI_T_category_get_index(outer[at], &index));
        CHECK_EQ(below[index], 0);
    }
}

int main(int argc, char **argv)
{
    int number = -1, cvars = -1, first = -1, later = -1;
    check_name = "tool_categories";
    TOOL(MPI_T_category_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    tool_start();
    OK(MPI_T_category_changed(&first));
    OK(MPI_T_category_get_num(&number));
    for (int index = 0; index < number; index++)
        one(index);
    TOOL(MPI_T_category_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    TOOL(MPI_T_category_get_index("no such category", &later), MPI_T_ERR_INVALID_NAME);
    OK(MPI_T_cvar_get_num(&cvars));
    if (is_ours()) {
        for (int index = 0; index < cvars; index++)
            CHECK_EQ(in_category[index], 1);
        tree();
    }
#ifdef MPI_ABI_VERSION
    events(number);
#endif
    start(&argc, &argv, "tool_categories");
    OK(MPI_T_category_changed(&later));
    if (is_ours())
        CHECK_EQ(later, first);
    OK(MPI_T_finalize());
    return finish();
}

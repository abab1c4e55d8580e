// covers: MPI_Alloc_mem MPI_Free_mem MPI_Info_create MPI_Info_set MPI_Info_get MPI_Info_get_string MPI_Info_get_valuelen MPI_Info_get_nkeys MPI_Info_get_nthkey MPI_Info_delete MPI_Info_dup MPI_Info_free
// covers: MPI_Add_error_class MPI_Add_error_code MPI_Add_error_string MPI_Remove_error_string MPI_Remove_error_code MPI_Remove_error_class MPI_Comm_get_attr MPI_Comm_call_errhandler MPI_Pcontrol
// covers: MPI_Group_union MPI_Group_intersection MPI_Group_difference MPI_Group_range_incl MPI_Group_range_excl MPI_Group_excl MPI_Group_compare MPI_Pack MPI_Unpack MPI_Pack_size MPI_Aint_add MPI_Aint_diff MPI_Get_address
// covers: MPI_Abi_get_info MPI_Abi_get_fortran_info MPI_Abi_get_fortran_booleans MPI_Abi_set_fortran_info MPI_Status_set_source MPI_Status_set_tag MPI_Status_set_error MPI_Status_get_source MPI_Status_get_tag MPI_Status_get_error MPI_Status_set_elements MPI_Status_set_cancelled MPI_Test_cancelled
// covers: MPI_Comm_toint MPI_Comm_fromint MPI_Errhandler_toint MPI_Errhandler_fromint MPI_File_toint MPI_File_fromint MPI_Group_toint MPI_Group_fromint MPI_Info_toint MPI_Info_fromint MPI_Message_toint MPI_Message_fromint MPI_Op_toint MPI_Op_fromint MPI_Request_toint MPI_Request_fromint MPI_Session_toint MPI_Session_fromint MPI_Type_toint MPI_Type_fromint MPI_Win_toint MPI_Win_fromint
/*
 * Calls that concern this process alone: memory (MPI 5.0 section 9.2), info objects (10), error codes (9.5), attributes
 * (9.1.2), groups (7.3), packing (5.2), statuses (3.2.5, 13.3), handles as integers and what the ABI says of itself (20).
 */
#include "check.h"

static void memory(void)
{
    for (MPI_Aint bytes = 0; bytes < 1 << 22; bytes = bytes * 5 + 1) {
        unsigned char *at = NULL;
        MPI_Alloc_mem(bytes, MPI_INFO_NULL, &at);
        CHECK(at != NULL);
        fill(at, (size_t)bytes, 1);
        CHECK_BYTES(at, (size_t)bytes, 1);
        MPI_Free_mem(at);
    }
    CHECK_CLASS(MPI_Alloc_mem(-1, MPI_INFO_NULL, &(void *){NULL}), MPI_ERR_ARG);
}

static void info(void)
{
    MPI_Info one, two;
    char text[MPI_MAX_INFO_VAL], longest[MPI_MAX_INFO_KEY + 1];
    int number, flag, room = 4;
    MPI_Info_create(&one);
    MPI_Info_set(one, "first", "1");
    MPI_Info_set(one, "second", "a longer value");
    MPI_Info_set(one, "first", "one");
    MPI_Info_dup(one, &two);
    MPI_Info_delete(one, "first");
    MPI_Info_get_nkeys(one, &number);
    CHECK_EQ(number, 1);
    MPI_Info_get_nthkey(two, 1, text);
    CHECK(strcmp(text, "second") == 0);
    MPI_Info_get_string(two, "second", &room, text, &flag);
    CHECK(flag && strcmp(text, "a l") == 0);
    CHECK_EQ(room, 15);
    MPI_Info_get(two, "first", 3, text, &flag);
    CHECK(flag && strcmp(text, "one") == 0);
    MPI_Info_get_valuelen(two, "first", &number, &flag);
    CHECK(flag && number == 3);
    MPI_Info_get_valuelen(one, "first", &number, &flag);
    CHECK(!flag);
    memset(longest, 'k', MPI_MAX_INFO_KEY);
    longest[MPI_MAX_INFO_KEY] = 0;
    CHECK_CLASS(MPI_Info_set(one, longest, "1"), MPI_ERR_INFO_KEY);
    CHECK_CLASS(MPI_Info_delete(one, "third"), MPI_ERR_INFO_NOKEY);
    MPI_Info_free(&one);
    CHECK(one == MPI_INFO_NULL);
    CHECK_CLASS(MPI_Info_free(&one), MPI_ERR_INFO);
    MPI_Info_free(&two);
}

static void codes(void)
{
    int class, code, *last, flag, length, got;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    CHECK(class > MPI_ERR_LASTCODE && code > class);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    CHECK(flag && *last == code);
    MPI_Error_class(code, &got);
    CHECK_EQ(got, class);
    MPI_Add_error_string(code, "the reactor is hot");
    MPI_Error_string(code, text, &length);
    CHECK(length == 18 && strcmp(text, "the reactor is hot") == 0);
    MPI_Remove_error_string(code);
    MPI_Error_string(code, text, &length);
    CHECK_EQ(length, 0);
    CHECK_EQ(MPI_Comm_call_errhandler(MPI_COMM_SELF, code), MPI_SUCCESS);
    MPI_Remove_error_code(code);
    CHECK_CLASS(MPI_Remove_error_code(code), MPI_ERR_ARG);
    MPI_Remove_error_class(class);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &last, &flag);
    CHECK(flag && *last >= 32767);
    CHECK_CLASS(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &last, &flag), MPI_ERR_KEYVAL);
}

static void groups(void)
{
    MPI_Group world, part, rest, both;
    int first_half[1][3] = {{0, (check_ranks - 1) / 2, 1}}, zero = 0, result, size;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, first_half, &part);
    MPI_Group_range_excl(world, 1, first_half, &rest);
    MPI_Group_union(part, rest, &both);
    MPI_Group_compare(world, both, &result);
    CHECK_EQ(result, MPI_IDENT);
    MPI_Group_free(&both);
    MPI_Group_intersection(part, rest, &both);
    CHECK(both == MPI_GROUP_EMPTY);
    MPI_Group_difference(world, part, &both);
    MPI_Group_compare(rest, both, &result);
    CHECK_EQ(result, MPI_IDENT);
    MPI_Group_free(&both);
    MPI_Group_excl(world, 1, &zero, &both);
    MPI_Group_size(both, &size);
    CHECK_EQ(size, check_ranks - 1);
    first_half[0][2] = 0;
    CHECK_CLASS(MPI_Group_range_incl(world, 1, first_half, &both), MPI_ERR_ARG);
    MPI_Group_free(&both);
    MPI_Group_free(&part);
    MPI_Group_free(&rest);
    MPI_Group_free(&world);
    CHECK(world == MPI_GROUP_NULL);
}

static void packing(void)
{
    char packed[64];
    int whole = 7, position = 0, size, got = 0, pair[4];
    double real = 2.5, read = 0;
    MPI_Aint here, there;
    MPI_Pack(&whole, 1, MPI_INT, packed, sizeof packed, &position, MPI_COMM_SELF);
    MPI_Pack(&real, 1, MPI_DOUBLE, packed, sizeof packed, &position, MPI_COMM_SELF);
    MPI_Pack_size(1, MPI_DOUBLE, MPI_COMM_SELF, &size);
    CHECK(size >= 8 && position >= 12);
    size = position;
    position = 0;
    MPI_Unpack(packed, size, &position, &got, 1, MPI_INT, MPI_COMM_SELF);
    MPI_Unpack(packed, size, &position, &read, 1, MPI_DOUBLE, MPI_COMM_SELF);
    CHECK(got == 7 && read == 2.5 && position == size);
    MPI_Get_address(&pair[0], &here);
    MPI_Get_address(&pair[3], &there);
    CHECK_EQ(MPI_Aint_diff(there, here), 3 * sizeof(int));
    CHECK_EQ(MPI_Aint_add(here, 12), there);
}

static void statuses(void)
{
    MPI_Status status = {0};
    int value;
    MPI_Status_set_source(&status, 3);
    MPI_Status_set_tag(&status, 4);
    MPI_Status_set_error(&status, 5);
    MPI_Status_set_elements(&status, MPI_DOUBLE, 6);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Status_get_source(&status, &value);
    CHECK(value == 3 && status.MPI_SOURCE == 3);
    MPI_Status_get_tag(&status, &value);
    CHECK(value == 4 && status.MPI_TAG == 4);
    MPI_Status_get_error(&status, &value);
    CHECK(value == 5 && status.MPI_ERROR == 5);
    MPI_Test_cancelled(&status, &value);
    CHECK(value);
    MPI_Get_count(&status, MPI_INT, &value);
    CHECK_EQ(value, 12);
}

static void binary_interface(void)
{
    MPI_Info info;
    char text[8];
    int flag, room = sizeof text;
    int yes = -1, no = -1;
    MPI_Abi_get_info(&info);
    MPI_Info_get_string(info, "mpi_aint_size", &room, text, &flag);
    CHECK(flag && atoi(text) == sizeof(MPI_Aint));
    MPI_Info_free(&info);
    MPI_Abi_get_fortran_info(&info);
    CHECK(info != MPI_INFO_NULL);
    room = sizeof text;
    MPI_Info_get_string(info, "mpi_integer_size", &room, text, &flag);
    CHECK(flag && atoi(text) == 4);
    CHECK_CLASS(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
    MPI_Info_free(&info);
    MPI_Abi_get_fortran_booleans(sizeof yes, &yes, &no, &flag);
    CHECK(flag && yes == 1 && no == 0);
}

static void integers(void)
{
    CHECK_EQ(MPI_Comm_toint(MPI_COMM_SELF), 258);
    CHECK(MPI_Comm_fromint(258) == MPI_COMM_SELF);
    CHECK_EQ(MPI_Errhandler_toint(MPI_ERRORS_RETURN), 323);
    CHECK(MPI_Errhandler_fromint(323) == MPI_ERRORS_RETURN);
    CHECK_EQ(MPI_File_toint(MPI_FILE_NULL), 280);
    CHECK(MPI_File_fromint(280) == MPI_FILE_NULL);
    CHECK_EQ(MPI_Group_toint(MPI_GROUP_EMPTY), 265);
    CHECK(MPI_Group_fromint(265) == MPI_GROUP_EMPTY);
    CHECK_EQ(MPI_Info_toint(MPI_INFO_NULL), 304);
    CHECK(MPI_Info_fromint(304) == MPI_INFO_NULL);
    CHECK_EQ(MPI_Message_toint(MPI_MESSAGE_NO_PROC), 297);
    CHECK(MPI_Message_fromint(297) == MPI_MESSAGE_NO_PROC);
    CHECK_EQ(MPI_Op_toint(MPI_MAXLOC), 57);
    CHECK(MPI_Op_fromint(57) == MPI_MAXLOC);
    CHECK_EQ(MPI_Request_toint(MPI_REQUEST_NULL), 384);
    CHECK(MPI_Request_fromint(384) == MPI_REQUEST_NULL);
    CHECK_EQ(MPI_Session_toint(MPI_SESSION_NULL), 288);
    CHECK(MPI_Session_fromint(288) == MPI_SESSION_NULL);
    CHECK_EQ(MPI_Type_toint(MPI_DOUBLE), 532);
    CHECK(MPI_Type_fromint(532) == MPI_DOUBLE);
    CHECK_EQ(MPI_Win_toint(MPI_WIN_NULL), 272);
    CHECK(MPI_Win_fromint(272) == MPI_WIN_NULL);
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "local_calls");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    memory();
    info();
    codes();
    groups();
    packing();
    statuses();
    binary_interface();
    integers();
    CHECK_EQ(MPI_Pcontrol(1, 2, 3), MPI_SUCCESS);
    return finish();
}

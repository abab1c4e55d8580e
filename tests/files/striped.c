/* Makes a file with hints for its stripes, and opens it again: the second time it is there, and keeps what it has. Hints that the file
 * system has not followed are not told of it. */
#include "../c/file.h"

int main(int argc, char **argv)
{
    static const char *const hints[][2] = {{"striping_factor", "4"}, {"striping_unit", "1048576"}, {"start_iodevice", "3"}};
    start(&argc, &argv, "striped");
    const char *name = file_at("striped"), *loaded = getenv("LD_PRELOAD");
    int obeyed = loaded && strstr(loaded, "lustre.so") && !getenv("LUSTRE_REFUSES");
    MPI_File file;
    MPI_Info info, used;
    MPI_Info_create(&info);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        MPI_Info_set(info, hints[i][0], hints[i][1]);
    for (int again = 0; again < 2; again++) {
        int amode = MPI_MODE_RDWR | MPI_MODE_CREATE | (again ? MPI_MODE_DELETE_ON_CLOSE : MPI_MODE_EXCL);
        GOOD(MPI_File_open(MPI_COMM_WORLD, name, amode, info, &file));
        GOOD(MPI_File_get_info(file, &used));
        for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
            char value[32] = "";
            int room = sizeof value, flag;
            MPI_Info_get_string(used, hints[i][0], &room, value, &flag);
            /* The unit is of use where processes gather, too. */
            int told = (obeyed && !again) || strcmp(hints[i][0], "striping_unit") == 0;
            CHECK_MSG(told ? flag && strcmp(value, hints[i][1]) == 0 : !flag, "%s is '%s'", hints[i][0], value);
        }
        MPI_Info_free(&used);
        MPI_Offset size = -1;
        GOOD(MPI_File_write_at_all(file, 5000 * check_rank, hints, 100, MPI_BYTE, MPI_STATUS_IGNORE));
        GOOD(MPI_File_get_size(file, &size));
        CHECK(size > 0);
        GOOD(MPI_File_close(&file));
    }
    MPI_Info_free(&info);
    return finish();
}

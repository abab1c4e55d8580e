/*
 * How many threads this process has, as the system lists them: for programs that test when the library has one of its own.
 */
#ifndef THREAD_COUNT_H
#define THREAD_COUNT_H
#include <dirent.h>

/* -1 where the system does not list them. */
static int thread_count(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    if (folder == NULL)
        return -1;
    for (struct dirent *one = readdir(folder); one != NULL; one = readdir(folder))
        count += one->d_name[0] != '.';
    closedir(folder);
    return count;
}

#endif

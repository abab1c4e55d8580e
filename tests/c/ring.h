/* Whether nonblocking accesses to files can go on beside the program. */
#ifndef RING_H
#define RING_H
#include "file.h"
#include <dirent.h>
#include <errno.h>
#include <sys/syscall.h>

/* Whether the process has an io_uring instance. */
static inline int has_ring(void)
{
    int found = 0;
    DIR *open_files = opendir("/proc/self/fd");
    for (struct dirent *entry; open_files && (entry = readdir(open_files));) {
        char to[64] = "";
        ssize_t length = readlinkat(dirfd(open_files), entry->d_name, to, sizeof to - 1);
        found |= length > 0 && strstr(to, "io_uring") != NULL;
    }
    if (open_files)
        closedir(open_files);
    return found;
}

/* The system looks at whether this process may use io_uring before it looks at the arguments. */
static inline int may_have_ring(void)
{
    return syscall(SYS_io_uring_setup, 0, NULL) == -1 && errno != ENOSYS && errno != EPERM;
}

#endif

/*
 * A Lustre file system that is not there, before the C library's statfs, open and ioctl. Loaded by LD_PRELOAD into the ranks of a
 * job: every file lies on Lustre, and what a process asks for a file's stripes (LL_IOC_LOV_SETSTRIPE of lustre_user.h) is told on
 * standard error. With LUSTRE_REFUSES in the environment it is refused.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>

enum { LUSTRE = 0x0BD00BD0, STRUCTURE = 32 };
#define SET_STRIPES _IOW('f', 154, long)
/* The descriptor that was opened without stripes. */
static int without = -1;

static int kind(const char *call, const char *path, struct statfs *about)
{
    int (*real)(const char *, struct statfs *) = (int (*)(const char *, struct statfs *))dlsym(RTLD_NEXT, call);
    int code = real(path, about);
    about->f_type = LUSTRE;
    return code;
}

int statfs(const char *path, struct statfs *about)
{
    return kind("statfs", path, about);
}

int statfs64(const char *path, struct statfs64 *about)
{
    return kind("statfs64", path, (struct statfs *)about);
}

int open(const char *path, int flags, ...)
{
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    va_list rest;
    va_start(rest, flags);
    int file = real(path, flags, va_arg(rest, int));
    va_end(rest);
    if (file >= 0 && (flags & O_CREAT) && (flags & O_EXCL) && (flags & O_NOCTTY) && (flags & O_ASYNC))
        without = file;
    return file;
}

int ioctl(int file, unsigned long what, ...)
{
    int (*real)(int, unsigned long, ...) = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
    va_list rest;
    va_start(rest, what);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (what != SET_STRIPES)
        return real(file, what, argument);
    char text[2 * STRUCTURE + 1];
    for (int i = 0; i < STRUCTURE; i++)
        snprintf(text + 2 * i, 3, "%02x", ((unsigned char *)argument)[i]);
    fprintf(stderr, "stripes of a file %s: %s\n", file == without ? "without any" : "that has some", text);
    return getenv("LUSTRE_REFUSES") ? (errno = EINVAL, -1) : 0;
}

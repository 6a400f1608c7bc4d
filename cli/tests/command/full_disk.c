// Loaded into the command (LD_PRELOAD): while the file that BOOKRAG_TEST_FULL_DISK names exists, the disk of `.bookrag` is full.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_full(int file) {
    const char *marker = getenv("BOOKRAG_TEST_FULL_DISK");
    if (marker == NULL || access(marker, F_OK) != 0) return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strstr(path, "/.bookrag/") != NULL;
}

#define REFUSE_IF_FULL(file) \
    if (is_full(file)) { errno = ENOSPC; return -1; }

ssize_t write(int file, const void *bytes, size_t length) {
    REFUSE_IF_FULL(file)
    ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    return real(file, bytes, length);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset) {
    REFUSE_IF_FULL(file)
    ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
    return real(file, bytes, length, offset);
}

/* Preloaded into a process, adds the seconds in the 8-byte file BENCH_CLOCK to its wall clock; monotonic clocks stay.
 *
 * libfaketime 0.9.10 (Debian 12) answers clock_nanosleep of an absolute time with EINVAL, which is what Python's
 * time.sleep() calls since 3.11.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *ahead_seconds;

__attribute__((constructor)) static void map_clock(void) {
    const char *path = getenv("BENCH_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *mapped = mmap(NULL, sizeof *ahead_seconds, PROT_READ, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) ahead_seconds = mapped;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int status = (int)syscall(SYS_clock_gettime, clock, now);
    int is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    if (status == 0 && is_wall && ahead_seconds) now->tv_sec += *ahead_seconds;
    return status;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec precise;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *told) {
    struct timespec precise;
    if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
    if (told) *told = precise.tv_sec;
    return precise.tv_sec;
}

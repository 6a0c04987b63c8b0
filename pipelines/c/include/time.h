/* Clocks; only code outside the top function may use them. */
#ifndef SIMFOUNDRY_TIME_H
#define SIMFOUNDRY_TIME_H
#include <stddef.h>
#define CLOCKS_PER_SEC 1000000l
#define CLOCK_MONOTONIC 1
#define CLOCK_REALTIME 0
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_THREAD_CPUTIME_ID 3
#define TIME_UTC 1
typedef long time_t;
typedef long clock_t;
typedef int clockid_t;
struct tm {
    int tm_sec;
    int tm_min;
    int tm_hour;
    int tm_mday;
    int tm_mon;
    int tm_year;
    int tm_wday;
    int tm_yday;
    int tm_isdst;
    long tm_gmtoff;
    const char *tm_zone;
};
struct timespec {
    time_t tv_sec;
    long tv_nsec;
};
time_t time(time_t *now);
clock_t clock(void);
double difftime(time_t end, time_t start);
int clock_gettime(clockid_t clock, struct timespec *now);
int timespec_get(struct timespec *now, int base);
time_t mktime(struct tm *when);
struct tm *gmtime(const time_t *when);
struct tm *localtime(const time_t *when);
struct tm *gmtime_r(const time_t *when, struct tm *result);
struct tm *localtime_r(const time_t *when, struct tm *result);
char *asctime(const struct tm *when);
char *ctime(const time_t *when);
size_t strftime(char *text, size_t size, const char *format, const struct tm *when);
#endif

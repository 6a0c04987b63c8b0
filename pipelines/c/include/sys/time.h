/* Clocks; only code outside the top function may use them. */
#ifndef SIMFOUNDRY_SYS_TIME_H
#define SIMFOUNDRY_SYS_TIME_H
#include <time.h>
struct timeval {
    time_t tv_sec;
    long tv_usec;
};
struct timezone {
    int tz_minuteswest;
    int tz_dsttime;
};
int gettimeofday(struct timeval *now, void *zone);
#endif

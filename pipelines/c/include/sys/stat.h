/* Facts of files; only code outside the top function may ask for them. */
#ifndef SIMFOUNDRY_SYS_STAT_H
#define SIMFOUNDRY_SYS_STAT_H
#include <sys/types.h>
#define S_IRUSR 0400
#define S_IWUSR 0200
#define S_IRGRP 0040
#define S_IROTH 0004
struct stat {
    off_t st_size;
    mode_t st_mode;
};
int stat(const char *path, struct stat *facts);
int fstat(int file, struct stat *facts);
#endif

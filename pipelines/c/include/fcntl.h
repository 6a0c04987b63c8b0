/* Files by number; only code outside the top function may use them. */
#ifndef SIMFOUNDRY_FCNTL_H
#define SIMFOUNDRY_FCNTL_H
#include <sys/types.h>
#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 0100
#define O_TRUNC 01000
int open(const char *path, int flags, ...);
int creat(const char *path, mode_t mode);
#endif

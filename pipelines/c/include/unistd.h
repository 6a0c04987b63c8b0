/* System calls; only code outside the top function may make them. */
#ifndef SIMFOUNDRY_UNISTD_H
#define SIMFOUNDRY_UNISTD_H
#include <sys/types.h>
ssize_t read(int file, void *memory, size_t size);
ssize_t write(int file, const void *memory, size_t size);
int close(int file);
off_t lseek(int file, off_t offset, int from);
int usleep(unsigned int microseconds);
unsigned int sleep(unsigned int seconds);
#endif

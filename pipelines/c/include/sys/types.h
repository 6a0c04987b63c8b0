/* Types of system calls; only code outside the top function may make them. */
#ifndef SIMFOUNDRY_SYS_TYPES_H
#define SIMFOUNDRY_SYS_TYPES_H
#include <stddef.h>
typedef long ssize_t;
typedef long off_t;
typedef unsigned int mode_t;
typedef int pid_t;
#endif

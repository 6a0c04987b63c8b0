/* The last error: an object of the program. */
#ifndef SIMFOUNDRY_ERRNO_H
#define SIMFOUNDRY_ERRNO_H
int *__errno_location(void); /* what expanded text names */
static int simfoundry_errno;
#define errno simfoundry_errno
#define EDOM 33
#define ERANGE 34
#define EINVAL 22
#define ENOMEM 12
#endif

/* The last error; only code outside the top function may use it. */
#ifndef SIMFOUNDRY_ERRNO_H
#define SIMFOUNDRY_ERRNO_H
int *__errno_location(void);
#define errno (*__errno_location())
#endif

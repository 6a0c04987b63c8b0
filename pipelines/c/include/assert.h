/* Assertions hold in a program that is made into hardware. */
#ifndef SIMFOUNDRY_ASSERT_H
#define SIMFOUNDRY_ASSERT_H
#define assert(condition) ((void)0)
#define static_assert _Static_assert
#ifndef SIMFOUNDRY_HLS /* what the macro of another C library calls */
static inline void __assert_fail(const char *condition, const char *file, unsigned int line, const char *function)
{
}
#endif
#endif

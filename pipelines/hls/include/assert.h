/* Assertions hold in a program that is made into hardware. */
#ifndef SIMFOUNDRY_ASSERT_H
#define SIMFOUNDRY_ASSERT_H
#define assert(condition) ((void)0)
#define static_assert _Static_assert
#endif

/* Types of sizes. */
#ifndef SIMFOUNDRY_STDDEF_H
#define SIMFOUNDRY_STDDEF_H
typedef unsigned long size_t;
typedef long ptrdiff_t;
#define NULL ((void *)0)
#ifndef SIMFOUNDRY_HLS /* the front end knows it */
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
#endif

/* Limits of the types the C front end knows. */
#ifndef SIMFOUNDRY_LIMITS_H
#define SIMFOUNDRY_LIMITS_H
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#endif

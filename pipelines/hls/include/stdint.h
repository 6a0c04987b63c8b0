/* Fixed-width integer types as the C front end knows them. */
#ifndef SIMFOUNDRY_STDINT_H
#define SIMFOUNDRY_STDINT_H
typedef int int32_t;
#endif

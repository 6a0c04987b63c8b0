/* Integer types and how they are printed; only code outside the top function may print. */
#ifndef SIMFOUNDRY_INTTYPES_H
#define SIMFOUNDRY_INTTYPES_H
#include <stdint.h>
#define PRId8 "hhd"
#define PRIu8 "hhu"
#define PRIx8 "hhx"
#define PRId16 "hd"
#define PRIu16 "hu"
#define PRIx16 "hx"
#define PRId32 "d"
#define PRIu32 "u"
#define PRIx32 "x"
#define PRId64 "ld"
#define PRIu64 "lu"
#define PRIx64 "lx"
#endif

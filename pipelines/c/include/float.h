/* Limits of binary32 and binary64. */
#ifndef SIMFOUNDRY_FLOAT_H
#define SIMFOUNDRY_FLOAT_H
#define FLT_RADIX 2
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_EPSILON 0x1p-23f
#define FLT_MIN 0x1p-126f
#define FLT_TRUE_MIN 0x1p-149f
#define FLT_MAX 0x1.fffffep127f
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_EPSILON 0x1p-52
#define DBL_MIN 0x1p-1022
#define DBL_TRUE_MIN 0x1p-1074
#define DBL_MAX 0x1.fffffffffffffp1023
#define LDBL_MANT_DIG 64
#define LDBL_DIG 18
#define LDBL_MIN_EXP (-16381)
#define LDBL_MAX_EXP 16384
#define LDBL_MAX_10_EXP 4932
#define LDBL_MIN_10_EXP (-4931)
#define LDBL_MAX 1.18973149535723176502e+4932l
#define LDBL_MIN 3.36210314311209350626e-4932l
#define LDBL_EPSILON 1.08420217248550443401e-19l
#endif

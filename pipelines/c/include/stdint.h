/* Integer types by width, and their limits. */
#ifndef SIMFOUNDRY_STDINT_H
#define SIMFOUNDRY_STDINT_H
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef signed char int_least8_t;
typedef short int_least16_t;
typedef int int_least32_t;
typedef long int_least64_t;
typedef unsigned char uint_least8_t;
typedef unsigned short uint_least16_t;
typedef unsigned int uint_least32_t;
typedef unsigned long uint_least64_t;
typedef signed char int_fast8_t;
typedef long int_fast16_t;
typedef long int_fast32_t;
typedef long int_fast64_t;
typedef unsigned char uint_fast8_t;
typedef unsigned long uint_fast16_t;
typedef unsigned long uint_fast32_t;
typedef unsigned long uint_fast64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef long intmax_t;
typedef unsigned long uintmax_t;
#define INT8_MAX 127
#define INT8_MIN (-INT8_MAX - 1)
#define UINT8_MAX 255
#define INT16_MAX 32767
#define INT16_MIN (-INT16_MAX - 1)
#define UINT16_MAX 65535
#define INT32_MAX 2147483647
#define INT32_MIN (-INT32_MAX - 1)
#define UINT32_MAX 4294967295u
#define INT64_MAX 9223372036854775807l
#define INT64_MIN (-INT64_MAX - 1)
#define UINT64_MAX 18446744073709551615ul
#define SIZE_MAX 18446744073709551615ul
#define INT8_C(value) value
#define INT16_C(value) value
#define INT32_C(value) value
#define INT64_C(value) value##l
#define UINT8_C(value) value
#define UINT16_C(value) value
#define UINT32_C(value) value##u
#define UINT64_C(value) value##ul
#define INT_LEAST8_MAX 127
#define INT_LEAST8_MIN (-INT_LEAST8_MAX - 1)
#define UINT_LEAST8_MAX 255
#define INT_FAST8_MAX 127
#define INT_FAST8_MIN (-INT_FAST8_MAX - 1)
#define UINT_FAST8_MAX 255
#define INT_LEAST16_MAX 32767
#define INT_LEAST16_MIN (-INT_LEAST16_MAX - 1)
#define UINT_LEAST16_MAX 65535
#define INT_FAST16_MAX 9223372036854775807l
#define INT_FAST16_MIN (-INT_FAST16_MAX - 1)
#define UINT_FAST16_MAX 18446744073709551615ul
#define INT_LEAST32_MAX 2147483647
#define INT_LEAST32_MIN (-INT_LEAST32_MAX - 1)
#define UINT_LEAST32_MAX 4294967295u
#define INT_FAST32_MAX 9223372036854775807l
#define INT_FAST32_MIN (-INT_FAST32_MAX - 1)
#define UINT_FAST32_MAX 18446744073709551615ul
#define INT_LEAST64_MAX 9223372036854775807l
#define INT_LEAST64_MIN (-INT_LEAST64_MAX - 1)
#define UINT_LEAST64_MAX 18446744073709551615ul
#define INT_FAST64_MAX 9223372036854775807l
#define INT_FAST64_MIN (-INT_FAST64_MAX - 1)
#define UINT_FAST64_MAX 18446744073709551615ul
#define INTPTR_MAX 9223372036854775807l
#define INTPTR_MIN (-INTPTR_MAX - 1)
#define INTMAX_MAX 9223372036854775807l
#define INTMAX_MIN (-INTMAX_MAX - 1)
#define PTRDIFF_MAX 9223372036854775807l
#define PTRDIFF_MIN (-PTRDIFF_MAX - 1)
#define UINTPTR_MAX 18446744073709551615ul
#define UINTMAX_MAX 18446744073709551615ul
#define SIG_ATOMIC_MAX 2147483647
#define SIG_ATOMIC_MIN (-SIG_ATOMIC_MAX - 1)
#define WCHAR_MAX 2147483647
#define WCHAR_MIN (-WCHAR_MAX - 1)
#define WINT_MAX 4294967295u
#define WINT_MIN 0u
#define INTMAX_C(value) value##l
#define UINTMAX_C(value) value##ul
#endif

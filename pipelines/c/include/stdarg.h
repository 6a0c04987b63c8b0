/* Variable arguments; only code outside the top function may use them. */
#ifndef SIMFOUNDRY_STDARG_H
#define SIMFOUNDRY_STDARG_H
#ifdef SIMFOUNDRY_HLS
typedef void *va_list;
#define va_start(list, last) ((void)(list))
#define va_end(list) ((void)(list))
#define va_arg(list, type) (*(type *)(list))
#else
typedef __builtin_va_list va_list;
#define va_start(list, last) __builtin_va_start(list, last)
#define va_end(list) __builtin_va_end(list)
#define va_arg(list, type) __builtin_va_arg(list, type)
#endif
#endif

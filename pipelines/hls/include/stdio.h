/* What programs print with; only code outside the top function may use it. */
#ifndef SIMFOUNDRY_STDIO_H
#define SIMFOUNDRY_STDIO_H
#include <stddef.h>
typedef struct simfoundry_file FILE;
extern FILE *stdin;
extern FILE *stdout;
extern FILE *stderr;
int printf(const char *format, ...);
int fprintf(FILE *file, const char *format, ...);
int sprintf(char *text, const char *format, ...);
int snprintf(char *text, size_t size, const char *format, ...);
int sscanf(const char *text, const char *format, ...);
int puts(const char *text);
int putchar(int character);
int fflush(FILE *file);
#endif

/* Files and printing; only code outside the top function may use them. */
#ifndef SIMFOUNDRY_STDIO_H
#define SIMFOUNDRY_STDIO_H
#include <stdarg.h>
#include <stddef.h>
#define EOF (-1)
#define BUFSIZ 8192
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
typedef struct simfoundry_file FILE;
extern FILE *stdin;
extern FILE *stdout;
extern FILE *stderr;
int printf(const char *format, ...);
int fprintf(FILE *file, const char *format, ...);
int sprintf(char *text, const char *format, ...);
int snprintf(char *text, size_t size, const char *format, ...);
int vfprintf(FILE *file, const char *format, va_list arguments);
int scanf(const char *format, ...);
int fscanf(FILE *file, const char *format, ...);
int sscanf(const char *text, const char *format, ...);
int puts(const char *text);
int fputs(const char *text, FILE *file);
int putchar(int character);
int fputc(int character, FILE *file);
int getchar(void);
int fgetc(FILE *file);
char *fgets(char *text, int size, FILE *file);
FILE *fopen(const char *path, const char *mode);
int fclose(FILE *file);
int fflush(FILE *file);
int feof(FILE *file);
int fseek(FILE *file, long offset, int from);
long ftell(FILE *file);
size_t fread(void *memory, size_t size, size_t count, FILE *file);
size_t fwrite(const void *memory, size_t size, size_t count, FILE *file);
void perror(const char *text);
#endif

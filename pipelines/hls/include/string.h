/* Memory and text. memcpy, memmove and memset are loops in hardware; only code outside the top function may
   use the others. */
#ifndef SIMFOUNDRY_STRING_H
#define SIMFOUNDRY_STRING_H
#include <stddef.h>
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *memory, int value, size_t size);
int memcmp(const void *first, const void *second, size_t size);
char *strcpy(char *to, const char *from);
char *strncpy(char *to, const char *from, size_t size);
char *strcat(char *to, const char *from);
int strcmp(const char *first, const char *second);
int strncmp(const char *first, const char *second, size_t size);
char *strchr(const char *text, int character);
char *strstr(const char *text, const char *part);
char *strdup(const char *text);
size_t strlen(const char *text);
#endif

/* Memory and text; only code outside the top function may use them. */
#ifndef SIMFOUNDRY_STRING_H
#define SIMFOUNDRY_STRING_H
#include <stddef.h>
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *memory, int value, size_t size);
int memcmp(const void *first, const void *second, size_t size);
int strcmp(const char *first, const char *second);
size_t strlen(const char *text);
#endif

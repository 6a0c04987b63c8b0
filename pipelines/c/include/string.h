/* Memory and text. memcpy, memmove and memset are loops in hardware, and the functions with a body here are
   the same text for hardware and for gcc; only code outside the top function may use the others. */
#ifndef SIMFOUNDRY_STRING_H
#define SIMFOUNDRY_STRING_H
#include <stddef.h>
#include <simfoundry/own.h>
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *memory, int value, size_t size);
char *strstr(const char *text, const char *part);
char *strdup(const char *text);

static inline int memcmp(const void *first, const void *second, unsigned long size)
{
    const unsigned char *a = (const unsigned char *)first;
    const unsigned char *b = (const unsigned char *)second;
    for (unsigned long i = 0; i < size; i++) {
        if (a[i] != b[i]) {
            return a[i] - b[i];
        }
    }
    return 0;
}

static inline unsigned long strlen(const char *text)
{
    unsigned long length = 0;
    while (text[length] != 0) {
        length++;
    }
    return length;
}

static inline int strcmp(const char *first, const char *second)
{
    unsigned long i = 0;
    while (first[i] != 0 && first[i] == second[i]) {
        i++;
    }
    return (unsigned char)first[i] - (unsigned char)second[i];
}

static inline int strncmp(const char *first, const char *second, unsigned long size)
{
    for (unsigned long i = 0; i < size; i++) {
        if (first[i] != second[i]) {
            return (unsigned char)first[i] - (unsigned char)second[i];
        }
        if (first[i] == 0) {
            return 0;
        }
    }
    return 0;
}

static inline char *strcpy(char *to, const char *from)
{
    unsigned long i = 0;
    while (from[i] != 0) {
        to[i] = from[i];
        i++;
    }
    to[i] = 0;
    return to;
}

static inline char *strncpy(char *to, const char *from, unsigned long size)
{
    int ended = 0;
    for (unsigned long i = 0; i < size; i++) {
        if (!ended && from[i] == 0) {
            ended = 1;
        }
        to[i] = ended ? 0 : from[i];
    }
    return to;
}

static inline char *strcat(char *to, const char *from)
{
    unsigned long end = 0;
    unsigned long i = 0;
    while (to[end] != 0) {
        end++;
    }
    while (from[i] != 0) {
        to[end + i] = from[i];
        i++;
    }
    to[end + i] = 0;
    return to;
}

static inline char *strchr(const char *text, int character)
{
    unsigned long i = 0;
    while (text[i] != (char)character) {
        if (text[i] == 0) {
            return NULL;
        }
        i++;
    }
    return (char *)text + i;
}
#include <simfoundry/own_end.h>
#endif

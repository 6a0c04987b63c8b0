/* Memory and program ends; only code outside the top function may use them. abs is everywhere. */
#ifndef SIMFOUNDRY_STDLIB_H
#define SIMFOUNDRY_STDLIB_H
#include <stddef.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *memory, size_t size);
void free(void *memory);
void exit(int status);
void abort(void);
int atoi(const char *text);
int rand(void);
void srand(unsigned int seed);

static inline int abs(int x)
{
    return x < 0 ? -x : x;
}

static inline long long llabs(long long x)
{
    return x < 0 ? -x : x;
}
#endif

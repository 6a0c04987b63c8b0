/* Memory and program ends; only code outside the top function may use them. abs is everywhere. */
#ifndef SIMFOUNDRY_STDLIB_H
#define SIMFOUNDRY_STDLIB_H
#include <stddef.h>
#include <simfoundry/own.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *memory, size_t size);
int posix_memalign(void **memory, size_t alignment, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
void free(void *memory);
void exit(int status);
void abort(void);
int atoi(const char *text);
long atol(const char *text);
double atof(const char *text);
long strtol(const char *text, char **end, int base);
unsigned long strtoul(const char *text, char **end, int base);
double strtod(const char *text, char **end);
char *getenv(const char *name);
int rand(void);
void srand(unsigned int seed);
void qsort(void *elements, size_t count, size_t size, int (*compare)(const void *, const void *));

static inline int abs(int x)
{
    return x < 0 ? -x : x;
}

static inline long labs(long x)
{
    return x < 0 ? -x : x;
}

static inline long long llabs(long long x)
{
    return x < 0 ? -x : x;
}
#include <simfoundry/own_end.h>
#endif

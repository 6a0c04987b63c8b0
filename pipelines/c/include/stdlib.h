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

/* Elements are moved in the widest words that their size is a multiple of. */
static inline void *simfoundry_element(void *elements, size_t index, size_t size)
{
    if (size % 8 == 0) {
        return (unsigned long *)elements + index * (size / 8);
    }
    if (size % 4 == 0) {
        return (unsigned int *)elements + index * (size / 4);
    }
    if (size % 2 == 0) {
        return (unsigned short *)elements + index * (size / 2);
    }
    return (unsigned char *)elements + index * size;
}

static inline void simfoundry_swap(void *first, void *second, size_t size)
{
    if (size % 8 == 0) {
        for (size_t i = 0; i < size / 8; i++) {
            unsigned long kept = ((unsigned long *)first)[i];
            ((unsigned long *)first)[i] = ((unsigned long *)second)[i];
            ((unsigned long *)second)[i] = kept;
        }
    } else if (size % 4 == 0) {
        for (size_t i = 0; i < size / 4; i++) {
            unsigned int kept = ((unsigned int *)first)[i];
            ((unsigned int *)first)[i] = ((unsigned int *)second)[i];
            ((unsigned int *)second)[i] = kept;
        }
    } else if (size % 2 == 0) {
        for (size_t i = 0; i < size / 2; i++) {
            unsigned short kept = ((unsigned short *)first)[i];
            ((unsigned short *)first)[i] = ((unsigned short *)second)[i];
            ((unsigned short *)second)[i] = kept;
        }
    } else {
        for (size_t i = 0; i < size; i++) {
            unsigned char kept = ((unsigned char *)first)[i];
            ((unsigned char *)first)[i] = ((unsigned char *)second)[i];
            ((unsigned char *)second)[i] = kept;
        }
    }
}

/* Heap sort: C leaves the order of equal elements open. */
static inline void qsort(void *elements, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    size_t start = count / 2;
    size_t end = count;
    while (end > 1) {
        if (start > 0) {
            start--;
        } else {
            end--;
            simfoundry_swap(elements, simfoundry_element(elements, end, size), size);
        }
        for (size_t root = start, child = 2 * start + 1; child < end; child = 2 * root + 1) {
            if (child + 1 < end && compare(simfoundry_element(elements, child, size),
                                           simfoundry_element(elements, child + 1, size)) < 0) {
                child++;
            }
            if (compare(simfoundry_element(elements, root, size), simfoundry_element(elements, child, size)) >= 0) {
                break;
            }
            simfoundry_swap(simfoundry_element(elements, root, size), simfoundry_element(elements, child, size), size);
            root = child;
        }
    }
}

static inline void *bsearch(const void *key, const void *elements, size_t count, size_t size,
                            int (*compare)(const void *, const void *))
{
    size_t first = 0;
    while (count > 0) {
        void *middle = simfoundry_element((void *)elements, first + count / 2, size);
        int order = compare(key, middle);
        if (order == 0) {
            return middle;
        }
        if (order > 0) {
            first += count / 2 + 1;
            count = (count - 1) / 2;
        } else {
            count /= 2;
        }
    }
    return NULL;
}
#include <simfoundry/own_end.h>
#endif

/* Calls the top function once: arguments from inputs.bin, the 8 bytes of the result and the written arrays
   to outputs.bin.

   Under AddressSanitizer each array stands alone between unreadable guards, wide enough that no int
   index of its first dimension leaves them, and arrays.txt tells where (one line an argument: its
   index, first and last address with guards). Otherwise each array has its own malloc. */
#define _DEFAULT_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct argument {
    size_t bytes;     /* of the whole array or scalar */
    size_t row_bytes; /* one step of the first index; 0 for a scalar */
    int is_output;
};

#include "arguments.h" /* generated: ARGUMENT_COUNT, arguments */

void simfoundry_call(void **values, void *result); /* generated, in unit.c */

#define PAGE ((size_t)4096)
#define GUARD_TOTAL ((size_t)1 << 45)

void __asan_poison_memory_region(void const volatile *start, size_t size) __attribute__((weak));

void __sanitizer_print_stack_trace(void) __attribute__((weak));

/* The checked program is linked with --wrap: what ends it instead of returning says so, with its place. */
static void report_end(const char *name)
{
    fprintf(stderr, "simfoundry: a call of %s\n", name);
    if (__sanitizer_print_stack_trace) {
        __sanitizer_print_stack_trace();
    }
    _exit(4);
}

void __wrap_exit(int status)
{
    (void)status;
    report_end("exit");
}

void __wrap__Exit(int status)
{
    (void)status;
    report_end("_Exit");
}

void __wrap_abort(void)
{
    report_end("abort");
}

static void require(int holds, const char *rule)
{
    if (!holds) {
        fprintf(stderr, "harness: %s\n", rule);
        _exit(3);
    }
}

static size_t rounded_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static char *guarded_pages(size_t span, size_t *guard)
{
    for (; *guard >= PAGE; *guard = rounded_up(*guard / 2, PAGE)) {
        void *base = mmap(NULL, span + 2 * *guard, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base != MAP_FAILED) {
            return (char *)base + *guard;
        }
        if (*guard == PAGE) {
            break;
        }
    }
    return NULL;
}

static void *guarded(int index, FILE *places)
{
    size_t bytes = arguments[index].bytes;
    size_t span = rounded_up(bytes, PAGE);
    size_t guard = arguments[index].row_bytes << 31;
    size_t most = GUARD_TOTAL / (2 * (size_t)ARGUMENT_COUNT);
    guard = rounded_up(guard < most ? guard : most, PAGE);
    char *pages = guarded_pages(span, &guard);
    require(pages != NULL, "address space for the arrays");
    require(mprotect(pages, span, PROT_READ | PROT_WRITE) == 0, "memory for the arrays");
    char *array = pages + (span - rounded_up(bytes, 8)); /* ends with its page; 8 bytes a shadow */
    __asan_poison_memory_region(pages, (size_t)(array - pages));
    __asan_poison_memory_region(array + bytes, (size_t)(pages + span - (array + bytes)));
    fprintf(places, "%d %llx %llx\n", index, (unsigned long long)(uintptr_t)(pages - guard),
            (unsigned long long)(uintptr_t)(pages + span + guard - 1));
    return array;
}

int main(void)
{
    void *values[ARGUMENT_COUNT + 1];
    void *result = calloc(1, 8);
    FILE *inputs = fopen("inputs.bin", "rb");
    FILE *places = __asan_poison_memory_region ? fopen("arrays.txt", "w") : NULL;
    require(inputs != NULL, "inputs.bin can be read");
    require(result != NULL, "memory for the result");
    for (int i = 0; i < ARGUMENT_COUNT; i++) {
        int guard = places != NULL && arguments[i].row_bytes != 0;
        values[i] = guard ? guarded(i, places) : malloc(arguments[i].bytes);
        require(values[i] != NULL, "memory for the arguments");
        require(fread(values[i], 1, arguments[i].bytes, inputs) == arguments[i].bytes,
                "inputs.bin is as long as the arguments");
    }
    fclose(inputs);
    if (places != NULL) {
        require(fclose(places) == 0, "arrays.txt can be written");
    }

    simfoundry_call(values, result);

    FILE *outputs = fopen("outputs.bin", "wb");
    require(outputs != NULL, "outputs.bin can be written");
    int written = fwrite(result, 8, 1, outputs) == 1;
    for (int i = 0; i < ARGUMENT_COUNT; i++) {
        if (arguments[i].is_output) {
            size_t bytes = arguments[i].bytes;
            written = written && fwrite(values[i], 1, bytes, outputs) == bytes;
        }
    }
    require(fclose(outputs) == 0 && written, "outputs.bin can be written");
    return 0;
}

/* What the PolyBench/C 4.2.1 programs expect of their common header, for hardware and for gcc.

   Loop bounds are the constants (as with POLYBENCH_USE_SCALAR_LB of the original), so that trip counts are
   known; define POLYBENCH_USE_PARAMETER_LB to loop to the size arguments instead. Timers do nothing. */
#ifndef SIMFOUNDRY_POLYBENCH_H
#define SIMFOUNDRY_POLYBENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef POLYBENCH_PADDING_FACTOR
#define POLYBENCH_PADDING_FACTOR 0
#endif

#ifdef POLYBENCH_USE_RESTRICT
#define POLYBENCH_RESTRICT restrict
#else
#define POLYBENCH_RESTRICT
#endif

#ifdef POLYBENCH_USE_C99_PROTO
#define POLYBENCH_C99_SELECT(constant, argument) argument
#else
#define POLYBENCH_C99_SELECT(constant, argument) constant
#endif

#ifdef POLYBENCH_USE_PARAMETER_LB
#define POLYBENCH_LOOP_BOUND(constant, argument) argument
#else
#define POLYBENCH_LOOP_BOUND(constant, argument) constant
#endif

/* A parameter or local array: name, extents as constants, extents as arguments. */
#define POLYBENCH_EXTENT(constant, argument) \
    POLYBENCH_C99_SELECT(constant, argument) + POLYBENCH_PADDING_FACTOR
#define POLYBENCH_1D(name, d1, a1) name[POLYBENCH_RESTRICT POLYBENCH_EXTENT(d1, a1)]
#define POLYBENCH_2D(name, d1, d2, a1, a2) \
    name[POLYBENCH_RESTRICT POLYBENCH_EXTENT(d1, a1)][POLYBENCH_EXTENT(d2, a2)]
#define POLYBENCH_3D(name, d1, d2, d3, a1, a2, a3) \
    POLYBENCH_2D(name, d1, d2, a1, a2)[POLYBENCH_EXTENT(d3, a3)]
#define POLYBENCH_4D(name, d1, d2, d3, d4, a1, a2, a3, a4) \
    POLYBENCH_3D(name, d1, d2, d3, a1, a2, a3)[POLYBENCH_EXTENT(d4, a4)]
#define POLYBENCH_5D(name, d1, d2, d3, d4, d5, a1, a2, a3, a4, a5) \
    POLYBENCH_4D(name, d1, d2, d3, d4, a1, a2, a3, a4)[POLYBENCH_EXTENT(d5, a5)]

/* Arrays of main: on the heap, or on the stack with POLYBENCH_STACK_ARRAYS. */
#ifdef POLYBENCH_STACK_ARRAYS
#define POLYBENCH_ARRAY(name) name
#define POLYBENCH_FREE_ARRAY(name)
#define POLYBENCH_DECL_VAR(name) name
#define POLYBENCH_ALLOC(name, type, count)
#else
#define POLYBENCH_ARRAY(name) *name
#define POLYBENCH_FREE_ARRAY(name) free((void *)name);
#define POLYBENCH_DECL_VAR(name) (*name)
#define POLYBENCH_ALLOC(name, type, count) name = polybench_alloc_data(count, sizeof(type));
#endif

#define POLYBENCH_CELLS(constant, argument) ((unsigned long long)(POLYBENCH_EXTENT(constant, argument)))
#define POLYBENCH_1D_ARRAY_DECL(name, type, d1, a1) \
    type POLYBENCH_1D(POLYBENCH_DECL_VAR(name), d1, a1); \
    POLYBENCH_ALLOC(name, type, POLYBENCH_CELLS(d1, a1))
#define POLYBENCH_2D_ARRAY_DECL(name, type, d1, d2, a1, a2) \
    type POLYBENCH_2D(POLYBENCH_DECL_VAR(name), d1, d2, a1, a2); \
    POLYBENCH_ALLOC(name, type, POLYBENCH_CELLS(d1, a1) * POLYBENCH_CELLS(d2, a2))
#define POLYBENCH_3D_ARRAY_DECL(name, type, d1, d2, d3, a1, a2, a3) \
    type POLYBENCH_3D(POLYBENCH_DECL_VAR(name), d1, d2, d3, a1, a2, a3); \
    POLYBENCH_ALLOC(name, type, \
                    POLYBENCH_CELLS(d1, a1) * POLYBENCH_CELLS(d2, a2) * POLYBENCH_CELLS(d3, a3))
#define POLYBENCH_4D_ARRAY_DECL(name, type, d1, d2, d3, d4, a1, a2, a3, a4) \
    type POLYBENCH_4D(POLYBENCH_DECL_VAR(name), d1, d2, d3, d4, a1, a2, a3, a4); \
    POLYBENCH_ALLOC(name, type, POLYBENCH_CELLS(d1, a1) * POLYBENCH_CELLS(d2, a2) * \
                                    POLYBENCH_CELLS(d3, a3) * POLYBENCH_CELLS(d4, a4))
#define POLYBENCH_5D_ARRAY_DECL(name, type, d1, d2, d3, d4, d5, a1, a2, a3, a4, a5) \
    type POLYBENCH_5D(POLYBENCH_DECL_VAR(name), d1, d2, d3, d4, d5, a1, a2, a3, a4, a5); \
    POLYBENCH_ALLOC(name, type, \
                    POLYBENCH_CELLS(d1, a1) * POLYBENCH_CELLS(d2, a2) * POLYBENCH_CELLS(d3, a3) * \
                        POLYBENCH_CELLS(d4, a4) * POLYBENCH_CELLS(d5, a5))

/* Results are printed when asked for, and are never provably unused. */
#define POLYBENCH_DUMP_TARGET stderr
#define POLYBENCH_DUMP_START fprintf(POLYBENCH_DUMP_TARGET, "==BEGIN DUMP_ARRAYS==\n")
#define POLYBENCH_DUMP_FINISH fprintf(POLYBENCH_DUMP_TARGET, "==END   DUMP_ARRAYS==\n")
#define POLYBENCH_DUMP_BEGIN(name) fprintf(POLYBENCH_DUMP_TARGET, "begin dump: %s", name)
#define POLYBENCH_DUMP_END(name) fprintf(POLYBENCH_DUMP_TARGET, "\nend   dump: %s\n", name)
#ifdef POLYBENCH_DUMP_ARRAYS
#define POLYBENCH_DCE_ONLY_CODE
#else
#define POLYBENCH_DCE_ONLY_CODE if (argc > 42 && !strcmp(argv[0], ""))
#endif
#define polybench_prevent_dce(call) POLYBENCH_DCE_ONLY_CODE call

#define polybench_start_instruments
#define polybench_stop_instruments
#define polybench_print_instruments
#define polybench_timer_start()
#define polybench_timer_stop()
#define polybench_timer_print()
#define polybench_prepare_instruments()

static inline void *polybench_alloc_data(unsigned long long count, int element_bytes)
{
    return malloc(count * element_bytes);
}

static inline void polybench_free_data(void *data)
{
    free(data);
}

#endif

/* Sizes of gramschmidt. */
#ifndef SIMFOUNDRY_GRAMSCHMIDT_H
#define SIMFOUNDRY_GRAMSCHMIDT_H

#if !defined(MINI_DATASET) && !defined(SMALL_DATASET) && !defined(MEDIUM_DATASET) && \
    !defined(LARGE_DATASET) && !defined(EXTRALARGE_DATASET)
#define LARGE_DATASET
#endif

#if !defined(M) && !defined(N)
#ifdef MINI_DATASET
#define M 20
#define N 30
#endif
#ifdef SMALL_DATASET
#define M 60
#define N 80
#endif
#ifdef MEDIUM_DATASET
#define M 200
#define N 240
#endif
#ifdef LARGE_DATASET
#define M 1000
#define N 1200
#endif
#ifdef EXTRALARGE_DATASET
#define M 2000
#define N 2600
#endif
#endif

#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

#define FRACTION_BITS 10
#include "data_type.h"

/* M columns span no more than M dimensions: of the others only rounding is left. In fixed point one unit in
   the last place for each product that was truncated keeps the norm of such a column above zero. */
#ifdef DATA_TYPE_IS_INT
#define NORM_START M
#else
#define NORM_START SCALAR_VAL(0.0)
#endif

#endif

/* Sizes of gesummv. */
#ifndef SIMFOUNDRY_GESUMMV_H
#define SIMFOUNDRY_GESUMMV_H

#if !defined(MINI_DATASET) && !defined(SMALL_DATASET) && !defined(MEDIUM_DATASET) && \
    !defined(LARGE_DATASET) && !defined(EXTRALARGE_DATASET)
#define LARGE_DATASET
#endif

#if !defined(N)
#ifdef MINI_DATASET
#define N 30
#endif
#ifdef SMALL_DATASET
#define N 90
#endif
#ifdef MEDIUM_DATASET
#define N 250
#endif
#ifdef LARGE_DATASET
#define N 1300
#endif
#ifdef EXTRALARGE_DATASET
#define N 2800
#endif
#endif

#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

#include "data_type.h"

#endif

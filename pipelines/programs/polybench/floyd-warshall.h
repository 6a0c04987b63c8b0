/* Sizes of floyd-warshall. */
#ifndef SIMFOUNDRY_FLOYD_WARSHALL_H
#define SIMFOUNDRY_FLOYD_WARSHALL_H

#if !defined(MINI_DATASET) && !defined(SMALL_DATASET) && !defined(MEDIUM_DATASET) && \
    !defined(LARGE_DATASET) && !defined(EXTRALARGE_DATASET)
#define LARGE_DATASET
#endif

#if !defined(N)
#ifdef MINI_DATASET
#define N 60
#endif
#ifdef SMALL_DATASET
#define N 180
#endif
#ifdef MEDIUM_DATASET
#define N 500
#endif
#ifdef LARGE_DATASET
#define N 2800
#endif
#ifdef EXTRALARGE_DATASET
#define N 5600
#endif
#endif

#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

#include "data_type.h"

#endif

/* Sizes of covariance. */
#ifndef SIMFOUNDRY_COVARIANCE_H
#define SIMFOUNDRY_COVARIANCE_H

#if !defined(MINI_DATASET) && !defined(SMALL_DATASET) && !defined(MEDIUM_DATASET) && \
    !defined(LARGE_DATASET) && !defined(EXTRALARGE_DATASET)
#define LARGE_DATASET
#endif

#if !defined(M) && !defined(N)
#ifdef MINI_DATASET
#define M 28
#define N 32
#endif
#ifdef SMALL_DATASET
#define M 80
#define N 100
#endif
#ifdef MEDIUM_DATASET
#define M 240
#define N 260
#endif
#ifdef LARGE_DATASET
#define M 1200
#define N 1400
#endif
#ifdef EXTRALARGE_DATASET
#define M 2600
#define N 3000
#endif
#endif

#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

#include "data_type.h"

#endif

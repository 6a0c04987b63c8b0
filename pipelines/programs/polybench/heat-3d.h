/* Sizes of heat-3d. */
#ifndef SIMFOUNDRY_HEAT_3D_H
#define SIMFOUNDRY_HEAT_3D_H

#if !defined(MINI_DATASET) && !defined(SMALL_DATASET) && !defined(MEDIUM_DATASET) && \
    !defined(LARGE_DATASET) && !defined(EXTRALARGE_DATASET)
#define LARGE_DATASET
#endif

#if !defined(TSTEPS) && !defined(N)
#ifdef MINI_DATASET
#define TSTEPS 20
#define N 10
#endif
#ifdef SMALL_DATASET
#define TSTEPS 40
#define N 20
#endif
#ifdef MEDIUM_DATASET
#define TSTEPS 100
#define N 40
#endif
#ifdef LARGE_DATASET
#define TSTEPS 500
#define N 120
#endif
#ifdef EXTRALARGE_DATASET
#define TSTEPS 1000
#define N 200
#endif
#endif

#define _PB_TSTEPS POLYBENCH_LOOP_BOUND(TSTEPS, tsteps)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

#define FRACTION_BITS 10
#include "data_type.h"

#endif

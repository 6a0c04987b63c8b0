/* Sizes of doitgen. */
#ifndef SIMFOUNDRY_DOITGEN_H
#define SIMFOUNDRY_DOITGEN_H

#if !defined(MINI_DATASET) && !defined(SMALL_DATASET) && !defined(MEDIUM_DATASET) && \
    !defined(LARGE_DATASET) && !defined(EXTRALARGE_DATASET)
#define LARGE_DATASET
#endif

#if !defined(NQ) && !defined(NR) && !defined(NP)
#ifdef MINI_DATASET
#define NQ 8
#define NR 10
#define NP 12
#endif
#ifdef SMALL_DATASET
#define NQ 20
#define NR 25
#define NP 30
#endif
#ifdef MEDIUM_DATASET
#define NQ 40
#define NR 50
#define NP 60
#endif
#ifdef LARGE_DATASET
#define NQ 140
#define NR 150
#define NP 160
#endif
#ifdef EXTRALARGE_DATASET
#define NQ 220
#define NR 250
#define NP 270
#endif
#endif

#define _PB_NQ POLYBENCH_LOOP_BOUND(NQ, nq)
#define _PB_NR POLYBENCH_LOOP_BOUND(NR, nr)
#define _PB_NP POLYBENCH_LOOP_BOUND(NP, np)

#include "data_type.h"

#endif

/* Sizes of deriche. */
#ifndef SIMFOUNDRY_DERICHE_H
#define SIMFOUNDRY_DERICHE_H

#if !defined(MINI_DATASET) && !defined(SMALL_DATASET) && !defined(MEDIUM_DATASET) && \
    !defined(LARGE_DATASET) && !defined(EXTRALARGE_DATASET)
#define LARGE_DATASET
#endif

#if !defined(W) && !defined(H)
#ifdef MINI_DATASET
#define W 64
#define H 64
#endif
#ifdef SMALL_DATASET
#define W 192
#define H 128
#endif
#ifdef MEDIUM_DATASET
#define W 720
#define H 480
#endif
#ifdef LARGE_DATASET
#define W 4096
#define H 2160
#endif
#ifdef EXTRALARGE_DATASET
#define W 7680
#define H 4320
#endif
#endif

#define _PB_W POLYBENCH_LOOP_BOUND(W, w)
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)

#define FRACTION_BITS 10
#include "data_type.h"

#endif

/* Floating-point environment: rounding to nearest. Exceptions are not kept, so nothing tests them. */
#ifndef SIMFOUNDRY_FENV_H
#define SIMFOUNDRY_FENV_H
#define FE_INVALID 1
#define FE_DIVBYZERO 4
#define FE_OVERFLOW 8
#define FE_UNDERFLOW 16
#define FE_INEXACT 32
#define FE_ALL_EXCEPT 61
#define FE_TONEAREST 0
typedef unsigned int fexcept_t;

static inline int fegetround(void)
{
    return FE_TONEAREST;
}

static inline int feraiseexcept(int exceptions)
{
    return 0 * exceptions;
}

static inline int feclearexcept(int exceptions)
{
    return 0 * exceptions;
}
#endif

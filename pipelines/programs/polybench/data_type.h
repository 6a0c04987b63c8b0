/* The data type of a program and the operations that depend on it, by DATA_TYPE_IS_INT, _FLOAT or _DOUBLE.

   An int program computes in integers, a quotient truncated towards zero. Where that would leave nothing
   (coefficients below 1, norms), its header defines FRACTION_BITS and int is fixed point with so many bits
   after the point: SCALAR_VAL scales a constant and NUMBER an integer, MUL_FUN and DIV_FUN scale back. For
   float and double MUL_FUN and DIV_FUN are the plain operators. */
#ifndef SIMFOUNDRY_DATA_TYPE_H
#define SIMFOUNDRY_DATA_TYPE_H

#if !defined(DATA_TYPE_IS_INT) && !defined(DATA_TYPE_IS_FLOAT) && !defined(DATA_TYPE_IS_DOUBLE)
#define DATA_TYPE_IS_DOUBLE
#endif

#ifdef DATA_TYPE_IS_INT
#define DATA_TYPE int
#define DATA_PRINTF_MODIFIER "%d "
#ifdef FRACTION_BITS
#define ONE (1 << FRACTION_BITS)
#define SCALAR_VAL(x) ((int)((x) * ONE))
#define NUMBER(x) ((x) * ONE)
#define MUL_FUN(x, y) ((x) * (y) / ONE)
#define DIV_FUN(x, y) ((x) * ONE / (y))
#define SQRT_FUN(x) integer_sqrt((x) * ONE)
#define EXP_FUN(x) fixed_point_exp(x)
#define POW_FUN(x, y) fixed_point_exp(MUL_FUN(SCALAR_VAL(0.69314718), y)) /* of x = 2 only */
#else
#define SCALAR_VAL(x) ((int)(x))
#define NUMBER(x) (x)
#define MUL_FUN(x, y) ((x) * (y))
#define DIV_FUN(x, y) ((x) / (y))
#define SQRT_FUN(x) integer_sqrt(x)
#endif

/* Largest integer whose square is at most x; 0 for a negative x. One result bit a step. */
static int integer_sqrt(int x)
{
    int rest = x;
    int root = 0;
    int bit;

    for (bit = 1 << 30; bit != 0; bit >>= 2) {
        if (rest >= root + bit) {
            rest -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return root;
}

#ifdef FRACTION_BITS
/* e^x by its series up to the fourth power: the next term is below 1 / 2000 for |x| <= 0.57. */
static int fixed_point_exp(int x)
{
    int square = MUL_FUN(x, x);

    return ONE + x + square / 2 + MUL_FUN(square, x) / 6 + MUL_FUN(square, square) / 24;
}
#endif
#endif

#ifdef DATA_TYPE_IS_FLOAT
#define DATA_TYPE float
#define DATA_PRINTF_MODIFIER "%0.2f "
#define SCALAR_VAL(x) x##f
#define NUMBER(x) ((float)(x))
#define MUL_FUN(x, y) ((x) * (y))
#define DIV_FUN(x, y) ((x) / (y))
#define SQRT_FUN(x) sqrtf(x)
#define EXP_FUN(x) expf(x)
#define POW_FUN(x, y) powf(x, y)
#endif

#ifdef DATA_TYPE_IS_DOUBLE
#define DATA_TYPE double
#define DATA_PRINTF_MODIFIER "%0.2lf "
#define SCALAR_VAL(x) x
#define NUMBER(x) ((double)(x))
#define MUL_FUN(x, y) ((x) * (y))
#define DIV_FUN(x, y) ((x) / (y))
#define SQRT_FUN(x) sqrt(x)
#define EXP_FUN(x) exp(x)
#define POW_FUN(x, y) pow(x, y)
#endif

#endif

/* Elementary functions in plain C, for hardware and for gcc alike, so that both give the same bits.

   sqrt and fabs are operators of the hardware and of the processor. Everything else is arithmetic on float
   (in powf on double), written without loops, without integer conversions that could overflow and without
   branches that have effects, so that a pipelined loop may hold it. Polynomials are minimax fits of our own;
   docs/math_header.md has the error of each function against libm. */
#ifndef SIMFOUNDRY_MATH_H
#define SIMFOUNDRY_MATH_H

#include <stdlib.h>

/* Bits of a value and back: wires in hardware. */
#ifdef SIMFOUNDRY_HLS
unsigned int simfoundry_bits_of_float(float x);
float simfoundry_float_of_bits(unsigned int bits);
unsigned long long simfoundry_bits_of_double(double x);
double simfoundry_double_of_bits(unsigned long long bits);
float sqrtf(float x);
double sqrt(double x);
float fabsf(float x);
double fabs(double x);
#else
static inline unsigned int simfoundry_bits_of_float(float x)
{
    unsigned int bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float simfoundry_float_of_bits(unsigned int bits)
{
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

static inline unsigned long long simfoundry_bits_of_double(double x)
{
    unsigned long long bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double simfoundry_double_of_bits(unsigned long long bits)
{
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float sqrtf(float x)
{
    return __builtin_sqrtf(x);
}

static inline double sqrt(double x)
{
    return __builtin_sqrt(x);
}

static inline float fabsf(float x)
{
    return __builtin_fabsf(x);
}

static inline double fabs(double x)
{
    return __builtin_fabs(x);
}
#endif

#define INFINITY (simfoundry_float_of_bits(0x7f800000u))
#define NAN (simfoundry_float_of_bits(0x7fc00000u))
#define HUGE_VALF INFINITY
#define HUGE_VAL (simfoundry_double_of_bits(0x7ff0000000000000ull))

#define M_E 2.7182818284590452
#define M_LOG2E 1.4426950408889634
#define M_LN2 0.69314718055994531
#define M_PI 3.1415926535897932
#define M_SQRT2 1.4142135623730950

/* ---- comparison and rounding ---------------------------------------------------------------------- */

/* The larger; the other one when one is not a number. */
static inline float fmaxf(float x, float y)
{
    return y > x || x != x ? y : x;
}

static inline float fminf(float x, float y)
{
    return y < x || x != x ? y : x;
}

static inline double fmax(double x, double y)
{
    return y > x || x != x ? y : x;
}

static inline double fmin(double x, double y)
{
    return y < x || x != x ? y : x;
}

/* Magnitude rounded down to an integer: the bits below the binary point cleared. Below 1: zero. */
static inline unsigned int simfoundry_whole_bits_float(unsigned int magnitude)
{
    unsigned int exponent = magnitude >> 23;
    unsigned int below = exponent > 150u ? 0u : (150u - exponent) & 31u;
    unsigned int whole = magnitude >> below << below;
    return exponent < 127u ? 0u : whole;
}

static inline float floorf(float x)
{
    unsigned int bits = simfoundry_bits_of_float(x);
    unsigned int sign = bits & 0x80000000u;
    unsigned int whole = simfoundry_whole_bits_float(bits & 0x7fffffffu);
    float towards_zero = simfoundry_float_of_bits(sign | whole);
    return towards_zero > x ? towards_zero - 1.0f : towards_zero;
}

static inline float ceilf(float x)
{
    return -floorf(-x);
}

static inline unsigned long long simfoundry_whole_bits_double(unsigned long long magnitude)
{
    unsigned int exponent = (unsigned int)(magnitude >> 52);
    unsigned int below = exponent > 1075u ? 0u : (1075u - exponent) & 63u;
    unsigned long long whole = magnitude >> below << below;
    return exponent < 1023u ? 0ull : whole;
}

static inline double floor(double x)
{
    unsigned long long bits = simfoundry_bits_of_double(x);
    unsigned long long sign = bits & 0x8000000000000000ull;
    unsigned long long whole = simfoundry_whole_bits_double(bits & 0x7fffffffffffffffull);
    double towards_zero = simfoundry_double_of_bits(sign | whole);
    return towards_zero > x ? towards_zero - 1.0 : towards_zero;
}

static inline double ceil(double x)
{
    return -floor(-x);
}

/* ---- float ---------------------------------------------------------------------------------------- */

/* 2^n for -126 <= n <= 127. */
static inline float simfoundry_power_of_two_float(int n)
{
    return simfoundry_float_of_bits((unsigned int)(n + 127) << 23);
}

/* x = n ln 2 + r with |r| <= ln 2 / 2; e^x = 2^n (1 + r + r^2 P(r)). Adding 1.5 * 2^23 rounds to an integer,
   which then stands in the lowest bits. ln 2 is split so that n times its upper part is exact. The power of
   two is applied in two steps, so that a subnormal result is rounded once. */
static inline float expf(float x)
{
    float limited = fminf(fmaxf(x, -150.0f), 100.0f);
    float shifted = limited * 1.44269504f + 12582912.0f;
    float n = shifted - 12582912.0f;
    int power = (int)(simfoundry_bits_of_float(shifted) - 0x4b400000u);
    int half = power >> 1;
    float r = (limited - n * 0.693359375f) - n * -2.12194440e-4f;
    float p = 0.00138142216f;
    float y;
    p = p * r + 0.00836889911f;
    p = p * r + 0.0416684039f;
    p = p * r + 0.166665196f;
    p = p * r + 0.49999994f;
    y = 1.0f + (r + r * r * p);
    y = y * simfoundry_power_of_two_float(half) * simfoundry_power_of_two_float(power - half);
    return x != x ? x : y;
}

/* x = 2^n (1 + f) with 1 + f from sqrt(1/2) to sqrt(2); log x = n ln 2 + f - f^2 / 2 + f^3 P(f). */
static inline float logf(float x)
{
    int tiny = x < 1.17549435e-38f;
    unsigned int bits = simfoundry_bits_of_float(tiny ? x * 8388608.0f : x);
    unsigned int above = bits - 0x3f3504f3u;
    int power = ((int)above >> 23) - (tiny ? 23 : 0);
    float n = (float)power;
    float f = simfoundry_float_of_bits((above & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    float square = f * f;
    float p = -0.0763449371f;
    float y;
    p = p * f + 0.127615765f;
    p = p * f + -0.131601825f;
    p = p * f + 0.142017588f;
    p = p * f + -0.166233569f;
    p = p * f + 0.200012267f;
    p = p * f + -0.250008196f;
    p = p * f + 0.333333313f;
    y = p * f * square + n * -2.12194440e-4f;
    y = n * 0.693359375f + (f + (y - 0.5f * square));
    y = x == 0.0f ? -INFINITY : y;
    return x < 0.0f ? NAN : x < INFINITY ? y : x;
}

/* Near 0 an odd polynomial; else 1 - 2 / (e^2|x| + 1) with the sign of x. */
static inline float tanhf(float x)
{
    float magnitude = fabsf(x);
    float z = x * x;
    float p = -0.005515164f;
    float small, large;
    p = p * z + 0.0204694203f;
    p = p * z + -0.0536880233f;
    p = p * z + 0.133308303f;
    p = p * z + -0.333332598f;
    small = x + x * z * p;
    large = 1.0f - 2.0f / (expf(2.0f * fminf(magnitude, 10.0f)) + 1.0f);
    large = x < 0.0f ? -large : large;
    return magnitude > 0.625f ? large : small;
}

/* Near 0 an odd polynomial; else 1 - e^Q(|x|), Q a fit of log erfc, with the sign of x. */
static inline float erff(float x)
{
    float magnitude = fabsf(x);
    float limited = fminf(magnitude, 3.95f);
    float z = x * x;
    float p = 8.1850936e-05f;
    float q = 0.000194945620f;
    float small, large;
    p = p * z + -0.000809770375f;
    p = p * z + 0.00519695226f;
    p = p * z + -0.0268577058f;
    p = p * z + 0.112836640f;
    p = p * z + -0.376126319f;
    p = p * z + 0.128379166f;
    small = x + x * p;
    q = q * limited + -0.00303368201f;
    q = q * limited + 0.0221897382f;
    q = q * limited + -0.103856295f;
    q = q * limited + -0.637265861f;
    q = q * limited + -1.12762737f;
    q = q * limited + -0.000207018937f;
    large = 1.0f - expf(q);
    large = x < 0.0f ? -large : large;
    return magnitude > 0.921875f ? large : small;
}

#endif

/* Elementary functions in plain C, for hardware and for gcc alike, so that both give the same bits.

   sqrt and fabs are operators of the hardware and of the processor. Everything else is arithmetic on float
   (in powf on double), written without loops, without integer conversions that could overflow and without
   branches that have effects, so that a pipelined loop may hold it. Polynomials are minimax fits of our own;
   docs/math_header.md has the error of each function against libm. */
#ifndef SIMFOUNDRY_MATH_H
#define SIMFOUNDRY_MATH_H

#include <stdlib.h>
#include <simfoundry/own.h>

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

typedef float float_t;
typedef double double_t;

#define INFINITY (simfoundry_float_of_bits(0x7f800000u))
#define NAN (simfoundry_float_of_bits(0x7fc00000u))
#define HUGE_VALF INFINITY
#define HUGE_VAL (simfoundry_double_of_bits(0x7ff0000000000000ull))

#define M_E 2.7182818284590452
#define M_LOG2E 1.4426950408889634
#define M_LN2 0.69314718055994531
#define M_LN10 2.3025850929940457
#define M_LOG10E 0.43429448190325183
#define M_PI 3.1415926535897932
#define M_PI_2 1.5707963267948966
#define M_PI_4 0.78539816339744831
#define M_1_PI 0.31830988618379067
#define M_2_PI 0.63661977236758134
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
    return magnitude > 0.625f ? large : x == 0.0f ? x : small;
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

/* |x|^y = 2^(y log2 |x|), both in double, which leaves more than thirty bits to spare: log2 of 2^n (1 + f) is
   n + s P(s^2) with s = f / (2 + f). Then the sign of an odd power and the cases without a logarithm. */
static inline float powf(float x, float y)
{
    float magnitude = fabsf(x);
    unsigned long long above = simfoundry_bits_of_double((double)magnitude) - 0x3fe6a09e667f3bcdull;
    int power = (int)((long long)above >> 52);
    double f = simfoundry_double_of_bits((above & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull) - 1.0;
    double s = f / (2.0 + f);
    double z = s * s;
    double p = 0.28290361074696113;
    double q = 1.5188956817879008e-05;
    double exponent, shifted, r;
    float half_y = floorf(y * 0.5f);
    int whole = floorf(y) == y;
    int odd = whole && half_y + half_y != y;
    float result;
    p = p * z + 0.31990546829079847;
    p = p * z + 0.41220925762162874;
    p = p * z + 0.5770779423163755;
    p = p * z + 0.9617966941134971;
    p = p * z + 2.88539008177785;
    exponent = fmin(fmax((double)y * ((double)power + s * p), -200.0), 200.0);
    shifted = exponent + 6755399441055744.0;
    r = exponent - (shifted - 6755399441055744.0);
    q = q * r + 0.00015467123695143438;
    q = q * r + 0.0013333964639919821;
    q = q * r + 0.009618037071254028;
    q = q * r + 0.0555041033227049;
    q = q * r + 0.24022651073075094;
    q = q * r + 0.6931471807132968;
    result = (float)((1.0 + r * q) *
                     simfoundry_double_of_bits(
                         (simfoundry_bits_of_double(shifted) - 0x4338000000000000ull + 1023ull) << 52));
    result = magnitude == 0.0f || magnitude == INFINITY
                 ? ((magnitude == 0.0f) == (y < 0.0f) ? INFINITY : 0.0f)
                 : result;
    result = magnitude == 1.0f ? 1.0f : result;
    result = simfoundry_bits_of_float(x) >> 31 && odd ? -result : result;
    result = x < 0.0f && !whole && magnitude != INFINITY ? NAN : result;
    result = x != x || y != y ? x + y : result;
    return x == 1.0f || y == 0.0f ? 1.0f : result;
}

/* ---- double --------------------------------------------------------------------------------------- */

/* The upper half of the significand: 26 bits, so that a product of two such values is exact. */
static inline double simfoundry_upper_half(double x)
{
    return simfoundry_double_of_bits(simfoundry_bits_of_double(x) & 0xfffffffff8000000ull);
}

/* 2^n for -1022 <= n <= 1023. */
static inline double simfoundry_power_of_two_double(int n)
{
    return simfoundry_double_of_bits((unsigned long long)(n + 1023) << 52);
}

/* As expf. */
static inline double exp(double x)
{
    double limited = fmin(fmax(x, -800.0), 800.0);
    double shifted = limited * 1.4426950408889634 + 6755399441055744.0;
    double n = shifted - 6755399441055744.0;
    int power = (int)(unsigned int)simfoundry_bits_of_double(shifted);
    int half = power >> 1;
    double r = (limited - n * 0.6931471805598903) - n * 5.497923018708371e-14;
    double p = 2.0815586801941413e-09;
    double y;
    p = p * r + 2.5112268264023147e-08;
    p = p * r + 2.755761859605966e-07;
    p = p * r + 2.7557234207199123e-06;
    p = p * r + 2.4801586881607472e-05;
    p = p * r + 0.00019841269897029286;
    p = p * r + 0.0013888888889140255;
    p = p * r + 0.008333333333316777;
    p = p * r + 0.04166666666666604;
    p = p * r + 0.16666666666666682;
    p = p * r + 0.5;
    y = 1.0 + (r + r * r * p);
    y = y * simfoundry_power_of_two_double(half) * simfoundry_power_of_two_double(power - half);
    return x != x ? x : y;
}

/* x = 2^n (1 + f); with s = f / (2 + f), log (1 + f) = f - f^2 / 2 + s (f^2 / 2 + s^2 P(s^2)). */
static inline double log(double x)
{
    int tiny = x < 2.2250738585072014e-308;
    unsigned long long bits = simfoundry_bits_of_double(tiny ? x * 18014398509481984.0 : x);
    unsigned long long above = bits - 0x3fe6a09e667f3bcdull;
    int power = (int)((long long)above >> 52) - (tiny ? 54 : 0);
    double n = (double)power;
    double f = simfoundry_double_of_bits((above & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull) - 1.0;
    double s = f / (2.0 + f);
    double z = s * s;
    double half_square = 0.5 * f * f;
    double p = 0.13251045293809266;
    double y;
    p = p * z + 0.1325015224366295;
    p = p * z + 0.1538708909873942;
    p = p * z + 0.18181775707274903;
    p = p * z + 0.22222222646219453;
    p = p * z + 0.28571428569090146;
    p = p * z + 0.4000000000000623;
    p = p * z + 0.6666666666666666;
    y = s * (half_square + z * p) + n * 5.497923018708371e-14;
    y = n * 0.6931471805598903 + (f - (half_square - y));
    y = x == 0.0 ? -HUGE_VAL : y;
    return x < 0.0 ? (double)NAN : x < HUGE_VAL ? y : x;
}

/* As tanhf. */
static inline double tanh(double x)
{
    double magnitude = fabs(x);
    double z = x * x;
    double p = -1.90215330972782e-05;
    double small, large;
    p = p * z + 8.255454236247399e-05;
    p = p * z + -0.0002328534520439693;
    p = p * z + 0.0005882384043513891;
    p = p * z + -0.0014554931433059018;
    p = p * z + 0.0035920843757018196;
    p = p * z + -0.0088632318503703;
    p = p * z + 0.021869488340448547;
    p = p * z + -0.05396825396219;
    p = p * z + 0.13333333333323943;
    p = p * z + -0.3333333333333328;
    small = x + x * z * p;
    large = 1.0 - 2.0 / (exp(2.0 * fmin(magnitude, 25.0)) + 1.0);
    large = x < 0.0 ? -large : large;
    return magnitude > 0.55 ? large : x == 0.0 ? x : small;
}

/* As powf, with log2 |x| and its product with y as sums of two doubles: an upper half, whose products are
   exact, and the rest. log m = 2/3 s (3 + s^2 + R(s^2)), m = 2^-n |x|, s = (m - 1) / (m + 1). */
static inline double pow(double x, double y)
{
    double magnitude = fabs(x);
    int tiny = magnitude < 2.2250738585072014e-308;
    unsigned long long bits = simfoundry_bits_of_double(tiny ? magnitude * 18014398509481984.0 : magnitude);
    unsigned long long above = bits - 0x3fe6a09e667f3bcdull;
    double n = (double)((int)((long long)above >> 52) - (tiny ? 54 : 0));
    double m = simfoundry_double_of_bits((above & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull);
    double s = (m - 1.0) / (m + 1.0);
    double s_upper = simfoundry_upper_half(s);
    double sum_upper = simfoundry_upper_half(m + 1.0);
    double s_rest = ((m - 1.0 - s_upper * sum_upper) - s_upper * (m - (sum_upper - 1.0))) / (m + 1.0);
    double z = s * s;
    double z_upper = s_upper * s_upper;
    double p = 0.19794783677401553;
    double third, third_rest, product, product_rest, log_product, log_rest, log2, log2_rest;
    double limited = fmin(fmax(y, -1e30), 1e30);
    double y_upper = simfoundry_upper_half(limited);
    double exponent_upper, exponent_rest, exponent, shifted, r;
    double q = 2.0815586801941413e-09;
    int power, half;
    double half_y = floor(y * 0.5);
    int whole = floor(y) == y;
    int odd = whole && half_y + half_y != y;
    double result;

    p = p * z + 0.19885195804766728;
    p = p * z + 0.23080137298987694;
    p = p * z + 0.2727267652286759;
    p = p * z + 0.33333333780197305;
    p = p * z + 0.42857142855147634;
    p = p * z + 0.6000000000000338;
    p = z * z * p + s_rest * (s_upper + s);
    third = simfoundry_upper_half(3.0 + z_upper + p);
    third_rest = p - ((third - 3.0) - z_upper);
    product = s_upper * third;
    product_rest = s_rest * third + third_rest * s;
    log_product = simfoundry_upper_half(product + product_rest);
    log_rest = product_rest - (log_product - product);
    product = 0.9617966711521149 * log_product; /* times 2 / (3 ln 2) */
    product_rest = 2.2773860736742555e-08 * log_product + log_rest * 0.9617966939259756;
    log2 = simfoundry_upper_half(product + product_rest + n);
    log2_rest = product_rest - ((log2 - n) - product);

    exponent_upper = y_upper * log2;
    exponent_rest = (limited - y_upper) * log2 + limited * log2_rest;
    exponent = exponent_upper + exponent_rest;
    shifted = fmin(fmax(exponent, -1200.0), 1200.0) + 6755399441055744.0;
    power = (int)(unsigned int)simfoundry_bits_of_double(shifted);
    half = power >> 1;
    r = (exponent_upper - (shifted - 6755399441055744.0)) + exponent_rest;
    r = r * 0.6931471805599453;
    q = q * r + 2.5112268264023147e-08;
    q = q * r + 2.755761859605966e-07;
    q = q * r + 2.7557234207199123e-06;
    q = q * r + 2.4801586881607472e-05;
    q = q * r + 0.00019841269897029286;
    q = q * r + 0.0013888888889140255;
    q = q * r + 0.008333333333316777;
    q = q * r + 0.04166666666666604;
    q = q * r + 0.16666666666666682;
    q = q * r + 0.5;
    result = 1.0 + (r + r * r * q);
    result = result * simfoundry_power_of_two_double(half) * simfoundry_power_of_two_double(power - half);
    result = exponent > 1100.0 ? HUGE_VAL : exponent < -1100.0 ? 0.0 : result;
    result = magnitude == 0.0 || magnitude == HUGE_VAL
                 ? ((magnitude == 0.0) == (y < 0.0) ? HUGE_VAL : 0.0)
                 : result;
    result = magnitude == 1.0 ? 1.0 : result;
    result = simfoundry_bits_of_double(x) >> 63 && odd ? -result : result;
    result = x < 0.0 && !whole && magnitude != HUGE_VAL ? (double)NAN : result;
    result = x != x || y != y ? x + y : result;
    return x == 1.0 || y == 0.0 ? 1.0 : result;
}

/* ---- angles, in double ------------------------------------------------------------------------------ */

/* The whole number of quarter turns nearest to x. Adding 1.5 * 2^52 rounds to an integer, which then stands in
   the lowest bits. */
static inline double simfoundry_shifted_turns(double x)
{
    return x * 0.6366197723675814 + 6755399441055744.0;
}

/* x - n pi/2 for the n that shifted holds, without rest: what it lacks. Pi/2 stands in three parts, the upper
   two of 33 bits, so that their products with an n below 2^20 are exact. */
static inline double simfoundry_turn_rest(double x, double shifted, int lacking)
{
    double n = shifted - 6755399441055744.0;
    double above = x - n * 1.5707963267341256;
    double middle = n * 6.077100506303966e-11;
    double first = above - middle;
    double second = ((above - first) - middle) - n * 2.0222662487959506e-21;
    double rest = first + second;
    return lacking ? (first - rest) + second : rest;
}

/* sin (r + e) with |r| <= pi/4 and a small e. */
static inline double simfoundry_sine(double r, double e)
{
    double z = r * r;
    double p = 1.5894661532498525e-10;
    p = p * z + -2.5050733749506415e-08;
    p = p * z + 2.7557313646849977e-06;
    p = p * z + -0.00019841269830131065;
    p = p * z + 0.008333333333323648;
    p = p * z + -0.1666666666666664;
    return r + (r * z * p + (e - 0.5 * z * e));
}

static inline double simfoundry_cosine(double r, double e)
{
    double z = r * r;
    double half = 0.5 * z;
    double upper = 1.0 - half;
    double p = -1.136795119159347e-11;
    p = p * z + 2.0875897224653335e-09;
    p = p * z + -2.755731573548293e-07;
    p = p * z + 2.4801587294619666e-05;
    p = p * z + -0.001388888888888283;
    p = p * z + 0.04166666666666665;
    return upper + (((1.0 - upper) - half) + (z * z * p - r * e));
}

/* sin (x + quarters pi/2). Beyond 2^20 the error grows with x; infinities give no number. */
static inline double simfoundry_turned(double x, unsigned int quarters)
{
    double limited = fmin(fmax(x, -1073741824.0), 1073741824.0);
    double shifted = simfoundry_shifted_turns(limited);
    unsigned int quadrant = (unsigned int)simfoundry_bits_of_double(shifted) + quarters;
    double r = simfoundry_turn_rest(limited, shifted, 0);
    double e = simfoundry_turn_rest(limited, shifted, 1);
    double y = quadrant & 1u ? simfoundry_cosine(r, e) : simfoundry_sine(r, e);
    y = quadrant & 2u ? -y : y;
    return fabs(x) < HUGE_VAL ? y : x - x;
}

static inline double sin(double x)
{
    return x == 0.0 ? x : simfoundry_turned(x, 0u);
}

static inline double cos(double x)
{
    return simfoundry_turned(x, 1u);
}

static inline double tan(double x)
{
    double limited = fmin(fmax(x, -1073741824.0), 1073741824.0);
    double shifted = simfoundry_shifted_turns(limited);
    int odd = (int)(simfoundry_bits_of_double(shifted) & 1ull);
    double r = simfoundry_turn_rest(limited, shifted, 0);
    double e = simfoundry_turn_rest(limited, shifted, 1);
    double sine = simfoundry_sine(r, e);
    double cosine = simfoundry_cosine(r, e);
    double y = (odd ? -cosine : sine) / (odd ? sine : cosine);
    y = x == 0.0 ? x : y;
    return fabs(x) < HUGE_VAL ? y : x - x;
}

/* atan m for m >= 0: m itself, (m - 1) / (m + 1) or -1 / m lies between -tan (pi/8) and tan (pi/8), where an
   odd polynomial holds. */
static inline double simfoundry_arctangent(double m)
{
    int steep = m > 2.414213562373095;
    int middle = m > 0.41421356237309503;
    double above = steep ? -1.0 : middle ? m - 1.0 : m;
    double below = steep ? m : middle ? m + 1.0 : 1.0;
    double t = above / below;
    double z = t * t;
    double p = -0.017821693501881935;
    p = p * z + 0.03800885207806699;
    p = p * z + -0.05038153910522441;
    p = p * z + 0.058479083979978745;
    p = p * z + -0.0666315164265157;
    p = p * z + 0.07692069139367677;
    p = p * z + -0.09090898579963656;
    p = p * z + 0.11111110825537211;
    p = p * z + -0.1428571428136596;
    p = p * z + 0.19999999999969167;
    p = p * z + -0.3333333333333327;
    p = t * z * p + (steep ? 6.123233995736766e-17 : middle ? 3.061616997868383e-17 : 0.0);
    return (steep ? 1.5707963267948966 : middle ? 0.7853981633974483 : 0.0) + (t + p);
}

static inline double simfoundry_with_sign_of(double magnitude, double x)
{
    return simfoundry_bits_of_double(x) >> 63 ? -magnitude : magnitude;
}

static inline double atan(double x)
{
    return x != x ? x : simfoundry_with_sign_of(simfoundry_arctangent(fabs(x)), x);
}

static inline double simfoundry_angle(double y, double x)
{
    double up = fabs(y);
    double along = fabs(x);
    double slope = up / along;
    double angle = simfoundry_arctangent(up == along ? (up == 0.0 ? 0.0 : 1.0) : slope);
    angle = simfoundry_bits_of_double(x) >> 63 ? 3.141592653589793 - (angle - 1.2246467991473532e-16) : angle;
    return x != x || y != y ? x + y : simfoundry_with_sign_of(angle, y);
}

static inline double atan2(double y, double x)
{
    return simfoundry_angle(y, x);
}

/* ---- angles, in float: double inside, with shorter polynomials ----------------------------------------- */

static inline float simfoundry_turned_float(float x, unsigned int quarters)
{
    double limited = fmin(fmax((double)x, -1073741824.0), 1073741824.0);
    double shifted = simfoundry_shifted_turns(limited);
    double n = shifted - 6755399441055744.0;
    unsigned int quadrant = (unsigned int)simfoundry_bits_of_double(shifted) + quarters;
    double r = (limited - n * 1.5707963267341256) - n * 6.077100506506192e-11;
    double z = r * r;
    double p = 2.7173303979664784e-06;
    double q = -2.7237008271265284e-07;
    double y;
    p = p * z + -0.00019839259553364652;
    p = p * z + 0.008333329323111724;
    p = p * z + -0.16666666644175293;
    q = q * z + 2.4799909999567292e-05;
    q = q * z + -0.0013888885542482007;
    q = q * z + 0.04166666664789734;
    y = quadrant & 1u ? (1.0 - 0.5 * z) + z * z * q : r + r * z * p;
    y = quadrant & 2u ? -y : y;
    return fabsf(x) < INFINITY ? (float)y : x - x;
}

static inline float sinf(float x)
{
    return x == 0.0f ? x : simfoundry_turned_float(x, 0u);
}

static inline float cosf(float x)
{
    return simfoundry_turned_float(x, 1u);
}

static inline float tanf(float x)
{
    double wide = (double)x;
    double sine = simfoundry_turned(wide, 0u);
    double cosine = simfoundry_turned(wide, 1u);
    return x == 0.0f ? x : (float)(sine / cosine);
}

static inline float atanf(float x)
{
    return x != x ? x : (float)simfoundry_with_sign_of(simfoundry_arctangent(fabs((double)x)), (double)x);
}

static inline float atan2f(float y, float x)
{
    return (float)simfoundry_angle((double)y, (double)x);
}

static inline double copysign(double magnitude, double x)
{
    return simfoundry_with_sign_of(fabs(magnitude), x);
}

static inline float copysignf(float magnitude, float x)
{
    unsigned int bits = simfoundry_bits_of_float(magnitude) & 0x7fffffffu;
    return simfoundry_float_of_bits(bits | (simfoundry_bits_of_float(x) & 0x80000000u));
}

static inline double trunc(double x)
{
    return x < 0.0 ? ceil(x) : floor(x);
}

static inline float truncf(float x)
{
    return x < 0.0f ? ceilf(x) : floorf(x);
}

/* Half away from zero. */
static inline double round(double x)
{
    double whole = trunc(x);
    return fabs(x - whole) >= 0.5 ? whole + copysign(1.0, x) : whole;
}

static inline float roundf(float x)
{
    float whole = truncf(x);
    return fabsf(x - whole) >= 0.5f ? whole + copysignf(1.0f, x) : whole;
}

/* The nearest whole number, half to even. */
static inline double rint(double x)
{
    double whole = fabs(x) + 4503599627370496.0 - 4503599627370496.0;
    return fabs(x) < 4503599627370496.0 ? copysign(whole, x) : x;
}

static inline float rintf(float x)
{
    float whole = fabsf(x) + 8388608.0f - 8388608.0f;
    return fabsf(x) < 8388608.0f ? copysignf(whole, x) : x;
}

static inline long lrint(double x)
{
    return (long)rint(x);
}

static inline long lrintf(float x)
{
    return (long)rintf(x);
}

static inline long lround(double x)
{
    return (long)round(x);
}

static inline long lroundf(float x)
{
    return (long)roundf(x);
}

/* x 2^n in up to three steps; only the last one rounds. */
static inline double ldexp(double x, int n)
{
    double first = n > 1023 ? simfoundry_power_of_two_double(1023) : n < -1022 ? simfoundry_power_of_two_double(-969) : 1.0;
    int rest = n > 1023 ? n - 1023 : n < -1022 ? n + 969 : n;
    double second =
        rest > 1023 ? simfoundry_power_of_two_double(1023) : rest < -1022 ? simfoundry_power_of_two_double(-969) : 1.0;
    int last = rest > 1023 ? rest - 1023 : rest < -1022 ? rest + 969 : rest;
    int limited = last > 1023 ? 1023 : last < -1022 ? -1022 : last;
    return x * first * second * simfoundry_power_of_two_double(limited);
}

static inline float ldexpf(float x, int n)
{
    return (float)ldexp((double)x, n);
}

/* Kahan: the error of 1 + x cancels in the quotient. */
static inline double log1p(double x)
{
    double sum = 1.0 + x;
    return sum == 1.0 ? x : sum < HUGE_VAL && sum > 0.0 ? log(sum) * x / (sum - 1.0) : log(sum);
}

static inline double expm1(double x)
{
    double power = exp(x);
    return power == 1.0 ? x : fabs(x) > 1.0 || x != x ? power - 1.0 : (power - 1.0) * x / log(power);
}

static inline float log1pf(float x)
{
    return (float)log1p((double)x);
}

static inline float expm1f(float x)
{
    return (float)expm1((double)x);
}

/* ---- composed of the others ----------------------------------------------------------------------------- */

static inline double asin(double x)
{
    return x == 0.0 ? x : simfoundry_angle(x, sqrt((1.0 - x) * (1.0 + x)));
}

static inline double acos(double x)
{
    return 2.0 * simfoundry_angle(sqrt(1.0 - x), sqrt(1.0 + x));
}

static inline float asinf(float x)
{
    return (float)asin((double)x);
}

static inline float acosf(float x)
{
    return (float)acos((double)x);
}

static inline double log10(double x)
{
    return log(x) * 0.43429448190325183;
}

static inline double log2(double x)
{
    return log(x) * 1.4426950408889634;
}

static inline float log10f(float x)
{
    return (float)log10((double)x);
}

static inline float log2f(float x)
{
    return (float)log2((double)x);
}

static inline double cosh(double x)
{
    double y = exp(0.5 * fabs(x));
    return 0.5 * y * y + 0.5 / y / y;
}

/* An odd series near 0, where the difference would cancel. */
static inline double sinh(double x)
{
    double z = x * x;
    double y = exp(0.5 * fabs(x));
    double large = 0.5 * y * y - 0.5 / y / y;
    double p = 1.605904383682161e-10;
    p = p * z + 2.505210838544172e-08;
    p = p * z + 2.755731922398589e-06;
    p = p * z + 0.0001984126984126984;
    p = p * z + 0.008333333333333333;
    p = p * z + 0.16666666666666666;
    return fabs(x) > 0.5 ? (x < 0.0 ? -large : large) : x + x * z * p;
}

/* The larger one times the root of one plus the square of the ratio. */
static inline double hypot(double x, double y)
{
    double a = fabs(x);
    double b = fabs(y);
    double large = a > b ? a : b;
    double ratio = (a > b ? b : a) / (large == 0.0 ? 1.0 : large);
    double length = large * sqrt(1.0 + ratio * ratio);
    return a == HUGE_VAL || b == HUGE_VAL ? HUGE_VAL : x != x || y != y ? x + y : length;
}

/* The exact rest of x / y with the sign of x, by a subtraction per bit of the quotient. */
static inline double fmod(double x, double y)
{
    double rest = fabs(x);
    double divisor = fabs(y);
    if (!(rest < HUGE_VAL) || divisor == 0.0 || y != y) {
        return (x * y) / (x * y);
    }
    while (rest >= divisor) {
        double step = divisor;
        double half = 0.5 * rest;
        while (step <= half) {
            step = step + step;
        }
        rest = rest - step;
    }
    return simfoundry_with_sign_of(rest, x);
}

static inline float fmodf(float x, float y)
{
    return (float)fmod((double)x, (double)y);
}

/* ---- kinds of numbers ----------------------------------------------------------------------------------- */

static inline int simfoundry_is_nan(double x)
{
    return x != x;
}

static inline int simfoundry_is_infinite(double x)
{
    return fabs(x) == HUGE_VAL;
}

static inline int simfoundry_is_finite(double x)
{
    return fabs(x) < HUGE_VAL;
}

static inline int simfoundry_sign_bit(double x)
{
    return (int)(simfoundry_bits_of_double(x) >> 63);
}

#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4

static inline int simfoundry_class_float(float x)
{
    unsigned int magnitude = simfoundry_bits_of_float(x) & 0x7fffffffu;
    return magnitude > 0x7f800000u    ? FP_NAN
           : magnitude == 0x7f800000u ? FP_INFINITE
           : magnitude >= 0x800000u   ? FP_NORMAL
           : magnitude                ? FP_SUBNORMAL
                                      : FP_ZERO;
}

static inline int simfoundry_class_double(double x)
{
    unsigned long long magnitude = simfoundry_bits_of_double(x) & 0x7fffffffffffffffull;
    return magnitude > 0x7ff0000000000000ull    ? FP_NAN
           : magnitude == 0x7ff0000000000000ull ? FP_INFINITE
           : magnitude >= 0x10000000000000ull   ? FP_NORMAL
           : magnitude                          ? FP_SUBNORMAL
                                                : FP_ZERO;
}

#ifndef SIMFOUNDRY_OWN_fpclassify
#define fpclassify(x) (sizeof(x) == 4 ? simfoundry_class_float(x) : simfoundry_class_double(x))
#endif
#ifndef SIMFOUNDRY_OWN_signbit
#define signbit(x) simfoundry_sign_bit(x)
#endif
#ifndef SIMFOUNDRY_OWN_isnan
#define isnan(x) simfoundry_is_nan(x)
#endif
#ifndef SIMFOUNDRY_OWN_isinf
#define isinf(x) simfoundry_is_infinite(x)
#endif
#ifndef SIMFOUNDRY_OWN_isfinite
#define isfinite(x) simfoundry_is_finite(x)
#endif
#include <simfoundry/own_end.h>
#endif

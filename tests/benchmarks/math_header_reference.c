/* libm under other names, in the next wider type: what math.h is measured against. */
#include <math.h>

double reference_expf(double x) { return exp(x); }
double reference_logf(double x) { return log(x); }
double reference_tanhf(double x) { return tanh(x); }
double reference_erff(double x) { return erf(x); }
double reference_floorf(double x) { return floor(x); }
double reference_ceilf(double x) { return ceil(x); }
double reference_powf(double x, double y) { return pow(x, y); }
long double reference_exp(double x) { return expl(x); }
long double reference_log(double x) { return logl(x); }
long double reference_tanh(double x) { return tanhl(x); }
long double reference_pow(double x, double y) { return powl(x, y); }

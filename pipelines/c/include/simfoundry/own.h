/* Functions of the headers that a program defines itself (SIMFOUNDRY_OWN_...) have another name in the headers. */
#ifdef SIMFOUNDRY_OWN_abs
#pragma push_macro("abs")
#undef abs
#define abs simfoundry_abs
#endif
#ifdef SIMFOUNDRY_OWN_acos
#pragma push_macro("acos")
#undef acos
#define acos simfoundry_acos
#endif
#ifdef SIMFOUNDRY_OWN_acosf
#pragma push_macro("acosf")
#undef acosf
#define acosf simfoundry_acosf
#endif
#ifdef SIMFOUNDRY_OWN_asin
#pragma push_macro("asin")
#undef asin
#define asin simfoundry_asin
#endif
#ifdef SIMFOUNDRY_OWN_asinf
#pragma push_macro("asinf")
#undef asinf
#define asinf simfoundry_asinf
#endif
#ifdef SIMFOUNDRY_OWN_atan
#pragma push_macro("atan")
#undef atan
#define atan simfoundry_atan
#endif
#ifdef SIMFOUNDRY_OWN_atan2
#pragma push_macro("atan2")
#undef atan2
#define atan2 simfoundry_atan2
#endif
#ifdef SIMFOUNDRY_OWN_atan2f
#pragma push_macro("atan2f")
#undef atan2f
#define atan2f simfoundry_atan2f
#endif
#ifdef SIMFOUNDRY_OWN_atanf
#pragma push_macro("atanf")
#undef atanf
#define atanf simfoundry_atanf
#endif
#ifdef SIMFOUNDRY_OWN_ceil
#pragma push_macro("ceil")
#undef ceil
#define ceil simfoundry_ceil
#endif
#ifdef SIMFOUNDRY_OWN_ceilf
#pragma push_macro("ceilf")
#undef ceilf
#define ceilf simfoundry_ceilf
#endif
#ifdef SIMFOUNDRY_OWN_copysign
#pragma push_macro("copysign")
#undef copysign
#define copysign simfoundry_copysign
#endif
#ifdef SIMFOUNDRY_OWN_copysignf
#pragma push_macro("copysignf")
#undef copysignf
#define copysignf simfoundry_copysignf
#endif
#ifdef SIMFOUNDRY_OWN_cos
#pragma push_macro("cos")
#undef cos
#define cos simfoundry_cos
#endif
#ifdef SIMFOUNDRY_OWN_cosf
#pragma push_macro("cosf")
#undef cosf
#define cosf simfoundry_cosf
#endif
#ifdef SIMFOUNDRY_OWN_cosh
#pragma push_macro("cosh")
#undef cosh
#define cosh simfoundry_cosh
#endif
#ifdef SIMFOUNDRY_OWN_erff
#pragma push_macro("erff")
#undef erff
#define erff simfoundry_erff
#endif
#ifdef SIMFOUNDRY_OWN_exp
#pragma push_macro("exp")
#undef exp
#define exp simfoundry_exp
#endif
#ifdef SIMFOUNDRY_OWN_expf
#pragma push_macro("expf")
#undef expf
#define expf simfoundry_expf
#endif
#ifdef SIMFOUNDRY_OWN_fabs
#pragma push_macro("fabs")
#undef fabs
#define fabs simfoundry_fabs
#endif
#ifdef SIMFOUNDRY_OWN_fabsf
#pragma push_macro("fabsf")
#undef fabsf
#define fabsf simfoundry_fabsf
#endif
#ifdef SIMFOUNDRY_OWN_floor
#pragma push_macro("floor")
#undef floor
#define floor simfoundry_floor
#endif
#ifdef SIMFOUNDRY_OWN_floorf
#pragma push_macro("floorf")
#undef floorf
#define floorf simfoundry_floorf
#endif
#ifdef SIMFOUNDRY_OWN_fmax
#pragma push_macro("fmax")
#undef fmax
#define fmax simfoundry_fmax
#endif
#ifdef SIMFOUNDRY_OWN_fmaxf
#pragma push_macro("fmaxf")
#undef fmaxf
#define fmaxf simfoundry_fmaxf
#endif
#ifdef SIMFOUNDRY_OWN_fmin
#pragma push_macro("fmin")
#undef fmin
#define fmin simfoundry_fmin
#endif
#ifdef SIMFOUNDRY_OWN_fminf
#pragma push_macro("fminf")
#undef fminf
#define fminf simfoundry_fminf
#endif
#ifdef SIMFOUNDRY_OWN_fmod
#pragma push_macro("fmod")
#undef fmod
#define fmod simfoundry_fmod
#endif
#ifdef SIMFOUNDRY_OWN_fmodf
#pragma push_macro("fmodf")
#undef fmodf
#define fmodf simfoundry_fmodf
#endif
#ifdef SIMFOUNDRY_OWN_hypot
#pragma push_macro("hypot")
#undef hypot
#define hypot simfoundry_hypot
#endif
#ifdef SIMFOUNDRY_OWN_isalnum
#pragma push_macro("isalnum")
#undef isalnum
#define isalnum simfoundry_isalnum
#endif
#ifdef SIMFOUNDRY_OWN_isalpha
#pragma push_macro("isalpha")
#undef isalpha
#define isalpha simfoundry_isalpha
#endif
#ifdef SIMFOUNDRY_OWN_isdigit
#pragma push_macro("isdigit")
#undef isdigit
#define isdigit simfoundry_isdigit
#endif
#ifdef SIMFOUNDRY_OWN_islower
#pragma push_macro("islower")
#undef islower
#define islower simfoundry_islower
#endif
#ifdef SIMFOUNDRY_OWN_isspace
#pragma push_macro("isspace")
#undef isspace
#define isspace simfoundry_isspace
#endif
#ifdef SIMFOUNDRY_OWN_isupper
#pragma push_macro("isupper")
#undef isupper
#define isupper simfoundry_isupper
#endif
#ifdef SIMFOUNDRY_OWN_labs
#pragma push_macro("labs")
#undef labs
#define labs simfoundry_labs
#endif
#ifdef SIMFOUNDRY_OWN_llabs
#pragma push_macro("llabs")
#undef llabs
#define llabs simfoundry_llabs
#endif
#ifdef SIMFOUNDRY_OWN_log
#pragma push_macro("log")
#undef log
#define log simfoundry_log
#endif
#ifdef SIMFOUNDRY_OWN_log10
#pragma push_macro("log10")
#undef log10
#define log10 simfoundry_log10
#endif
#ifdef SIMFOUNDRY_OWN_log10f
#pragma push_macro("log10f")
#undef log10f
#define log10f simfoundry_log10f
#endif
#ifdef SIMFOUNDRY_OWN_log2
#pragma push_macro("log2")
#undef log2
#define log2 simfoundry_log2
#endif
#ifdef SIMFOUNDRY_OWN_log2f
#pragma push_macro("log2f")
#undef log2f
#define log2f simfoundry_log2f
#endif
#ifdef SIMFOUNDRY_OWN_logf
#pragma push_macro("logf")
#undef logf
#define logf simfoundry_logf
#endif
#ifdef SIMFOUNDRY_OWN_memcmp
#pragma push_macro("memcmp")
#undef memcmp
#define memcmp simfoundry_memcmp
#endif
#ifdef SIMFOUNDRY_OWN_pow
#pragma push_macro("pow")
#undef pow
#define pow simfoundry_pow
#endif
#ifdef SIMFOUNDRY_OWN_powf
#pragma push_macro("powf")
#undef powf
#define powf simfoundry_powf
#endif
#ifdef SIMFOUNDRY_OWN_round
#pragma push_macro("round")
#undef round
#define round simfoundry_round
#endif
#ifdef SIMFOUNDRY_OWN_roundf
#pragma push_macro("roundf")
#undef roundf
#define roundf simfoundry_roundf
#endif
#ifdef SIMFOUNDRY_OWN_sin
#pragma push_macro("sin")
#undef sin
#define sin simfoundry_sin
#endif
#ifdef SIMFOUNDRY_OWN_sinf
#pragma push_macro("sinf")
#undef sinf
#define sinf simfoundry_sinf
#endif
#ifdef SIMFOUNDRY_OWN_sinh
#pragma push_macro("sinh")
#undef sinh
#define sinh simfoundry_sinh
#endif
#ifdef SIMFOUNDRY_OWN_sqrt
#pragma push_macro("sqrt")
#undef sqrt
#define sqrt simfoundry_sqrt
#endif
#ifdef SIMFOUNDRY_OWN_sqrtf
#pragma push_macro("sqrtf")
#undef sqrtf
#define sqrtf simfoundry_sqrtf
#endif
#ifdef SIMFOUNDRY_OWN_strcmp
#pragma push_macro("strcmp")
#undef strcmp
#define strcmp simfoundry_strcmp
#endif
#ifdef SIMFOUNDRY_OWN_strcpy
#pragma push_macro("strcpy")
#undef strcpy
#define strcpy simfoundry_strcpy
#endif
#ifdef SIMFOUNDRY_OWN_strlen
#pragma push_macro("strlen")
#undef strlen
#define strlen simfoundry_strlen
#endif
#ifdef SIMFOUNDRY_OWN_strncmp
#pragma push_macro("strncmp")
#undef strncmp
#define strncmp simfoundry_strncmp
#endif
#ifdef SIMFOUNDRY_OWN_strncpy
#pragma push_macro("strncpy")
#undef strncpy
#define strncpy simfoundry_strncpy
#endif
#ifdef SIMFOUNDRY_OWN_strcat
#pragma push_macro("strcat")
#undef strcat
#define strcat simfoundry_strcat
#endif
#ifdef SIMFOUNDRY_OWN_strchr
#pragma push_macro("strchr")
#undef strchr
#define strchr simfoundry_strchr
#endif
#ifdef SIMFOUNDRY_OWN_tan
#pragma push_macro("tan")
#undef tan
#define tan simfoundry_tan
#endif
#ifdef SIMFOUNDRY_OWN_tanf
#pragma push_macro("tanf")
#undef tanf
#define tanf simfoundry_tanf
#endif
#ifdef SIMFOUNDRY_OWN_tanh
#pragma push_macro("tanh")
#undef tanh
#define tanh simfoundry_tanh
#endif
#ifdef SIMFOUNDRY_OWN_tanhf
#pragma push_macro("tanhf")
#undef tanhf
#define tanhf simfoundry_tanhf
#endif
#ifdef SIMFOUNDRY_OWN_tolower
#pragma push_macro("tolower")
#undef tolower
#define tolower simfoundry_tolower
#endif
#ifdef SIMFOUNDRY_OWN_toupper
#pragma push_macro("toupper")
#undef toupper
#define toupper simfoundry_toupper
#endif
#ifdef SIMFOUNDRY_OWN_trunc
#pragma push_macro("trunc")
#undef trunc
#define trunc simfoundry_trunc
#endif
#ifdef SIMFOUNDRY_OWN_truncf
#pragma push_macro("truncf")
#undef truncf
#define truncf simfoundry_truncf
#endif
#ifdef SIMFOUNDRY_OWN_qsort
#pragma push_macro("qsort")
#undef qsort
#define qsort simfoundry_qsort
#endif
#ifdef SIMFOUNDRY_OWN_bsearch
#pragma push_macro("bsearch")
#undef bsearch
#define bsearch simfoundry_bsearch
#endif
#ifdef SIMFOUNDRY_OWN_rint
#pragma push_macro("rint")
#undef rint
#define rint simfoundry_rint
#endif
#ifdef SIMFOUNDRY_OWN_rintf
#pragma push_macro("rintf")
#undef rintf
#define rintf simfoundry_rintf
#endif
#ifdef SIMFOUNDRY_OWN_lrint
#pragma push_macro("lrint")
#undef lrint
#define lrint simfoundry_lrint
#endif
#ifdef SIMFOUNDRY_OWN_lrintf
#pragma push_macro("lrintf")
#undef lrintf
#define lrintf simfoundry_lrintf
#endif
#ifdef SIMFOUNDRY_OWN_lround
#pragma push_macro("lround")
#undef lround
#define lround simfoundry_lround
#endif
#ifdef SIMFOUNDRY_OWN_lroundf
#pragma push_macro("lroundf")
#undef lroundf
#define lroundf simfoundry_lroundf
#endif
#ifdef SIMFOUNDRY_OWN_ldexp
#pragma push_macro("ldexp")
#undef ldexp
#define ldexp simfoundry_ldexp
#endif
#ifdef SIMFOUNDRY_OWN_ldexpf
#pragma push_macro("ldexpf")
#undef ldexpf
#define ldexpf simfoundry_ldexpf
#endif
#ifdef SIMFOUNDRY_OWN_log1p
#pragma push_macro("log1p")
#undef log1p
#define log1p simfoundry_log1p
#endif
#ifdef SIMFOUNDRY_OWN_log1pf
#pragma push_macro("log1pf")
#undef log1pf
#define log1pf simfoundry_log1pf
#endif
#ifdef SIMFOUNDRY_OWN_expm1
#pragma push_macro("expm1")
#undef expm1
#define expm1 simfoundry_expm1
#endif
#ifdef SIMFOUNDRY_OWN_expm1f
#pragma push_macro("expm1f")
#undef expm1f
#define expm1f simfoundry_expm1f
#endif

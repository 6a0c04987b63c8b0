/* The names of own.h are the program's again. */
#ifdef SIMFOUNDRY_OWN_abs
#pragma pop_macro("abs")
#endif
#ifdef SIMFOUNDRY_OWN_acos
#pragma pop_macro("acos")
#endif
#ifdef SIMFOUNDRY_OWN_acosf
#pragma pop_macro("acosf")
#endif
#ifdef SIMFOUNDRY_OWN_asin
#pragma pop_macro("asin")
#endif
#ifdef SIMFOUNDRY_OWN_asinf
#pragma pop_macro("asinf")
#endif
#ifdef SIMFOUNDRY_OWN_atan
#pragma pop_macro("atan")
#endif
#ifdef SIMFOUNDRY_OWN_atan2
#pragma pop_macro("atan2")
#endif
#ifdef SIMFOUNDRY_OWN_atan2f
#pragma pop_macro("atan2f")
#endif
#ifdef SIMFOUNDRY_OWN_atanf
#pragma pop_macro("atanf")
#endif
#ifdef SIMFOUNDRY_OWN_ceil
#pragma pop_macro("ceil")
#endif
#ifdef SIMFOUNDRY_OWN_ceilf
#pragma pop_macro("ceilf")
#endif
#ifdef SIMFOUNDRY_OWN_copysign
#pragma pop_macro("copysign")
#endif
#ifdef SIMFOUNDRY_OWN_copysignf
#pragma pop_macro("copysignf")
#endif
#ifdef SIMFOUNDRY_OWN_cos
#pragma pop_macro("cos")
#endif
#ifdef SIMFOUNDRY_OWN_cosf
#pragma pop_macro("cosf")
#endif
#ifdef SIMFOUNDRY_OWN_cosh
#pragma pop_macro("cosh")
#endif
#ifdef SIMFOUNDRY_OWN_erff
#pragma pop_macro("erff")
#endif
#ifdef SIMFOUNDRY_OWN_exp
#pragma pop_macro("exp")
#endif
#ifdef SIMFOUNDRY_OWN_expf
#pragma pop_macro("expf")
#endif
#ifdef SIMFOUNDRY_OWN_fabs
#pragma pop_macro("fabs")
#endif
#ifdef SIMFOUNDRY_OWN_fabsf
#pragma pop_macro("fabsf")
#endif
#ifdef SIMFOUNDRY_OWN_floor
#pragma pop_macro("floor")
#endif
#ifdef SIMFOUNDRY_OWN_floorf
#pragma pop_macro("floorf")
#endif
#ifdef SIMFOUNDRY_OWN_fmax
#pragma pop_macro("fmax")
#endif
#ifdef SIMFOUNDRY_OWN_fmaxf
#pragma pop_macro("fmaxf")
#endif
#ifdef SIMFOUNDRY_OWN_fmin
#pragma pop_macro("fmin")
#endif
#ifdef SIMFOUNDRY_OWN_fminf
#pragma pop_macro("fminf")
#endif
#ifdef SIMFOUNDRY_OWN_fmod
#pragma pop_macro("fmod")
#endif
#ifdef SIMFOUNDRY_OWN_fmodf
#pragma pop_macro("fmodf")
#endif
#ifdef SIMFOUNDRY_OWN_hypot
#pragma pop_macro("hypot")
#endif
#ifdef SIMFOUNDRY_OWN_isalnum
#pragma pop_macro("isalnum")
#endif
#ifdef SIMFOUNDRY_OWN_isalpha
#pragma pop_macro("isalpha")
#endif
#ifdef SIMFOUNDRY_OWN_isdigit
#pragma pop_macro("isdigit")
#endif
#ifdef SIMFOUNDRY_OWN_islower
#pragma pop_macro("islower")
#endif
#ifdef SIMFOUNDRY_OWN_isspace
#pragma pop_macro("isspace")
#endif
#ifdef SIMFOUNDRY_OWN_isupper
#pragma pop_macro("isupper")
#endif
#ifdef SIMFOUNDRY_OWN_labs
#pragma pop_macro("labs")
#endif
#ifdef SIMFOUNDRY_OWN_llabs
#pragma pop_macro("llabs")
#endif
#ifdef SIMFOUNDRY_OWN_log
#pragma pop_macro("log")
#endif
#ifdef SIMFOUNDRY_OWN_log10
#pragma pop_macro("log10")
#endif
#ifdef SIMFOUNDRY_OWN_log10f
#pragma pop_macro("log10f")
#endif
#ifdef SIMFOUNDRY_OWN_log2
#pragma pop_macro("log2")
#endif
#ifdef SIMFOUNDRY_OWN_log2f
#pragma pop_macro("log2f")
#endif
#ifdef SIMFOUNDRY_OWN_logf
#pragma pop_macro("logf")
#endif
#ifdef SIMFOUNDRY_OWN_memcmp
#pragma pop_macro("memcmp")
#endif
#ifdef SIMFOUNDRY_OWN_pow
#pragma pop_macro("pow")
#endif
#ifdef SIMFOUNDRY_OWN_powf
#pragma pop_macro("powf")
#endif
#ifdef SIMFOUNDRY_OWN_round
#pragma pop_macro("round")
#endif
#ifdef SIMFOUNDRY_OWN_roundf
#pragma pop_macro("roundf")
#endif
#ifdef SIMFOUNDRY_OWN_sin
#pragma pop_macro("sin")
#endif
#ifdef SIMFOUNDRY_OWN_sinf
#pragma pop_macro("sinf")
#endif
#ifdef SIMFOUNDRY_OWN_sinh
#pragma pop_macro("sinh")
#endif
#ifdef SIMFOUNDRY_OWN_sqrt
#pragma pop_macro("sqrt")
#endif
#ifdef SIMFOUNDRY_OWN_sqrtf
#pragma pop_macro("sqrtf")
#endif
#ifdef SIMFOUNDRY_OWN_strcmp
#pragma pop_macro("strcmp")
#endif
#ifdef SIMFOUNDRY_OWN_strcpy
#pragma pop_macro("strcpy")
#endif
#ifdef SIMFOUNDRY_OWN_strlen
#pragma pop_macro("strlen")
#endif
#ifdef SIMFOUNDRY_OWN_strncmp
#pragma pop_macro("strncmp")
#endif
#ifdef SIMFOUNDRY_OWN_strncpy
#pragma pop_macro("strncpy")
#endif
#ifdef SIMFOUNDRY_OWN_strcat
#pragma pop_macro("strcat")
#endif
#ifdef SIMFOUNDRY_OWN_strchr
#pragma pop_macro("strchr")
#endif
#ifdef SIMFOUNDRY_OWN_tan
#pragma pop_macro("tan")
#endif
#ifdef SIMFOUNDRY_OWN_tanf
#pragma pop_macro("tanf")
#endif
#ifdef SIMFOUNDRY_OWN_tanh
#pragma pop_macro("tanh")
#endif
#ifdef SIMFOUNDRY_OWN_tanhf
#pragma pop_macro("tanhf")
#endif
#ifdef SIMFOUNDRY_OWN_tolower
#pragma pop_macro("tolower")
#endif
#ifdef SIMFOUNDRY_OWN_toupper
#pragma pop_macro("toupper")
#endif
#ifdef SIMFOUNDRY_OWN_trunc
#pragma pop_macro("trunc")
#endif
#ifdef SIMFOUNDRY_OWN_truncf
#pragma pop_macro("truncf")
#endif
#ifdef SIMFOUNDRY_OWN_qsort
#pragma pop_macro("qsort")
#endif
#ifdef SIMFOUNDRY_OWN_bsearch
#pragma pop_macro("bsearch")
#endif
#ifdef SIMFOUNDRY_OWN_rint
#pragma pop_macro("rint")
#endif
#ifdef SIMFOUNDRY_OWN_rintf
#pragma pop_macro("rintf")
#endif
#ifdef SIMFOUNDRY_OWN_lrint
#pragma pop_macro("lrint")
#endif
#ifdef SIMFOUNDRY_OWN_lrintf
#pragma pop_macro("lrintf")
#endif
#ifdef SIMFOUNDRY_OWN_lround
#pragma pop_macro("lround")
#endif
#ifdef SIMFOUNDRY_OWN_lroundf
#pragma pop_macro("lroundf")
#endif
#ifdef SIMFOUNDRY_OWN_ldexp
#pragma pop_macro("ldexp")
#endif
#ifdef SIMFOUNDRY_OWN_ldexpf
#pragma pop_macro("ldexpf")
#endif
#ifdef SIMFOUNDRY_OWN_log1p
#pragma pop_macro("log1p")
#endif
#ifdef SIMFOUNDRY_OWN_log1pf
#pragma pop_macro("log1pf")
#endif
#ifdef SIMFOUNDRY_OWN_expm1
#pragma pop_macro("expm1")
#endif
#ifdef SIMFOUNDRY_OWN_expm1f
#pragma pop_macro("expm1f")
#endif

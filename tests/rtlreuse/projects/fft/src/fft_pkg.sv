package fft_pkg;
  localparam int FRACTION = 14;   // bits behind the point of a twiddle factor
  localparam int TW       = 16;
  localparam int DW       = 24;   // of data inside

  typedef logic signed [TW-1:0] factor_t;
  typedef logic signed [DW-1:0] sample_t;
  typedef struct packed { factor_t re, im; } twiddle_t;
  typedef struct packed { sample_t re, im; } complex_t;
  typedef enum logic [1:0] { LOAD, CALCULATE, UNLOAD } phase_t;

  function automatic complex_t add(complex_t a, complex_t b);
    return '{re: a.re + b.re, im: a.im + b.im};
  endfunction

  function automatic complex_t sub(complex_t a, complex_t b);
    return '{re: a.re - b.re, im: a.im - b.im};
  endfunction

  // Product, rounded to the nearest.
  function automatic sample_t scale(logic signed [DW+TW:0] product);
    return sample_t'((product + (DW+TW+1)'(1 << (FRACTION - 1))) >>> FRACTION);
  endfunction

  function automatic complex_t mul(complex_t a, twiddle_t w);
    return '{re: scale(a.re * w.re - a.im * w.im), im: scale(a.re * w.im + a.im * w.re)};
  endfunction
endpackage

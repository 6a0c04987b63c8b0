module butterfly import fft_pkg::*; (
  input  complex_t a, b,
  input  twiddle_t w,
  output complex_t sum, difference
);
  complex_t turned;
  always_comb begin
    turned     = mul(b, w);
    sum        = add(a, turned);
    difference = sub(a, turned);
  end
endmodule

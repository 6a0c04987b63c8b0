// Factors exp(-2 pi i k / 32) for k below 16, in two files of numbers with 14 bits behind the point.
module twiddle_rom import fft_pkg::*; #(
  parameter int    DEPTH     = 16,
  parameter string REAL_FILE = "rom/real.hex",
  parameter string IMAG_FILE = "rom/imag.mem"
) (
  input  logic [$clog2(DEPTH)-1:0] index,
  output twiddle_t                 factor
);
  logic signed [TW-1:0] real_part [0:DEPTH-1];
  logic signed [TW-1:0] imag_part [0:DEPTH-1];

  initial begin
    $readmemh(REAL_FILE, real_part);
    $readmemb(IMAG_FILE, imag_part);
  end

  assign factor.re = real_part[index];
  assign factor.im = imag_part[index];
endmodule

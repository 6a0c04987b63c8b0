// The last step of floating-point units: a significand is normalised by one place, rounded to nearest even
// and packed. Combinational.
module float_round #(
  parameter EXPONENT = 8,
  parameter FRACTION = 23
) (
  input sign,
  input [EXPONENT+1:0] exponent,   // field of a significand with its highest bit set, two's complement
  input subnormal,                 // the exponent is 1 or less: the significand is placed for exponent 1
  input [FRACTION+3:0] significand, // its highest or second bit is set, or subnormal; the last is sticky
  output [EXPONENT+FRACTION:0] y
);
  localparam WIDTH = FRACTION + 4;
  localparam [EXPONENT-1:0] ONES = {EXPONENT{1'b1}};
  wire high = significand[WIDTH-1];
  wire as_it_is = high || subnormal;
  // fraction and guard bit; the hidden bit is in the field
  wire [FRACTION:0] normal = as_it_is ? significand[WIDTH-2:2] : significand[WIDTH-3:1];
  wire sticky = as_it_is ? significand[1:0] != 0 : significand[0];
  wire [EXPONENT+1:0] normal_exponent = high ? exponent : exponent - {{(EXPONENT+1){1'b0}}, 1'b1};
  wire overflow = !subnormal && normal_exponent >= {2'b00, ONES};
  wire [EXPONENT-1:0] field = subnormal ? {{(EXPONENT-1){1'b0}}, high} : normal_exponent[EXPONENT-1:0];
  wire up = normal[0] && (normal[1] || sticky);
  wire [EXPONENT+FRACTION-1:0] rounded
    = {field, normal[FRACTION:1]} + {{(EXPONENT+FRACTION-1){1'b0}}, up};
  assign y = {sign, overflow ? {ONES, {FRACTION{1'b0}}} : rounded};
endmodule

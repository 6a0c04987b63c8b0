// Conversion of IEEE-754 to a wider format, exact. One stage. NaN are returned quiet.
module float_widen #(
  parameter EXPONENT = 8,
  parameter FRACTION = 23,
  parameter TO_EXPONENT = 11,
  parameter TO_FRACTION = 52
) (
  input clk,
  input [EXPONENT+FRACTION:0] a,
  output reg [TO_EXPONENT+TO_FRACTION:0] y
);
  localparam COUNT = $clog2(FRACTION + 1);
  localparam [31:0] OFFSET = (1 << (TO_EXPONENT - 1)) - (1 << (EXPONENT - 1));
  wire [EXPONENT-1:0] field = a[EXPONENT+FRACTION-1:FRACTION];
  wire [FRACTION-1:0] fraction = a[FRACTION-1:0];
  wire [COUNT-1:0] zeros;
  leading_zeros #(.WIDTH(FRACTION), .COUNT(COUNT)) counter (.x(fraction), .count(zeros));
  wire [FRACTION-1:0] subnormal = {fraction[FRACTION-2:0], 1'b0} << zeros;
  wire infinite = &field;
  wire [TO_EXPONENT-1:0] wide_field = infinite ? {TO_EXPONENT{1'b1}}
    : field != 0 ? OFFSET[TO_EXPONENT-1:0] + {{(TO_EXPONENT-EXPONENT){1'b0}}, field}
    : fraction != 0 ? OFFSET[TO_EXPONENT-1:0] - {{(TO_EXPONENT-COUNT){1'b0}}, zeros} : {TO_EXPONENT{1'b0}};
  wire quiet = infinite && fraction != 0;
  wire [FRACTION-1:0] wide_fraction = field == 0 ? subnormal
    : {fraction[FRACTION-1] | quiet, fraction[FRACTION-2:0]};
  always @(posedge clk)
    y <= {a[EXPONENT+FRACTION], wide_field, wide_fraction, {(TO_FRACTION-FRACTION){1'b0}}};
endmodule

// Conversion of IEEE-754 to a narrower format, round to nearest even, with subnormals. One stage.
// NaN are returned quiet, with the first bits of their payload.
module float_narrow #(
  parameter EXPONENT = 11,
  parameter FRACTION = 52,
  parameter TO_EXPONENT = 8,
  parameter TO_FRACTION = 23
) (
  input clk,
  input [EXPONENT+FRACTION:0] a,
  output reg [TO_EXPONENT+TO_FRACTION:0] y
);
  localparam COUNT = $clog2(TO_FRACTION + 4);
  localparam KEPT = TO_FRACTION + 4;
  localparam [31:0] OFFSET = (1 << (EXPONENT - 1)) - (1 << (TO_EXPONENT - 1));
  wire sign = a[EXPONENT+FRACTION];
  wire [EXPONENT-1:0] field = a[EXPONENT+FRACTION-1:FRACTION];
  wire [FRACTION-1:0] fraction = a[FRACTION-1:0];
  wire [EXPONENT:0] exponent = {1'b0, field} - OFFSET[EXPONENT:0];
  wire subnormal = exponent[EXPONENT] || exponent[EXPONENT-1:1] == 0;
  wire [EXPONENT:0] below = OFFSET[EXPONENT:0] + {{EXPONENT{1'b0}}, 1'b1} - {1'b0, field};
  wire [COUNT-1:0] distance = !subnormal ? {COUNT{1'b0}}
    : below[EXPONENT:COUNT] != 0 ? {COUNT{1'b1}} : below[COUNT-1:0];
  wire too_large = !subnormal && exponent[EXPONENT-1:TO_EXPONENT] != 0;
  wire [KEPT-1:0] moved;
  shift_right_sticky #(.WIDTH(KEPT), .DISTANCE(COUNT)) denormalise (
    .x({field != 0, fraction[FRACTION-1:FRACTION-KEPT+2], fraction[FRACTION-KEPT+1:0] != 0}),
    .distance(distance), .y(moved));
  wire [TO_EXPONENT+TO_FRACTION:0] rounded;
  float_round #(.EXPONENT(TO_EXPONENT), .FRACTION(TO_FRACTION)) finish (
    .sign(sign), .exponent({1'b0, too_large, exponent[TO_EXPONENT-1:0]}), .subnormal(subnormal),
    .significand(moved), .y(rounded));
  wire nan = (&field) && fraction != 0;
  always @(posedge clk)
    y <= nan ? {sign, {TO_EXPONENT{1'b1}}, 1'b1, fraction[FRACTION-2:FRACTION-TO_FRACTION]} : rounded;
endmodule

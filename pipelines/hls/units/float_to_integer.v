// Conversion of IEEE-754 to an integer of RANGE bits, signed or not, truncated; its low WIDTH bits. One stage.
// What is out of range (undefined in C) gives a one followed by zeros, or wraps by the sign.
module float_to_integer #(
  parameter EXPONENT = 8,
  parameter FRACTION = 23,
  parameter RANGE = 32,
  parameter WIDTH = 32
) (
  input clk,
  input [EXPONENT+FRACTION:0] a,
  output reg [WIDTH-1:0] y
);
  localparam COUNT = $clog2(RANGE);
  localparam LONG = (RANGE > FRACTION + 1) ? RANGE : FRACTION + 1;
  localparam [31:0] ONE = (1 << (EXPONENT - 1)) - 1; // field of 1
  localparam [31:0] HIGHEST = ONE + RANGE - 1;       // field when the first of RANGE bits is set
  wire [EXPONENT-1:0] field = a[EXPONENT+FRACTION-1:FRACTION];
  wire [COUNT-1:0] distance = HIGHEST[COUNT-1:0] - field[COUNT-1:0];
  wire too_large = field > HIGHEST[EXPONENT-1:0];
  wire below_one = field < ONE[EXPONENT-1:0];
  wire [LONG-1:0] significand = {1'b1, a[FRACTION-1:0], {(LONG-FRACTION-1){1'b0}}};
  wire [RANGE-1:0] shifted = significand[LONG-1:LONG-RANGE] >> distance;
  wire [RANGE-1:0] magnitude = too_large ? {1'b1, {(RANGE-1){1'b0}}}
    : below_one ? {RANGE{1'b0}} : shifted;
  wire [RANGE-1:0] value = a[EXPONENT+FRACTION] ? -magnitude : magnitude;
  wire unused = ^{significand, value}; // their low and high bits
  always @(posedge clk) y <= value[WIDTH-1:0];
endmodule

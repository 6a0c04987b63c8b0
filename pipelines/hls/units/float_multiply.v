// IEEE-754 product, round to nearest even, with subnormals.
// Two stages: the significands are multiplied while the shift of the product is found; shift and round.
// A NaN operand is returned quiet, a before b; 0 * inf gives the negative quiet NaN, as x86 does.
module float_multiply #(
  parameter EXPONENT = 8,
  parameter FRACTION = 23
) (
  input clk,
  input [EXPONENT+FRACTION:0] a,
  input [EXPONENT+FRACTION:0] b,
  output reg [EXPONENT+FRACTION:0] y
);
  localparam WIDTH = EXPONENT + FRACTION + 1;
  localparam PRODUCT = 2 * FRACTION + 2;
  localparam KEPT = FRACTION + 4;              // carry, hidden bit, fraction, guard, sticky
  localparam COUNT = $clog2(FRACTION + 2);
  localparam [EXPONENT-1:0] ONES = {EXPONENT{1'b1}};
  localparam [EXPONENT+1:0] BIAS = {3'b000, {(EXPONENT-1){1'b1}}};

  // ---- stage 1: product, exponent, and how far the product must move -------------------------------
  wire [EXPONENT-1:0] field_a = a[WIDTH-2:FRACTION];
  wire [EXPONENT-1:0] field_b = b[WIDTH-2:FRACTION];
  wire normal_a = |field_a;
  wire normal_b = |field_b;
  wire [FRACTION:0] significand_a = {normal_a, a[FRACTION-1:0]};
  wire [FRACTION:0] significand_b = {normal_b, b[FRACTION-1:0]};
  wire [EXPONENT-1:0] exponent_a = {field_a[EXPONENT-1:1], field_a[0] | ~normal_a};
  wire [EXPONENT-1:0] exponent_b = {field_b[EXPONENT-1:1], field_b[0] | ~normal_b};
  // two's complement exponent of a product in [1, 2), if no operand is subnormal
  wire [EXPONENT+1:0] exponent = {2'b00, exponent_a} + {2'b00, exponent_b} - BIAS;
  // The product of two subnormal numbers vanishes, so that one count is enough.
  wire [COUNT-1:0] zeros;
  leading_zeros #(.WIDTH(FRACTION + 1), .COUNT(COUNT)) counter (
    .x(normal_a ? significand_b : significand_a), .count(zeros));
  wire [EXPONENT+1:0] wide_zeros = {{(EXPONENT+2-COUNT){1'b0}}, zeros};
  wire tiny = exponent[EXPONENT+1] || exponent == 0;
  wire [EXPONENT+1:0] minus_exponent = -exponent;
  wire limited = exponent <= wide_zeros;       // the result may be subnormal

  wire nan_a = (field_a == ONES) && (a[FRACTION-1:0] != 0);
  wire nan_b = (field_b == ONES) && (b[FRACTION-1:0] != 0);
  wire infinite = (field_a == ONES) || (field_b == ONES);
  wire zero = (a[WIDTH-2:0] == 0) || (b[WIDTH-2:0] == 0);

  reg [PRODUCT-1:0] product;
  reg [COUNT-1:0] left, right;
  reg to_right, subnormal, sign, special;      // subnormal: or zero
  reg [EXPONENT+1:0] scale;                    // of the product's highest bit
  reg [WIDTH-1:0] special_value;
  always @(posedge clk) begin
    product <= significand_a * significand_b;
    left <= tiny ? {COUNT{1'b0}} : limited ? exponent[COUNT-1:0] : zeros;
    right <= !tiny ? {COUNT{1'b0}}
      : minus_exponent[EXPONENT+1:COUNT] != 0 ? {COUNT{1'b1}} : minus_exponent[COUNT-1:0];
    to_right <= tiny;
    subnormal <= tiny || limited || zero;
    scale <= exponent - wide_zeros + {{(EXPONENT+1){1'b0}}, 1'b1};
    sign <= a[WIDTH-1] ^ b[WIDTH-1];
    special <= infinite;
    special_value <= nan_a ? {a[WIDTH-1:FRACTION], 1'b1, a[FRACTION-2:0]}
      : nan_b ? {b[WIDTH-1:FRACTION], 1'b1, b[FRACTION-2:0]}
      : zero ? {1'b1, ONES, 1'b1, {(FRACTION-1){1'b0}}}
      : {a[WIDTH-1] ^ b[WIDTH-1], ONES, {FRACTION{1'b0}}};
  end

  // ---- stage 2: the product of a subnormal operand moves left, a subnormal result right; round -------
  wire [PRODUCT-1:0] moved_left = product << left;
  wire [KEPT-1:0] moved_right;
  shift_right_sticky #(.WIDTH(KEPT), .DISTANCE(COUNT)) denormalise (
    .x({product[PRODUCT-1:FRACTION-1], product[FRACTION-2:0] != 0}), .distance(right), .y(moved_right));
  wire [KEPT-1:0] moved = to_right ? moved_right
    : {moved_left[PRODUCT-1:FRACTION-1], moved_left[FRACTION-2:0] != 0};
  wire [WIDTH-1:0] rounded;
  float_round #(.EXPONENT(EXPONENT), .FRACTION(FRACTION)) finish (
    .sign(sign), .exponent(scale), .subnormal(subnormal), .significand(moved), .y(rounded));
  always @(posedge clk) y <= special ? special_value : rounded;
endmodule

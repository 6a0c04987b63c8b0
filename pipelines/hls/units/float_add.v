// IEEE-754 sum (difference when `subtract` is set), round to nearest even, with subnormals.
// Two stages: the significands are aligned and added; the sum is normalised and rounded.
// A NaN operand is returned quiet, a before b; inf - inf gives the negative quiet NaN, as x86 does.
module float_add #(
  parameter EXPONENT = 8,
  parameter FRACTION = 23
) (
  input clk,
  input [EXPONENT+FRACTION:0] a,
  input [EXPONENT+FRACTION:0] b,
  input subtract,
  output reg [EXPONENT+FRACTION:0] y
);
  localparam WIDTH = EXPONENT + FRACTION + 1;
  localparam SUM = FRACTION + 5;               // carry, hidden bit, fraction, guard, round, sticky
  localparam COUNT = $clog2(SUM + 1);
  localparam [EXPONENT-1:0] ONES = {EXPONENT{1'b1}};
  localparam [EXPONENT-1:0] ONE = {{(EXPONENT-1){1'b0}}, 1'b1};

  // ---- stage 1: order by magnitude, align the smaller one, add ------------------------------------
  wire sign_b = b[WIDTH-1] ^ subtract;
  wire swap = b[WIDTH-2:0] > a[WIDTH-2:0];
  wire differ = a[WIDTH-1] ^ sign_b;
  wire [EXPONENT-1:0] field_a = a[WIDTH-2:FRACTION];
  wire [EXPONENT-1:0] field_b = b[WIDTH-2:FRACTION];
  wire normal_a = |field_a;
  wire normal_b = |field_b;
  wire [EXPONENT-1:0] exponent_a = {field_a[EXPONENT-1:1], field_a[0] | ~normal_a};
  wire [EXPONENT-1:0] exponent_b = {field_b[EXPONENT-1:1], field_b[0] | ~normal_b};
  wire [EXPONENT-1:0] a_above_b = exponent_a - exponent_b;
  wire [EXPONENT-1:0] b_above_a = exponent_b - exponent_a;
  wire [EXPONENT-1:0] distance = swap ? b_above_a : a_above_b;
  wire [FRACTION:0] larger = swap ? {normal_b, b[FRACTION-1:0]} : {normal_a, a[FRACTION-1:0]};
  wire [FRACTION:0] smaller = swap ? {normal_a, a[FRACTION-1:0]} : {normal_b, b[FRACTION-1:0]};
  wire [FRACTION+3:0] aligned;
  shift_right_sticky #(.WIDTH(FRACTION + 4), .DISTANCE(EXPONENT)) align (
    .x({smaller, 3'b000}), .distance(distance), .y(aligned));
  wire [SUM-1:0] total = {1'b0, larger, 3'b000} + ({1'b0, aligned} ^ {SUM{differ}})
    + {{(SUM-1){1'b0}}, differ};

  wire nan_a = (field_a == ONES) && (a[FRACTION-1:0] != 0);
  wire nan_b = (field_b == ONES) && (b[FRACTION-1:0] != 0);
  wire infinite_a = (field_a == ONES) && !nan_a;
  wire infinite_b = (field_b == ONES) && !nan_b;
  wire invalid = infinite_a && infinite_b && differ;

  reg [SUM-1:0] sum;
  reg [EXPONENT-1:0] exponent;
  reg sign, special;
  reg [WIDTH-1:0] special_value;
  always @(posedge clk) begin
    sum <= total;
    exponent <= swap ? exponent_b : exponent_a;
    sign <= swap ? sign_b : a[WIDTH-1] & (sign_b | (a[WIDTH-2:0] != b[WIDTH-2:0]));
    special <= (field_a == ONES) || (field_b == ONES);
    special_value <= nan_a ? {a[WIDTH-1:FRACTION], 1'b1, a[FRACTION-2:0]}
      : nan_b ? {b[WIDTH-1:FRACTION], 1'b1, b[FRACTION-2:0]}
      : invalid ? {1'b1, ONES, 1'b1, {(FRACTION-1){1'b0}}}
      : {infinite_a ? a[WIDTH-1] : sign_b, ONES, {FRACTION{1'b0}}};
  end

  // ---- stage 2: shift the leading one to the top, not below the smallest exponent; round ------------
  wire [COUNT-1:0] zeros;
  leading_zeros #(.WIDTH(SUM), .COUNT(COUNT)) counter (.x(sum), .count(zeros));
  wire [EXPONENT-1:0] wide_zeros = {{(EXPONENT-COUNT){1'b0}}, zeros};
  wire limited = wide_zeros > exponent;
  wire [COUNT-1:0] shift = limited ? exponent[COUNT-1:0] : zeros;
  wire [SUM-1:0] normal = sum << shift;
  wire [EXPONENT-1:0] normal_field = exponent + ONE - wide_zeros;
  wire [EXPONENT-1:0] field = normal[SUM-1] ? normal_field : {EXPONENT{1'b0}};
  wire overflow = normal[SUM-1] && (normal_field == ONES);
  wire up = normal[3] && (normal[4] || normal[2:0] != 0);
  wire [WIDTH-2:0] rounded = {field, normal[SUM-2:4]} + {{(WIDTH-2){1'b0}}, up};
  always @(posedge clk)
    y <= special ? special_value : {sign, overflow ? {ONES, {FRACTION{1'b0}}} : rounded};
endmodule

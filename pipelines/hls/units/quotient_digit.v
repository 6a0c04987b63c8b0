// One digit of -2 ... 2 of a quotient: next remainder = 4 * remainder - digit * divisor. Combinational.
// The remainder is the sum of two words (carry-save), so that no carry runs through it. The digit is chosen
// from the first eight bits of four times the remainder (in sixteenths) by thresholds that depend on the
// first bits of the divisor, which is in [1/2, 1): |remainder| <= 2/3 divisor stays true.
// Ercegovac and Lang, Division and Square Root, 1994: radix 4, digits to 2.
module quotient_digit #(
  parameter WIDTH = 28 // of a remainder, 2 of them before the point
) (
  input [WIDTH-1:0] sum,
  input [WIDTH-1:0] carry,
  input [WIDTH-1:0] divisor,
  output [WIDTH-1:0] next_sum,
  output [WIDTH-1:0] next_carry,
  output [1:0] plus,  // positive part of the digit
  output [1:0] minus  // negative part
);
  // the digit is k or more when the estimate is not below threshold k, which is subtracted here
  reg [7:0] less_2, less_1, less_0, less_minus_1;
  always @* case (divisor[WIDTH-4:WIDTH-6])
    3'd0: {less_2, less_1, less_0, less_minus_1} = {-8'd12, -8'd4, 8'd4, 8'd13};
    3'd1: {less_2, less_1, less_0, less_minus_1} = {-8'd14, -8'd4, 8'd6, 8'd15};
    3'd2: {less_2, less_1, less_0, less_minus_1} = {-8'd15, -8'd4, 8'd6, 8'd16};
    3'd3: {less_2, less_1, less_0, less_minus_1} = {-8'd16, -8'd4, 8'd6, 8'd18};
    3'd4: {less_2, less_1, less_0, less_minus_1} = {-8'd18, -8'd6, 8'd8, 8'd20};
    3'd5: {less_2, less_1, less_0, less_minus_1} = {-8'd20, -8'd6, 8'd8, 8'd20};
    3'd6: {less_2, less_1, less_0, less_minus_1} = {-8'd20, -8'd8, 8'd8, 8'd22};
    default: {less_2, less_1, less_0, less_minus_1} = {-8'd24, -8'd8, 8'd8, 8'd24};
  endcase
  wire [7:0] top_sum = sum[WIDTH-1:WIDTH-8];
  wire [7:0] top_carry = carry[WIDTH-1:WIDTH-8];
  wire from_2 = $signed(top_sum + top_carry + less_2) >= 8'sd0;
  wire from_1 = $signed(top_sum + top_carry + less_1) >= 8'sd0;
  wire from_0 = $signed(top_sum + top_carry + less_0) >= 8'sd0;
  wire from_minus_1 = $signed(top_sum + top_carry + less_minus_1) >= 8'sd0;
  assign plus = {from_2, from_1 & ~from_2};
  assign minus = {~from_minus_1, from_minus_1 & ~from_0};

  // 4 * remainder - digit * divisor; the bits above those of a remainder only repeat its sign
  wire [WIDTH-1:0] sum4 = {sum[WIDTH-3:0], 2'b00};
  wire [WIDTH-1:0] carry4 = {carry[WIDTH-3:0], 2'b00};
  wire [WIDTH-1:0] twice = {divisor[WIDTH-2:0], 1'b0};
  wire [WIDTH-1:0] less = {WIDTH{plus[1]}} & ~twice | {WIDTH{plus[0]}} & ~divisor
    | {WIDTH{minus[0]}} & divisor | {WIDTH{minus[1]}} & twice;
  assign next_sum = sum4 ^ carry4 ^ less;
  assign next_carry = {sum4[WIDTH-2:0] & carry4[WIDTH-2:0] | sum4[WIDTH-2:0] & less[WIDTH-2:0]
    | carry4[WIDTH-2:0] & less[WIDTH-2:0], plus != 0};
endmodule

// IEEE-754 quotient, round to nearest even, with subnormals.
// Stages: one that unpacks and finds the first digits, some of DIGITS digits (two bits each), one that adds
// up the digits and rounds.
// A NaN operand is returned quiet, a before b; 0 / 0 and inf / inf give the negative quiet NaN, as x86 does.
module float_divide #(
  parameter EXPONENT = 8,
  parameter FRACTION = 23,
  parameter FIRST = 2,  // digits of the first stage
  parameter DIGITS = 3, // digits of each of the others
  parameter STAGES = 4  // others: FIRST + DIGITS * STAGES >= FRACTION / 2 + 2
) (
  input clk,
  input [EXPONENT+FRACTION:0] a,
  input [EXPONENT+FRACTION:0] b,
  output reg [EXPONENT+FRACTION:0] y
);
  localparam WIDTH = EXPONENT + FRACTION + 1;
  localparam COUNT = $clog2(FRACTION + 2);
  localparam REMAINDER = FRACTION + 5;           // 2 bits before the point
  localparam ALL = FIRST + DIGITS * STAGES;      // digits
  localparam TOP = 2 * ALL - 2;                  // position of the quotient's bit of weight 1
  localparam [EXPONENT-1:0] ONES = {EXPONENT{1'b1}};
  localparam [EXPONENT+1:0] BIAS = {3'b000, {(EXPONENT-1){1'b1}}};

  // ---- stage 1: operands, normalised ---------------------------------------------------------------
  wire [EXPONENT-1:0] field_a = a[WIDTH-2:FRACTION];
  wire [EXPONENT-1:0] field_b = b[WIDTH-2:FRACTION];
  wire normal_a = |field_a;
  wire normal_b = |field_b;
  wire [COUNT-1:0] zeros_a, zeros_b;
  leading_zeros #(.WIDTH(FRACTION + 1), .COUNT(COUNT)) counter_a (
    .x({normal_a, a[FRACTION-1:0]}), .count(zeros_a));
  leading_zeros #(.WIDTH(FRACTION + 1), .COUNT(COUNT)) counter_b (
    .x({normal_b, b[FRACTION-1:0]}), .count(zeros_b));
  wire [FRACTION:0] dividend = {normal_a, a[FRACTION-1:0]} << zeros_a;
  wire [FRACTION-1:0] divisor = b[FRACTION-1:0] << zeros_b; // without its leading one
  wire [EXPONENT+1:0] exponent_a = {2'b00, field_a[EXPONENT-1:1], field_a[0] | ~normal_a};
  wire [EXPONENT+1:0] exponent_b = {2'b00, field_b[EXPONENT-1:1], field_b[0] | ~normal_b};
  wire [EXPONENT+1:0] exponent = exponent_a - exponent_b + BIAS
    - {{(EXPONENT+2-COUNT){1'b0}}, zeros_a} + {{(EXPONENT+2-COUNT){1'b0}}, zeros_b};

  wire nan_a = (field_a == ONES) && (a[FRACTION-1:0] != 0);
  wire nan_b = (field_b == ONES) && (b[FRACTION-1:0] != 0);
  wire infinite_a = (field_a == ONES) && !nan_a;
  wire infinite_b = (field_b == ONES) && !nan_b;
  wire zero_a = a[WIDTH-2:0] == 0;
  wire zero_b = b[WIDTH-2:0] == 0;
  wire invalid = (infinite_a && infinite_b) || (zero_a && zero_b);
  wire nan = nan_a || nan_b || invalid;
  wire [FRACTION-2:0] payload = nan_a ? a[FRACTION-2:0] : nan_b ? b[FRACTION-2:0] : {(FRACTION-1){1'b0}};

  // ---- the digits; the divisor's place carries the fraction of a special result ---------------------
  genvar stage, digit;
  generate
    for (stage = 0; stage <= STAGES; stage = stage + 1) begin : pipe
      localparam COUNT_HERE = stage == 0 ? FIRST : DIGITS;
      localparam BEFORE = stage == 0 ? 0 : FIRST + DIGITS * (stage - 1);
      localparam AFTER = BEFORE + COUNT_HERE;
      wire [REMAINDER-1:0] sum_in, carry_in;
      wire [FRACTION-1:0] divisor_in;
      wire [EXPONENT+1:0] exponent_in;
      wire sign_in, ones_in, zero_in;  // a special result of exponent ONES, or zero
      wire [2*AFTER-1:0] plus_out, minus_out;
      if (stage == 0) begin : operands
        assign sum_in = {4'b0000, dividend};
        assign carry_in = {REMAINDER{1'b0}};
        assign divisor_in = ones_in ? {nan, payload} : divisor;
        assign exponent_in = exponent;
        assign sign_in = nan_a ? a[WIDTH-1] : nan_b ? b[WIDTH-1] : invalid | (a[WIDTH-1] ^ b[WIDTH-1]);
        assign ones_in = nan || infinite_a || zero_b;
        assign zero_in = zero_a || infinite_b;
      end else begin : previous
        assign sum_in = pipe[stage-1].sum;
        assign carry_in = pipe[stage-1].carry;
        assign divisor_in = pipe[stage-1].divided_by;
        assign exponent_in = pipe[stage-1].scale;
        assign sign_in = pipe[stage-1].sign;
        assign ones_in = pipe[stage-1].ones;
        assign zero_in = pipe[stage-1].zero;
        assign plus_out[2*AFTER-1:2*COUNT_HERE] = pipe[stage-1].plus;
        assign minus_out[2*AFTER-1:2*COUNT_HERE] = pipe[stage-1].minus;
      end
      for (digit = 0; digit < COUNT_HERE; digit = digit + 1) begin : row
        wire [REMAINDER-1:0] sum_from, carry_from, sum_to, carry_to;
        if (digit == 0) begin : first
          assign sum_from = sum_in;
          assign carry_from = carry_in;
        end else begin : next
          assign sum_from = pipe[stage].row[digit-1].sum_to;
          assign carry_from = pipe[stage].row[digit-1].carry_to;
        end
        quotient_digit #(.WIDTH(REMAINDER)) find (
          .sum(sum_from), .carry(carry_from), .divisor({3'b001, divisor_in, 2'b00}),
          .next_sum(sum_to), .next_carry(carry_to),
          .plus(plus_out[2*(COUNT_HERE-1-digit) +: 2]), .minus(minus_out[2*(COUNT_HERE-1-digit) +: 2]));
      end
      reg [REMAINDER-1:0] sum, carry;
      reg [FRACTION-1:0] divided_by;
      reg [EXPONENT+1:0] scale;
      reg sign, ones, zero;
      reg [2*AFTER-1:0] plus, minus;
      always @(posedge clk) begin
        sum <= row[COUNT_HERE-1].sum_to;
        carry <= row[COUNT_HERE-1].carry_to;
        divided_by <= divisor_in;
        scale <= exponent_in;
        sign <= sign_in;
        ones <= ones_in;
        zero <= zero_in;
        plus <= plus_out;
        minus <= minus_out;
      end
    end
  endgenerate

  // ---- last stage: the quotient as one number, one less when the remainder is negative; round -----------
  wire [REMAINDER-1:0] remainder = pipe[STAGES].sum + pipe[STAGES].carry;
  wire [TOP:0] exact = pipe[STAGES].plus[TOP:0] - pipe[STAGES].minus[TOP:0];
  wire [TOP:0] too_large = pipe[STAGES].plus[TOP:0] + ~pipe[STAGES].minus[TOP:0];
  wire [1:0] unused = {pipe[STAGES].plus[TOP+1], pipe[STAGES].minus[TOP+1]}; // they cancel
  wire [TOP:0] quotient = remainder[REMAINDER-1] ? too_large : exact;
  wire [TOP:0] beyond = quotient << (FRACTION + 3);
  wire sticky = beyond != 0 || remainder != 0;
  wire [EXPONENT+1:0] scale = pipe[STAGES].scale;
  wire subnormal = scale[EXPONENT+1] || scale[EXPONENT:1] == 0;
  wire [EXPONENT+1:0] below = {{(EXPONENT+1){1'b0}}, 1'b1} - scale;
  wire [COUNT-1:0] distance = !subnormal ? {COUNT{1'b0}}
    : below[EXPONENT+1:COUNT] != 0 ? {COUNT{1'b1}} : below[COUNT-1:0];
  wire [FRACTION+3:0] moved;
  wire [WIDTH-1:0] rounded;
  shift_right_sticky #(.WIDTH(FRACTION + 4), .DISTANCE(COUNT)) denormalise (
    .x({quotient[TOP:TOP-FRACTION-2], sticky}), .distance(distance), .y(moved));
  float_round #(.EXPONENT(EXPONENT), .FRACTION(FRACTION)) finish (
    .sign(pipe[STAGES].sign), .exponent(scale), .subnormal(subnormal), .significand(moved), .y(rounded));
  always @(posedge clk)
    y <= pipe[STAGES].ones ? {pipe[STAGES].sign, ONES, pipe[STAGES].divided_by}
      : pipe[STAGES].zero ? {pipe[STAGES].sign, {(WIDTH-1){1'b0}}} : rounded;
endmodule

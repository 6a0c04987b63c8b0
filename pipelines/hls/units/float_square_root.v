// IEEE-754 square root, round to nearest even, with subnormals: one bit of the root a row, restoring.
// Registers follow the rows whose bits are set in CUTS; the last rows and the rounding are one stage.
// A NaN operand is returned quiet; a negative one gives the negative quiet NaN, as x86 does.
module float_square_root #(
  parameter EXPONENT = 8,
  parameter FRACTION = 23,
  parameter [63:0] CUTS = 64'h0221080 // bit n: registers after row n, 1 <= n < FRACTION + 2
) (
  input clk,
  input [EXPONENT+FRACTION:0] a,
  output reg [EXPONENT+FRACTION:0] y
);
  localparam WIDTH = EXPONENT + FRACTION + 1;
  localparam COUNT = $clog2(FRACTION + 2);
  localparam ROWS = FRACTION + 2;                 // hidden bit, fraction, guard bit
  localparam [EXPONENT-1:0] ONES = {EXPONENT{1'b1}};
  localparam [EXPONENT:0] BIAS = {2'b00, {(EXPONENT-1){1'b1}}};

  // ---- the operand as a number in [1, 4) and half its exponent ---------------------------------------
  wire [EXPONENT-1:0] field = a[WIDTH-2:FRACTION];
  wire normal = |field;
  wire [COUNT-1:0] zeros;
  leading_zeros #(.WIDTH(FRACTION + 1), .COUNT(COUNT)) counter (
    .x({normal, a[FRACTION-1:0]}), .count(zeros));
  wire [FRACTION:0] significand = {normal, a[FRACTION-1:0]} << zeros;
  wire [EXPONENT:0] exponent = {1'b0, field[EXPONENT-1:1], field[0] | ~normal}
    - {{(EXPONENT+1-COUNT){1'b0}}, zeros};
  wire [EXPONENT:0] doubled_field = exponent + BIAS; // of the root
  wire nan = (field == ONES) && (a[FRACTION-1:0] != 0);
  wire zero = a[WIDTH-2:0] == 0;
  wire invalid = a[WIDTH-1] && !zero && !nan;

  // ---- rows ------------------------------------------------------------------------------------------
  genvar n;
  generate
    for (n = 0; n <= ROWS; n = n + 1) begin : row
      wire [n:0] rest;                    // what is left of the operand, up to twice the root
      wire [n:0] root;                    // n bits, after a zero
      wire [2*ROWS-1:0] operand;          // the bits to come are at the top
      wire [EXPONENT-1:0] root_field;
      wire sign, ones, none;              // a special result of exponent ONES, or zero
      wire [FRACTION-1:0] payload;        // its fraction
      if (n == 0) begin : unpack
        assign rest = 1'b0;
        assign root = 1'b0;
        assign operand = {exponent[0] ? {1'b0, significand} : {significand, 1'b0}, {ROWS{1'b0}}};
        assign root_field = doubled_field[EXPONENT:1];
        assign sign = a[WIDTH-1];
        assign ones = (field == ONES) || invalid;
        assign none = zero;
        assign payload = {nan || invalid, nan ? a[FRACTION-2:0] : {(FRACTION-1){1'b0}}};
      end else begin : try
        wire [n+1:0] minuend = {row[n-1].rest, row[n-1].operand[2*ROWS-1:2*ROWS-2]};
        wire [n+2:0] difference = {1'b0, minuend} - {1'b0, row[n-1].root, 2'b01};
        wire fits = ~difference[n+2];
        wire unused = difference[n+1];    // zero when it fits
        wire [n:0] next_rest = fits ? difference[n:0] : minuend[n:0];
        wire [n:0] next_root = {row[n-1].root, fits};
        wire [2*ROWS-1:0] next_operand = {row[n-1].operand[2*ROWS-3:0], 2'b00};
        wire [FRACTION+EXPONENT+2:0] beside
          = {row[n-1].root_field, row[n-1].sign, row[n-1].ones, row[n-1].none, row[n-1].payload};
        if (CUTS[n]) begin : registered
          reg [n:0] rest_q, root_q;
          reg [2*ROWS-1:0] operand_q;
          reg [FRACTION+EXPONENT+2:0] beside_q;
          always @(posedge clk) begin
            rest_q <= next_rest;
            root_q <= next_root;
            operand_q <= next_operand;
            beside_q <= beside;
          end
          assign {rest, root, operand} = {rest_q, root_q, operand_q};
          assign {root_field, sign, ones, none, payload} = beside_q;
        end else begin : passed
          assign {rest, root, operand} = {next_rest, next_root, next_operand};
          assign {root_field, sign, ones, none, payload} = beside;
        end
      end
    end
  endgenerate

  // ---- rounding; a root is never subnormal, too large, or halfway between two numbers -----------------
  wire [FRACTION:0] root = row[ROWS].root[FRACTION:0]; // its hidden bit left out
  wire unused = ^{doubled_field[0], row[ROWS].root[ROWS:ROWS-1], row[ROWS].rest, row[ROWS].operand};
  wire [WIDTH-2:0] rounded = {row[ROWS].root_field, root[FRACTION:1]} + {{(WIDTH-2){1'b0}}, root[0]};
  always @(posedge clk)
    y <= row[ROWS].ones ? {row[ROWS].sign, ONES, row[ROWS].payload}
      : row[ROWS].none ? {row[ROWS].sign, {(WIDTH-1){1'b0}}} : {1'b0, rounded};
endmodule

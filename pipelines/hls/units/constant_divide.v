// Quotient by a constant, truncated toward zero: a wide product is registered, then corrected.
// y = (a * FACTOR >> SHIFT), plus one when a is negative, negated when NEGATE is set.
module constant_divide #(
  parameter WIDTH = 32,
  parameter SIGNED = 1,
  parameter BITS = 33,                  // of FACTOR, which is not negative
  parameter [BITS-1:0] FACTOR = 1,
  parameter SHIFT = 31,
  parameter NEGATE = 0
) (
  input clk,
  input [WIDTH-1:0] a,
  output reg [WIDTH-1:0] y
);
  localparam PRODUCT = WIDTH + SHIFT;   // enough for the sign of the product
  wire negative = (SIGNED != 0) && a[WIDTH-1];
  wire [PRODUCT-1:0] wide_a = {{SHIFT{negative}}, a};
  wire [PRODUCT-1:0] wide_factor = {{(PRODUCT-BITS){1'b0}}, FACTOR};
  wire [WIDTH-1:0] scaled;
  wire [SHIFT-1:0] unused;
  assign {scaled, unused} = wide_a * wide_factor;
  reg [WIDTH-1:0] rounded_down;
  reg add_one;
  wire [WIDTH-1:0] magnitude = rounded_down + {{(WIDTH-1){1'b0}}, add_one};
  always @(posedge clk) begin
    rounded_down <= scaled;
    add_one <= negative;
    y <= (NEGATE != 0) ? -magnitude : magnitude;
  end
endmodule

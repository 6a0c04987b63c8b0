// Quotient, or remainder when `remainder` is set, of two integers, truncated toward zero: one bit a cycle.
// The result is there WIDTH + 2 cycles after `go` and stays until the next one is.
module integer_divide #(
  parameter WIDTH = 32,
  parameter SIGNED = 1
) (
  input clk,
  input rst,
  input go,
  input [WIDTH-1:0] a,
  input [WIDTH-1:0] b,
  input remainder,
  output reg [WIDTH-1:0] y
);
  localparam COUNT = $clog2(WIDTH + 2);
  localparam [COUNT-1:0] ONE = {{(COUNT-1){1'b0}}, 1'b1};
  localparam [31:0] CYCLES = WIDTH + 1;
  wire negative_a = (SIGNED != 0) && a[WIDTH-1];
  wire negative_b = (SIGNED != 0) && b[WIDTH-1];
  reg [COUNT-1:0] left;                 // cycles until the result
  reg [WIDTH-1:0] quotient, divisor, rest;
  reg wants_remainder, negative;
  wire [WIDTH:0] shifted = {rest, quotient[WIDTH-1]};
  wire [WIDTH:0] difference = shifted - {1'b0, divisor};
  wire [WIDTH-1:0] magnitude = wants_remainder ? rest : quotient;
  always @(posedge clk) begin
    if (rst) left <= {COUNT{1'b0}};
    else if (go) left <= CYCLES[COUNT-1:0];
    else if (left != 0) left <= left - ONE;
    if (go) begin
      quotient <= negative_a ? -a : a;
      divisor <= negative_b ? -b : b;
      rest <= {WIDTH{1'b0}};
      wants_remainder <= remainder;
      negative <= negative_a ^ (negative_b & ~remainder);
    end else if (left > ONE) begin
      quotient <= quotient << 1 | {{(WIDTH-1){1'b0}}, ~difference[WIDTH]};
      rest <= difference[WIDTH] ? shifted[WIDTH-1:0] : difference[WIDTH-1:0];
    end else if (left == ONE) begin
      y <= negative ? -magnitude : magnitude;
    end
  end
endmodule

// Product of two integers, low half: the same for signed and unsigned operands.
module integer_multiply #(
  parameter WIDTH = 32,
  parameter STAGES = 2 // 1: the product is registered; 2: products of halves, then their sum
) (
  input clk,
  input [WIDTH-1:0] a,
  input [WIDTH-1:0] b,
  output reg [WIDTH-1:0] y
);
  localparam LOW = (WIDTH + 1) / 2;
  localparam HIGH = WIDTH - LOW;
  generate
    if (STAGES == 1) begin : whole
      always @(posedge clk) y <= a * b;
    end else begin : halves
      reg [WIDTH-1:0] low;
      reg [HIGH-1:0] cross_ab, cross_ba;
      always @(posedge clk) begin
        low <= a[LOW-1:0] * b[LOW-1:0];
        cross_ab <= a[WIDTH-1:LOW] * b[HIGH-1:0];
        cross_ba <= a[HIGH-1:0] * b[WIDTH-1:LOW];
        y <= low + {cross_ab + cross_ba, {LOW{1'b0}}};
      end
    end
  endgenerate
endmodule

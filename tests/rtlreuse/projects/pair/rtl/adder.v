module adder #(parameter WIDTH = 8, parameter signed [WIDTH-1:0] STEP = 3) (
  input clk, input rst, input [WIDTH-1:0] a, output reg [WIDTH-1:0] sum
);
  always @(posedge clk) if (rst) sum <= 0; else sum <= sum + a + STEP;
endmodule

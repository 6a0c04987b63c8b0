// Systolic array for matrix products, output-stationary: each element keeps its sum, which is shifted out downwards.
module pe #(parameter W = 8, parameter P = 32) (
    input clk, input rst, input clear, input drain,
    input signed [W-1:0] a, input signed [W-1:0] b, input signed [P-1:0] above,
    output reg signed [W-1:0] a_next, output reg signed [W-1:0] b_next, output reg signed [P-1:0] sum);
  wire signed [P-1:0] product = a * b;
  always @(posedge clk) begin
    a_next <= a;
    b_next <= b;
    if (rst) sum <= 0;
    else if (drain) sum <= above;
    else if (clear) sum <= product;
    else sum <= sum + product;
  end
endmodule

module top #(parameter N = @N@, parameter M = @M@, parameter W = 8, parameter P = 32) (
    input clk, input rst, input clear, input drain, input [N*W-1:0] left, input [M*W-1:0] up,
    output [M*P-1:0] sums);
  wire [W-1:0] a [0:N*(M+1)-1];
  wire [W-1:0] b [0:(N+1)*M-1];
  wire [P-1:0] s [0:(N+1)*M-1];
  genvar i, j;
  generate
    for (i = 0; i < N; i = i + 1) begin : rows
      assign a[i*(M+1)] = left[i*W +: W];
      for (j = 0; j < M; j = j + 1) begin : columns
        pe #(.W(W), .P(P)) u (.clk(clk), .rst(rst), .clear(clear), .drain(drain),
          .a(a[i*(M+1)+j]), .b(b[i*M+j]), .above(s[i*M+j]),
          .a_next(a[i*(M+1)+j+1]), .b_next(b[(i+1)*M+j]), .sum(s[(i+1)*M+j]));
      end
    end
    for (j = 0; j < M; j = j + 1) begin : edges
      assign b[j] = up[j*W +: W];
      assign s[j] = {P{1'b0}};
      assign sums[j*P +: P] = s[N*M+j];
    end
  endgenerate
endmodule

// Systolic array for matrix products, weight-stationary: weights are shifted in downwards, sums flow down.
module pe #(parameter W = 8, parameter P = 32) (
    input clk, input rst, input load, input signed [W-1:0] a, input signed [P-1:0] above,
    output reg signed [W-1:0] a_next, output reg signed [P-1:0] below);
  reg signed [W-1:0] weight;
  always @(posedge clk) begin
    a_next <= a;
    if (load) weight <= above[W-1:0];
    if (rst) below <= 0;
    else below <= load ? above : above + a * weight;
  end
endmodule

module top #(parameter N = @N@, parameter M = @M@, parameter W = 8, parameter P = 32) (
    input clk, input rst, input load, input [N*W-1:0] left, input [M*W-1:0] weights, output [M*P-1:0] sums);
  wire [W-1:0] a [0:N*(M+1)-1];
  wire [P-1:0] s [0:(N+1)*M-1];
  genvar i, j;
  generate
    for (i = 0; i < N; i = i + 1) begin : rows
      assign a[i*(M+1)] = left[i*W +: W];
      for (j = 0; j < M; j = j + 1) begin : columns
        pe #(.W(W), .P(P)) u (.clk(clk), .rst(rst), .load(load), .a(a[i*(M+1)+j]), .above(s[i*M+j]),
          .a_next(a[i*(M+1)+j+1]), .below(s[(i+1)*M+j]));
      end
    end
    for (j = 0; j < M; j = j + 1) begin : edges
      assign s[j] = {{(P-W){1'b0}}, weights[j*W +: W]};
      assign sums[j*P +: P] = s[N*M+j];
    end
  endgenerate
endmodule

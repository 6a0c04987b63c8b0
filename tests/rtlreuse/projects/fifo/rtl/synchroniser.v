module synchroniser #(parameter WIDTH = 4) (
  input clk, input rst_n, input [WIDTH-1:0] d, output reg [WIDTH-1:0] q
);
  reg [WIDTH-1:0] first;
  always @(posedge clk or negedge rst_n)
    if (!rst_n) {q, first} <= 0;
    else {q, first} <= {first, d};
endmodule

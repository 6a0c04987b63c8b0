module shifter (input clk, input rst, input bit, output reg [31:0] int);
  always @(posedge clk) int <= rst ? 0 : {int[30:0], bit};
endmodule

// Cores of 16 registers in a row; the output of one is the input of the next.
module core (input clk, input [31:0] a, output [31:0] o);
  reg [31:0] r [0:15];
  genvar i;
  assign o = r[15];
  generate
    for (i = 0; i < 16; i = i + 1) begin : stages
      wire [31:0] s = r[i] * 32'd1664525 + (i == 0 ? a : r[(i + 15) % 16]) + 32'd1013904223;
      wire [31:0] y = s ^ (s >> 13);
      always @(posedge clk) r[i] <= y < r[(i + 5) % 16] ? y : s;
    end
  endgenerate
endmodule

module top (input clk, input [31:0] a, output [31:0] o);
  wire [31:0] w [0:@N@];
  genvar k;
  assign w[0] = a;
  assign o = w[@N@];
  generate
    for (k = 0; k < @N@; k = k + 1) begin : cores
      core u (.clk(clk), .a(w[k]), .o(w[k+1]));
    end
  endgenerate
endmodule

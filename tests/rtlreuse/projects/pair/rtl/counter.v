module counter (input clk, input rst, input class, output [15:0] new);
  adder #(.WIDTH(16)) u (.clk(clk), .rst(rst), .a({15'd0, class}), .sum(new));
endmodule

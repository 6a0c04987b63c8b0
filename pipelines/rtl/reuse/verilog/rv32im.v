
// Cores that run the same program on numbers of their own.
module top (input clk, input rst, input [31:0] seed, output [31:0] pc, output [4:0] rd, output [31:0] value,
    output retired, output [31:0] sum);
  wire [31:0] pcs [0:@CORES@-1];
  wire [4:0] rds [0:@CORES@-1];
  wire [31:0] values [0:@CORES@-1];
  wire [@CORES@-1:0] done;
  wire [31:0] sums [0:@CORES@];
  assign {pc, rd, value, retired} = {pcs[0], rds[0], values[0], done[0]};
  assign sums[0] = seed;
  assign sum = sums[@CORES@];
  genvar i;
  generate
    for (i = 0; i < @CORES@; i = i + 1) begin : cores
      wire write;
      wire [31:0] address, written;
      reg [31:0] last;
      always @(posedge clk) if (rst) last <= 0; else if (write) last <= written;
      core u (.clk(clk), .rst(rst), .retired_pc(pcs[i]), .retired_rd(rds[i]), .retired_value(values[i]),
        .retired(done[i]), .io_write(write), .io_address(address), .io_data(written), .io_read(sums[i]));
      assign sums[i+1] = last;
    end
  endgenerate
endmodule

// Shifts up to 32 bits out and in. Mode 0: data change behind the falling edge of sck.
// mosi leaves on the falling edge of clk, so that it is stable around every edge of sck.
module spi_shift (clk, rst, half, load, bits, out, in, busy, last, sck, mosi, miso);
  input         clk, rst, load, miso;
  input  [2:0]  half;            // cycles of clk per half period of sck, less one
  input  [5:0]  bits;
  input  [31:0] out;
  output [31:0] in;
  output        busy, last, sck, mosi;

  reg [31:0] shift;
  reg [5:0]  left;
  reg [2:0]  count;
  reg        sck, mosi, sample;

  wire tick = count == 3'd0;
  wire busy = left != 6'd0;
  wire last = left == 6'd1 & sck & tick;

  assign in = shift;

  always @(posedge clk or posedge rst)
    if (rst)
      count <= 3'd0;
    else if (load | tick)
      count <= half;
    else
      count <= count - 3'd1;

  always @(posedge clk or posedge rst)
    if (rst) begin
      sck  <= 1'b0;
      left <= 6'd0;
    end
    else if (load) begin
      sck  <= 1'b0;
      left <= bits;
    end
    else if (busy & tick) begin
      sck <= ~sck;
      if (sck) left <= left - 6'd1;
    end

  always @(posedge clk)
    if (load) shift <= out;
    else if (busy & tick & sck) shift <= {shift[30:0], sample};

  always @(negedge clk or posedge rst)
    if (rst) mosi <= 1'b0;
    else if (~sck) mosi <= shift[31];

  always @(negedge clk)
    if (sck & tick) sample <= miso;
endmodule

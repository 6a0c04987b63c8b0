`include "flash_defs.vh"
// A serial memory that samples sck with the clock of the system.
module flash_chip (clk, sck, cs_n, mosi, miso);
  parameter ADDR_BITS = 10;
  parameter IMAGE = "image.hex";

  input  clk, sck, cs_n, mosi;
  output miso;

  reg [7:0]  bytes [0:(1 << ADDR_BITS) - 1];
  reg [7:0]  status;
  reg [39:0] got;
  reg [5:0]  count;
  reg        before, miso;
  reg [ADDR_BITS-1:0] address;
  reg [7:0]  command;

  initial begin
    status = 8'h02;
    $readmemh(IMAGE, bytes);
  end

  wire rises = sck & ~before, falls = ~sck & before;
  wire [39:0] now = {got[38:0], mosi};
  wire [2:0] bit_of_byte = 3'd7 - count[2:0];
  wire [5:0] preamble = 6'd32 + `DUMMY_BITS;

  always @(posedge clk) begin
    before <= sck;
    if (cs_n) begin
      count <= 6'd0;
      miso  <= 1'b0;
    end
    else if (rises) begin
      got   <= now;
      count <= (count == preamble + 6'd7) ? preamble : count + 6'd1;
      if (count == 6'd7) command <= now[7:0];
      if (count == 6'd31) address <= now[ADDR_BITS-1:0];
      if (count == preamble + 6'd7) address <= address + 1'b1;
    end
    else if (falls)
      case (command)
        `READ:        miso <= count >= preamble & bytes[address][bit_of_byte];
        `READ_STATUS: miso <= status[bit_of_byte];
        default:      miso <= 1'b0;
      endcase
  end
endmodule

module flash (clk, rst, half, req, addr, data, ack, hit, sck, cs_n, mosi, miso);
  parameter ADDR_BITS = 10;

  input                  clk, rst, req;
  input  [2:0]           half;
  input  [ADDR_BITS-1:2] addr;
  output [31:0]          data;
  output                 ack, hit, sck, cs_n, mosi, miso;

  reg [ADDR_BITS-1:2] held;
  reg [2:0]           speed;
  always @(posedge clk)
    if (cs_n) begin
      held <= addr;
      speed <= {half[2:1], 1'b1};
    end

  flash_ctrl #(ADDR_BITS) ctrl (clk, rst, speed, req, held, data, ack, hit, sck, cs_n, mosi, miso);
  flash_chip #(ADDR_BITS) chip (clk, sck, cs_n, mosi, miso);
endmodule

`include "flash_defs.vh"
module flash_ctrl (clk, rst, half, req, addr, data, ack, hit, sck, cs_n, mosi, miso);
  parameter ADDR_BITS = 10;

  input                   clk, rst, req, miso;
  input  [2:0]            half;
  input  [ADDR_BITS-1:2]  addr;
  output [31:0]           data;
  output                  ack, hit, sck, cs_n, mosi;

  // The word that was read last is kept.
  reg [ADDR_BITS-1:2] tag;
  reg                 valid;
  reg [31:0]          data;
  reg [2:0]           state, next;
  reg                 load;
  reg [5:0]           bits;
  reg [31:0]          out;

  wire [31:0] in;
  wire        busy, last;
  wire        hit = valid & tag == addr;

  assign ack  = (req & hit & state == `S_IDLE) | state == `S_DONE;
  assign cs_n = state == `S_IDLE | state == `S_DONE;

  always @(state or req or hit or last or addr) begin
    next = state;
    load = 1'b0;
    bits = 6'd32;
    out  = {`READ, {24 - ADDR_BITS{1'b0}}, addr, 2'b00};
    case (state)
      `S_IDLE:
        if (req & ~hit) begin
          next = `S_COMMAND;
          load = 1'b1;
        end
      `S_COMMAND:
        if (last) begin
          load = 1'b1;
          next = (`DUMMY_BITS != 0) ? `S_DUMMY : `S_DATA;
          bits = (`DUMMY_BITS != 0) ? `DUMMY_BITS : 6'd32;
        end
      `S_DUMMY:
        if (last) begin
          load = 1'b1;
          next = `S_DATA;
        end
      `S_DATA: if (last) next = `S_DONE;
      default: next = `S_IDLE;
    endcase
  end

  always @(posedge clk or posedge rst)
    if (rst) begin
      state <= `S_IDLE;
      valid <= 1'b0;
    end
    else begin
      state <= next;
      if (state == `S_IDLE & load) begin
        tag   <= addr;
        valid <= 1'b0;
      end
      if (state == `S_DONE) valid <= 1'b1;
    end

  // Bytes arrive in order of their addresses; the first one is the lowest of the word.
  always @(posedge clk)
    if (state == `S_DONE) data <= {in[7:0], in[15:8], in[23:16], in[31:24]};

  spi_shift shifter (
    .clk(clk), .rst(rst), .half(half), .load(load), .bits(bits), .out(out), .in(in), .busy(busy),
    .last(last), .sck(sck), .mosi(mosi), .miso(miso));
endmodule

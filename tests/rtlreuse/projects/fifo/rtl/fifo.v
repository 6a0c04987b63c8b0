`include "gray.vh"
module fifo #(parameter BITS = 3) (
  input write_clk, input read_clk, input rst_n,
  input push, input [7:0] in, output full,
  input pop, output [7:0] out, output empty
);
  reg [7:0] words [0:(1 << BITS)-1];
  reg [BITS:0] head, tail, head_gray, tail_gray;
  wire [BITS:0] head_seen, tail_seen;
  wire [BITS:0] next_head = head + (push && !full), next_tail = tail + (pop && !empty);

  synchroniser #(.WIDTH(BITS + 1)) to_read (.clk(read_clk), .rst_n(rst_n), .d(head_gray), .q(head_seen));
  synchroniser #(.WIDTH(BITS + 1)) to_write (.clk(write_clk), .rst_n(rst_n), .d(tail_gray), .q(tail_seen));
  assign full = head_gray == {~tail_seen[BITS:BITS-1], tail_seen[BITS-2:0]};
  assign empty = tail_gray == head_seen;
  assign out = words[tail[BITS-1:0]];

  always @(posedge write_clk or negedge rst_n)
    if (!rst_n) begin
      head <= 0;
      head_gray <= 0;
    end else begin
      head <= next_head;
      head_gray <= `GRAY(next_head);
    end
  always @(posedge write_clk) if (push && !full) words[head[BITS-1:0]] <= in;
  always @(posedge read_clk or negedge rst_n)
    if (!rst_n) begin
      tail <= 0;
      tail_gray <= 0;
    end else begin
      tail <= next_tail;
      tail_gray <= `GRAY(next_tail);
    end
endmodule

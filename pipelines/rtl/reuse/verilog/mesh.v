// Mesh network: routers with five ports, a queue of two flits per input, routes first in x, then in y. Each node sends
// flits to drawn destinations and adds up what it receives. A flit is destination x, y and 16 bits.
module queue (input clk, input rst, input put, input [23:0] in, input take, output is_ready, output valid,
    output [23:0] out);
  reg [23:0] first, second;
  reg [1:0] count;
  assign is_ready = count != 2;
  assign valid = count != 0;
  assign out = first;
  always @(posedge clk)
    if (rst) count <= 0;
    else begin
      count <= count + put - take;
      if (take) first <= count == 2 ? second : in;
      else if (put && count == 0) first <= in;
      if (put) second <= in;
    end
endmodule

module router (
    input clk, input rst, input [3:0] x, input [3:0] y, input [4:0] put, input [119:0] in, output [4:0] is_ready,
    output reg [4:0] send, output reg [119:0] out, input [4:0] may_send);
  // Ports: 0 own node, 1 east, 2 west, 3 south, 4 north.
  wire [4:0] valid;
  wire [23:0] flits [0:4];
  reg [4:0] take;
  reg [2:0] turn;
  wire [2:0] way [0:4];
  genvar i;
  generate
    for (i = 0; i < 5; i = i + 1) begin : inputs
      queue u (.clk(clk), .rst(rst), .put(put[i]), .in(in[i*24 +: 24]), .take(take[i]), .is_ready(is_ready[i]),
        .valid(valid[i]), .out(flits[i]));
      assign way[i] = flits[i][23:20] > x ? 1 : flits[i][23:20] < x ? 2 : flits[i][19:16] > y ? 3
        : flits[i][19:16] < y ? 4 : 0;
    end
  endgenerate
  always @(posedge clk) turn <= rst || turn == 4 ? 0 : turn + 1;
  wire [119:0] all = {flits[4], flits[3], flits[2], flits[1], flits[0]};
  integer o, k;
  reg [2:0] source;
  always @* begin
    take = 0;
    send = 0;
    out = 0;
    for (o = 0; o < 5; o = o + 1)
      for (k = 0; k < 5; k = k + 1) begin
        source = turn + k >= 5 ? turn + k - 5 : turn + k;
        if (!send[o] && may_send[o] && valid[source] && way[source] == o) begin
          send[o] = 1;
          take[source] = 1;
          out[o*24 +: 24] = all[source*24 +: 24];
        end
      end
  end
endmodule

module node #(parameter K = 1) (
    input clk, input rst, input [3:0] x, input [3:0] y, input [15:0] seed, input go, input [4:0] size,
    input [3:0] neighbour_put, input [95:0] neighbour_in, output [3:0] neighbour_ready,
    output [3:0] neighbour_send, output [95:0] neighbour_out, input [3:0] neighbour_may, input [31:0] carried,
    output reg [31:0] sum);
  reg [31:0] random, received;
  wire [3:0] tx = random[7:0] % size, ty = random[15:8] % size;
  wire own_ready, own_arrives;
  wire [23:0] arrived;
  router u (.clk(clk), .rst(rst), .x(x), .y(y), .put({neighbour_put, go && own_ready && random[31]}),
    .in({neighbour_in, tx, ty, random[31:16]}), .is_ready({neighbour_ready, own_ready}),
    .send({neighbour_send, own_arrives}), .out({neighbour_out, arrived}), .may_send({neighbour_may, 1'b1}));
  wire [31:0] r1 = random ^ (random << 13), r2 = r1 ^ (r1 >> 17);
  always @(posedge clk) begin
    random <= rst ? {seed, 4'd5, x, 4'd9, y} : r2 ^ (r2 << 5);
    received <= rst ? 0 : own_arrives ? {received[30:0], received[31]} + arrived : received;
    sum <= rst ? 0 : carried ^ received;
  end
endmodule

module top #(parameter N = @N@) (input clk, input rst, input [15:0] seed, input go, output [31:0] sum);
  // Links of node (i, j), i counting x: [4 * (j * N + i) + d], d = 0 east, 1 west, 2 south, 3 north.
  wire [4*N*N-1:0] send, is_ready;
  wire [96*N*N-1:0] out;
  wire [31:0] sums [0:N*N];
  assign sums[0] = 0;
  assign sum = sums[N*N];
  genvar i, j;
  generate
    for (j = 0; j < N; j = j + 1) begin : rows
      for (i = 0; i < N; i = i + 1) begin : columns
        localparam H = j * N + i;
        localparam E = i + 1 < N ? H + 1 : H, W = i > 0 ? H - 1 : H, S = j + 1 < N ? H + N : H, T = j > 0 ? H - N : H;
        node u (.clk(clk), .rst(rst), .x(i[3:0]), .y(j[3:0]), .seed(seed), .go(go), .size(5'd@N@),
          .neighbour_put({T != H && send[4*T+2], S != H && send[4*S+3], W != H && send[4*W], E != H && send[4*E+1]}),
          .neighbour_in({out[96*T+48 +: 24], out[96*S+72 +: 24], out[96*W +: 24], out[96*E+24 +: 24]}),
          .neighbour_ready(is_ready[4*H +: 4]), .neighbour_send(send[4*H +: 4]), .neighbour_out(out[96*H +: 96]),
          .neighbour_may({T != H && is_ready[4*T+2], S != H && is_ready[4*S+3], W != H && is_ready[4*W],
            E != H && is_ready[4*E+1]}), .carried(sums[H]), .sum(sums[H+1]));
      end
    end
  endgenerate
endmodule

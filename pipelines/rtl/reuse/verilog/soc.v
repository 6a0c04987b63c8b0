
// Cores that run the same program, and a weight-stationary array. The bus serves one core per cycle; what a core wrote
// last is shifted into the array's left edge, or into its weights if bit 4 of the address is set.
module pe (
    input clk, input rst, input load, input signed [7:0] a, input signed [31:0] above,
    output reg signed [7:0] a_next, output reg signed [31:0] below);
  reg signed [7:0] weight;
  always @(posedge clk) begin
    a_next <= a;
    if (load) weight <= above[7:0];
    if (rst) below <= 0;
    else below <= load ? above : above + a * weight;
  end
endmodule

module tile (input clk, input rst, input [31:0] io_read, input taken, output reg pending, output reg is_weight,
    output reg [31:0] written, output [31:0] computed);
  wire write, retired;
  wire [31:0] address, data, pc, value;
  wire [4:0] rd;
  core u (.clk(clk), .rst(rst), .retired_pc(pc), .retired_rd(rd), .retired_value(value), .retired(retired),
    .io_write(write), .io_address(address), .io_data(data), .io_read(io_read));
  assign computed = retired ? value : 0;
  always @(posedge clk)
    if (rst) {pending, is_weight, written} <= 0;
    else if (write) {pending, is_weight, written} <= {1'b1, address[4], data};
    else if (taken) pending <= 0;
endmodule

module top #(parameter C = @CORES@, parameter N = @N@, parameter M = @M@) (
    input clk, input rst, input [31:0] seed, output [M*32-1:0] sums, output [31:0] mix);
  reg [7:0] turn;
  always @(posedge clk) if (rst || turn == C - 1) turn <= 0; else turn <= turn + 1;
  wire [C-1:0] pending, is_weight;
  wire [C*32-1:0] written;
  wire [31:0] traces [0:C];
  wire served = pending[turn];
  wire [31:0] word = written[turn*32 +: 32] ^ seed;
  reg [8*N+31:0] left;
  reg [8*M+31:0] weights;
  reg load;
  reg [31:0] answer;
  integer k;
  reg [31:0] mixed;
  always @* begin
    mixed = 0;
    for (k = 0; k < M; k = k + 1) mixed = mixed ^ sums[k*32 +: 32];
  end
  always @(posedge clk) begin
    answer <= mixed;
    load <= served && is_weight[turn];
    if (rst) left <= 0; else if (served && !is_weight[turn]) left <= {left[8*N-1:0], word};
    if (rst) weights <= 0; else if (served && is_weight[turn]) weights <= {weights[8*M-1:0], word};
  end
  assign traces[0] = 0;
  assign mix = traces[C];
  wire [7:0] a [0:N*(M+1)-1];
  wire [31:0] s [0:(N+1)*M-1];
  genvar i, j;
  generate
    for (i = 0; i < C; i = i + 1) begin : tiles
      wire [31:0] own;
      tile u (.clk(clk), .rst(rst), .io_read(answer ^ i * 32'h9e3779b9), .taken(turn == i), .pending(pending[i]),
        .is_weight(is_weight[i]), .written(written[i*32 +: 32]), .computed(own));
      assign traces[i+1] = {traces[i][30:0], traces[i][31]} ^ own;
    end
    for (i = 0; i < N; i = i + 1) begin : rows
      assign a[i*(M+1)] = left[i*8 +: 8];
      for (j = 0; j < M; j = j + 1) begin : columns
        pe u (.clk(clk), .rst(rst), .load(load), .a(a[i*(M+1)+j]), .above(s[i*M+j]), .a_next(a[i*(M+1)+j+1]),
          .below(s[(i+1)*M+j]));
      end
    end
    for (j = 0; j < M; j = j + 1) begin : edges
      assign s[j] = {24'd0, weights[j*8 +: 8]};
      assign sums[j*32 +: 32] = s[N*M+j];
    end
  endgenerate
endmodule

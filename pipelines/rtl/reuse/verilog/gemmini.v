// Array in the style of Gemmini: two dataflows per element, two weights per element, a scratchpad bank per row, an
// accumulator bank per column, and a controller that counts through rows of the scratchpad.
module pe (
    input clk, input is_os, input swap, input load, input signed [7:0] a, input signed [31:0] above, input signed [7:0] w,
    output reg signed [7:0] a_next, output reg signed [31:0] below, output reg signed [7:0] w_next);
  reg chosen;
  reg signed [31:0] c0, c1;
  wire signed [31:0] kept = chosen ? c1 : c0, spare = chosen ? c0 : c1;
  wire signed [7:0] factor = is_os ? w : kept[7:0];
  wire signed [31:0] total = (is_os ? kept : above) + a * factor;
  always @(posedge clk) begin
    a_next <= a;
    w_next <= w;
    if (swap) chosen <= ~chosen;
    if (is_os) begin
      if (chosen) c1 <= total; else c0 <= total;
      if (load) if (chosen) c0 <= above; else c1 <= above;
      below <= spare;
    end else begin
      if (load) if (chosen) c0 <= {{24{w[7]}}, w}; else c1 <= {{24{w[7]}}, w};
      below <= total;
    end
  end
endmodule

module bank (input clk, input we, input [5:0] wa, input [7:0] wd, input [5:0] ra, output reg [7:0] q);
  reg [7:0] words [0:63];
  always @(posedge clk) begin
    if (we) words[wa] <= wd;
    q <= words[ra];
  end
endmodule

module accumulator (
    input clk, input add, input clear, input [4:0] wa, input signed [31:0] x, input [4:0] ra, input [4:0] shift,
    output reg [31:0] q);
  reg [31:0] words [0:31];
  wire signed [31:0] scaled = $signed(words[ra]) >>> shift;
  always @(posedge clk) begin
    if (add) words[wa] <= clear ? x : words[wa] + x;
    q <= scaled > 127 ? 127 : scaled < -128 ? -128 : scaled;
  end
endmodule

module top #(parameter N = @N@, parameter M = @M@) (
    input clk, input rst, input start, input is_os, input [5:0] base, input [4:0] shift, input we, input [5:0] wa,
    input [N*8-1:0] wd, input [M*8-1:0] weights, output busy, output [M*32-1:0] results);
  reg [6:0] count;
  reg [4:0] out_row;
  reg is_running, swap;
  assign busy = is_running;
  wire load = is_running && count < N;
  wire add = is_running && count >= N;
  always @(posedge clk) begin
    swap <= 0;
    if (rst) begin
      is_running <= 0;
      count <= 0;
      out_row <= 0;
    end else if (!is_running) begin
      is_running <= start;
      count <= 0;
    end else begin
      count <= count + 1;
      if (add) out_row <= out_row + 1;
      if (count == N) swap <= 1;
      if (count == 95) is_running <= 0;
    end
  end
  wire [7:0] a [0:N*(M+1)-1];
  wire [7:0] w [0:(N+1)*M-1];
  wire [31:0] s [0:(N+1)*M-1];
  genvar i, j;
  generate
    for (i = 0; i < N; i = i + 1) begin : rows
      bank u (.clk(clk), .we(we), .wa(wa), .wd(wd[i*8 +: 8]), .ra(base + count[5:0]), .q(a[i*(M+1)]));
      for (j = 0; j < M; j = j + 1) begin : columns
        pe u (.clk(clk), .is_os(is_os), .swap(swap), .load(load), .a(a[i*(M+1)+j]), .above(s[i*M+j]), .w(w[i*M+j]),
          .a_next(a[i*(M+1)+j+1]), .below(s[(i+1)*M+j]), .w_next(w[(i+1)*M+j]));
      end
    end
    for (j = 0; j < M; j = j + 1) begin : edges
      assign s[j] = 32'd0;
      assign w[j] = weights[j*8 +: 8];
      accumulator u (.clk(clk), .add(add), .clear(count < N + 32), .wa(out_row), .x(s[N*M+j]), .ra(wa[4:0]),
        .shift(shift), .q(results[j*32 +: 32]));
    end
  endgenerate
endmodule

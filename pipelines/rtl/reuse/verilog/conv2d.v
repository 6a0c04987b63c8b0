// Convolution of a stream of pixels: line buffers give a window of 4 x 4, each column of elements is a filter.
module tap (
    input clk, input rst, input load, input [7:0] pixel, input [7:0] weight, input signed [31:0] sum,
    output reg [7:0] pixel_next, output reg [7:0] weight_next, output reg signed [31:0] sum_next);
  always @(posedge clk) begin
    pixel_next <= pixel;
    if (load) weight_next <= weight;
    if (rst) sum_next <= 0;
    else sum_next <= sum + $signed({1'b0, pixel}) * $signed(weight_next);
  end
endmodule

module line #(parameter WIDTH = 64) (input clk, input valid, input [5:0] column, input [7:0] pixel, output [7:0] above);
  reg [7:0] pixels [0:WIDTH-1];
  assign above = pixels[column];
  always @(posedge clk) if (valid) pixels[column] <= pixel;
endmodule

module top #(parameter F = @FILTERS@, parameter T = 16) (
    input clk, input rst, input load, input valid, input [7:0] pixel, input [T*8-1:0] weights, output [F*32-1:0] sums);
  reg [5:0] column;
  always @(posedge clk) if (rst) column <= 0; else if (valid) column <= column + 1;

  wire [7:0] row [0:3];
  assign row[0] = pixel;
  wire [7:0] p [0:T*(F+1)-1];   // of tap t before filter f at t * (F + 1) + f
  wire [7:0] w [0:T*(F+1)-1];
  wire [31:0] s [0:(T+1)*F-1];  // before tap t of filter f at t * F + f
  genvar r, c, t, f;
  generate
    for (r = 0; r < 3; r = r + 1) begin : lines
      line u (.clk(clk), .valid(valid), .column(column), .pixel(row[r]), .above(row[r+1]));
    end
    for (r = 0; r < 4; r = r + 1) begin : windows
      reg [7:0] window [0:3];
      for (c = 0; c < 4; c = c + 1) begin : columns
        always @(posedge clk) if (valid) window[c] <= c == 0 ? row[r] : window[c == 0 ? 0 : c - 1];
        // Tap t meets its sum t cycles after tap 0.
        reg [7:0] skew [0:4*r+c];
        for (t = 0; t <= 4 * r + c; t = t + 1) begin : delays
          always @(posedge clk) skew[t] <= t == 0 ? window[c] : skew[t == 0 ? 0 : t - 1];
        end
        assign p[(4*r+c)*(F+1)] = skew[4*r+c];
      end
    end
    for (t = 0; t < T; t = t + 1) begin : taps
      assign w[t*(F+1)] = weights[t*8 +: 8];
      for (f = 0; f < F; f = f + 1) begin : filters
        tap u (.clk(clk), .rst(rst), .load(load), .pixel(p[t*(F+1)+f]), .weight(w[t*(F+1)+f]), .sum(s[t*F+f]),
          .pixel_next(p[t*(F+1)+f+1]), .weight_next(w[t*(F+1)+f+1]), .sum_next(s[(t+1)*F+f]));
      end
    end
    for (f = 0; f < F; f = f + 1) begin : edges
      assign s[f] = 32'd0;
      assign sums[f*32 +: 32] = s[T*F+f];
    end
  endgenerate
endmodule

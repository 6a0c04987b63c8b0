// Moving sum of wide samples: an asynchronous reset to values that are not 0, a gated and a divided clock, an
// output register of the falling edge.
module window #(parameter int WIDTH = 100, parameter int TAPS = 4) (
  input logic clk, rst, input logic [WIDTH-1:0] sample, output logic [WIDTH-1:0] oldest, output logic [WIDTH+7:0] sum
);
  logic [WIDTH-1:0] taps [TAPS];
  always_ff @(posedge clk or posedge rst)
    if (rst) begin
      for (int i = 0; i < TAPS; i++) taps[i] <= WIDTH'(i + 1);
      sum <= 10;
    end else begin
      taps[0] <= sample;
      for (int i = 1; i < TAPS; i++) taps[i] <= taps[i-1];
      sum <= sum + {8'd0, sample} - {8'd0, taps[TAPS-1]};
    end
  assign oldest = taps[TAPS-1];
endmodule

module filter (
  input logic clk, rst, enable, input logic [99:0] sample, input logic [2:0] class__of, input logic [64:0] carry,
  output logic [107:0] sum, output logic [107:0] held, output logic [63:0] low, output logic [15:0] ticks,
  output logic [31:0] mixed, output logic half, output logic [64:0] next_carry
);
  logic gate, gated;
  logic [99:0] oldest;
  always_latch if (!clk) gate = enable;
  assign gated = clk & gate;
  window #(.WIDTH(100)) taps (.clk(gated), .rst, .sample, .oldest, .sum);
  always_ff @(negedge clk) held <= sum;
  always_ff @(posedge clk or posedge rst) if (rst) half <= 1; else half <= ~half;
  always_ff @(posedge half) ticks <= ticks + 1;
  assign low = sum[63:0] ^ oldest[99:36];
  assign mixed = {29'd0, class__of} * sample[31:0];
  assign next_carry = carry + 65'(class__of);
endmodule

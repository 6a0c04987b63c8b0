// Product of two integers, low half: the same for signed and unsigned operands.
module integer_multiply #(
  parameter WIDTH = 32,
  parameter STAGES = 2 // 1: the product is registered; 2: products of halves, then their sum
) (
  input clk,
  input [WIDTH-1:0] a,
  input [WIDTH-1:0] b,
  output reg [WIDTH-1:0] y
);
  localparam LOW = (WIDTH + 1) / 2;
  localparam HIGH = WIDTH - LOW;
  generate
    if (STAGES == 1) begin : whole
      always @(posedge clk) y <= a * b;
    end else begin : halves
      reg [WIDTH-1:0] low;
      reg [HIGH-1:0] cross_ab, cross_ba;
      always @(posedge clk) begin
        low <= a[LOW-1:0] * b[LOW-1:0];
        cross_ab <= a[WIDTH-1:LOW] * b[HIGH-1:0];
        cross_ba <= a[HIGH-1:0] * b[WIDTH-1:LOW];
        y <= low + {cross_ab + cross_ba, {LOW{1'b0}}};
      end
    end
  endgenerate
endmodule

module gemm_hw (
  input clk,
  input rst,
  input start,
  output done,
  output m_A_re,
  output [7:0] m_A_raddr,
  input [31:0] m_A_rdata,
  output m_B_re,
  output [7:0] m_B_raddr,
  input [31:0] m_B_rdata,
  output m_C_re,
  output [7:0] m_C_raddr,
  input [31:0] m_C_rdata,
  output m_C_we,
  output [7:0] m_C_waddr,
  output [31:0] m_C_wdata
);
  localparam [3:0] S_IDLE = 4'd0; // waits for start
  localparam [3:0] S_b0_0 = 4'd1; // line 4
  localparam [3:0] S_b1_0 = 4'd2; // line 5
  localparam [3:0] S_b2_0 = 4'd3; // line 6, 7
  localparam [3:0] S_b2_1 = 4'd4; // waits, line 5, loop L1
  localparam [3:0] S_b2_2 = 4'd5; // line 6
  localparam [3:0] S_b3 = 4'd6; // line 7, loop L2, pipelined
  localparam [3:0] S_b4_0 = 4'd7; // line 5, 9
  localparam [3:0] S_b4_1 = 4'd8; // waits, line 7, loop L1
  localparam [3:0] S_b5_0 = 4'd9; // line 4
  localparam [3:0] S_b6_0 = 4'd10; // waits, line 4
  localparam [3:0] S_DONE = 4'd11; // one cycle of done
  reg [3:0] state;
  reg [3:0] v_i;
  reg [3:0] v_j;
  reg [31:0] v_s;
  reg [3:0] v_k;
  wire [31:0] mul0_y;
  reg b4_lt_10_q1;
  reg b3_more;
  wire [4:0] b3_valid;
  reg [4:1] b3_stages;
  wire in_b0_0 = state == S_b0_0;
  wire in_b1_0 = state == S_b1_0;
  wire in_b2_0 = state == S_b2_0;
  wire in_b2_2 = state == S_b2_2;
  wire in_b4_0 = state == S_b4_0;
  wire in_b5_0 = state == S_b5_0;
  // b2: line 5, loop L1
  wire [7:0] b2_C_at_4 = {v_i, v_j};
  // b3: line 7, loop L2, pipelined, II 1
  wire [7:0] b3_A_at_5 = {v_i, v_k};
  wire [7:0] b3_B_at_9 = {v_k, v_j};
  wire [31:0] b3_s_12 = v_s + mul0_y;
  wire [4:0] b3_k_14 = {1'd0, v_k} + 5'd1;
  wire b3_lt_16 = b3_k_14 < 5'd16;
  // b4: line 7, loop L1
  wire [7:0] b4_C_at_5 = {v_i, v_j};
  wire [4:0] b4_j_8 = {1'd0, v_j} + 5'd1;
  wire b4_lt_10 = b4_j_8 < 5'd16;
  // b5: line 5, loop L0
  wire [4:0] b5_i_2 = {1'd0, v_i} + 5'd1;
  wire b5_lt_4 = b5_i_2 < 5'd16;
  // mul0
  wire [31:0] mul0_a = m_A_rdata;
  wire [31:0] mul0_b = m_B_rdata;
  integer_multiply #(.WIDTH(32), .STAGES(2)) mul0 (.clk(clk), .a(mul0_a), .b(mul0_b), .y(mul0_y));
  wire b3_goes_on = b3_more && !(b3_valid[0] && !b3_lt_16);
  wire b3_leave = !b3_goes_on && !(|b3_valid[3:0]);
  assign done = state == S_DONE;
  assign m_A_re = b3_valid[0];
  assign m_A_raddr = b3_A_at_5;
  assign m_B_re = b3_valid[0];
  assign m_B_raddr = b3_B_at_9;
  assign m_C_re = in_b2_0;
  assign m_C_raddr = b2_C_at_4;
  assign m_C_we = in_b4_0;
  assign m_C_waddr = b4_C_at_5;
  assign m_C_wdata = v_s;
  assign b3_valid = {b3_stages, (state == S_b3) && b3_more};
  always @(posedge clk) begin
    // b0: begin
    if (in_b0_0) v_i <= 4'd0;
    // b1: line 4, loop L0
    if (in_b1_0) v_j <= 4'd0;
    // b2: line 5, loop L1
    if (in_b2_2) v_s <= m_C_rdata;
    if (in_b2_0) v_k <= 4'd0;
    // b3: line 7, loop L2, pipelined, II 1
    if (b3_valid[4]) v_s <= b3_s_12;
    if (b3_valid[0]) v_k <= b3_k_14[3:0];
    // b4: line 7, loop L1
    if (in_b4_0) b4_lt_10_q1 <= b4_lt_10;
    if (in_b4_0) v_j <= b4_j_8[3:0];
    // b5: line 5, loop L0
    if (in_b5_0) v_i <= b5_i_2[3:0];
    b3_more <= (state != S_b3) || b3_goes_on;
    b3_stages <= rst ? 4'd0 : b3_valid[3:0];
    if (rst) state <= S_IDLE;
    else case (state)
      S_IDLE: if (start) state <= S_b0_0;
      S_b0_0: state <= S_b1_0;
      S_b1_0: state <= S_b2_0;
      S_b2_0: state <= S_b2_1;
      S_b2_1: state <= S_b2_2;
      S_b2_2: state <= S_b3;
      S_b3: if (b3_leave) state <= S_b4_0;
      S_b4_0: state <= S_b4_1;
      S_b4_1: state <= b4_lt_10_q1 ? S_b2_0 : S_b5_0;
      S_b5_0: state <= b5_lt_4 ? S_b1_0 : S_b6_0;
      S_b6_0: state <= S_DONE;
      default: state <= S_IDLE;
    endcase
  end
endmodule

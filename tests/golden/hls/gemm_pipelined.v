// 32-bit product, low half: partial products are registered, then their sum.
module multiplier_32 (
  input clk,
  input signed [31:0] a,
  input signed [31:0] b,
  output signed [31:0] p
);
  reg [31:0] low;
  reg [15:0] cross_ab, cross_ba;
  reg [31:0] sum;
  assign p = sum;
  always @(posedge clk) begin
    low <= a[15:0] * b[15:0];
    cross_ab <= a[31:16] * b[15:0];
    cross_ba <= a[15:0] * b[31:16];
    sum <= low + {cross_ab + cross_ba, 16'd0};
  end
endmodule

module gemm_hw (
  input clk,
  input rst,
  input start,
  output done,
  output m_A_re,
  output [7:0] m_A_raddr,
  input signed [31:0] m_A_rdata,
  output m_B_re,
  output [7:0] m_B_raddr,
  input signed [31:0] m_B_rdata,
  output m_C_re,
  output [7:0] m_C_raddr,
  input signed [31:0] m_C_rdata,
  output m_C_we,
  output [7:0] m_C_waddr,
  output signed [31:0] m_C_wdata
);
  localparam [3:0] S_IDLE = 4'd0; // waits for start
  localparam [3:0] S_b0_0 = 4'd1; // line 0
  localparam [3:0] S_b1_0 = 4'd2; // line 4
  localparam [3:0] S_b2_0 = 4'd3; // line 5, 6
  localparam [3:0] S_b2_1 = 4'd4; // waits
  localparam [3:0] S_b2_2 = 4'd5; // line 5
  localparam [3:0] S_b3 = 4'd6; // line 7, loop L2, pipelined
  localparam [3:0] S_b4_0 = 4'd7; // line 5, 7, 9
  localparam [3:0] S_b4_1 = 4'd8; // waits
  localparam [3:0] S_b5_0 = 4'd9; // line 4, 5
  localparam [3:0] S_b6_0 = 4'd10; // waits
  localparam [3:0] S_DONE = 4'd11; // one cycle of done
  reg [3:0] state;
  assign done = (state == S_DONE);
  reg signed [31:0] v_i;
  reg signed [31:0] v_j;
  reg signed [31:0] v_s;
  reg signed [31:0] v_k;
  wire in_b0_0 = (state == S_b0_0);
  wire in_b1_0 = (state == S_b1_0);
  wire in_b2_0 = (state == S_b2_0);
  wire in_b2_1 = (state == S_b2_1);
  wire in_b2_2 = (state == S_b2_2);
  wire in_b4_0 = (state == S_b4_0);
  wire in_b4_1 = (state == S_b4_1);
  wire in_b5_0 = (state == S_b5_0);
  wire in_b6_0 = (state == S_b6_0);
  reg b4_lt9_q1;
  wire signed [31:0] b2_mul3;
  wire signed [31:0] b2_add4;
  wire signed [31:0] b3_mul4;
  wire signed [31:0] b3_add5;
  wire signed [31:0] b3_mul8;
  wire signed [31:0] b3_add9;
  wire signed [31:0] b3_add12;
  wire signed [31:0] b3_add14;
  wire b3_lt15;
  wire signed [31:0] b4_mul3;
  wire signed [31:0] b4_add4;
  wire signed [31:0] b4_add8;
  wire b4_lt9;
  wire signed [31:0] b5_add2;
  wire b5_lt4;
  wire signed [31:0] mul0_a;
  wire signed [31:0] mul0_b;
  wire signed [31:0] mul0_p;
  reg b3_more;
  reg [4:1] b3_stages;
  wire [4:0] b3_valid;
  wire b3_goes_on;
  wire b3_leave;
  assign b2_mul3 = v_i * 32'sd16;
  assign b2_add4 = b2_mul3 + v_j;
  assign b3_mul4 = v_i * 32'sd16;
  assign b3_add5 = b3_mul4 + v_k;
  assign b3_mul8 = v_k * 32'sd16;
  assign b3_add9 = b3_mul8 + v_j;
  assign b3_add12 = v_s + mul0_p;
  assign b3_add14 = v_k + 32'sd1;
  assign b3_lt15 = b3_add14 < 32'sd16;
  assign b4_mul3 = v_i * 32'sd16;
  assign b4_add4 = b4_mul3 + v_j;
  assign b4_add8 = v_j + 32'sd1;
  assign b4_lt9 = b4_add8 < 32'sd16;
  assign b5_add2 = v_i + 32'sd1;
  assign b5_lt4 = b5_add2 < 32'sd16;
  assign mul0_a = m_A_rdata;
  assign mul0_b = m_B_rdata;
  multiplier_32 mul0 (.clk(clk), .a(mul0_a), .b(mul0_b), .p(mul0_p));
  assign b3_valid = {b3_stages, (state == S_b3) && b3_more};
  assign b3_goes_on = b3_more && !(b3_valid[0] && !b3_lt15);
  assign b3_leave = !b3_goes_on && (b3_valid[3:0] == 0);
  assign m_A_re = b3_valid[0];
  assign m_A_raddr = b3_add5[7:0];
  assign m_B_re = b3_valid[0];
  assign m_B_raddr = b3_add9[7:0];
  assign m_C_re = in_b2_0;
  assign m_C_raddr = b2_add4[7:0];
  assign m_C_we = in_b4_0;
  assign m_C_waddr = b4_add4[7:0];
  assign m_C_wdata = v_s;
  always @(posedge clk) begin
    b3_more <= (state != S_b3) || b3_goes_on;
    b3_stages <= rst ? 4'd0 : b3_valid[3:0];
    if (in_b0_0) v_i <= 32'sd0;
    if (in_b1_0) v_j <= 32'sd0;
    if (in_b2_2) v_s <= m_C_rdata;
    if (in_b2_0) v_k <= 32'sd0;
    if (b3_valid[4]) v_s <= b3_add12;
    if (b3_valid[0]) v_k <= b3_add14;
    if (in_b4_0) b4_lt9_q1 <= b4_lt9;
    if (in_b4_0) v_j <= b4_add8;
    if (in_b5_0) v_i <= b5_add2;
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
      S_b4_1: state <= b4_lt9_q1 ? S_b2_0 : S_b5_0;
      S_b5_0: state <= b5_lt4 ? S_b1_0 : S_b6_0;
      S_b6_0: state <= S_DONE;
      default: state <= S_IDLE;
    endcase
  end
endmodule

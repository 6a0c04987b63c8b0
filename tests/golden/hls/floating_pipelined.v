module f_hw (
  input clk,
  input rst,
  input start,
  output done,
  input [31:0] s_alpha,
  input [31:0] s_n,
  output reg [31:0] result,
  output m_A_re,
  output [2:0] m_A_raddr,
  input [31:0] m_A_rdata,
  output m_A_we,
  output [2:0] m_A_waddr,
  output [31:0] m_A_wdata,
  output m_B_re,
  output [2:0] m_B_raddr,
  input [63:0] m_B_rdata,
  output m_B_we,
  output [2:0] m_B_waddr,
  output [63:0] m_B_wdata,
  output m_S_re,
  output [2:0] m_S_raddr,
  input [15:0] m_S_rdata,
  output m_S_we,
  output [2:0] m_S_waddr,
  output [15:0] m_S_wdata,
  output m_U_re,
  output [2:0] m_U_raddr,
  input [7:0] m_U_rdata
);
  localparam [2:0] S_IDLE = 3'd0; // waits for start
  localparam [2:0] S_b0_0 = 3'd1; // line 4, 5, 6
  localparam [2:0] S_b1 = 3'd2; // line 6, loop L0, pipelined
  localparam [2:0] S_b2_0 = 3'd3; // line 13
  localparam [2:0] S_b2_1 = 3'd4; // line 13
  localparam [2:0] S_b2_2 = 3'd5; // waits, line 6
  localparam [2:0] S_b2_3 = 3'd6; // waits, line 6
  localparam [2:0] S_DONE = 3'd7; // one cycle of done
  reg [2:0] state;
  reg [31:0] v_s;
  reg [63:0] v_t;
  reg [2:0] v_i;
  reg [31:0] v_alpha;
  reg [31:0] v_n;
  wire [31:0] b1_s_8;
  wire [63:0] b1_t_14;
  wire [63:0] dadd0_y;
  wire [63:0] dadd1_y;
  wire [63:0] dmul0_y;
  wire [31:0] dptoi0_y;
  wire [31:0] fadd0_y;
  wire [31:0] fadd1_y;
  wire [31:0] fdiv0_y;
  wire [31:0] fmul0_y;
  wire [63:0] fpext0_y;
  wire [31:0] fptrunc0_y;
  wire [63:0] sitodp0_y;
  wire [31:0] sitofp0_y;
  wire [31:0] sitofp1_y;
  reg [2:0] b1_i_0_q1;
  reg [2:0] b1_i_0_q2;
  reg [2:0] b1_i_0_q3;
  reg [2:0] b1_i_0_q4;
  reg [2:0] b1_i_0_q5;
  reg [31:0] b1_A_1_q1;
  reg b1_select_7_q1;
  reg b1_select_7_q2;
  reg b1_more;
  reg b1_phase;
  wire [10:0] b1_valid;
  reg [10:1] b1_stages;
  wire in_b0_0 = state == S_b0_0;
  wire in_b2_1 = state == S_b2_1;
  wire in_b2_3 = state == S_b2_3;
  // b1: line 6, loop L0, pipelined, II 2
  wire b1_gt_3;
  float_compare #(.EXPONENT(8), .FRACTION(23), .OPERATION(4)) b1_gt_3_unit (.a(m_A_rdata), .b(32'h3f000000), .y(b1_gt_3));
  wire b1_ne_5;
  float_compare #(.EXPONENT(8), .FRACTION(23), .OPERATION(1)) b1_ne_5_unit (.a(m_A_rdata), .b(v_alpha), .y(b1_ne_5));
  wire b1_select_7 = b1_gt_3 ? b1_ne_5 : 1'd0;
  wire [31:0] b1_neg_11 = {~b1_A_1_q1[31], b1_A_1_q1[30:0]};
  wire [31:0] b1_s_13 = b1_select_7_q2 ? fadd0_y : fadd1_y;
  wire [31:0] b1_add_26 = {29'd0, b1_i_0_q1} + v_n;
  wire [3:0] b1_i_33 = {1'd0, v_i} + 4'd1;
  wire b1_lt_35 = b1_i_33 < 4'd8;
  // dadd0
  wire [63:0] dadd0_a = b1_t_14;
  wire [63:0] dadd0_b = dmul0_y;
  float_add #(.EXPONENT(11), .FRACTION(52)) dadd0 (.clk(clk), .a(dadd0_a), .b(dadd0_b), .subtract(1'b0), .y(dadd0_y));
  // dadd1
  wire [63:0] dadd1_a = dadd0_y;
  wire [63:0] dadd1_b = fpext0_y;
  float_add #(.EXPONENT(11), .FRACTION(52)) dadd1 (.clk(clk), .a(dadd1_a), .b(dadd1_b), .subtract(1'b1), .y(dadd1_y));
  // dmul0
  wire [63:0] dmul0_a = m_B_rdata;
  wire [63:0] dmul0_b = sitodp0_y;
  float_multiply #(.EXPONENT(11), .FRACTION(52)) dmul0 (.clk(clk), .a(dmul0_a), .b(dmul0_b), .y(dmul0_y));
  // dptoi0
  wire [63:0] dptoi0_a = dadd1_y;
  float_to_integer #(.EXPONENT(11), .FRACTION(52), .RANGE(32), .WIDTH(32)) dptoi0 (.clk(clk), .a(dptoi0_a), .y(dptoi0_y));
  // fadd0
  wire [31:0] fadd0_a = ({32{b1_valid[6]}} & b1_s_8)
      | ({32{in_b2_1}} & v_s);
  wire [31:0] fadd0_b = ({32{b1_valid[6]}} & fmul0_y)
      | ({32{in_b2_1}} & fptrunc0_y);
  float_add #(.EXPONENT(8), .FRACTION(23)) fadd0 (.clk(clk), .a(fadd0_a), .b(fadd0_b), .subtract(1'b0), .y(fadd0_y));
  // fadd1
  wire [31:0] fadd1_a = b1_s_8;
  wire [31:0] fadd1_b = b1_neg_11;
  float_add #(.EXPONENT(8), .FRACTION(23)) fadd1 (.clk(clk), .a(fadd1_a), .b(fadd1_b), .subtract(1'b1), .y(fadd1_y));
  // fdiv0
  wire [31:0] fdiv0_a = sitofp0_y;
  wire [31:0] fdiv0_b = sitofp1_y;
  float_divide #(.EXPONENT(8), .FRACTION(23), .FIRST(2), .DIGITS(3), .STAGES(4)) fdiv0 (.clk(clk), .a(fdiv0_a), .b(fdiv0_b), .y(fdiv0_y));
  // fmul0
  wire [31:0] fmul0_a = m_A_rdata;
  wire [31:0] fmul0_b = v_alpha;
  float_multiply #(.EXPONENT(8), .FRACTION(23)) fmul0 (.clk(clk), .a(fmul0_a), .b(fmul0_b), .y(fmul0_y));
  // fpext0
  wire [31:0] fpext0_a = b1_A_1_q1;
  float_widen #(.EXPONENT(8), .FRACTION(23), .TO_EXPONENT(11), .TO_FRACTION(52)) fpext0 (.clk(clk), .a(fpext0_a), .y(fpext0_y));
  // fptrunc0
  wire [63:0] fptrunc0_a = v_t;
  float_narrow #(.EXPONENT(11), .FRACTION(52), .TO_EXPONENT(8), .TO_FRACTION(23)) fptrunc0 (.clk(clk), .a(fptrunc0_a), .y(fptrunc0_y));
  // sitodp0
  wire [31:0] sitodp0_a = {{16{m_S_rdata[15]}}, m_S_rdata};
  integer_to_float #(.WIDTH(32), .SIGNED(1), .EXPONENT(11), .FRACTION(52)) sitodp0 (.clk(clk), .a(sitodp0_a), .y(sitodp0_y));
  // sitofp0
  wire [31:0] sitofp0_a = {24'd0, m_U_rdata};
  integer_to_float #(.WIDTH(32), .SIGNED(1), .EXPONENT(8), .FRACTION(23)) sitofp0 (.clk(clk), .a(sitofp0_a), .y(sitofp0_y));
  // sitofp1
  wire [31:0] sitofp1_a = b1_add_26;
  integer_to_float #(.WIDTH(32), .SIGNED(1), .EXPONENT(8), .FRACTION(23)) sitofp1 (.clk(clk), .a(sitofp1_a), .y(sitofp1_y));
  wire b1_goes_on = b1_more && !(b1_valid[0] && !b1_lt_35);
  wire b1_leave = !b1_goes_on && !(|b1_valid[10:0]);
  assign done = state == S_DONE;
  assign b1_s_8 = b1_valid[8] ? b1_s_13 : v_s;
  assign b1_t_14 = b1_valid[7] ? dadd0_y : v_t;
  assign m_A_re = b1_valid[2];
  assign m_A_raddr = b1_i_0_q1;
  assign m_A_we = b1_valid[9];
  assign m_A_waddr = b1_i_0_q5;
  assign m_A_wdata = fdiv0_y;
  assign m_B_re = b1_valid[1];
  assign m_B_raddr = b1_i_0_q1;
  assign m_B_we = b1_valid[9];
  assign m_B_waddr = b1_i_0_q5;
  assign m_B_wdata = dadd1_y;
  assign m_S_re = b1_valid[0];
  assign m_S_raddr = v_i;
  assign m_S_we = b1_valid[10];
  assign m_S_waddr = b1_i_0_q5;
  assign m_S_wdata = dptoi0_y[15:0];
  assign m_U_re = b1_valid[0];
  assign m_U_raddr = v_i;
  assign b1_valid = {b1_stages, (state == S_b1) && b1_more && (b1_phase == 1'd0)};
  always @(posedge clk) begin
    if (state == S_IDLE) v_alpha <= s_alpha;
    if (state == S_IDLE) v_n <= s_n;
    // b0: begin
    if (in_b0_0) v_s <= 32'd0;
    if (in_b0_0) v_t <= 64'd0;
    if (in_b0_0) v_i <= 3'd0;
    // b1: line 6, loop L0, pipelined, II 2
    if (b1_valid[0]) b1_i_0_q1 <= v_i;
    if (b1_valid[2]) b1_i_0_q2 <= b1_i_0_q1;
    if (b1_valid[4]) b1_i_0_q3 <= b1_i_0_q2;
    if (b1_valid[6]) b1_i_0_q4 <= b1_i_0_q3;
    if (b1_valid[8]) b1_i_0_q5 <= b1_i_0_q4;
    if (b1_valid[4]) b1_A_1_q1 <= m_A_rdata;
    if (b1_valid[4]) b1_select_7_q1 <= b1_select_7;
    if (b1_valid[6]) b1_select_7_q2 <= b1_select_7_q1;
    if (b1_valid[8]) v_s <= b1_s_13;
    if (b1_valid[7]) v_t <= dadd0_y;
    if (b1_valid[0]) v_i <= b1_i_33[2:0];
    if (in_b2_3) result <= fadd0_y;
    b1_more <= (state != S_b1) || b1_goes_on;
    b1_phase <= (state != S_b1 || b1_phase == 1'd1) ? 1'd0 : b1_phase + 1'd1;
    b1_stages <= rst ? 10'd0 : b1_valid[9:0];
    if (rst) state <= S_IDLE;
    else case (state)
      S_IDLE: if (start) state <= S_b0_0;
      S_b0_0: state <= S_b1;
      S_b1: if (b1_leave) state <= S_b2_0;
      S_b2_0: state <= S_b2_1;
      S_b2_1: state <= S_b2_2;
      S_b2_2: state <= S_b2_3;
      S_b2_3: state <= S_DONE;
      default: state <= S_IDLE;
    endcase
  end
endmodule

module f_hw (
  input clk,
  input rst,
  input start,
  output done,
  input [31:0] s_n,
  output reg [63:0] result,
  output m_K_re,
  output [3:0] m_K_raddr,
  input [7:0] m_K_rdata,
  output m_K_we,
  output [3:0] m_K_waddr,
  output [7:0] m_K_wdata,
  output m_A_re,
  output [3:0] m_A_raddr,
  input [15:0] m_A_rdata
);
  localparam [6:0] S_IDLE = 7'd0; // waits for start
  localparam [6:0] S_b0_0 = 7'd1; // line 5, 6, 7
  localparam [6:0] S_b0_1 = 7'd2; // line 5
  localparam [6:0] S_b0_2 = 7'd3; // line 5
  localparam [6:0] S_b0_3 = 7'd4; // line 5
  localparam [6:0] S_b0_4 = 7'd5; // line 5
  localparam [6:0] S_b0_5 = 7'd6; // line 5
  localparam [6:0] S_b0_6 = 7'd7; // line 5
  localparam [6:0] S_b0_7 = 7'd8; // line 5
  localparam [6:0] S_b0_8 = 7'd9; // line 5
  localparam [6:0] S_b0_9 = 7'd10; // line 5
  localparam [6:0] S_b0_10 = 7'd11; // line 5
  localparam [6:0] S_b0_11 = 7'd12; // line 5
  localparam [6:0] S_b0_12 = 7'd13; // line 5
  localparam [6:0] S_b0_13 = 7'd14; // line 5
  localparam [6:0] S_b0_14 = 7'd15; // line 5
  localparam [6:0] S_b0_15 = 7'd16; // line 5
  localparam [6:0] S_b1 = 7'd17; // line 7, loop L0, pipelined
  localparam [6:0] S_b2_0 = 7'd18; // line 18
  localparam [6:0] S_b2_1 = 7'd19; // waits, line 7
  localparam [6:0] S_b2_2 = 7'd20; // line 18
  localparam [6:0] S_b2_3 = 7'd21; // waits, line 7
  localparam [6:0] S_b2_4 = 7'd22; // waits, line 7
  localparam [6:0] S_b2_5 = 7'd23; // waits, line 7
  localparam [6:0] S_b2_6 = 7'd24; // waits, line 7
  localparam [6:0] S_b2_7 = 7'd25; // waits, line 7
  localparam [6:0] S_b2_8 = 7'd26; // waits, line 7
  localparam [6:0] S_b2_9 = 7'd27; // waits, line 7
  localparam [6:0] S_b2_10 = 7'd28; // waits, line 7
  localparam [6:0] S_b2_11 = 7'd29; // waits, line 7
  localparam [6:0] S_b2_12 = 7'd30; // waits, line 7
  localparam [6:0] S_b2_13 = 7'd31; // waits, line 7
  localparam [6:0] S_b2_14 = 7'd32; // waits, line 7
  localparam [6:0] S_b2_15 = 7'd33; // waits, line 7
  localparam [6:0] S_b2_16 = 7'd34; // waits, line 7
  localparam [6:0] S_b2_17 = 7'd35; // waits, line 7
  localparam [6:0] S_b2_18 = 7'd36; // waits, line 7
  localparam [6:0] S_b2_19 = 7'd37; // waits, line 7
  localparam [6:0] S_b2_20 = 7'd38; // waits, line 7
  localparam [6:0] S_b2_21 = 7'd39; // waits, line 7
  localparam [6:0] S_b2_22 = 7'd40; // waits, line 7
  localparam [6:0] S_b2_23 = 7'd41; // waits, line 7
  localparam [6:0] S_b2_24 = 7'd42; // waits, line 7
  localparam [6:0] S_b2_25 = 7'd43; // waits, line 7
  localparam [6:0] S_b2_26 = 7'd44; // waits, line 7
  localparam [6:0] S_b2_27 = 7'd45; // waits, line 7
  localparam [6:0] S_b2_28 = 7'd46; // waits, line 7
  localparam [6:0] S_b2_29 = 7'd47; // waits, line 7
  localparam [6:0] S_b2_30 = 7'd48; // waits, line 7
  localparam [6:0] S_b2_31 = 7'd49; // waits, line 7
  localparam [6:0] S_b2_32 = 7'd50; // waits, line 7
  localparam [6:0] S_b2_33 = 7'd51; // waits, line 7
  localparam [6:0] S_b2_34 = 7'd52; // waits, line 7
  localparam [6:0] S_b2_35 = 7'd53; // waits, line 7
  localparam [6:0] S_b2_36 = 7'd54; // waits, line 7
  localparam [6:0] S_b2_37 = 7'd55; // waits, line 7
  localparam [6:0] S_b2_38 = 7'd56; // waits, line 7
  localparam [6:0] S_b2_39 = 7'd57; // waits, line 7
  localparam [6:0] S_b2_40 = 7'd58; // waits, line 7
  localparam [6:0] S_b2_41 = 7'd59; // waits, line 7
  localparam [6:0] S_b2_42 = 7'd60; // waits, line 7
  localparam [6:0] S_b2_43 = 7'd61; // waits, line 7
  localparam [6:0] S_b2_44 = 7'd62; // waits, line 7
  localparam [6:0] S_b2_45 = 7'd63; // waits, line 7
  localparam [6:0] S_b2_46 = 7'd64; // waits, line 7
  localparam [6:0] S_b2_47 = 7'd65; // waits, line 7
  localparam [6:0] S_b2_48 = 7'd66; // waits, line 7
  localparam [6:0] S_b2_49 = 7'd67; // waits, line 7
  localparam [6:0] S_b2_50 = 7'd68; // waits, line 7
  localparam [6:0] S_b2_51 = 7'd69; // waits, line 7
  localparam [6:0] S_b2_52 = 7'd70; // waits, line 7
  localparam [6:0] S_b2_53 = 7'd71; // waits, line 7
  localparam [6:0] S_b2_54 = 7'd72; // waits, line 7
  localparam [6:0] S_b2_55 = 7'd73; // waits, line 7
  localparam [6:0] S_b2_56 = 7'd74; // waits, line 7
  localparam [6:0] S_b2_57 = 7'd75; // waits, line 7
  localparam [6:0] S_b2_58 = 7'd76; // waits, line 7
  localparam [6:0] S_b2_59 = 7'd77; // waits, line 7
  localparam [6:0] S_b2_60 = 7'd78; // waits, line 7
  localparam [6:0] S_b2_61 = 7'd79; // waits, line 7
  localparam [6:0] S_b2_62 = 7'd80; // waits, line 7
  localparam [6:0] S_b2_63 = 7'd81; // waits, line 7
  localparam [6:0] S_b2_64 = 7'd82; // waits, line 7
  localparam [6:0] S_b2_65 = 7'd83; // waits, line 7
  localparam [6:0] S_b2_66 = 7'd84; // line 18
  localparam [6:0] S_DONE = 7'd85; // one cycle of done
  reg [6:0] state;
  reg [63:0] v_total;
  reg [3:0] v_i;
  reg [31:0] v_n;
  wire [63:0] div0_y;
  wire [15:0] divc0_y;
  wire [63:0] divc1_y;
  wire [47:0] mul0_y;
  reg [31:0] m_seen_rdata;
  reg [31:0] m_seen_cells [0:15];
  reg [7:0] m_BOX_rdata;
  reg [3:0] b1_i_0_q1;
  reg [3:0] b1_i_0_q2;
  reg [3:0] b1_xor_6_q1;
  reg [15:0] b1_A_13_q1;
  reg [15:0] b1_A_13_q2;
  reg [2:0] b1_n_29_q1;
  reg b1_lt_15_q1;
  reg b1_lt_15_q2;
  reg b2_ne_6_q1;
  reg [63:0] b2_neg_11_q1;
  reg b1_more;
  reg [1:0] b1_phase;
  wire [6:0] b1_valid;
  reg [6:1] b1_stages;
  wire in_b0_0 = state == S_b0_0;
  wire in_b0_1 = state == S_b0_1;
  wire in_b0_2 = state == S_b0_2;
  wire in_b0_3 = state == S_b0_3;
  wire in_b0_4 = state == S_b0_4;
  wire in_b0_5 = state == S_b0_5;
  wire in_b0_6 = state == S_b0_6;
  wire in_b0_7 = state == S_b0_7;
  wire in_b0_8 = state == S_b0_8;
  wire in_b0_9 = state == S_b0_9;
  wire in_b0_10 = state == S_b0_10;
  wire in_b0_11 = state == S_b0_11;
  wire in_b0_12 = state == S_b0_12;
  wire in_b0_13 = state == S_b0_13;
  wire in_b0_14 = state == S_b0_14;
  wire in_b0_15 = state == S_b0_15;
  wire in_b2_0 = state == S_b2_0;
  wire in_b2_2 = state == S_b2_2;
  wire in_b2_66 = state == S_b2_66;
  // b1: line 7, loop L0, pipelined, II 3
  wire [5:0] b1_mul_5 = {b1_i_0_q1, 2'd0} - {2'd0, b1_i_0_q1};
  wire [7:0] b1_xor_6 = m_BOX_rdata ^ {2'd0, b1_mul_5};
  wire [31:0] b1_add_11 = m_seen_rdata + 32'd1;
  wire b1_lt_15 = $signed(m_A_rdata) < -16'sd100;
  wire b1_eq_18 = b1_A_13_q2[1:0] == 2'd0;
  wire [63:0] b1_add_20 = v_total + {{48{b1_A_13_q2[15]}}, b1_A_13_q2};
  wire b1_eq_21 = b1_A_13_q2[1:0] == 2'd1;
  wire b1_eq_23 = b1_A_13_q2[1:0] == 2'd2;
  wire b1_or_24 = b1_eq_21 | b1_eq_23;
  wire [63:0] b1_sub_26 = v_total - {{49{divc0_y[14]}}, divc0_y[14:0]};
  wire [63:0] b1_select_27 = b1_eq_21 ? b1_sub_26 : v_total;
  wire [31:0] b1_shr_31 = $signed(m_seen_rdata) >>> b1_n_29_q1;
  wire [63:0] b1_xor_32 = b1_select_27 ^ {{32{b1_shr_31[31]}}, b1_shr_31};
  wire [63:0] b1_add_34 = v_total + {{16{mul0_y[47]}}, mul0_y};
  wire [63:0] b1_select_35 = b1_or_24 ? b1_xor_32 : b1_add_34;
  wire [63:0] b1_select_36 = b1_eq_18 ? b1_add_20 : b1_select_35;
  wire [63:0] b1_total_37 = b1_lt_15_q2 ? v_total : b1_select_36;
  wire [4:0] b1_add_38 = {1'd0, b1_i_0_q1} + 5'd1;
  wire [4:0] b1_i_39 = b1_lt_15 ? {1'd0, b1_i_0_q1} : b1_add_38;
  wire b1_eq_40 = b1_lt_15 == 1'd0;
  wire b1_lt_42 = b1_i_39 < 5'd16;
  wire b1_and_43 = b1_eq_40 & b1_lt_42;
  // b2: line 7
  wire [63:0] b2_mul_3 = {{{2{divc1_y[60]}}, divc1_y[60:0]}, 1'd0} + {divc1_y[60:0], 3'd0};
  wire [63:0] b2_sub_4 = v_total - b2_mul_3;
  wire b2_ne_6 = b2_sub_4 != 64'd0;
  wire [31:0] b2_or_9 = v_n | 32'd1;
  wire [63:0] b2_neg_11 = -v_total;
  wire [63:0] b2_select_12 = b2_ne_6_q1 ? div0_y : b2_neg_11_q1;
  // div0
  wire [63:0] div0_a = v_total;
  wire [63:0] div0_b = {32'd0, b2_or_9};
  wire div0_go = in_b2_0;
  integer_divide #(.WIDTH(64), .SIGNED(1)) div0 (.clk(clk), .rst(rst), .go(div0_go), .a(div0_a), .b(div0_b), .remainder(1'b0), .y(div0_y));
  // divc0
  wire [15:0] divc0_a = b1_A_13_q1;
  constant_divide #(.WIDTH(16), .SIGNED(1), .BITS(16), .FACTOR(43691), .SHIFT(17), .NEGATE(0)) divc0 (.clk(clk), .a(divc0_a), .y(divc0_y));
  // divc1
  wire [63:0] divc1_a = v_total;
  constant_divide #(.WIDTH(64), .SIGNED(1), .BITS(64), .FACTOR(64'd14757395258967641293), .SHIFT(67), .NEGATE(0)) divc1 (.clk(clk), .a(divc1_a), .y(divc1_y));
  // mul0
  wire [47:0] mul0_a = {{32{b1_A_13_q1[15]}}, b1_A_13_q1};
  wire [47:0] mul0_b = {16'd0, v_n};
  integer_multiply #(.WIDTH(48), .STAGES(2)) mul0 (.clk(clk), .a(mul0_a), .b(mul0_b), .y(mul0_y));
  wire m_seen_re = b1_valid[3] || b1_valid[5];
  wire [3:0] m_seen_raddr = ({4{b1_valid[3]}} & b1_xor_6[3:0])
      | ({4{b1_valid[5]}} & b1_i_0_q2);
  wire m_seen_we = in_b0_0 || in_b0_1 || in_b0_2 || in_b0_3 || in_b0_4 || in_b0_5 || in_b0_6 || in_b0_7 || in_b0_8 || in_b0_9 || in_b0_10 || in_b0_11 || in_b0_12 || in_b0_13 || in_b0_14 || in_b0_15 || b1_valid[4];
  wire [3:0] m_seen_waddr = ({4{in_b0_0}} & 4'd0)
      | ({4{in_b0_1}} & 4'd1)
      | ({4{in_b0_2}} & 4'd2)
      | ({4{in_b0_3}} & 4'd3)
      | ({4{in_b0_4}} & 4'd4)
      | ({4{in_b0_5}} & 4'd5)
      | ({4{in_b0_6}} & 4'd6)
      | ({4{in_b0_7}} & 4'd7)
      | ({4{in_b0_8}} & 4'd8)
      | ({4{in_b0_9}} & 4'd9)
      | ({4{in_b0_10}} & 4'd10)
      | ({4{in_b0_11}} & 4'd11)
      | ({4{in_b0_12}} & 4'd12)
      | ({4{in_b0_13}} & 4'd13)
      | ({4{in_b0_14}} & 4'd14)
      | ({4{in_b0_15}} & 4'd15)
      | ({4{b1_valid[4]}} & b1_xor_6_q1);
  wire [31:0] m_seen_wdata = ({32{(in_b0_0 || in_b0_1 || in_b0_2 || in_b0_3 || in_b0_4 || in_b0_5 || in_b0_6 || in_b0_7 || in_b0_8 || in_b0_9 || in_b0_10 || in_b0_11 || in_b0_12 || in_b0_13 || in_b0_14 || in_b0_15)}} & 32'd0)
      | ({32{b1_valid[4]}} & b1_add_11);
  wire m_BOX_re = b1_valid[2];
  wire [3:0] m_BOX_raddr = m_K_rdata[3:0];
  wire b1_goes_on = b1_more && !(b1_valid[2] && !b1_and_43);
  wire b1_leave = !b1_goes_on && !(|b1_valid[5:0]);
  assign done = state == S_DONE;
  assign m_K_re = b1_valid[0];
  assign m_K_raddr = v_i;
  assign m_K_we = b1_valid[3];
  assign m_K_waddr = b1_i_0_q1;
  assign m_K_wdata = b1_xor_6;
  assign m_A_re = b1_valid[0];
  assign m_A_raddr = v_i;
  assign b1_valid = {b1_stages, (state == S_b1) && b1_more && (b1_phase == 2'd0)};
  always @(posedge clk) begin
    if (state == S_IDLE) v_n <= s_n;
    if (m_seen_re) m_seen_rdata <= m_seen_cells[m_seen_raddr];
    if (m_seen_we) m_seen_cells[m_seen_waddr] <= m_seen_wdata;
    if (m_BOX_re) case (m_BOX_raddr)
      4'd0: m_BOX_rdata <= 8'd3;
      4'd1: m_BOX_rdata <= 8'd7;
      4'd2: m_BOX_rdata <= 8'd1;
      4'd3: m_BOX_rdata <= 8'd255;
      4'd5: m_BOX_rdata <= 8'd12;
      4'd6: m_BOX_rdata <= 8'd9;
      4'd7: m_BOX_rdata <= 8'd8;
      4'd8: m_BOX_rdata <= 8'd77;
      4'd9: m_BOX_rdata <= 8'd5;
      4'd10: m_BOX_rdata <= 8'd6;
      4'd11: m_BOX_rdata <= 8'd2;
      4'd12: m_BOX_rdata <= 8'd10;
      4'd13: m_BOX_rdata <= 8'd11;
      4'd14: m_BOX_rdata <= 8'd13;
      4'd15: m_BOX_rdata <= 8'd200;
      default: m_BOX_rdata <= 8'd0;
    endcase
    // b0: begin
    if (in_b0_0) v_total <= 64'd0;
    if (in_b0_0) v_i <= 4'd0;
    // b1: line 7, loop L0, pipelined, II 3
    if (b1_valid[0]) b1_i_0_q1 <= v_i;
    if (b1_valid[3]) b1_i_0_q2 <= b1_i_0_q1;
    if (b1_valid[3]) b1_xor_6_q1 <= b1_xor_6[3:0];
    if (b1_valid[2]) b1_A_13_q1 <= m_A_rdata;
    if (b1_valid[5]) b1_A_13_q2 <= b1_A_13_q1;
    if (b1_valid[4]) b1_n_29_q1 <= v_n[2:0];
    if (b1_valid[2]) b1_lt_15_q1 <= b1_lt_15;
    if (b1_valid[5]) b1_lt_15_q2 <= b1_lt_15_q1;
    if (b1_valid[6]) v_total <= b1_total_37;
    if (b1_valid[2]) v_i <= b1_i_39[3:0];
    // b2: line 7
    if (in_b2_2) b2_ne_6_q1 <= b2_ne_6;
    if (in_b2_0) b2_neg_11_q1 <= b2_neg_11;
    if (in_b2_66) result <= b2_select_12;
    b1_more <= (state != S_b1) || b1_goes_on;
    b1_phase <= (state != S_b1 || b1_phase == 2'd2) ? 2'd0 : b1_phase + 2'd1;
    b1_stages <= rst ? 6'd0 : b1_valid[5:0];
    if (rst) state <= S_IDLE;
    else case (state)
      S_IDLE: if (start) state <= S_b0_0;
      S_b0_0: state <= S_b0_1;
      S_b0_1: state <= S_b0_2;
      S_b0_2: state <= S_b0_3;
      S_b0_3: state <= S_b0_4;
      S_b0_4: state <= S_b0_5;
      S_b0_5: state <= S_b0_6;
      S_b0_6: state <= S_b0_7;
      S_b0_7: state <= S_b0_8;
      S_b0_8: state <= S_b0_9;
      S_b0_9: state <= S_b0_10;
      S_b0_10: state <= S_b0_11;
      S_b0_11: state <= S_b0_12;
      S_b0_12: state <= S_b0_13;
      S_b0_13: state <= S_b0_14;
      S_b0_14: state <= S_b0_15;
      S_b0_15: state <= S_b1;
      S_b1: if (b1_leave) state <= S_b2_0;
      S_b2_0: state <= S_b2_1;
      S_b2_1: state <= S_b2_2;
      S_b2_2: state <= S_b2_3;
      S_b2_3: state <= S_b2_4;
      S_b2_4: state <= S_b2_5;
      S_b2_5: state <= S_b2_6;
      S_b2_6: state <= S_b2_7;
      S_b2_7: state <= S_b2_8;
      S_b2_8: state <= S_b2_9;
      S_b2_9: state <= S_b2_10;
      S_b2_10: state <= S_b2_11;
      S_b2_11: state <= S_b2_12;
      S_b2_12: state <= S_b2_13;
      S_b2_13: state <= S_b2_14;
      S_b2_14: state <= S_b2_15;
      S_b2_15: state <= S_b2_16;
      S_b2_16: state <= S_b2_17;
      S_b2_17: state <= S_b2_18;
      S_b2_18: state <= S_b2_19;
      S_b2_19: state <= S_b2_20;
      S_b2_20: state <= S_b2_21;
      S_b2_21: state <= S_b2_22;
      S_b2_22: state <= S_b2_23;
      S_b2_23: state <= S_b2_24;
      S_b2_24: state <= S_b2_25;
      S_b2_25: state <= S_b2_26;
      S_b2_26: state <= S_b2_27;
      S_b2_27: state <= S_b2_28;
      S_b2_28: state <= S_b2_29;
      S_b2_29: state <= S_b2_30;
      S_b2_30: state <= S_b2_31;
      S_b2_31: state <= S_b2_32;
      S_b2_32: state <= S_b2_33;
      S_b2_33: state <= S_b2_34;
      S_b2_34: state <= S_b2_35;
      S_b2_35: state <= S_b2_36;
      S_b2_36: state <= S_b2_37;
      S_b2_37: state <= S_b2_38;
      S_b2_38: state <= S_b2_39;
      S_b2_39: state <= S_b2_40;
      S_b2_40: state <= S_b2_41;
      S_b2_41: state <= S_b2_42;
      S_b2_42: state <= S_b2_43;
      S_b2_43: state <= S_b2_44;
      S_b2_44: state <= S_b2_45;
      S_b2_45: state <= S_b2_46;
      S_b2_46: state <= S_b2_47;
      S_b2_47: state <= S_b2_48;
      S_b2_48: state <= S_b2_49;
      S_b2_49: state <= S_b2_50;
      S_b2_50: state <= S_b2_51;
      S_b2_51: state <= S_b2_52;
      S_b2_52: state <= S_b2_53;
      S_b2_53: state <= S_b2_54;
      S_b2_54: state <= S_b2_55;
      S_b2_55: state <= S_b2_56;
      S_b2_56: state <= S_b2_57;
      S_b2_57: state <= S_b2_58;
      S_b2_58: state <= S_b2_59;
      S_b2_59: state <= S_b2_60;
      S_b2_60: state <= S_b2_61;
      S_b2_61: state <= S_b2_62;
      S_b2_62: state <= S_b2_63;
      S_b2_63: state <= S_b2_64;
      S_b2_64: state <= S_b2_65;
      S_b2_65: state <= S_b2_66;
      S_b2_66: state <= S_DONE;
      default: state <= S_IDLE;
    endcase
  end
endmodule

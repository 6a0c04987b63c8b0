module d22_m0 (input clk, input [7:0] i0, input [0:0] i1, output [32:0] o0, output [6:0] o1, output [2:0] o2);
  reg signed [1:0] r1 = 2'd3;
  reg [7:0] r2 = 8'd0;
  wire [0:0] w3 = r1[r2[0:0]];
  wire signed [7:0] w4 = w3;
  wire signed [64:0] w5 = (((r1 || $signed(i0)) ? {2{w4}} : {2{r2}}) >> r1);
  wire [30:0] w6 = w3;
  wire [128:0] w7 = ((3'd4 >> 1'd0) || ((r1[w4[0:0]] >> 1'd1) * (3'd3 - r1)));
  wire signed [32:0] w8 = w7[115:72];
  wire [47:0] w9 = 31'd555940286;
  always @(posedge clk) if ({i0, $signed(w5)}) r1 <= (((i1 <<< w3) << i1) ^ ({i0[r2[2:0]], $signed(w8)} < (i1 >> i0[6:6])));
  always @(posedge clk) r2 <= (i1 < (w6[23:19] << w6));
  assign o0 = ({w3, i0} ~^ (w7 && (!(r2[w6[2:0]]))));
  assign o1 = {1{16'd22168}};
  assign o2 = {1{r1[w7[0:0]]}};
endmodule

module d22_m1 (input clk, input [16:0] i0, input [31:0] i1, input [64:0] i2, output [62:0] o0, output [63:0] o1, output [16:0] o2);
  reg [128:0] r1 = 129'd0;
  reg [0:0] r2 = 1'd0;
  reg [0:0] mem3 [0:3];
  integer x4;
  initial for (x4 = 0; x4 < 4; x4 = x4 + 1) mem3[x4] = x4 * 15;
  wire [1:0] a6 = (-(i0));
  always @(posedge clk) if (r1) mem3[a6] <= (($signed(i1) ? r1 : i2[52:29]) || i2);
  wire [1:0] a7 = (i1[27:19] * 8'd254);
  wire [0:0] q5 = mem3[a7];
  wire signed [3:0] w8 = (((r1[123:117] <= 16'd44970) == {1'd0, 3'd4}) == (|((i1 >= i2))));
  wire [64:0] w9 = ({$signed(w8), i2[45:31]} >>> q5);
  wire [32:0] c11;
  wire [6:0] c12;
  wire [2:0] c13;
  d22_m0 u10 (.clk(clk), .i0({1'd0, ((r1 ~^ q5) >> i0)}), .i1({1'd0, (&((i2 != $signed(r1))))}), .o0(c11), .o1(c12), .o2(c13));
  wire [32:0] c15;
  wire [6:0] c16;
  wire [2:0] c17;
  d22_m0 u14 (.clk(clk), .i0({1'd0, (~&($signed(i2)))}), .i1({1'd0, ((i1[i2[4:0]] - w9[27:22]) > (!($signed(c13))))}), .o0(c15), .o1(c16), .o2(c17));
  wire [7:0] g18_c [0:3];
  wire [32:0] g18_o [0:2];
  assign g18_c[0] = (q5 ? (w8 << $signed(r1)) : $signed(q5));
  genvar k19;
  generate for (k19 = 0; k19 < 3; k19 = k19 + 1) begin : g18
    assign g18_c[k19+1] = g18_o[k19];
    d22_m0 u (.clk(clk), .i0(g18_c[k19]), .o0(g18_o[k19]), .i1({1'd0, (c15 + 8'd17)}), .o1(), .o2());
  end endgenerate
  always @(posedge clk) if ((1'd0 | c17)) r1 <= (((g18_o[2] ~^ 8'd158) + (q5 ? w8[i1[1:0]] : 16'd53530)) >> $signed(c13));
  wire [1:0] a20 = (g18_o[2] < g18_o[0]);
  always @(posedge clk) case (a20) 0: r2 <= r2; 1: r2 <= ((c15[27:7] & $signed(c15)) * w9); 2: r2 <= (c12[6:5] ? c15[20:16] : (^(i2))); default: r2 <= (^(((31'd1006976787 >> r2) <<< c16[6:0]))); endcase
  assign o0 = {2{16'd6041}};
  assign o1 = (($signed(g18_o[0]) <= w9[49:41]) + (g18_o[2] >= {3{c13}}));
  assign o2 = ((c12 ~^ 8'd107) != $signed(r1));
endmodule

module d22_m2 (input clk, input [31:0] i0, input [7:0] i1, input [7:0] i2, output [3:0] o0, output [2:0] o1, output [15:0] o2);
  wire [16:0] w1 = (((8'd189 >>> i1[i1[2:0]]) >> 16'd10332) & (($signed(i1) && $signed(i2)) == {$signed(i0), i1}));
  wire [11:0] w2 = {3{i2}};
  wire [0:0] w3 = ((i1[5:5] + (1'd0 >= w1)) ? $signed(i1) : {3{i0}});
  wire signed [15:0] w4 = (((w2 * w2) > (w2[8:4] * $signed(i2))) ^ {1{i2[4:0]}});
  wire [12:0] a7 = (+(3'd6));
  wire [8:0] a8 = {1{w4[w4[3:0]]}};
  wire [23:0] w9 = a8 / (a7 | 1'b1);
  wire [16:0] g5_c [0:12];
  wire [62:0] g5_o [0:11];
  assign g5_c[0] = w9;
  genvar k6;
  generate for (k6 = 0; k6 < 12; k6 = k6 + 1) begin : g5
    assign g5_c[k6+1] = g5_o[k6];
    d22_m1 u (.clk(clk), .i0(g5_c[k6]), .o0(g5_o[k6]), .i1({1'd0, (w1 != w3)}), .i2({1'd0, {1{w2}}}), .o1(), .o2());
  end endgenerate
  wire [15:0] a12 = (w4 > w4[14:10]);
  wire [3:0] a13 = {g5_o[11], w2};
  wire [23:0] w14 = a13 / (a12 | 1'b1);
  wire [16:0] g10_c [0:3];
  wire [62:0] g10_o [0:2];
  assign g10_c[0] = (($signed(w4) & $signed(g5_o[11])) >= ($signed(w2) < 3'd0));
  genvar k11;
  generate for (k11 = 0; k11 < 3; k11 = k11 + 1) begin : g10
    assign g10_c[k11+1] = g10_o[k11];
    d22_m1 u (.clk(clk), .i0(g10_c[k11]), .o0(g10_o[k11]), .i1({1'd0, $signed(g5_o[0])}), .i2({1'd0, ((w2 >> i2) & w14)}), .o1(), .o2());
  end endgenerate
  wire [16:0] w15 = ({2{i0[w4[4:0]]}} || {g10_o[0], 31'd2006710079});
  assign o0 = 16'd22886;
  assign o1 = ((&(g5_o[0])) >> g5_o[0]);
  assign o2 = {2{g5_o[0]}};
endmodule

module d22 (input clk, input [3:0] i0, output [64:0] o0);
  reg signed [6:0] r1 = 7'd87;
  reg signed [0:0] r2 = 1'd0;
  reg signed [11:0] r3 = 12'd0;
  reg [30:0] r4 = 31'd0;
  wire [3:0] w5 = (({3{i0}} <= (r4[28:23] || 31'd1753963310)) - ($signed(i0) | r1));
  wire [7:0] g6_c [0:2];
  wire [32:0] g6_o [0:1];
  assign g6_c[0] = {$signed(r3), w5};
  genvar k7;
  generate for (k7 = 0; k7 < 2; k7 = k7 + 1) begin : g6
    assign g6_c[k7+1] = g6_o[k7];
    d22_m0 u (.clk(clk), .i0(g6_c[k7]), .o0(g6_o[k7]), .i1({1'd0, {r3, r2}}), .o1(), .o2());
  end endgenerate
  wire [7:0] g8_c [0:9];
  wire [32:0] g8_o [0:8];
  assign g8_c[0] = $signed(i0);
  genvar k9;
  generate for (k9 = 0; k9 < 9; k9 = k9 + 1) begin : g8
    assign g8_c[k9+1] = g8_o[k9];
    d22_m0 u (.clk(clk), .i0(g8_c[k9]), .o0(g8_o[k9]), .i1({1'd0, (&((r3[6:6] + w5[r1[1:0]])))}), .o1(), .o2());
  end endgenerate
  wire [31:0] g10_c [0:9];
  wire [3:0] g10_o [0:8];
  assign g10_c[0] = ((g8_o[0] >> g8_o[0]) << i0);
  genvar k11;
  generate for (k11 = 0; k11 < 9; k11 = k11 + 1) begin : g10
    assign g10_c[k11+1] = g10_o[k11];
    d22_m2 u (.clk(clk), .i0(g10_c[k11]), .o0(g10_o[k11]), .i1({1'd0, ({r1[6:6], i0} | {32'd3285351407, i0[r4[1:0]]})}), .i2({1'd0, (-((r2 - r2)))}), .o1(), .o2());
  end endgenerate
  always @(posedge clk) if ((r1 - 31'd1700353477)) r1 <= g8_o[8];
  always @(posedge clk) if ({w5, r1[0:0]}) r2 <= {$signed(r4), r3};
  wire [1:0] a12 = {$signed(r1), 16'd8};
  always @(posedge clk) case (a12) 0: r3 <= ({$signed(g8_o[0]), $signed(r4)} != g6_o[1]); 1: r3 <= ($signed(r4) * (3'd6 ~^ $signed(g8_o[8]))); 2: r3 <= (w5 * r1); default: r3 <= (&(g10_o[0])); endcase
  wire [1:0] a13 = {$signed(r3), g8_o[8]};
  always @(posedge clk) case (a13) 0: r4 <= ((~|(g6_o[1])) * (8'd208 ^ g6_o[1])); 1: r4 <= g10_o[0]; 2: r4 <= ((r2 >= r1) >= (g10_o[8] * w5[r1[1:0]])); default: r4 <= ({i0[3:3], r1} || ({1{$signed(w5)}} <= (r4 << $signed(g8_o[8])))); endcase
  assign o0 = r1;
endmodule

module top (
  input clk,
  input [3:0] d22_i0,
  output [64:0] d22_o0);
  d22 u22 (.clk(clk), .i0(d22_i0), .o0(d22_o0));
endmodule

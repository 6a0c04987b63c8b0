// Sets multiplications by a constant aside from the Booth encoder: as sums of shifts they are smaller.
(* techmap_celltype = "$mul" *)
module set_constant_multiply_aside (A, B, Y);
  parameter A_SIGNED = 0;
  parameter B_SIGNED = 0;
  parameter A_WIDTH = 1;
  parameter B_WIDTH = 1;
  parameter Y_WIDTH = 1;
  parameter [A_WIDTH-1:0] _TECHMAP_CONSTMSK_A_ = 0;
  parameter [B_WIDTH-1:0] _TECHMAP_CONSTMSK_B_ = 0;

  input [A_WIDTH-1:0] A;
  input [B_WIDTH-1:0] B;
  output [Y_WIDTH-1:0] Y;

  wire _TECHMAP_FAIL_ = !(&_TECHMAP_CONSTMSK_A_ || &_TECHMAP_CONSTMSK_B_);

  \$__constant_multiply #(
    .A_SIGNED(A_SIGNED),
    .B_SIGNED(B_SIGNED),
    .A_WIDTH(A_WIDTH),
    .B_WIDTH(B_WIDTH),
    .Y_WIDTH(Y_WIDTH)
  ) _TECHMAP_REPLACE_ (.A(A), .B(B), .Y(Y));
endmodule

"""Functional units as Verilog modules.

Belongs here: the text of each unit type and how it is instantiated. Does not: which operation uses it.
Latencies are those of `operators.py`.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

MULTIPLIER = """\
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
"""

DIVIDER = """\
// 32-bit quotient and remainder, truncated toward zero: one quotient bit a cycle, restoring.
module divider_32 (
  input clk,
  input rst,
  input go,
  input signed [31:0] a,
  input signed [31:0] b,
  output reg signed [31:0] q,
  output reg signed [31:0] r
);
  reg [5:0] left;
  reg [31:0] quotient, divisor;
  reg [32:0] partial;
  reg negative_q, negative_r;
  wire [32:0] shifted = {partial[31:0], quotient[31]};
  wire [32:0] difference = shifted - {1'b0, divisor};
  always @(posedge clk) begin
    if (rst) left <= 6'd0;
    else if (go) left <= 6'd33;
    else if (left != 6'd0) left <= left - 6'd1;
    if (go) begin
      quotient <= a[31] ? -a : a;
      divisor <= b[31] ? -b : b;
      partial <= 33'd0;
      negative_q <= a[31] ^ b[31];
      negative_r <= a[31];
    end else if (left > 6'd1) begin
      quotient <= {quotient[30:0], ~difference[32]};
      partial <= difference[32] ? shifted : difference;
    end else if (left == 6'd1) begin
      q <= negative_q ? -quotient : quotient;
      r <= negative_r ? -partial[31:0] : partial[31:0];
    end
  end
endmodule
"""

CONSTANT_DIVIDER = """\
// Quotient by a constant, truncated toward zero: a wide product is registered, then corrected.
module constant_divider #(
  parameter FACTOR_BITS = 33,
  parameter signed [FACTOR_BITS-1:0] FACTOR = 1,
  parameter SHIFT = 31,
  parameter NEGATE = 0
) (
  input clk,
  input signed [31:0] a,
  output reg signed [31:0] q
);
  reg signed [FACTOR_BITS+31:0] product;
  reg sign;
  wire signed [FACTOR_BITS+31:0] scaled = product >>> SHIFT;
  wire signed [31:0] magnitude = scaled[31:0] + {31'd0, sign};
  always @(posedge clk) begin
    product <= a * FACTOR;
    sign <= a[31];
    q <= (NEGATE != 0) ? -magnitude : magnitude;
  end
endmodule
"""


def unit_modules(kinds: AbstractSet[str], *, constant_divider: bool) -> str:
    """Text of the unit modules a design uses."""
    parts: list[str] = []
    if "mul" in kinds:
        parts.append(MULTIPLIER)
    if "div" in kinds:
        parts.append(DIVIDER)
    if constant_divider:
        parts.append(CONSTANT_DIVIDER)
    return "\n".join([*parts, ""]) if parts else ""


def division_constants(divisor: int) -> tuple[int, int]:
    """Factor M and shift p with n / |divisor| = (n M >> p) + (n < 0) for every 32-bit n.

    Source: Granlund and Montgomery 1994, theorem 5.1: M = floor(2^p / d) + 1 with p = 31 + ceil(log2 d)
    keeps 0 < M d - 2^p <= 2^(p - 31).
    """
    magnitude = abs(divisor)
    shift = 31 + (magnitude - 1).bit_length()
    return (1 << shift) // magnitude + 1, shift


def constant_divider_instance(name: str, divisor: int, dividend: str) -> str:
    """Instance of a constant divider whose quotient is the wire `name`."""
    factor, shift = division_constants(divisor)
    bits = factor.bit_length() + 1
    parameters = (
        f".FACTOR_BITS({bits}), .FACTOR({bits}'sd{factor}), .SHIFT({shift}), .NEGATE({int(divisor < 0)})"
    )
    return f"  constant_divider #({parameters}) {name}_unit (.clk(clk), .a({dividend}), .q({name}));"

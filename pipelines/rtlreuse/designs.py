"""Designs in Verilog, by family and size: what the engines are tested and measured on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pipelines.rtlreuse.errors import RtlError

_OUTPUT_STATIONARY = """
module pe #(parameter W = 8, parameter P = 32) (
    input clk, input rst, input clear, input drain,
    input signed [W-1:0] a, input signed [W-1:0] b, input signed [P-1:0] above,
    output reg signed [W-1:0] a_next, output reg signed [W-1:0] b_next, output reg signed [P-1:0] sum);
  wire signed [P-1:0] product = a * b;
  always @(posedge clk) begin
    a_next <= a;
    b_next <= b;
    if (rst) sum <= 0;
    else if (drain) sum <= above;
    else if (clear) sum <= product;
    else sum <= sum + product;
  end
endmodule

module top #(parameter N = @N@, parameter M = @M@, parameter W = 8, parameter P = 32) (
    input clk, input rst, input clear, input drain, input [N*W-1:0] left, input [M*W-1:0] up,
    output [M*P-1:0] sums);
  wire [W-1:0] a [0:N*(M+1)-1];
  wire [W-1:0] b [0:(N+1)*M-1];
  wire [P-1:0] s [0:(N+1)*M-1];
  genvar i, j;
  generate
    for (i = 0; i < N; i = i + 1) begin : rows
      assign a[i*(M+1)] = left[i*W +: W];
      for (j = 0; j < M; j = j + 1) begin : columns
        pe #(.W(W), .P(P)) u (.clk(clk), .rst(rst), .clear(clear), .drain(drain),
          .a(a[i*(M+1)+j]), .b(b[i*M+j]), .above(s[i*M+j]),
          .a_next(a[i*(M+1)+j+1]), .b_next(b[(i+1)*M+j]), .sum(s[(i+1)*M+j]));
      end
    end
    for (j = 0; j < M; j = j + 1) begin : edges
      assign b[j] = up[j*W +: W];
      assign s[j] = {P{1'b0}};
      assign sums[j*P +: P] = s[N*M+j];
    end
  endgenerate
endmodule
"""

_WEIGHT_STATIONARY = """
module pe #(parameter W = 8, parameter P = 32) (
    input clk, input rst, input load, input signed [W-1:0] a, input signed [P-1:0] above,
    output reg signed [W-1:0] a_next, output reg signed [P-1:0] below);
  reg signed [W-1:0] weight;
  always @(posedge clk) begin
    a_next <= a;
    if (load) weight <= above[W-1:0];
    if (rst) below <= 0;
    else below <= load ? above : above + a * weight;
  end
endmodule

module top #(parameter N = @N@, parameter M = @M@, parameter W = 8, parameter P = 32) (
    input clk, input rst, input load, input [N*W-1:0] left, input [M*W-1:0] weights, output [M*P-1:0] sums);
  wire [W-1:0] a [0:N*(M+1)-1];
  wire [P-1:0] s [0:(N+1)*M-1];
  genvar i, j;
  generate
    for (i = 0; i < N; i = i + 1) begin : rows
      assign a[i*(M+1)] = left[i*W +: W];
      for (j = 0; j < M; j = j + 1) begin : columns
        pe #(.W(W), .P(P)) u (.clk(clk), .rst(rst), .load(load), .a(a[i*(M+1)+j]), .above(s[i*M+j]),
          .a_next(a[i*(M+1)+j+1]), .below(s[(i+1)*M+j]));
      end
    end
    for (j = 0; j < M; j = j + 1) begin : edges
      assign s[j] = {{(P-W){1'b0}}, weights[j*W +: W]};
      assign sums[j*P +: P] = s[N*M+j];
    end
  endgenerate
endmodule
"""

_CHAIN = """
module core (input clk, input [31:0] a, output [31:0] o);
  reg [31:0] r [0:15];
  genvar i;
  assign o = r[15];
  generate
    for (i = 0; i < 16; i = i + 1) begin : stages
      wire [31:0] s = r[i] * 32'd1664525 + (i == 0 ? a : r[(i + 15) % 16]) + 32'd1013904223;
      wire [31:0] y = s ^ (s >> 13);
      always @(posedge clk) r[i] <= y < r[(i + 5) % 16] ? y : s;
    end
  endgenerate
endmodule

module top (input clk, input [31:0] a, output [31:0] o);
  wire [31:0] w [0:@N@];
  genvar k;
  assign w[0] = a;
  assign o = w[@N@];
  generate
    for (k = 0; k < @N@; k = k + 1) begin : cores
      core u (.clk(clk), .a(w[k]), .o(w[k+1]));
    end
  endgenerate
endmodule
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignSource:
    """Verilog text and the name of its top module."""

    verilog: str
    top: str = "top"


def gemm(rows: int, columns: int, *, is_weight_stationary: bool = False) -> DesignSource:
    """A systolic array for matrix products: 8-bit operands, 32-bit sums.

    Output-stationary: each element keeps its sum, which is shifted out downwards. Weight-stationary: weights
    are shifted in downwards, sums flow down.
    """
    template = _WEIGHT_STATIONARY if is_weight_stationary else _OUTPUT_STATIONARY
    return DesignSource(verilog=_filled(template, N=rows, M=columns))


def chain(cores: int) -> DesignSource:
    """Cores of 16 registers in a row; the output of one is the input of the next."""
    return DesignSource(verilog=_filled(_CHAIN, N=cores))


def _filled(template: str, **sizes: int) -> str:
    for name, size in sizes.items():
        if size < 1:
            raise RtlError(f"size {name} of a design: {size}; accepted: 1 or more")
        template = template.replace(f"@{name}@", str(size))
    return template.lstrip("\n")


FAMILIES: dict[str, Callable[[int], DesignSource]] = {
    "gemm_os": lambda size: gemm(size, size),
    "gemm_ws": lambda size: gemm(size, size, is_weight_stationary=True),
    "chain": chain,
}
"""Generators by name of the family; the size is that of an edge or the number of cores."""

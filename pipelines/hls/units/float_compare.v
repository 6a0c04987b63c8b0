// Comparison of IEEE-754 numbers as in C: -0 equals 0; with a NaN only "not equal" is true. Combinational.
module float_compare #(
  parameter EXPONENT = 8,
  parameter FRACTION = 23,
  parameter OPERATION = 0 // 0: ==, 1: !=, 2: <, 3: <=, 4: >, 5: >=
) (
  input [EXPONENT+FRACTION:0] a,
  input [EXPONENT+FRACTION:0] b,
  output y
);
  localparam WIDTH = EXPONENT + FRACTION + 1;
  wire nan_a = (&a[WIDTH-2:FRACTION]) && (a[FRACTION-1:0] != 0);
  wire nan_b = (&b[WIDTH-2:FRACTION]) && (b[FRACTION-1:0] != 0);
  wire ordered = !nan_a && !nan_b;
  wire zeros = (a[WIDTH-2:0] | b[WIDTH-2:0]) == 0;
  generate
    if (OPERATION < 2) begin : equality
      wire equal = ordered && (zeros || a == b);
      assign y = (OPERATION == 0) ? equal : !equal;
    end else begin : order
      localparam SWAP = OPERATION >= 4;
      wire [WIDTH-1:0] left = SWAP ? b : a;
      wire [WIDTH-1:0] right = SWAP ? a : b;
      wire below = left[WIDTH-2:0] < right[WIDTH-2:0];
      wire above = left[WIDTH-2:0] > right[WIDTH-2:0];
      wire less = left[WIDTH-1] ? !right[WIDTH-1] || above : !right[WIDTH-1] && below;
      if (OPERATION == 2 || OPERATION == 4) begin : strict
        assign y = ordered && !zeros && less;
      end else begin : or_equal
        assign y = ordered && (zeros || less || a == b);
      end
    end
  endgenerate
endmodule

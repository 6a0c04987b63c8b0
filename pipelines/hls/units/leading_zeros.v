// Number of zeros above the highest one of x; WIDTH when x is zero. Combinational: a tree of halves.
module leading_zeros #(
  parameter WIDTH = 32,
  parameter COUNT = 6 // bits of the count, enough for WIDTH itself
) (
  input [WIDTH-1:0] x,
  output [COUNT-1:0] count
);
  localparam SIZE = 1 << COUNT;
  // a level has groups of 2^level bits: whether each has no one, and its leading zeros when it has
  genvar level, group;
  generate
    for (level = 0; level < COUNT; level = level + 1) begin : tree
      localparam GROUPS = SIZE >> level;
      wire [GROUPS-1:0] empty;
      wire [GROUPS*COUNT-1:0] zeros;
      if (level == 0) begin : leaves
        assign empty = ~{x, {(SIZE-WIDTH){1'b1}}}; // ones follow, up to a power of two above WIDTH
        assign zeros = {(GROUPS*COUNT){1'b0}};
      end else begin : joined
        for (group = 0; group < GROUPS; group = group + 1) begin : pair
          wire [COUNT-1:0] upper = tree[level-1].zeros[(2*group+1)*COUNT +: COUNT];
          wire [COUNT-1:0] lower = tree[level-1].zeros[2*group*COUNT +: COUNT];
          assign empty[group] = tree[level-1].empty[2*group+1] & tree[level-1].empty[2*group];
          assign zeros[group*COUNT +: COUNT] = tree[level-1].empty[2*group+1]
            ? lower | {{(COUNT-1){1'b0}}, 1'b1} << (level - 1) : upper;
        end
      end
    end
  endgenerate
  wire unused = tree[COUNT-1].empty[0]; // never: the padding is in it
  wire [2*COUNT-1:0] halves = tree[COUNT-1].zeros;
  assign count = tree[COUNT-1].empty[1]
    ? halves[COUNT-1:0] | {1'b1, {(COUNT-1){1'b0}}} : halves[2*COUNT-1:COUNT];
endmodule

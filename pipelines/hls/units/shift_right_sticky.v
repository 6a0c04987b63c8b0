// x shifted right; the lowest bit of the result also holds whether a one was shifted out. Combinational.
module shift_right_sticky #(
  parameter WIDTH = 32,
  parameter DISTANCE = 6 // bits of the distance
) (
  input [WIDTH-1:0] x,
  input [DISTANCE-1:0] distance,
  output [WIDTH-1:0] y
);
  genvar level;
  generate
    for (level = 0; level <= DISTANCE; level = level + 1) begin : step
      wire [WIDTH-1:0] value;
      if (level == 0) begin : whole
        assign value = x;
      end else if ((1 << (level - 1)) < WIDTH - 1) begin : near
        localparam BY = 1 << (level - 1);
        wire [WIDTH-1:0] from = step[level-1].value;
        wire lost = |from[BY:0];
        assign value = distance[level-1] ? {{BY{1'b0}}, from[WIDTH-1:BY+1], lost} : from;
      end else begin : far
        wire [WIDTH-1:0] from = step[level-1].value;
        assign value = distance[level-1] ? {{(WIDTH-1){1'b0}}, |from} : from;
      end
    end
  endgenerate
  assign y = step[DISTANCE].value;
endmodule

// Conversion of an integer to IEEE-754, round to nearest even. One stage.
module integer_to_float #(
  parameter WIDTH = 32,
  parameter SIGNED = 1,
  parameter EXPONENT = 8,
  parameter FRACTION = 23
) (
  input clk,
  input [WIDTH-1:0] a,
  output reg [EXPONENT+FRACTION:0] y
);
  localparam COUNT = $clog2(WIDTH + 1);
  localparam LONG = (WIDTH > FRACTION + 3) ? WIDTH : FRACTION + 3; // hidden bit, fraction, guard, sticky
  localparam [31:0] HIGHEST = (1 << (EXPONENT - 1)) - 2 + WIDTH;   // field when the first bit is set
  wire negative = (SIGNED != 0) && a[WIDTH-1];
  wire [WIDTH-1:0] magnitude = negative ? -a : a;
  wire [COUNT-1:0] zeros;
  leading_zeros #(.WIDTH(WIDTH), .COUNT(COUNT)) counter (.x(magnitude), .count(zeros));
  wire [WIDTH-1:0] shifted = magnitude << zeros;
  wire [LONG-1:0] normal = {shifted, {(LONG-WIDTH){1'b0}}};
  wire [EXPONENT-1:0] field = normal[LONG-1]
    ? HIGHEST[EXPONENT-1:0] - {{(EXPONENT-COUNT){1'b0}}, zeros} : {EXPONENT{1'b0}};
  wire guard = normal[LONG-FRACTION-2];
  wire up = guard && (normal[LONG-FRACTION-1] || normal[LONG-FRACTION-3:0] != 0);
  always @(posedge clk)
    y <= {negative, {field, normal[LONG-2:LONG-FRACTION-1]} + {{(EXPONENT+FRACTION-1){1'b0}}, up}};
endmodule

// Sparse matrix times vector: leaves hold the nonzeros of the matrix in row order, a tree adds the products of each row.
// A node gives the sums at both ends of its range, which may go on in the neighbour, and adds up the sums that end
// inside and belong to the selected row.
module leaf (
    input clk, input load, input [3:0] column, input [7:0] row, input signed [7:0] value, input [127:0] vector,
    output reg [3:0] column_next, output reg [7:0] row_next, output reg signed [7:0] value_next,
    output reg [7:0] product_row, output reg signed [31:0] product);
  wire signed [7:0] chosen = vector[column_next*8 +: 8];
  always @(posedge clk) begin
    if (load) begin
      column_next <= column;
      row_next <= row;
      value_next <= value;
    end
    product_row <= row_next;
    product <= chosen * value_next;
  end
endmodule

module adder (
    input clk, input [7:0] selected,
    input [7:0] a_first, input [31:0] a_begin, input [7:0] a_last, input [31:0] a_end, input [31:0] a_inner,
    input [7:0] b_first, input [31:0] b_begin, input [7:0] b_last, input [31:0] b_end, input [31:0] b_inner,
    output reg [7:0] first, output reg [31:0] begins, output reg [7:0] last, output reg [31:0] ends,
    output reg [31:0] inner);
  wire a_single = a_first == a_last, b_single = b_first == b_last, meet = a_last == b_first;
  wire [31:0] joined = a_end + b_begin;
  wire [31:0] a_left = !meet && !a_single && a_last == selected ? a_end : 32'd0;
  wire [31:0] b_left = !meet && !b_single && b_first == selected ? b_begin : 32'd0;
  wire [31:0] middle = meet && !a_single && !b_single && a_last == selected ? joined : 32'd0;
  always @(posedge clk) begin
    first <= a_first;
    last <= b_last;
    begins <= meet && a_single ? joined : a_begin;
    ends <= meet && b_single ? joined : b_end;
    inner <= a_inner + b_inner + a_left + b_left + middle;
  end
endmodule

module top #(parameter N = @PES@) (
    input clk, input load, input [3:0] column, input [7:0] row, input [7:0] value, input [127:0] vector,
    input [7:0] selected, output [7:0] first, output [31:0] begins, output [7:0] last, output [31:0] ends,
    output [31:0] inner);
  wire [3:0] c [0:N];
  wire [7:0] r [0:N];
  wire [7:0] v [0:N];
  wire [7:0] f [1:2*N-1];   // node i has the children 2 i and 2 i + 1; the leaves are nodes N to 2 N - 1
  wire [7:0] l [1:2*N-1];
  wire [31:0] b [1:2*N-1];
  wire [31:0] e [1:2*N-1];
  wire [31:0] n [1:2*N-1];
  assign {c[0], r[0], v[0]} = {column, row, value};
  assign {first, begins, last, ends, inner} = {f[1], b[1], l[1], e[1], n[1]};
  genvar i;
  generate
    for (i = 0; i < N; i = i + 1) begin : leaves
      leaf u (.clk(clk), .load(load), .column(c[i]), .row(r[i]), .value(v[i]), .vector(vector),
        .column_next(c[i+1]), .row_next(r[i+1]), .value_next(v[i+1]), .product_row(f[N+i]), .product(b[N+i]));
      assign l[N+i] = f[N+i];
      assign e[N+i] = b[N+i];
      assign n[N+i] = 32'd0;
    end
    for (i = 1; i < N; i = i + 1) begin : nodes
      adder u (.clk(clk), .selected(selected),
        .a_first(f[2*i]), .a_begin(b[2*i]), .a_last(l[2*i]), .a_end(e[2*i]), .a_inner(n[2*i]),
        .b_first(f[2*i+1]), .b_begin(b[2*i+1]), .b_last(l[2*i+1]), .b_end(e[2*i+1]), .b_inner(n[2*i+1]),
        .first(f[i]), .begins(b[i]), .last(l[i]), .ends(e[i]), .inner(n[i]));
    end
  endgenerate
endmodule

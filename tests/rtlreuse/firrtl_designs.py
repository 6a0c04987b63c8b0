# ruff: noqa: E501 (Chisel writes a type on one line)
"""High-form FIRRTL like Chisel's, and the same designs in Verilog written by hand."""

from __future__ import annotations

# Bundles with flipped fields, when and else, last connect, a queue's memory, and partial connections.
QUEUE_FIR = """
circuit top :
  module Queue :
    input clock : Clock
    input reset : Reset
    output io : { flip enq : { flip ready : UInt<1>, valid : UInt<1>, bits : { a : UInt<5>, b : SInt<4>}}, deq : { flip ready : UInt<1>, valid : UInt<1>, bits : { a : UInt<5>, b : SInt<4>}}, count : UInt<2>}

    cmem ram : { a : UInt<5>, b : SInt<4>} [2] @[Decoupled.scala 259:95]
    reg head : UInt<1>, clock with :
      reset => (reset, UInt<1>("h0")) @[Counter.scala 60:40]
    reg tail : UInt, clock with :
      reset => (reset, UInt<1>("h0"))
    reg maybe_full : UInt<1>, clock with :
      reset => (reset, UInt<1>("h0"))
    node match = eq(head, tail)
    node empty = and(match, not(maybe_full))
    node full = and(match, maybe_full)
    wire do_enq : UInt<1>
    do_enq <= and(io.enq.ready, io.enq.valid)
    node do_deq = and(io.deq.ready, io.deq.valid)
    when do_enq : @[Decoupled.scala 272:16]
      infer mport MPORT = ram[head], clock
      MPORT <- io.enq.bits
      node _head = tail(add(head, UInt<1>("h1")), 1)
      head <= _head
    when do_deq :
      tail <= tail(add(tail, UInt<1>("h1")), 1)
    when neq(do_enq, do_deq) :
      maybe_full <= do_enq
      skip
    io.deq.valid <= not(empty)
    io.enq.ready <= not(full)
    infer mport out = ram[tail], clock
    io.deq.bits.a <= out.a
    io.deq.bits.b <= out.b
    node ptr = sub(head, tail)
    io.count <= or(shl(full, 1), bits(mux(full, UInt<1>("h0"), ptr), 0, 0))
    assert(clock, UInt<1>("h1"), UInt<1>("h1"), "printf(") : assert_0

  module top :
    input clock : Clock
    input reset : UInt<1>
    input in_valid : UInt<1>
    input in : { a : UInt<5>, b : SInt<4>}
    input take : UInt<1>
    output out : { valid : UInt<1>, bits : { a : UInt<5>, b : SInt<4>}}
    output ready : UInt<1>
    output count : UInt<2>

    out is invalid
    inst first of Queue
    first.io is invalid
    first.clock <= clock
    first.reset <= reset
    inst second of Queue
    second.clock <= clock
    second.reset <= reset
    first.io.enq.valid <= in_valid
    first.io.enq.bits <- in
    second.io.enq <= first.io.deq
    second.io.deq.ready <= take
    out.valid <= second.io.deq.valid
    out.bits <= second.io.deq.bits
    ready <= first.io.enq.ready
    count <= second.io.count
"""
QUEUE_V = """
module queue2 (input clock, input reset, output enq_ready, input enq_valid, input [4:0] enq_a, input [3:0] enq_b,
    input deq_ready, output deq_valid, output [4:0] deq_a, output [3:0] deq_b, output [1:0] count);
  reg [8:0] ram [0:1]; reg head, tail, maybe_full;
  wire full = head == tail & maybe_full, empty = head == tail & ~maybe_full;
  wire do_enq = enq_ready & enq_valid, do_deq = deq_ready & deq_valid;
  assign enq_ready = ~full, deq_valid = ~empty, {deq_a, deq_b} = ram[tail];
  assign count = full ? 2 : {1'b0, head ^ tail};
  always @(posedge clock) begin
    if (do_enq) ram[head] <= {enq_a, enq_b};
    if (reset) begin head <= 0; tail <= 0; maybe_full <= 0; end
    else begin
      if (do_enq) head <= ~head;
      if (do_deq) tail <= ~tail;
      if (do_enq != do_deq) maybe_full <= do_enq;
    end
  end
endmodule
module top (input clock, input reset, input in_valid, input [4:0] in_a, input [3:0] in_b, input take,
    output out_valid, output [4:0] out_bits_a, output [3:0] out_bits_b, output ready, output [1:0] count);
  wire r, v; wire [4:0] a; wire [3:0] b; wire [1:0] unused;
  queue2 f (clock, reset, ready, in_valid, in_a, in_b, r, v, a, b, unused);
  queue2 s (clock, reset, r, v, a, b, take, out_valid, out_bits_a, out_bits_b, count);
endmodule
"""

# Signed arithmetic, widths to be inferred through an instance, vectors by signals, a register of vectors.
SIGNED_FIR = """
circuit top :
  module Scale :
    input x : SInt
    output y : SInt

    node doubled = shl(x, 1)
    y <= add(doubled, SInt<2>("h-1"))

  module top :
    input clock : Clock
    input reset : UInt<1>
    input a : SInt<7>
    input b : SInt<5>
    input s : UInt<3>
    output sum : SInt<9>
    output product : SInt<12>
    output quotient : SInt<8>
    output rest : SInt<5>
    output shifted : SInt<7>
    output wide : UInt<14>
    output less : UInt<1>
    output picked : SInt<7>
    output negative : SInt<8>
    output extended : SInt<10>
    output cut : UInt<3>

    inst scale of Scale
    scale.x <= b
    sum <= add(a, scale.y)
    product <= mul(a, b)
    node divisor = asSInt(or(asUInt(b), UInt<5>("h1")))
    quotient <= div(a, divisor)
    rest <= rem(a, divisor)
    shifted <= dshr(a, s)
    wide <= asUInt(dshl(a, s))
    less <= and(lt(a, b), geq(pad(b, 9), SInt<9>(-3)))
    reg table : SInt<7>[6], clock
    wire index : UInt
    index <= s
    when orr(s) :
      table[index] <= a
    when reset :
      table[0] <= SInt<1>(0)
    else when andr(asUInt(a)) :
      table[1] <= b
    else :
      table[5] <= table[index]
    picked <= table[s]
    negative <= neg(a)
    extended <= cvt(asUInt(a))
    cut <= cat(head(s, 1), bits(asUInt(a), 4, 3))
"""
SIGNED_V = """
module top (input clock, input reset, input signed [6:0] a, input signed [4:0] b, input [2:0] s,
    output signed [8:0] sum, output signed [11:0] product, output signed [7:0] quotient, output signed [4:0] rest,
    output signed [6:0] shifted, output [13:0] wide, output less, output reg signed [6:0] picked,
    output signed [7:0] negative, output signed [9:0] extended, output [2:0] cut);
  assign sum = a + 2 * b - 1, product = a * b;
  wire signed [4:0] divisor = b | 5'sd1;
  assign quotient = a / divisor, rest = a % divisor, shifted = a >>> s;
  wire signed [13:0] longer = a;
  assign wide = longer << s, less = a < b & b >= -3, negative = -a, extended = {3'b0, a}, cut = {s[2], a[4:3]};
  reg signed [6:0] t [0:5]; integer i;
  always @* case (s) 1: picked = t[1]; 2: picked = t[2]; 3: picked = t[3]; 4: picked = t[4]; 5: picked = t[5];
    default: picked = t[0]; endcase
  always @(posedge clock) begin
    if (s != 0 & s < 6) t[s] <= a;
    if (reset) t[0] <= 0;
    else if (&a) t[1] <= b;
    else t[5] <= picked;
  end
endmodule
"""

# A memory with clocked reads, masks, an abstract reset that turns out to be asynchronous, and connections that flow.
MEMORY_FIR = """
circuit top :
  module Counter :
    input clock : Clock
    input reset : Reset
    input step : UInt<3>
    output value : UInt<6>

    reg count : UInt<6>, clock with :
      reset => (reset, UInt<6>("h2a"))
    count <= tail(add(count, step), 1)
    value <= count

  module top :
    input clock : Clock
    input reset : UInt<1>
    input address : UInt<3>
    input data : UInt<8>[2]
    input mask : UInt<1>[2]
    input write : UInt<1>
    input read : UInt<1>
    input ra : UInt<3>
    output q : UInt<8>[2]
    output value : UInt<6>
    output late : UInt<9>

    smem ram : UInt<8>[2] [8]
    when write :
      write mport port = ram[address], clock
      when mask[0] :
        port[0] <= data[0]
      when mask[1] :
        port[1] <= data[1]
    wire where : UInt
    where is invalid
    when read :
      where <= ra
    read mport reader = ram[where], clock
    q <= reader
    inst counter of Counter
    counter.clock <= clock
    counter.reset <= asAsyncReset(reset)
    counter.step <= bits(ra, 2, 0)
    value <= counter.value
    mem plain :
      data-type => UInt<9>
      depth => 5
      read-latency => 0
      write-latency => 1
      reader => r
      writer => w
      read-under-write => undefined
    plain.r.addr <= ra
    plain.r.en <= UInt<1>(1)
    plain.r.clk <= clock
    plain.w.addr <= address
    plain.w.en <= and(write, lt(address, UInt<3>(5)))
    plain.w.clk <= clock
    plain.w.mask <= mask[0]
    plain.w.data <= cat(data[0], mask[1])
    late <= mux(lt(ra, UInt<3>(5)), plain.r.data, UInt<9>(0))
"""
MEMORY_V = """
module top (input clock, input reset, input [2:0] address, input [7:0] data_0, input [7:0] data_1, input mask_0,
    input mask_1, input write, input read, input [2:0] ra, output [7:0] q_0, output [7:0] q_1,
    output reg [5:0] value, output [8:0] late);
  reg [7:0] low [0:7], high [0:7]; reg [8:0] plain [0:7]; reg [2:0] where;
  assign q_0 = low[where], q_1 = high[where], late = ra < 5 ? plain[ra] : 0;
  always @(posedge clock) begin
    if (read) where <= ra;
    if (write & mask_0) low[address] <= data_0;
    if (write & mask_1) high[address] <= data_1;
    if (write & mask_0 & address < 5) plain[address] <= {data_0, mask_1};
  end
  always @(posedge clock or posedge reset) if (reset) value <= 6'h2a; else value <= value + ra;
endmodule
"""

PAIRS = {
    "queue": (QUEUE_FIR, QUEUE_V),
    "signed": (SIGNED_FIR, SIGNED_V),
    "memory": (MEMORY_FIR, MEMORY_V),
}

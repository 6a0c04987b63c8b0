// All registers are in one record r; comb computes its next value rin.
module fft import fft_pkg::*; #(
  parameter int STAGES = 4,
  parameter int IW     = 12
) (
  input  logic                 clk,
  input  logic                 reset,
  input  logic                 in_valid,
  input  logic signed [IW-1:0] in_re, in_im,
  output logic                 in_ready,
  output logic                 out_valid,
  output logic signed [DW-1:0] out_re, out_im
);
  localparam int N = 1 << STAGES;
  typedef logic [STAGES-1:0] index_t;
  typedef struct packed {
    phase_t                    phase;
    index_t                    count;
    logic [$clog2(STAGES)-1:0] stage;
    logic                      out_valid;
    complex_t                  out;
  } registers_t;
  localparam registers_t RESET = '{phase: LOAD, out: '{re: '0, im: '0}, default: '0};

  registers_t r, rin;
  complex_t   data [N];
  index_t     first, second, loaded;
  complex_t   sum, difference;
  twiddle_t   factor;
  logic [3:0] turn;

  function automatic index_t reversed(index_t value);
    for (int i = 0; i < STAGES; i++) reversed[i] = value[STAGES-1-i];
  endfunction

  // Butterfly r.count of stage s: a zero is put at bit s of its number.
  always_comb begin
    index_t low;
    low    = index_t'((1 << r.stage) - 1);
    first  = ((r.count & ~low) << 1) | (r.count & low);
    second = first | index_t'(1 << r.stage);
    turn   = 4'((r.count & low) << (4 - r.stage));
    loaded = reversed(r.count);
  end

  twiddle_rom #(.DEPTH(16)) rom (.index(turn), .factor);
  butterfly unit (.a(data[first]), .b(data[second]), .w(factor), .sum, .difference);

  always_comb begin : comb
    registers_t v;
    v = r;
    v.out_valid = 1'b0;
    unique case (r.phase)
      LOAD: if (in_valid) begin
        v.count = r.count + 1'b1;
        if (r.count == index_t'(N - 1)) v.phase = CALCULATE;
      end
      CALCULATE: begin
        v.count = r.count + 1'b1;
        if (r.count == index_t'(N / 2 - 1)) begin
          v.count = '0;
          v.stage = r.stage + 1'b1;
          if (int'(r.stage) == STAGES - 1) begin
            v.stage = '0;
            v.phase = UNLOAD;
          end
        end
      end
      UNLOAD: begin
        v.out       = data[r.count];
        v.out_valid = 1'b1;
        v.count     = r.count + 1'b1;
        if (&r.count) v.phase = LOAD;
      end
      default: v.phase = LOAD;
    endcase
    if (reset) v = RESET;
    rin = v;
    in_ready  = r.phase == LOAD;
    out_valid = r.out_valid;
    out_re    = r.out.re;
    out_im    = r.out.im;
  end

  always_ff @(posedge clk) r <= rin;

  always_ff @(posedge clk)
    if (r.phase == LOAD && in_valid) data[loaded] <= '{re: DW'(in_re), im: DW'(in_im)};
    else if (r.phase == CALCULATE) begin
      data[first]  <= sum;
      data[second] <= difference;
    end
endmodule

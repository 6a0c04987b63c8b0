// Systolic accelerator: load, execute and store units around a mesh of multiply-accumulate elements.
// Memories are outside: each bank has one read port (data one cycle later) and one write port.
// Commands have 64 bits: [3:0] operation, [7:4] tokens (take from / give to the unit before or after), payload.

module stage_delay #(parameter WIDTH = 1, STAGES = 0) (
  input clk, input [WIDTH-1:0] in, output [WIDTH-1:0] out);
  generate
    if (STAGES == 0) begin : none
      assign out = in;
    end else begin : some
      reg [STAGES*WIDTH-1:0] held;
      always @(posedge clk) held <= {held, in};
      assign out = held[STAGES*WIDTH-1 -: WIDTH];
    end
  endgenerate
endmodule

module command_queue #(parameter WIDTH = 64, DEPTH = 2) (
  input clk, input rst, input push, input [WIDTH-1:0] in, output full,
  input pop, output [WIDTH-1:0] out, output empty);
  localparam BITS = DEPTH > 1 ? $clog2(DEPTH) : 1;
  reg [WIDTH-1:0] slot [0:(1<<BITS)-1];
  reg [BITS-1:0] head, tail;
  reg [BITS:0] count;
  assign out = slot[head];
  assign full = count == DEPTH;
  assign empty = count == 0;
  always @(posedge clk) begin
    if (push) slot[tail] <= in;
    if (rst) begin
      head <= 0;
      tail <= 0;
      count <= 0;
    end else begin
      if (push) tail <= tail == DEPTH - 1 ? 0 : tail + 1'b1;
      if (pop) head <= head == DEPTH - 1 ? 0 : head + 1'b1;
      count <= count + push - pop;
    end
  end
endmodule

// Weight stationary: b is shifted down while `shift`, sums pass down. Output stationary: both operands pass,
// the sum stays until `drain` shifts it down. `tag` marks the first row behind new weights. ABOVE, BELOW: bits that sums
// need, 0 in the first row.
module element #(parameter IN = 8, ACC = 32, WS = 1, OS = 0, SHADOW = 1, REG_A = 1, REG_B = 1, REG_P = 1,
                 ABOVE = ACC, BELOW = ACC) (
  input clk, input rst, input os, input shift, input drain,
  input tag_in, output tag_out,
  input signed [IN-1:0] a_in, output signed [IN-1:0] a_out,
  input signed [IN-1:0] b_in, output signed [IN-1:0] b_out,
  input signed [(ABOVE ? ABOVE : 1)-1:0] p_in, output signed [BELOW-1:0] p_out);
  wire mode = WS && OS ? os : OS != 0;
  reg signed [IN-1:0] b_reg;
  always @(posedge clk) if (mode || shift) b_reg <= b_in;
  assign b_out = mode && !REG_B ? b_in : b_reg;
  wire signed [IN-1:0] weight;
  generate
    if (WS && SHADOW) begin : shadow
      reg signed [IN-1:0] held;
      always @(posedge clk) if (tag_in) held <= b_reg;
      assign weight = tag_in ? b_reg : held;
    end else begin : direct
      assign weight = b_reg;
    end
    if (REG_A) begin : register_a
      reg signed [IN-1:0] a_reg;
      reg tag_reg;
      always @(posedge clk) begin
        a_reg <= a_in;
        tag_reg <= tag_in;
      end
      assign a_out = a_reg;
      assign tag_out = tag_reg;
    end else begin : pass_a
      assign a_out = a_in;
      assign tag_out = tag_in;
    end
  endgenerate
  wire signed [IN-1:0] factor = mode ? b_in : weight;
  wire signed [2*IN-1:0] product = a_in * factor;
  reg signed [BELOW-1:0] p_reg;
  wire signed [BELOW-1:0] above = ABOVE ? p_in : 0;
  wire signed [BELOW-1:0] base = mode ? p_reg : above;
  wire signed [BELOW-1:0] total = base + product;
  always @(posedge clk)
    if (rst && OS) p_reg <= 0;
    else p_reg <= mode && drain ? above : total;
  assign p_out = mode || REG_P ? p_reg : total;
endmodule

module mesh #(parameter IN = 8, ACC = 32, ROWS = 4, COLS = 4, TILE_ROWS = 1, TILE_COLS = 1,
              WS = 1, OS = 0, SHADOW = 1) (
  input clk, input rst, input os, input shift, input drain, input tag,
  input [ROWS*IN-1:0] a, input [COLS*IN-1:0] b, output [COLS*ACC-1:0] p);
  // Bits of a sum of products of that many rows.
  function integer sum_bits(input integer rows);
    sum_bits = 2 * IN + $clog2(rows) < ACC ? 2 * IN + $clog2(rows) : ACC;
  endfunction
  wire mode = WS && OS ? os : OS != 0;
  wire [ROWS*(COLS+1)*IN-1:0] a_net;
  wire [ROWS*(COLS+1)-1:0] tag_net;
  wire [(ROWS+1)*COLS*IN-1:0] b_net;
  wire [(ROWS+1)*COLS*ACC-1:0] p_net;
  genvar r, c;
  generate
    for (r = 0; r < ROWS; r = r + 1) begin : row
      stage_delay #(.WIDTH(IN + 1), .STAGES(r / TILE_ROWS)) skew (
        .clk(clk), .in({tag, a[r*IN +: IN]}),
        .out({tag_net[r*(COLS+1)], a_net[r*(COLS+1)*IN +: IN]}));
      for (c = 0; c < COLS; c = c + 1) begin : column
        localparam ABOVE = r == 0 ? 0 : OS ? ACC : sum_bits(r);
        localparam BELOW = OS ? ACC : sum_bits(r + 1);
        wire signed [BELOW-1:0] below;
        assign p_net[((r+1)*COLS+c)*ACC +: ACC] = {{ACC{below[BELOW-1]}}, below};
        element #(.IN(IN), .ACC(ACC), .WS(WS), .OS(OS), .SHADOW(SHADOW), .ABOVE(ABOVE), .BELOW(BELOW),
                  .REG_A((c + 1) % TILE_COLS == 0 && c + 1 < COLS), .REG_B((r + 1) % TILE_ROWS == 0 && r + 1 < ROWS),
                  .REG_P((r + 1) % TILE_ROWS == 0)) pe (
          .clk(clk), .rst(rst), .os(os), .shift(shift), .drain(drain),
          .tag_in(tag_net[r*(COLS+1)+c]), .tag_out(tag_net[r*(COLS+1)+c+1]),
          .a_in(a_net[(r*(COLS+1)+c)*IN +: IN]), .a_out(a_net[(r*(COLS+1)+c+1)*IN +: IN]),
          .b_in(b_net[(r*COLS+c)*IN +: IN]), .b_out(b_net[((r+1)*COLS+c)*IN +: IN]),
          .p_in(p_net[(r*COLS+c)*ACC +: (ABOVE ? ABOVE : 1)]), .p_out(below));
      end
    end
    for (c = 0; c < COLS; c = c + 1) begin : edge_column
      if (OS) begin : skewed
        wire [IN-1:0] late;
        stage_delay #(.WIDTH(IN), .STAGES(c / TILE_COLS)) skew (.clk(clk), .in(b[c*IN +: IN]), .out(late));
        assign b_net[c*IN +: IN] = mode ? late : b[c*IN +: IN];
      end else begin : straight
        assign b_net[c*IN +: IN] = b[c*IN +: IN];
      end
      assign p_net[c*ACC +: ACC] = 0;
      if (WS) begin : deskewed
        wire [ACC-1:0] late;
        stage_delay #(.WIDTH(ACC), .STAGES(COLS / TILE_COLS - 1 - c / TILE_COLS)) deskew (
          .clk(clk), .in(p_net[(ROWS*COLS+c)*ACC +: ACC]), .out(late));
        assign p[c*ACC +: ACC] = mode ? p_net[(ROWS*COLS+c)*ACC +: ACC] : late;
      end else begin : plain
        assign p[c*ACC +: ACC] = p_net[(ROWS*COLS+c)*ACC +: ACC];
      end
    end
  endgenerate
endmodule

// Rows of external memory to rows of the scratchpad; elements may lie apart when there is a gather path.
module load_unit #(parameter IN = 8, LANES = 4, BYTES = 4, INFLIGHT = 4, GATHER = 1, SA = 6) (
  input clk, input rst, input [63:0] command, input empty, output pop,
  input token, output take, output give, output busy,
  output rd_request, output [23:0] rd_address, input rd_valid, input [8*BYTES-1:0] rd_data,
  output we, output [SA-1:0] waddr, output [LANES*IN-1:0] wdata);
  localparam CONFIG = 4'd0;
  reg active, req_done, push;
  reg [23:0] stride, req_base, req_address;
  reg [15:0] spacing;
  reg [SA-1:0] place;
  reg [7:0] req_rows, rsp_rows, len, req_col, rsp_col;
  reg [7:0] outstanding;
  reg [LANES*IN-1:0] held;
  wire gather = GATHER && spacing != 1;
  wire [7:0] hop = gather ? 8'd1 : BYTES;
  wire ready = !active && !empty && (!command[5] || token);
  assign pop = ready;
  assign take = ready && command[5];
  assign busy = active || !empty;
  assign rd_request = active && !req_done && outstanding < INFLIGHT;
  assign rd_address = req_address;
  wire req_last = {1'b0, req_col} + hop >= len;
  wire rsp_last = {1'b0, rsp_col} + hop >= len;
  assign we = rd_valid && rsp_last;
  assign waddr = place;
  wire finished = we && rsp_rows == 1;
  assign give = finished && push;
  genvar e;
  generate
    for (e = 0; e < LANES; e = e + 1) begin : lane
      wire here = gather ? rsp_col == e : rsp_col == (e / BYTES) * BYTES;
      wire [IN-1:0] fresh = gather ? rd_data[IN-1:0] : rd_data[(e % BYTES)*8 +: IN];
      wire [IN-1:0] old = e < rsp_col ? held[e*IN +: IN] : 0;
      assign wdata[e*IN +: IN] = here ? (e < len ? fresh : 0) : old;
    end
  endgenerate
  always @(posedge clk) begin
    if (rst) begin
      active <= 0;
      req_done <= 0;
      outstanding <= 0;
      spacing <= 1;
      stride <= 0;
    end else begin
      outstanding <= outstanding + rd_request - rd_valid;
      if (ready && command[3:0] == CONFIG) begin
        stride <= command[31:8];
        spacing <= command[47:32];
      end else if (ready) begin
        active <= 1;
        req_done <= 0;
        req_base <= command[31:8];
        req_address <= command[31:8];
        place <= command[32 +: SA];
        req_rows <= command[55:48];
        rsp_rows <= command[55:48];
        len <= command[63:56];
        req_col <= 0;
        rsp_col <= 0;
        push <= command[7];
      end
      if (rd_request) begin
        req_col <= req_last ? 0 : req_col + hop;
        req_address <= req_last ? req_base + stride : req_address + (gather ? spacing : BYTES);
        if (req_last) begin
          req_base <= req_base + stride;
          req_rows <= req_rows - 1;
          if (req_rows == 1) req_done <= 1;
        end
      end
      if (rd_valid) begin
        rsp_col <= rsp_last ? 0 : rsp_col + hop;
        held <= wdata;
        if (rsp_last) begin
          place <= place + 1;
          rsp_rows <= rsp_rows - 1;
        end
      end
      if (finished) active <= 0;
    end
  end
endmodule

// Preloads weights or names operands, feeds rows into the mesh, and adds results to the accumulator.
module execute_unit #(parameter IN = 8, ACC = 32, ROWS = 4, COLS = 4, TILE_ROWS = 1, TILE_COLS = 1,
                      WS = 1, OS = 0, SHADOW = 1, LANES = 4, SA = 6, BANK_BITS = 1, AA = 6) (
  input clk, input rst, input [63:0] command, input empty, output pop,
  input token_load, input token_store, output take_load, output take_store,
  output give_load, output give_store, output busy,
  output re_a, output [SA-1:0] addr_a, input [LANES*IN-1:0] data_a,
  output re_b, output [SA-1:0] addr_b, input [LANES*IN-1:0] data_b,
  output acc_re, output [AA-1:0] acc_raddr, input [COLS*ACC-1:0] acc_rdata,
  output acc_we, output [AA-1:0] acc_waddr, output [COLS*ACC-1:0] acc_wdata);
  localparam PRELOAD = 4'd2, COMPUTE = 4'd3, CONFIG = 4'd7;
  localparam IDLE = 3'd0, SHIFT = 3'd1, FEED = 3'd2, FLUSH = 3'd3, DRAIN = 3'd4;
  localparam LATENCY = ROWS / TILE_ROWS + COLS / TILE_COLS - 1;
  localparam ENTRY = AA + 3; // push, accumulate, valid, address
  reg [2:0] state;
  reg [7:0] count, rows, b_rows;
  reg [SA-1:0] a_addr, b_addr;
  reg [AA-1:0] c_addr;
  reg accumulate, last, fresh, os, push_load, push_store, second;
  reg [7:0] settle;
  wire mode = WS && OS ? os : OS != 0;

  reg fed, tagged, shifted, zeroed, from_hold;   // of the data that arrives in this cycle
  reg entry_push, entry_accumulate;
  reg [AA-1:0] entry_addr;
  reg [ROWS*IN-1:0] hold_a;

  wire draining = state == DRAIN;
  wire [ENTRY-1:0] entry = {entry_push, entry_accumulate, fed && !mode, entry_addr};
  reg [LATENCY*ENTRY-1:0] pipe;
  always @(posedge clk)
    if (rst) pipe <= 0;
    else pipe <= {pipe, entry};
  wire [7:0] drain_row = ROWS - 1 - count;
  wire [AA-1:0] drain_addr = c_addr + drain_row;
  wire drain_valid = draining && drain_row < b_rows;
  wire [ENTRY-1:0] drained = {push_store && drain_row == 0, accumulate, drain_valid, drain_addr};
  wire [ENTRY-1:0] result = mode ? drained : pipe[LATENCY*ENTRY-1 -: ENTRY];
  assign acc_re = result[AA] && result[AA+1];
  assign acc_raddr = result[AA-1:0];
  reg [ENTRY-1:0] written;
  reg [COLS*ACC-1:0] sum;
  wire [COLS*ACC-1:0] p;
  always @(posedge clk)
    if (rst) written <= 0;
    else begin
      written <= result;
      if (result[AA]) sum <= p;
    end
  assign acc_we = written[AA];
  assign acc_waddr = written[AA-1:0];
  assign give_store = written[AA] && written[AA+2];
  genvar c;
  generate
    for (c = 0; c < COLS; c = c + 1) begin : adder
      assign acc_wdata[c*ACC +: ACC] = sum[c*ACC +: ACC] + (written[AA+1] ? acc_rdata[c*ACC +: ACC] : 0);
    end
  endgenerate
  reg in_flight;
  integer i;
  always @* begin
    in_flight = fed || written[AA];
    for (i = 0; i < LATENCY; i = i + 1) in_flight = in_flight || pipe[i*ENTRY + AA];
  end

  wire [3:0] operation = command[3:0];
  wire tokens = (!command[4] || token_load) && (!command[5] || token_store);
  wire clear = SHADOW ? settle == 0 && !tagged : !in_flight;
  wire ready = state == IDLE && !empty && tokens && (operation != PRELOAD || mode || clear);
  assign pop = ready;
  assign take_load = ready && command[4];
  assign take_store = ready && command[5];
  assign busy = state != IDLE || !empty || in_flight;

  wire same_bank = BANK_BITS == 0 || a_addr[SA-1 -: (BANK_BITS > 0 ? BANK_BITS : 1)]
                                    == b_addr[SA-1 -: (BANK_BITS > 0 ? BANK_BITS : 1)];
  wire feeding = state == FEED, shifting = state == SHIFT;
  wire conflict = mode && same_bank;
  wire [7:0] back = ROWS - 1 - count;
  assign re_a = feeding && !second;
  assign addr_a = a_addr;
  assign re_b = (feeding && mode && (!conflict || second)) || (shifting && back < b_rows);
  assign addr_b = shifting ? b_addr + back : b_addr;
  wire hop = feeding && (!conflict || second);
  wire feed_ends = hop && count + 8'd1 == rows;
  assign give_load = feed_ends && push_load;

  wire [ROWS*IN-1:0] a_now = fed ? (from_hold ? hold_a : data_a[ROWS*IN-1:0]) : 0;
  wire [COLS*IN-1:0] b_now = (fed && mode) || (shifted && !zeroed) ? data_b[COLS*IN-1:0] : 0;
  mesh #(.IN(IN), .ACC(ACC), .ROWS(ROWS), .COLS(COLS), .TILE_ROWS(TILE_ROWS), .TILE_COLS(TILE_COLS),
         .WS(WS), .OS(OS), .SHADOW(SHADOW)) array (
    .clk(clk), .rst(rst), .os(os), .shift(shifted), .drain(draining), .tag(tagged),
    .a(a_now), .b(b_now), .p(p));

  always @(posedge clk) begin
    fed <= !rst && hop;
    tagged <= !rst && hop && fresh && !mode;
    shifted <= !rst && shifting;
    zeroed <= back >= b_rows;
    from_hold <= conflict;
    if (second) hold_a <= data_a[ROWS*IN-1:0];
    entry_addr <= c_addr;
    entry_accumulate <= accumulate;
    entry_push <= push_store && feed_ends;
    if (rst) begin
      state <= IDLE;
      os <= 0;
      fresh <= 0;
      second <= 0;
      settle <= 0;
    end else begin
      if (tagged) settle <= LATENCY + 1;
      else if (settle != 0) settle <= settle - 1;
      if (ready && operation == CONFIG) os <= command[8];
      if (ready && operation == PRELOAD) begin
        b_addr <= command[8 +: SA];
        b_rows <= command[31:24];
        count <= 0;
        fresh <= 1;
        if (!mode) state <= SHIFT;
      end
      if (ready && operation == COMPUTE) begin
        a_addr <= command[8 +: SA];
        rows <= command[31:24];
        c_addr <= command[32 +: AA];
        accumulate <= command[48];
        last <= command[49];
        push_load <= command[6];
        push_store <= command[7];
        count <= 0;
        second <= 0;
        state <= FEED;
      end
      if (shifting) begin
        count <= count + 1;
        if (count == ROWS - 1) state <= IDLE;
      end
      if (feeding) begin
        second <= conflict && !second;
        if (hop) begin
          count <= feed_ends ? 0 : count + 1;
          a_addr <= a_addr + 1;
          fresh <= 0;
          if (mode) b_addr <= b_addr + 1;
          else c_addr <= c_addr + 1;
          if (feed_ends) state <= mode && last ? FLUSH : IDLE;
        end
      end
      if (state == FLUSH) begin
        count <= count == LATENCY + 3 ? 0 : count + 1;
        if (count == LATENCY + 3) state <= DRAIN;
      end
      if (draining) begin
        count <= count + 1;
        if (count == ROWS - 1) state <= IDLE;
      end
    end
  end
endmodule

// Rows of the accumulator, the largest of a window when pooled, scaled, clipped, and written to external memory.
module store_unit #(parameter IN = 8, ACC = 32, COLS = 4, BYTES = 4, SCALERS = 1, SCALE_BITS = 8,
                    POOL = 1, ACTIVATION = 1, BIASES = 4, AA = 6) (
  input clk, input rst, input [63:0] command, input empty, output pop,
  input token, output take, output give, output busy,
  output acc_re, output [AA-1:0] acc_raddr, input acc_grant, input [COLS*ACC-1:0] acc_rdata,
  output wr_request, output [23:0] wr_address, output [8*BYTES-1:0] wr_data, output [7:0] wr_count);
  localparam CONFIG = 4'd4, SCALE = 4'd5, BIAS = 4'd6;
  localparam IDLE = 2'd0, READ = 2'd1, RESCALE = 2'd2, SEND = 2'd3;
  localparam signed [IN-1:0] MOST = {1'b0, {(IN-1){1'b1}}};
  localparam FACTOR = SCALE_BITS > 0 ? SCALE_BITS : 1;
  localparam WIDE = ACC + FACTOR + 2;
  localparam PADDED = (COLS + BYTES - 1) / BYTES * BYTES;
  reg [1:0] state;
  reg [23:0] stride, base, address;
  reg [3:0] pool_w, pool_h, kx, ky;
  reg [7:0] pool_row, rows, len, row, position;
  reg [AA-1:0] origin, line;
  reg [FACTOR-1:0] factor;
  reg [5:0] shift;
  reg signed [IN-1:0] low, high;
  reg by_row, push, first, got, all_read;
  reg signed [ACC-1:0] bias [0:BIASES-1];
  reg [COLS*ACC-1:0] largest;
  reg [PADDED*8-1:0] bytes;
  wire ready = state == IDLE && !empty && (!command[4] || token);
  assign pop = ready;
  assign take = ready && command[4];
  assign busy = state != IDLE || !empty;
  wire [3:0] width = POOL ? pool_w : 4'd1, height = POOL ? pool_h : 4'd1;
  assign acc_re = state == READ && !all_read;
  assign acc_raddr = line + kx;
  wire last_x = kx + 4'd1 == width, last_y = ky + 4'd1 == height;
  genvar c;
  generate
    for (c = 0; c < COLS; c = c + 1) begin : lane
      wire signed [ACC-1:0] fresh = acc_rdata[c*ACC +: ACC];
      wire signed [ACC-1:0] old = largest[c*ACC +: ACC];
      wire replaced = !POOL || first || fresh > old;
      always @(posedge clk) if (got && replaced) largest[c*ACC +: ACC] <= fresh;
    end
    for (c = 0; c < SCALERS; c = c + 1) begin : scaler
      wire [7:0] index = position + c;
      wire signed [ACC-1:0] value = largest[index*ACC +: ACC];
      wire signed [ACC:0] biased = value + bias[by_row ? row : index];
      wire signed [WIDE-1:0] half = shift == 0 ? 0 : {{(WIDE-1){1'b0}}, 1'b1} << (shift - 1);
      wire signed [WIDE-1:0] product = SCALE_BITS > 0 ? biased * $signed({1'b0, factor}) : biased;
      wire signed [WIDE-1:0] scaled = (product + half) >>> shift;
      wire signed [IN-1:0] top = ACTIVATION > 1 ? high : MOST;
      wire signed [IN-1:0] bottom = ACTIVATION > 0 ? low : -MOST;
      wire signed [IN-1:0] clipped = scaled > top ? top : scaled < bottom ? bottom : scaled[IN-1:0];
      wire signed [7:0] stored = clipped;
    end
  endgenerate
  wire [SCALERS*8-1:0] row_part;
  generate
    for (c = 0; c < SCALERS; c = c + 1) begin : collect
      assign row_part[c*8 +: 8] = scaler[c].stored;
    end
  endgenerate
  integer j, k;
  assign wr_request = state == SEND;
  assign wr_address = address;
  assign wr_data = bytes[position*8 +: 8*BYTES];
  wire [7:0] rest = len - position;
  assign wr_count = rest < BYTES ? rest : BYTES;
  wire sent = state == SEND && rest <= BYTES;
  assign give = sent && row + 8'd1 == rows && push;
  always @(posedge clk) begin
    got <= !rst && acc_re && acc_grant;
    first <= kx == 0 && ky == 0;
    if (rst) begin
      state <= IDLE;
      pool_w <= 1;
      pool_h <= 1;
    end else begin
      if (ready) begin
        case (command[3:0])
          CONFIG: begin
            stride <= command[31:8];
            pool_w <= command[35:32];
            pool_h <= command[39:36];
            pool_row <= command[47:40];
          end
          SCALE: begin
            factor <= command[8 +: FACTOR];
            shift <= command[29:24];
            low <= command[32 +: IN];
            high <= command[40 +: IN];
            by_row <= command[48];
          end
          BIAS: bias[command[15:8]] <= command[16 +: ACC];
          default: begin
            base <= command[31:8];
            address <= command[31:8];
            origin <= command[32 +: AA];
            line <= command[32 +: AA];
            rows <= command[55:48];
            len <= command[63:56];
            push <= command[6];
            row <= 0;
            kx <= 0;
            ky <= 0;
            all_read <= 0;
            state <= READ;
          end
        endcase
      end
      if (state == READ) begin
        if (acc_re && acc_grant) begin
          kx <= last_x ? 0 : kx + 1;
          if (last_x) begin
            ky <= last_y ? 0 : ky + 1;
            line <= line + pool_row;
            if (last_y) all_read <= 1;
          end
        end
        if (all_read) begin
          position <= 0;
          state <= RESCALE;
        end
      end
      if (state == RESCALE) begin
        for (j = 0; j < SCALERS; j = j + 1)
          for (k = 0; k < COLS; k = k + 1)
            if (position + j == k) bytes[k*8 +: 8] <= row_part[j*8 +: 8];
        position <= position + SCALERS >= len ? 0 : position + SCALERS;
        if (position + SCALERS >= len) state <= SEND;
      end
      if (state == SEND) begin
        address <= address + BYTES;
        position <= position + BYTES;
        if (sent) begin
          row <= row + 1;
          base <= base + stride;
          address <= base + stride;
          origin <= origin + width;
          line <= origin + width;
          all_read <= 0;
          state <= row + 8'd1 == rows ? IDLE : READ;
        end
      end
    end
  end
endmodule

// Tokens between two units: at most 255 wait.
module token_count (input clk, input rst, input give, input take, output some);
  reg [7:0] count;
  always @(posedge clk)
    if (rst) count <= 0;
    else count <= count + give - take;
  assign some = count != 0;
endmodule

// One of several banks by the highest bits of the address; both readers may read different banks at once.
module bank_select #(parameter ADDR = 6, BANK_BITS = 1, WIDTH = 32) (
  input clk, input re0, input [ADDR-1:0] addr0, input re1, input [ADDR-1:0] addr1,
  output [(1<<BANK_BITS)-1:0] re, output [(1<<BANK_BITS)*(ADDR-BANK_BITS)-1:0] raddr,
  input [(1<<BANK_BITS)*WIDTH-1:0] rdata, output [WIDTH-1:0] data0, output [WIDTH-1:0] data1,
  input write, input [ADDR-1:0] waddr_in,
  output [(1<<BANK_BITS)-1:0] we, output [ADDR-BANK_BITS-1:0] waddr);
  localparam ROW = ADDR - BANK_BITS;
  assign waddr = waddr_in[ROW-1:0];
  genvar b;
  generate
    if (BANK_BITS == 0) begin : single
      assign re = re0 || re1;
      assign raddr = re0 ? addr0 : addr1;
      assign data0 = rdata;
      assign data1 = rdata;
      assign we = write;
    end else begin : several
      reg [BANK_BITS-1:0] from0, from1;
      always @(posedge clk) begin
        if (re0) from0 <= addr0[ADDR-1 -: BANK_BITS];
        if (re1) from1 <= addr1[ADDR-1 -: BANK_BITS];
      end
      for (b = 0; b < (1 << BANK_BITS); b = b + 1) begin : bank
        wire use0 = re0 && addr0[ADDR-1 -: BANK_BITS] == b;
        wire use1 = re1 && addr1[ADDR-1 -: BANK_BITS] == b;
        assign re[b] = use0 || use1;
        assign raddr[b*ROW +: ROW] = use0 ? addr0[ROW-1:0] : addr1[ROW-1:0];
        assign we[b] = write && waddr_in[ADDR-1 -: BANK_BITS] == b;
      end
      assign data0 = rdata[from0*WIDTH +: WIDTH];
      assign data1 = rdata[from1*WIDTH +: WIDTH];
    end
  endgenerate
endmodule

module accelerator #(parameter IN = 8, ACC = 32, ROWS = 4, COLS = 4, TILE_ROWS = 1, TILE_COLS = 1,
                     WS = 1, OS = 0, SHADOW = 1, LANES = 4, BYTES = 4, INFLIGHT = 4, GATHER = 1,
                     LOAD_QUEUE = 2, EXECUTE_QUEUE = 2, STORE_QUEUE = 2,
                     SA = 6, S_BANK_BITS = 1, AA = 6, A_BANK_BITS = 0,
                     SCALERS = 1, SCALE_BITS = 8, POOL = 1, ACTIVATION = 1) (
  input clk, input rst, input command_valid, input [63:0] command, output command_ready, output idle,
  output rd_request, output [23:0] rd_address, input rd_valid, input [8*BYTES-1:0] rd_data,
  output wr_request, output [23:0] wr_address, output [8*BYTES-1:0] wr_data, output [7:0] wr_count,
  output [(1<<S_BANK_BITS)-1:0] s_re, output [(1<<S_BANK_BITS)*(SA-S_BANK_BITS)-1:0] s_raddr,
  input [(1<<S_BANK_BITS)*LANES*IN-1:0] s_rdata, output [(1<<S_BANK_BITS)-1:0] s_we,
  output [SA-S_BANK_BITS-1:0] s_waddr, output [LANES*IN-1:0] s_wdata,
  output [(1<<A_BANK_BITS)-1:0] a_re, output [(1<<A_BANK_BITS)*(AA-A_BANK_BITS)-1:0] a_raddr,
  input [(1<<A_BANK_BITS)*COLS*ACC-1:0] a_rdata, output [(1<<A_BANK_BITS)-1:0] a_we,
  output [AA-A_BANK_BITS-1:0] a_waddr, output [COLS*ACC-1:0] a_wdata);
  localparam FENCE = 4'd9;
  localparam BIASES = ROWS > COLS ? ROWS : COLS;
  wire [3:0] operation = command[3:0];
  wire to_load = operation < 2;
  wire to_execute = operation == 2 || operation == 3 || operation == 7;
  wire is_fence = operation == FENCE;
  wire to_store = !to_load && !to_execute && !is_fence;
  wire load_full, execute_full, store_full, load_busy, execute_busy, store_busy;
  wire quiet = !load_busy && !execute_busy && !store_busy;
  assign command_ready = to_load ? !load_full : to_execute ? !execute_full : is_fence ? quiet : !store_full;
  assign idle = quiet;
  wire accept = command_valid && command_ready;

  wire [63:0] load_command, execute_command, store_command;
  wire load_empty, execute_empty, store_empty, load_pop, execute_pop, store_pop;
  command_queue #(.DEPTH(LOAD_QUEUE)) load_queue (.clk(clk), .rst(rst), .push(accept && to_load),
    .in(command), .full(load_full), .pop(load_pop), .out(load_command), .empty(load_empty));
  command_queue #(.DEPTH(EXECUTE_QUEUE)) execute_queue (.clk(clk), .rst(rst), .push(accept && to_execute),
    .in(command), .full(execute_full), .pop(execute_pop), .out(execute_command), .empty(execute_empty));
  command_queue #(.DEPTH(STORE_QUEUE)) store_queue (.clk(clk), .rst(rst), .push(accept && to_store),
    .in(command), .full(store_full), .pop(store_pop), .out(store_command), .empty(store_empty));

  wire loaded, loaded_take, loaded_give, freed, freed_take, freed_give;
  wire summed, summed_take, summed_give, emptied, emptied_take, emptied_give;
  token_count load_to_execute (.clk(clk), .rst(rst), .give(loaded_give), .take(loaded_take), .some(loaded));
  token_count execute_to_load (.clk(clk), .rst(rst), .give(freed_give), .take(freed_take), .some(freed));
  token_count execute_to_store (.clk(clk), .rst(rst), .give(summed_give), .take(summed_take), .some(summed));
  token_count store_to_execute (.clk(clk), .rst(rst), .give(emptied_give), .take(emptied_take), .some(emptied));

  wire s_write, re_a, re_b, e_re, e_we, st_re;
  wire [SA-1:0] s_waddr_full, addr_a, addr_b;
  wire [AA-1:0] e_raddr, e_waddr, st_raddr;
  wire [LANES*IN-1:0] data_a, data_b;
  wire [COLS*ACC-1:0] e_rdata, st_rdata;
  load_unit #(.IN(IN), .LANES(LANES), .BYTES(BYTES), .INFLIGHT(INFLIGHT), .GATHER(GATHER), .SA(SA)) load (
    .clk(clk), .rst(rst), .command(load_command), .empty(load_empty), .pop(load_pop),
    .token(freed), .take(freed_take), .give(loaded_give), .busy(load_busy),
    .rd_request(rd_request), .rd_address(rd_address), .rd_valid(rd_valid), .rd_data(rd_data),
    .we(s_write), .waddr(s_waddr_full), .wdata(s_wdata));
  bank_select #(.ADDR(SA), .BANK_BITS(S_BANK_BITS), .WIDTH(LANES*IN)) scratchpad_port (
    .clk(clk), .re0(re_a), .addr0(addr_a), .re1(re_b), .addr1(addr_b), .re(s_re), .raddr(s_raddr),
    .rdata(s_rdata), .data0(data_a), .data1(data_b), .write(s_write), .waddr_in(s_waddr_full),
    .we(s_we), .waddr(s_waddr));
  execute_unit #(.IN(IN), .ACC(ACC), .ROWS(ROWS), .COLS(COLS), .TILE_ROWS(TILE_ROWS),
                 .TILE_COLS(TILE_COLS), .WS(WS), .OS(OS), .SHADOW(SHADOW), .LANES(LANES), .SA(SA),
                 .BANK_BITS(S_BANK_BITS), .AA(AA)) execute (
    .clk(clk), .rst(rst), .command(execute_command), .empty(execute_empty), .pop(execute_pop),
    .token_load(loaded), .token_store(emptied), .take_load(loaded_take), .take_store(emptied_take),
    .give_load(freed_give), .give_store(summed_give), .busy(execute_busy),
    .re_a(re_a), .addr_a(addr_a), .data_a(data_a), .re_b(re_b), .addr_b(addr_b), .data_b(data_b),
    .acc_re(e_re), .acc_raddr(e_raddr), .acc_rdata(e_rdata),
    .acc_we(e_we), .acc_waddr(e_waddr), .acc_wdata(a_wdata));
  wire same_bank = A_BANK_BITS == 0 || e_raddr[AA-1 -: (A_BANK_BITS > 0 ? A_BANK_BITS : 1)]
                                     == st_raddr[AA-1 -: (A_BANK_BITS > 0 ? A_BANK_BITS : 1)];
  wire granted = !(e_re && same_bank);
  bank_select #(.ADDR(AA), .BANK_BITS(A_BANK_BITS), .WIDTH(COLS*ACC)) accumulator_port (
    .clk(clk), .re0(e_re), .addr0(e_raddr), .re1(st_re && granted), .addr1(st_raddr), .re(a_re),
    .raddr(a_raddr), .rdata(a_rdata), .data0(e_rdata), .data1(st_rdata), .write(e_we), .waddr_in(e_waddr),
    .we(a_we), .waddr(a_waddr));
  store_unit #(.IN(IN), .ACC(ACC), .COLS(COLS), .BYTES(BYTES), .SCALERS(SCALERS), .SCALE_BITS(SCALE_BITS),
               .POOL(POOL), .ACTIVATION(ACTIVATION), .BIASES(BIASES), .AA(AA)) store (
    .clk(clk), .rst(rst), .command(store_command), .empty(store_empty), .pop(store_pop),
    .token(summed), .take(summed_take), .give(emptied_give), .busy(store_busy),
    .acc_re(st_re), .acc_raddr(st_raddr), .acc_grant(granted), .acc_rdata(st_rdata),
    .wr_request(wr_request), .wr_address(wr_address), .wr_data(wr_data), .wr_count(wr_count));
endmodule

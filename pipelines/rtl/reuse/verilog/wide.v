// Out-of-order core of one module, RV32I with multiplications: Tomasulo's scheme with a reorder buffer. W instructions
// are dispatched per cycle, up to W are executed, unit k serves the entries k modulo W, up to W are committed in
// order. Loads and stores execute at the head. Dispatch waits for the target of a jump or branch, so nothing is undone.
module top #(parameter W = @WIDTH@, parameter E = @ENTRIES@, parameter T = @TAG@) (
    input clk, input rst, input [31:0] seed, output [31:0] committed, output [31:0] digest, output [31:0] io);
  reg [31:0] code [0:@CODE@-1];
  reg [31:0] data [0:@DATA@-1];
  reg [31:0] regs [0:31];
  reg [T-1:0] writer [0:31];   // entry that writes a register
  reg [31:0] values [0:E-1];   // results
  reg [4:0] targets [0:E-1];   // registers
  initial begin
@IMAGE@
  end
  reg [31:0] pc, count, sum, last_io;
  reg is_stalled;
  reg [31:0] is_busy;          // registers that an entry will write
  reg [T-1:0] head, tail;
  reg [T:0] used;
  reg [E-1:0] is_done;
  assign committed = count;
  assign digest = sum;
  assign io = last_io;

  // Fetch and decode.
  wire [31:0] fetched [0:W-1];
  wire [W-1:0] is_control, writes, in_group;
  wire [T-1:0] new_tag [0:W-1];  // entries that the group gets
  wire [4:0] rd [0:W-1];
  wire [31:0] group_pc [0:W-1];
  wire is_room = used <= E - W;
  // Operands: 2 k and 2 k + 1 of instruction k.
  wire [2*W-1:0] is_known;
  wire [31:0] operand [0:2*W-1];
  wire [T-1:0] operand_tag [0:2*W-1];
  // Results of the units in this cycle.
  wire [W-1:0] fires;
  wire [T-1:0] fired_tag [0:W-1];
  wire [31:0] fired_value [0:W-1];
  wire [W-1:0] jumps;
  wire [31:0] jump_target [0:W-1];
  genvar g, k, e;
  generate
    for (k = 0; k < W; k = k + 1) begin : decode
      assign group_pc[k] = pc + 4 * k;
      assign new_tag[k] = tail + k[T-1:0];
      assign fetched[k] = code[group_pc[k][31:2] & (@CODE@ - 1)];
      assign rd[k] = fetched[k][11:7];
      assign is_control[k] = fetched[k][6:4] == 3'b110;
      assign writes[k] = fetched[k][6:0] != 7'h23 && fetched[k][6:0] != 7'h63 && rd[k] != 0;
      if (k == 0) assign in_group[k] = is_room && !is_stalled && !rst;
      else assign in_group[k] = in_group[k-1] && !is_control[k-1];
    end
    for (g = 0; g < 2 * W; g = g + 1) begin : operands
      wire [4:0] source = g % 2 ? fetched[g/2][24:20] : fetched[g/2][19:15];
      wire [T-1:0] known_tag = writer[source];
      wire [31:0] known_value = source == 0 ? 0 : is_busy[source] ? values[known_tag] : regs[source];
      reg is_found;
      reg [31:0] value;
      reg [T-1:0] tag;
      integer i;
      always @* begin
        tag = known_tag;
        is_found = source == 0 || !is_busy[source] || is_done[tag];
        value = known_value;
        for (i = 0; i < W; i = i + 1)
          if (!is_found && fires[i] && fired_tag[i] == tag) begin
            is_found = 1;
            value = fired_value[i];
          end
        for (i = 0; i < g / 2; i = i + 1)  // written in the same group
          if (writes[i] && rd[i] == source) begin
            is_found = 0;
            tag = tail + i;
          end
      end
      assign is_known[g] = is_found;
      assign operand[g] = value;
      assign operand_tag[g] = tag;
    end
  endgenerate

  // Entries.
  wire [E-1:0] is_ready, is_memory_entry;
  wire [E*32-1:0] entry_instr, entry_pc, entry_x, entry_y;
  generate
    for (e = 0; e < E; e = e + 1) begin : entries
      reg is_waiting, has_x, has_y;
      reg [31:0] instr, own_pc, x, y;
      reg [T-1:0] x_tag, y_tag;
      wire [T-1:0] place = e - tail;  // in the group
      integer i;
      always @(posedge clk) begin
        for (i = 0; i < W; i = i + 1) begin
          if (fires[i] && !has_x && fired_tag[i] == x_tag) begin
            has_x <= 1;
            x <= fired_value[i];
          end
          if (fires[i] && !has_y && fired_tag[i] == y_tag) begin
            has_y <= 1;
            y <= fired_value[i];
          end
          if (fires[i] && fired_tag[i] == e) is_waiting <= 0;
        end
        for (i = 0; i < W; i = i + 1)
          if (in_group[i] && place == i) begin
            is_waiting <= 1;
            instr <= fetched[i];
            own_pc <= group_pc[i];
            has_x <= is_known[2*i];
            x <= operand[2*i];
            x_tag <= operand_tag[2*i];
            has_y <= is_known[2*i+1];
            y <= operand[2*i+1];
            y_tag <= operand_tag[2*i+1];
          end
        if (rst) is_waiting <= 0;
      end
      wire is_memory = instr[6:0] == 7'h03 || instr[6:0] == 7'h23;
      wire uses_y = instr[6:0] == 7'h33 || instr[6:0] == 7'h23 || instr[6:0] == 7'h63;
      wire uses_x = instr[6:0] != 7'h37 && instr[6:0] != 7'h17 && instr[6:0] != 7'h6f;
      assign is_ready[e] = is_waiting && (has_x || !uses_x) && (has_y || !uses_y) && (!is_memory || head == e);
      assign entry_instr[e*32 +: 32] = instr;
      assign entry_pc[e*32 +: 32] = own_pc;
      assign entry_x[e*32 +: 32] = x;
      assign entry_y[e*32 +: 32] = y;
    end

    // Units: the lowest ready entry of each.
    for (k = 0; k < W; k = k + 1) begin : units
      reg is_found;
      reg [T-1:0] tag;
      reg [31:0] instr, own_pc, x, y;
      integer i;
      always @* begin
        is_found = 0;
        tag = k;
        instr = entry_instr[k*32 +: 32];
        own_pc = entry_pc[k*32 +: 32];
        x = entry_x[k*32 +: 32];
        y = entry_y[k*32 +: 32];
        for (i = k; i < E; i = i + W)
          if (!is_found && is_ready[i]) begin
            is_found = 1;
            tag = i;
            instr = entry_instr[i*32 +: 32];
            own_pc = entry_pc[i*32 +: 32];
            x = entry_x[i*32 +: 32];
            y = entry_y[i*32 +: 32];
          end
      end
      wire [6:0] opcode = instr[6:0];
      wire [2:0] f3 = instr[14:12];
      wire [31:0] i_imm = {{20{instr[31]}}, instr[31:20]};
      wire [31:0] s_imm = {{20{instr[31]}}, instr[31:25], instr[11:7]};
      wire [31:0] b_imm = {{20{instr[31]}}, instr[7], instr[30:25], instr[11:8], 1'b0};
      wire [31:0] j_imm = {{12{instr[31]}}, instr[19:12], instr[20], instr[30:21], 1'b0};
      wire is_op = opcode == 7'h33, is_store = opcode == 7'h23, is_load = opcode == 7'h03;
      wire is_branch = opcode == 7'h63, is_jal = opcode == 7'h6f, is_jalr = opcode == 7'h67;
      wire [31:0] b = is_op ? y : i_imm;
      wire signed [31:0] arithmetic_right = $signed(x) >>> b[4:0];
      wire [31:0] shifted_right = instr[30] ? arithmetic_right : x >> b[4:0];
      reg [31:0] result;
      always @* case (f3)
        3'd0: result = is_op && instr[30] ? x - y : x + b;
        3'd1: result = x << b[4:0];
        3'd2: result = {31'd0, $signed(x) < $signed(b)};
        3'd3: result = {31'd0, x < b};
        3'd4: result = x ^ b;
        3'd5: result = shifted_right;
        3'd6: result = x | b;
        default: result = x & b;
      endcase
      wire [63:0] product = {{32{x[31] & (f3 == 3'd1 || f3 == 3'd2)}}, x} * {{32{y[31] & (f3 == 3'd1)}}, y};
      wire [31:0] address = x + (is_store ? s_imm : i_imm);
      wire is_io = address[31:16] != 0;
      wire [31:0] old = data[address[31:2] & (@DATA@ - 1)];
      wire [31:0] word = is_io ? seed : old;
      wire [31:0] aligned = word >> {address[1:0], 3'd0};
      reg [31:0] loaded;
      always @* case (f3)
        3'd0: loaded = {{24{aligned[7]}}, aligned[7:0]};
        3'd1: loaded = {{16{aligned[15]}}, aligned[15:0]};
        3'd4: loaded = {24'd0, aligned[7:0]};
        3'd5: loaded = {16'd0, aligned[15:0]};
        default: loaded = word;
      endcase
      wire [31:0] bits = (f3 == 0 ? 32'hff : f3 == 1 ? 32'hffff : 32'hffffffff) << {address[1:0], 3'd0};
      wire writes_memory = is_found && is_store && !is_io;
      wire writes_io = is_found && is_store && is_io;
      wire is_less = f3[1] ? x < y : $signed(x) < $signed(y);
      wire is_taken = is_branch && ((f3[2] ? is_less : x == y) ^ f3[0]);
      assign jumps[k] = is_found && (is_branch || is_jal || is_jalr);
      assign jump_target[k] = is_jalr ? (x + i_imm) & ~32'd1 : is_jal ? own_pc + j_imm
        : is_taken ? own_pc + b_imm : own_pc + 4;
      assign fires[k] = is_found;
      assign fired_tag[k] = tag;
      assign fired_value[k] = opcode == 7'h37 ? {instr[31:12], 12'd0}
        : opcode == 7'h17 ? own_pc + {instr[31:12], 12'd0} : is_jal || is_jalr ? own_pc + 4 : is_load ? loaded
        : is_op && instr[25] ? (f3 == 0 ? product[31:0] : product[63:32]) : result;
      always @(posedge clk) begin
        if (writes_memory) data[address[31:2] & (@DATA@ - 1)] <= (old & ~bits) | ((y << {address[1:0], 3'd0}) & bits);
        if (is_found) values[tag] <= fired_value[k];
      end
    end
  endgenerate

  // Commit, renaming and the program counter.
  wire [W-1:0] commits;
  wire [T-1:0] commit_tag [0:W-1];
  wire [4:0] commit_rd [0:W-1];
  wire [31:0] commit_value [0:W-1];
  generate
    for (k = 0; k < W; k = k + 1) begin : commit
      assign commit_tag[k] = head + k[T-1:0];
      assign commit_rd[k] = targets[commit_tag[k]];
      assign commit_value[k] = values[commit_tag[k]];
      if (k == 0) assign commits[k] = used != 0 && is_done[commit_tag[k]];
      else assign commits[k] = commits[k-1] && used > k && is_done[commit_tag[k]];
    end
  endgenerate
  integer c;
  reg [T:0] dispatched, retired;
  reg [31:0] following, mixed;
  reg is_control_in_group, is_jumping;
  wire [W-1:0] io_writes;
  wire [31:0] io_values [0:W-1];
  generate
    for (k = 0; k < W; k = k + 1) begin : outside
      assign io_writes[k] = units[k].writes_io;
      assign io_values[k] = units[k].y;
    end
  endgenerate
  always @* begin
    dispatched = 0;
    retired = 0;
    following = pc;
    mixed = sum;
    is_control_in_group = 0;
    is_jumping = 0;
    for (c = 0; c < W; c = c + 1) begin
      dispatched = dispatched + in_group[c];
      retired = retired + commits[c];
      is_control_in_group = is_control_in_group | (in_group[c] & is_control[c]);
      if (commits[c] && commit_rd[c] != 0)
        mixed = {mixed[30:0], mixed[31]} ^ commit_value[c] ^ {27'd0, commit_rd[c]};
    end
    for (c = 0; c < W; c = c + 1)
      if (jumps[c]) begin
        is_jumping = 1;
        following = jump_target[c];
      end
    if (!is_jumping) following = pc + {dispatched, 2'd0};
  end
  always @(posedge clk) begin
    for (c = 0; c < W; c = c + 1) begin
      if (commits[c] && commit_rd[c] != 0) begin
        regs[commit_rd[c]] <= commit_value[c];
        if (writer[commit_rd[c]] == commit_tag[c]) is_busy[commit_rd[c]] <= 0;
      end
      if (fires[c]) is_done[fired_tag[c]] <= 1;
      if (io_writes[c]) last_io <= io_values[c];
    end
    for (c = 0; c < W; c = c + 1)
      if (in_group[c]) begin
        is_done[new_tag[c]] <= 0;
        targets[new_tag[c]] <= writes[c] ? rd[c] : 0;
        if (writes[c]) begin
          is_busy[rd[c]] <= 1;
          writer[rd[c]] <= new_tag[c];
        end
      end
    pc <= following;
    is_stalled <= is_control_in_group || (is_stalled && !is_jumping);
    head <= head + retired[T-1:0];
    tail <= tail + dispatched[T-1:0];
    used <= used + dispatched - retired;
    count <= count + retired;
    sum <= mixed;
    if (rst) begin
      pc <= 0;
      is_stalled <= 0;
      is_busy <= 0;
      is_done <= 0;
      head <= 0;
      tail <= 0;
      used <= 0;
      count <= 0;
      sum <= 0;
      last_io <= 0;
    end
  end
endmodule

"""Small designs and a small library that several tests of logic synthesis use."""

from __future__ import annotations

ADDER = """
module adder(input [15:0] a, input [15:0] b, output [16:0] y);
  assign y = a + b;
endmodule
"""

COUNTER = """
module counter(input clk, input rst, input enable, output reg [7:0] count, output wrapped);
  always @(posedge clk)
    if (rst) count <= 0;
    else if (enable) count <= count + 1;
  assign wrapped = &count;
endmodule
"""

RESET_COUNTER = """
module reset_counter(input clk, input rst, output reg [3:0] up, output reg [3:0] down);
  always @(posedge clk or posedge rst) if (rst) up <= 0; else up <= up + 1;
  always @(negedge clk or posedge rst) if (rst) down <= 15; else down <= down - up;
endmodule
"""

# Reads two arrays through one memory port, sums their products, writes the sum back.
DOT_PRODUCT = """
module dot_product(
  input clk, input rst, input start, input [15:0] n,
  output reg [15:0] address, output reg write, output reg [15:0] write_data,
  input [15:0] read_data, output reg done);
  localparam IDLE = 0, FIRST = 1, SECOND = 2, SUM = 3, STORE = 4;
  reg [2:0] state;
  reg [15:0] i, a, total;
  always @(posedge clk) begin
    if (rst) begin
      state <= IDLE; done <= 0; write <= 0;
    end else case (state)
      IDLE: begin
        i <= 0; total <= 0; write <= 0;
        if (start) begin done <= 0; state <= FIRST; end
      end
      FIRST: begin address <= i * 3; state <= SECOND; end
      SECOND: begin a <= read_data; address <= i * 3 + n; state <= SUM; end
      SUM: begin
        total <= total + a * read_data; i <= i + 1;
        state <= (i + 1 == n) ? STORE : FIRST;
      end
      STORE: begin address <= 0; write_data <= total; write <= 1; done <= 1; state <= IDLE; end
      default: state <= IDLE;
    endcase
  end
endmodule
"""

# Nearly all flip-flops and multiplexers; one select drives many, so buffers decide the delay.
REGISTER_FILE = """
module register_file(input clk, input write, input [3:0] to, input [3:0] from,
                     input [31:0] value, output reg [31:0] result);
  reg [31:0] words [0:15];
  always @(posedge clk) begin
    if (write) words[to] <= value;
    result <= words[from];
  end
endmodule
"""

DESIGNS = {
    "adder": ADDER,
    "counter": COUNTER,
    "reset_counter": RESET_COUNTER,
    "dot_product": DOT_PRODUCT,
    "register_file": REGISTER_FILE,
}

# In ps and fF: delay = 100 + load + transition / 2, transition = 200 + 2 load + transition / 4
# for a rising output of the inverter; a falling one takes twice the delay.
SMALL_LIBERTY = r"""
/* a library of four cells */
library (small) {
  time_unit : "1ps";
  capacitive_load_unit (1, ff);
  voltage_unit : "1V";
  leakage_power_unit : "1uW";
  nom_voltage : 1.5;
  lu_table_template (by_load) {
    variable_1 : total_output_net_capacitance;
    variable_2 : input_net_transition;
    index_1 ("10, 20"); index_2 ("100, 200, 400");
  }
  lu_table_template (by_clock) {
    variable_1 : related_pin_transition;
    variable_2 : constrained_pin_transition;
    index_1 ("0, 100"); index_2 ("0, 100");
  }
  cell (INV) {
    area : 3; cell_leakage_power : 2;
    pin (A) { direction : input; capacitance : 4; rise_capacitance : 5; fall_capacitance : 3; }
    pin (Y) {
      direction : output; function : "(!A)";
      timing () {
        related_pin : "A"; timing_sense : negative_unate;
        cell_rise (by_load) { values ("160, 210, 310", "170, 220, 320"); }
        cell_fall (by_load) { values ("320, 420, 620", "340, 440, 640"); }
        rise_transition (by_load) { values ("245, 270, 320", "265, 290, 340"); }
        fall_transition (by_load) { values ("245, 270, 320", "265, 290, 340"); }
      }
    }
  }
  cell (BUF) {
    area : 4
    leakage_power () { when : "A"; value : 1; }
    leakage_power () { when : "!A"; value : 3; }
    pin (A) { direction : input; capacitance : 4; }
    pin (Y) {
      direction : output; function : "A";
      internal_power () { related_pin : "A"; rise_power (scalar) { values ("7"); } \
        fall_power (scalar) { values ("8"); } }
      timing () {
        related_pin : "A"; timing_sense : positive_unate;
        cell_rise (scalar) { values ("50"); } cell_fall (scalar) { values ("60"); }
        rise_transition (scalar) { values ("100"); } fall_transition (scalar) { values ("200"); }
      }
    }
  }
  cell (FF) {
    area : 10;
    ff (IQ, IQN) { next_state : "D"; clocked_on : "CK"; }
    pin (CK) { direction : input; capacitance : 2; clock : true; }
    pin (D) {
      direction : input; capacitance : 6;
      timing () {
        related_pin : "CK"; timing_type : setup_rising;
        rise_constraint (by_clock) { values ("30, 40", "50, 60"); }
        fall_constraint (by_clock) { values ("10, 20", "30, 40"); }
      }
    }
    pin (Q) {
      direction : output; function : "IQ";
      timing () {
        related_pin : "CK"; timing_type : rising_edge; timing_sense : non_unate;
        cell_rise (scalar) { values ("200"); } cell_fall (scalar) { values ("220"); }
        rise_transition (scalar) { values ("100"); } fall_transition (scalar) { values ("100"); }
      }
    }
  }
  cell (LATCH) {
    area : 0;
    latch (IQ, IQN) { data_in : "D"; enable : "G"; }
  }
}
"""

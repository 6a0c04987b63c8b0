"""Netlists, a library and a kernel that several tests of power use."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipelines.c.signature import DataSet
from pipelines.hls import CompiledDesign, HlsOptions, compile_program
from pipelines.rtl.simulation import MemoryTiming
from pipelines.silicon.synthesis import Target, synthesize_design
from pipelines.silicon.synthesis.netlist import Netlist, parse_netlist

TIMING = MemoryTiming(read_delay_cycles=2, write_delay_cycles=1)

PRODUCT = """
int product(short bias, short A[4][4], short B[4][4], int C[4][4]) {
  int total = 0;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      int sum = bias;
      for (int k = 0; k < 4; k++) sum += A[i][k] * B[k][j];
      C[i][j] = sum;
      total += sum;
    }
  return total;
}
"""

# Energies are constants, in pJ: gates, a flip-flop with reset, and a latch.
SMALL_LIBERTY = r"""
library (small) {
  time_unit : "1ns"; capacitive_load_unit (1, pf); voltage_unit : "1V"; leakage_power_unit : "1nW";
  nom_voltage : 2;
  lu_table_template (by_both) {
    variable_1 : input_net_transition; variable_2 : total_output_net_capacitance;
    index_1 ("0, 1"); index_2 ("0, 1");
  }
  cell (INV) {
    area : 1;
    leakage_power () { when : "A"; value : 1000; }
    leakage_power () { when : "!A"; value : 3000; }
    pin (A) { direction : input; capacitance : 0.5; rise_capacitance : 0.4; fall_capacitance : 0.6; }
    pin (Y) {
      direction : output; function : "A'";
      internal_power () { related_pin : "A";
        rise_power (by_both) { values ("1, 2", "2, 3"); } fall_power (by_both) { values ("5, 5", "7, 7"); } }
      timing () { related_pin : "A"; timing_sense : negative_unate;
        cell_rise (scalar) { values ("0.3"); } cell_fall (scalar) { values ("0.1"); }
        rise_transition (scalar) { values ("0.5"); } fall_transition (scalar) { values ("0.25"); } }
    }
  }
  cell (XOR) {
    area : 2; cell_leakage_power : 10;
    pin (A) { direction : input; capacitance : 1; }
    pin (B) { direction : input; capacitance : 1; }
    pin (Y) {
      direction : output; function : "A ^ B";
      internal_power () { related_pin : "A";
        rise_power (scalar) { values ("1"); } fall_power (scalar) { values ("3"); } }
      internal_power () { related_pin : "B";
        rise_power (scalar) { values ("10"); } fall_power (scalar) { values ("30"); } }
      timing () { related_pin : "A";
        cell_rise (scalar) { values ("0.2"); } cell_fall (scalar) { values ("0.2"); }
        rise_transition (scalar) { values ("0"); } fall_transition (scalar) { values ("0"); } }
      timing () { related_pin : "B";
        cell_rise (scalar) { values ("0.05"); } cell_fall (scalar) { values ("0.05"); }
        rise_transition (scalar) { values ("0"); } fall_transition (scalar) { values ("0"); } }
    }
  }
  cell (AND) {
    area : 2;
    pin (A) { direction : input; capacitance : 1; }
    pin (B) { direction : input; capacitance : 1; }
    pin (Y) {
      direction : output; function : "A B";
      timing () { related_pin : "A"; timing_sense : positive_unate;
        cell_rise (scalar) { values ("0.2"); } cell_fall (scalar) { values ("0.2"); }
        rise_transition (scalar) { values ("0"); } fall_transition (scalar) { values ("0"); } }
      timing () { related_pin : "B"; timing_sense : positive_unate;
        cell_rise (scalar) { values ("0.05"); } cell_fall (scalar) { values ("0.05"); }
        rise_transition (scalar) { values ("0"); } fall_transition (scalar) { values ("0"); } }
    }
  }
  cell (FF) {
    area : 4; cell_leakage_power : 20;
    ff (IQ, IQN) { next_state : "D"; clocked_on : "CK"; clear : "!R"; }
    pin (CK) { direction : input; capacitance : 1; clock : true;
      internal_power () { rise_power (scalar) { values ("2"); } fall_power (scalar) { values ("4"); } } }
    pin (R) { direction : input; capacitance : 1; }
    pin (D) { direction : input; capacitance : 1;
      internal_power () { rise_power (scalar) { values ("0.5"); } fall_power (scalar) { values ("1.5"); } } }
    pin (Q) { direction : output; function : "IQ";
      internal_power () { related_pin : "CK";
        rise_power (scalar) { values ("7"); } fall_power (scalar) { values ("9"); } }
      timing () { related_pin : "CK"; timing_type : rising_edge;
        cell_rise (scalar) { values ("0.2"); } cell_fall (scalar) { values ("0.3"); }
        rise_transition (scalar) { values ("0"); } fall_transition (scalar) { values ("0"); } } }
    pin (QN) { direction : output; function : "IQN"; }
  }
  cell (LATCH) {
    area : 1; latch (IQ, IQN) { data_in : "D"; enable : "G"; }
    pin (D) { direction : input; capacitance : 1; }
    pin (G) { direction : input; capacitance : 1; }
    pin (Q) { direction : output; function : "IQ"; }
  }
}
"""


def netlist_of(ports: dict[str, tuple[str, list[int | str]]], *cells: tuple[str, str]) -> Netlist:
    """A netlist; a cell is its type and `pin=net` words, a net a number from 2 or '0' or '1'."""
    module = {
        "ports": {n: {"direction": d, "bits": b} for n, (d, b) in ports.items()},
        "cells": {
            f"u{i}": {
                "type": kind,
                "connections": {
                    pin: [net if net in "01" else int(net)]
                    for pin, net in (word.split("=") for word in pins.split())
                },
            }
            for i, (kind, pins) in enumerate(cells)
        },
    }
    return parse_netlist(json.dumps({"modules": {"top": module}}), "top")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kernel:
    """A design of the project's own engine, synthesised."""

    compiled: CompiledDesign
    netlist: Netlist
    data: DataSet


def compiled_kernel(liberty: Path, folder: Path) -> Kernel:
    """The matrix product above, through synthesis and logic synthesis."""
    compiled = compile_program(PRODUCT, top="product", options=HlsOptions(memory_write_delay_cycles=1))
    target = Target(liberty=liberty, clock_period_ns=10.0)
    result = synthesize_design(compiled.verilog, top="product_hw", target=target, folder=folder)
    if result.status != "ok":
        raise RuntimeError(result.reason)
    rng = np.random.default_rng(11)
    arrays = {name: rng.integers(-300, 300, (4, 4)).astype(np.int16) for name in "AB"}
    data = {"bias": np.array(-7, np.int16), **arrays, "C": np.zeros((4, 4), np.int32)}
    netlist = parse_netlist((folder / "netlist.json").read_bytes(), "product_hw")
    return Kernel(compiled=compiled, netlist=netlist, data=data)

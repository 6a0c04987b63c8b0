"""Verilog run cycle by cycle: simulators of designs, and parallel simulation."""

"""A generator of the Gemmini kind, and its compiler: parameters, Verilog, tiling, commands, execution."""

// Crossbar of AXI4-Lite: hosts x devices, a path of reads apart from that of writes.
-F rtl/common/common.f
rtl/axil_pkg.sv
rtl/axil_if.sv
rtl/axil_write_path.sv
rtl/axil_read_path.sv
rtl/axil_crossbar.sv
rtl/axil_memory.sv
rtl/crossbar.sv
--top-module crossbar

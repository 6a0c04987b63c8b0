# Platform-level interrupt controller: sources x targets with priorities.
+incdir+inc
src/plic_pkg.sv
src/plic_gateway.sv
src/plic_target.sv
src/plic_regs.sv
src/plic.sv
--top-module plic
-Wno-UNUSED

"""Words that are no names in Verilog."""

from __future__ import annotations

_WORDS = """
always and assign automatic begin bit buf bufif0 byte case casex casez cell cmos config deassign
default defparam design disable do edge else end endcase endfunction endmodule endtable endtask enum
event final for force forever fork function generate genvar if initial inout input instance int
integer join large library localparam logic medium module nand negedge nmos nor not notif0 or output
packed parameter pmos posedge primitive priority program property real ref reg release repeat return
signed small specify string strong0 strong1 struct super supply0 supply1 table task this time tri
type typedef union unique unsigned use var void wait while wire with wor xnor xor
"""
KEYWORDS = frozenset(_WORDS.split())

"""Labels of designs in an FPGA: a row of their own in table `labels`, of tool `synth_xilinx`."""

from __future__ import annotations

from collections.abc import Callable

from pipelines.base.identity import canonical_json, content_hash
from pipelines.dataset.labelling.options import LabelContext, LabelOptions
from pipelines.dataset.labelling.synthesis import HasVerilog, LabelFigures
from pipelines.dataset.labelling.targets import SecondTarget
from pipelines.schemas import DesignRow
from pipelines.silicon.synthesis import FAMILY, XILINX_TOOL, synthesize_for_fpga, xilinx_version


class FpgaTarget(SecondTarget):
    """Synthesis for an FPGA by yosys."""

    name = XILINX_TOOL
    constants = ("pipelines/silicon/synthesis/xilinx.py:_VERSION",)
    programs = ("pyosys",)
    kind = "fpga"
    title = "FPGA"
    library = FAMILY

    def version(self) -> str:
        """Return the version of pyosys and of the recipe."""
        return xilinx_version()

    def shares(self, options: LabelOptions) -> tuple[float, float]:
        """Return the shares `fpga_fraction` and `fpga_unmapped_fraction`."""
        return options.synthesis.fpga_fraction, options.synthesis.fpga_unmapped_fraction

    def key(self, design: DesignRow, context: LabelContext) -> str:
        """Return the hash of Verilog, version and time limit."""
        return content_hash(design.rtl_sha256, xilinx_version(), context.options.synthesis.timeout_s)

    def make(self, design: DesignRow, rtl: Callable[[], HasVerilog], context: LabelContext) -> LabelFigures:
        """Map a design to LUTs, flip-flops, DSPs and block RAM."""
        del design
        text = rtl()
        with context.tool_folder("synthesis") as folder:
            result = synthesize_for_fpga(
                text.verilog,
                top=text.module,
                folder=folder,
                timeout_s=context.options.synthesis.timeout_s,
            )
        cells = result.cells_by_type
        return LabelFigures(
            status=result.status,
            reason=result.reason,
            flip_flop_count=result.flip_flop_count,
            cell_count=None if cells is None else sum(cells.values()),
            cells_by_type=None if cells is None else canonical_json(cells),
            lut_count=result.lut_count,
            dsp_count=result.dsp_count,
            bram_count=result.bram_count,
            synthesis_wall_s=result.wall_s,
        )

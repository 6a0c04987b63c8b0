"""Options of labelling, and how a long step says where it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

SLOTTED = (
    *("native", "cycle_model", "synthesis", "power", "verilator", "opensta", "siliconcompiler"),
    *("bambu", "circt-calyx", "circt-handshake"),
)
"""Tools whose runs at a time can be bounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelOptions:
    """How designs are labelled.

    Attributes:
        workers: designs worked on at a time.
        slots: runs of a tool at a time, by its name in `SLOTTED`; others are bounded by `workers` alone.
        data_seeds: one input data set a seed.
        audit_fraction: of the designs, those whose Verilog is simulated too and must agree; 0 to 1.
        cross_check_fraction: of the designs, those whose figures are compared with other tools; they are
            audited too.
        model_timeout_s, verilator_timeout_s, native_timeout_s: processor time of each tool run; the model is
            the cycle model.
        synthesis_timeout_s: limit of processor time of logic synthesis.
        tool_timeout_s: processor time of each process of another high-level synthesis tool.
        synthesis_tools: of `SYNTHESIS_TOOLS`; the first one is always used.
        placement_timeout_s: processor time of each process of SiliconCompiler, each design.
        power: whether the mapped netlist of each design is simulated too, for power and as a check.
        glitches: whether its gates have delays then.
        power_timeout_s: limit of processor time of the simulation of a netlist.
        cycle_limit: cycles after which a run counts as endless.
    """

    workers: int = 2
    slots: Mapping[str, int] = field(default_factory=dict[str, int])
    data_seeds: tuple[int, ...] = (0,)
    audit_fraction: float = 0.1
    cross_check_fraction: float = 0.0
    model_timeout_s: float = 120.0
    verilator_timeout_s: float = 120.0
    synthesis_timeout_s: float = 300.0
    native_timeout_s: float = 20.0
    tool_timeout_s: float = 600.0
    synthesis_tools: tuple[str, ...] = ("pyosys",)
    placement_timeout_s: float = 3600.0
    power: bool = True
    glitches: bool = True
    power_timeout_s: float = 120.0
    cycle_limit: int = 50_000_000

    @property
    def audited_fraction(self) -> float:
        """Of the designs, those whose Verilog is simulated, cross-checked ones included."""
        return max(self.audit_fraction, self.cross_check_fraction)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a long step is.

    Attributes:
        step: its name; done, total, failed: attempts; latest: what was finished last.
    """

    step: str
    done: int
    total: int
    failed: int
    latest: str


ProgressCallback = Callable[[Progress], None]


def silent(_: Progress) -> None:
    """Report nothing."""

"""Options of labelling, and the context that every step runs in."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from filelock import FileLock, Timeout
from pydantic import AfterValidator, Field

from pipelines import bambu, circt, hls
from pipelines.base.cache import ContentCache
from pipelines.base.validation import Count, Fraction, Positive, one_of, some_of
from pipelines.hls import measured_files, measured_libraries
from pipelines.rtl import simulation
from pipelines.rtl.reuse import AUDIT_ENGINES as OTHER_AUDIT_ENGINES
from pipelines.schemas import DATA_KINDS, DRAWN
from pipelines.silicon.synthesis import Target, liberty_sha256, unique_liberty_name

SLOTTED = (
    *("native", "cycle_model", "synthesis", "power", "verilator", "opensta", "siliconcompiler"),
    *("bambu", "circt-calyx", "circt-handshake"),
)
"""Tools whose runs at a time can be bounded."""

AUDIT_ENGINES = (simulation.ENGINE, *OTHER_AUDIT_ENGINES)
"""Engines that may simulate the Verilog of audited designs."""

SLOT_WAIT_S = 0.02
"""Time at one slot that is held, before the next one is tried."""


CIRCT_TOOLS = tuple(f"circt-{flow}" for flow in circt.FLOWS)
TOOLS = (hls.TOOL, *CIRCT_TOOLS, bambu.TOOL)
"""Tools that make designs."""


def _with_drawn(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """Return the kinds, which the drawn data lead: they decide the label, its power, audit and cross-checks.

    Raises: ValueError: the drawn data are not among them.
    """
    if DRAWN not in kinds:
        raise ValueError(f"{DRAWN} is one of every list of kinds, got {', '.join(kinds)}")
    return kinds


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis:
    """Logic synthesis. Time limits are of processor time, each design.

    Attributes:
        liberty: installed library or liberty file in whose cells designs are mapped.
        tools: of `SYNTHESIS_TOOLS`, see `RegisteredSynthesis`; the first one is always used.
        fraction: of the designs of generated programs, those that are mapped to cells; the others have cycles
            alone.
        demanding_fraction: the share of demanding designs, of at least `demanding_um2_per_ns` of
            estimated area per clock period, or `demanding_um2_cycles` of area times cycles. Power and energy
            follow these two in rank, so a sample has more of their upper end.
        all_most_um2: of programs that nobody generated, the largest estimated area of designs that are all
            mapped; of larger ones, as of generated ones, `fraction` is. None for no limit.
        fpga_fraction, fpga_unmapped_fraction: of the designs mapped to cells and of those with cycles alone,
            those that `synth_xilinx` maps, when it is one of the tools.
        unmapped_most_um2: largest estimated area of designs with cycles alone that other tools and libraries
            map; None for no limit.
        other_libraries: installed libraries or liberty files in whose cells designs are mapped too, in rows
            of their own.
        other_library_fraction, other_library_unmapped_fraction: of the designs mapped to cells and of those
            with cycles alone, those that are.
        placement_timeout_s: of each process of SiliconCompiler.
    """

    liberty: str
    timeout_s: Positive
    tools: tuple[str, ...]
    fraction: Fraction = 1.0
    demanding_fraction: Fraction = 0.0
    demanding_um2_per_ns: Positive = 180_000.0
    demanding_um2_cycles: Positive = 1e12
    all_most_um2: Positive | None = None
    fpga_fraction: Fraction = 1.0
    fpga_unmapped_fraction: Fraction = 0.0
    unmapped_most_um2: Positive | None = None
    other_libraries: tuple[str, ...] = ()
    other_library_fraction: Fraction = 1.0
    other_library_unmapped_fraction: Fraction = 0.0
    placement_timeout_s: Positive


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelling:
    """Tools, cycles, their comparison with native C, the shares that are checked, and power.

    Time limits are of processor time, each run of a tool.

    Attributes:
        tools: that make designs, of `TOOLS`; all but the project's own engine without directives.
        data_seeds: one drawn input data set a seed.
        data_kinds: kinds of data sets, `drawn` first; see `pipelines.programs.data_sets`.
        full_power_fraction: of the designs that `Synthesis.fraction` maps, those with power on every data
            set; the others have power on the first one.
        light_um2_cycles: designs of at most this estimated area times cycles have it on every one, too.
        audit_fraction: of the designs, those whose Verilog is simulated too and must agree.
        audit_engine: that simulates their Verilog, of `AUDIT_ENGINES`.
        cross_check_fraction: of the designs, those whose figures are compared with other tools; they are
            audited too.
        model_timeout_s: of the cycle model. tool_timeout_s: of each process of another high-level synthesis
            tool.
        power: whether the mapped netlist of each design is simulated too, for power and as a check.
        glitches: whether its gates have delays then.
        timed_cycles: of a longer run, about as many cycles have delays, and the glitches of the others are
            scaled from them; None for all cycles.
        power_timeout_s: of the simulation of a netlist.
    """

    tools: Annotated[tuple[str, ...], some_of(TOOLS)]
    data_seeds: Annotated[tuple[int, ...], Field(min_length=1)]
    data_kinds: Annotated[tuple[str, ...], some_of(DATA_KINDS), AfterValidator(_with_drawn)] = (DRAWN,)
    full_power_fraction: Fraction = 1.0
    light_um2_cycles: Annotated[float, Field(ge=0)] = 0.0
    audit_fraction: Fraction
    audit_engine: Annotated[str, one_of(AUDIT_ENGINES)] = AUDIT_ENGINES[0]
    cross_check_fraction: Fraction
    model_timeout_s: Positive
    verilator_timeout_s: Positive
    native_timeout_s: Positive
    tool_timeout_s: Positive
    power: bool
    glitches: bool
    timed_cycles: Count | None = None
    power_timeout_s: Positive


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelOptions(Labelling):
    """How designs are labelled.

    Attributes:
        workers: designs worked on at a time.
        slots: runs of a tool at a time, by its name in `SLOTTED`; others are bounded by `workers` alone.
        mapped: whether designs are mapped to cells; without it a label has no area, delay or power.
        cycle_limit: cycles after which a run counts as endless.
    """

    workers: int = 2
    slots: Mapping[str, int] = field(default_factory=dict[str, int])
    synthesis: Synthesis
    mapped: bool = True
    cycle_limit: int = 50_000_000

    @property
    def audited_fraction(self) -> float:
        """Share of designs whose Verilog is simulated, cross-checked ones included."""
        return max(self.audit_fraction, self.cross_check_fraction)


DEFAULT_OPTIONS = LabelOptions(
    tools=(hls.TOOL,),
    data_seeds=(0,),
    audit_fraction=0.1,
    cross_check_fraction=0.0,
    model_timeout_s=120.0,
    verilator_timeout_s=120.0,
    native_timeout_s=20.0,
    tool_timeout_s=600.0,
    power=True,
    glitches=True,
    power_timeout_s=120.0,
    synthesis=Synthesis(liberty="osu018", timeout_s=300.0, tools=("pyosys",), placement_timeout_s=3600.0),
)
"""Options without a configuration: shorter time limits, and no cross-checks."""


def _say_nothing(_: str) -> None:
    """Ignore the step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """The cache and the options of every step; enough for high-level synthesis and cycles.

    Attributes:
        on_tool: called with the name of each tool as it starts.
    """

    cache: ContentCache
    options: LabelOptions
    on_tool: Callable[[str], None] = _say_nothing

    @property
    def runtime_folder(self) -> Path:
        """Folder of Verilator's compiled runtime."""
        return self.cache.folder / "runtime"

    @contextmanager
    def scratch_folder(self) -> Generator[Path]:
        """Yield an empty folder for one tool run on the cache's disk, and remove it afterwards."""
        base = self.cache.folder / "scratch"
        base.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=base, ignore_cleanup_errors=True) as name:
            yield Path(name)

    @contextmanager
    def tool_folder(self, tool: str) -> Generator[Path]:
        """Yield a scratch folder once the tool has a free slot among all processes that share the cache.

        Args: tool: one of `SLOTTED`; without a number in `options.slots` as many run as there are workers.
        """
        limit = self.options.slots.get(tool)
        with ExitStack() as held:
            self.on_tool(tool)
            if limit is not None:
                held.enter_context(_slot(self.cache.folder / "slots", tool, limit))
            yield held.enter_context(self.scratch_folder())


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelContext(ToolContext):
    """The same with the cell library and the clock, which labels need."""

    target: Target

    @property
    def liberty(self) -> str:
        """Name of the cell library, as rows know it."""
        return liberty_name(self.target)


def liberty_name(target: Target) -> str:
    """Return the name of a target's library, as rows know it."""
    return library_name(target.liberty)


def library_name(liberty: Path) -> str:
    """Return the name of the cell library of a liberty file, which no file with other bytes has.

    Delays are chosen by it, so the name of a measured library is that of the file whose SHA-256 was recorded,
    whatever the file is called.

    Raises: SynthesisError: the file cannot be read.
    """
    digest = liberty_sha256(liberty)
    if digest in measured_files():
        return measured_files()[digest]
    name = unique_liberty_name(liberty)
    return f"{name}-{digest[:8]}" if name in measured_libraries() else name


def _slot(folder: Path, tool: str, limit: int) -> AbstractContextManager[object]:
    """Hold one of a tool's slots; a process that has ended holds none."""
    folder.mkdir(parents=True, exist_ok=True)
    locks = [FileLock(folder / f"{tool}-{number}") for number in range(limit)]
    while True:
        for lock in locks:
            with suppress(Timeout):
                return lock.acquire(timeout=SLOT_WAIT_S, poll_interval=SLOT_WAIT_S)

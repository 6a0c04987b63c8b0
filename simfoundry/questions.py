"""What is asked: the options of `sf.label`, `sf.power` and so on, and of the commands of the same names.

An option has its name, type and default here alone: the functions have the signatures of these classes, the
commands their defaults. Importing this module is cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pipelines.network.request import NetworkRequest

File: TypeAlias = Path | str
DEFAULT_FABRIC = "fabric/present.yaml"
"""Fabric without `fabric`, in conf/."""
DEFAULT_REUSE_FACTOR = 1
"""Cycles per inference of a fixed-point pipeline without `reuse_factor` and `hls_config`."""


def is_text(source: File) -> bool:
    """Tell whether a source is C text and no path."""
    return isinstance(source, str) and any(mark in source for mark in "{;\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """A configuration of hardware.

    Attributes:
        memory_delay: cycles per read and write. write_delay: cycles per write, if different.
        clock_ns: clock period.
        directives: as `{"kind": "pipeline", "loop": "L0"}`, or a JSON file of them.
        unsafe_math: floating sums may be reordered.
        unit_limits: most functional units by class, as `{"mul_32": 1}` or `["mul_32=1"]`.
        liberty: installed library or liberty file.
    """

    memory_delay: int = 2
    write_delay: int | None = None
    clock_ns: float = 10.0
    directives: Sequence[Mapping[str, Any]] | Path = ()
    unsafe_math: bool = False
    unit_limits: Mapping[str, int] | Sequence[str] = ()
    liberty: str = "osu018"

    @property
    def limit_texts(self) -> tuple[str, ...]:
        """Unit limits as `mul_32=1`."""
        limits = self.unit_limits
        return tuple(f"{k}={n}" for k, n in limits.items()) if isinstance(limits, Mapping) else tuple(limits)


@dataclass(frozen=True, slots=True)
class LabelQuestion:
    """A program, or a folder of them, to label.

    Attributes:
        source: C text, a C file, or a folder of C files.
        top: function that becomes hardware; None for the one the program is about.
        options: the configuration.
        data: value of every argument, or a JSON file of them; None draws them.
        tools: high-level synthesis tools, one design of each.
        report: folder for Verilog and schedules.
        ranges: of drawn values, as NAME=LOW:HIGH. sizes: elements of pointer arguments, as NAME=N.
        include: folders of headers. others: further C files, and folders with them.
        define: macros, as NAME=TEXT.
        targets: of cycles, area and power those to compute, none for all. without: those to leave out.
        on_step: called with the file and the step that begins.
    """

    source: File
    top: str | None = None
    _: KW_ONLY
    options: Options = Options()
    data: Mapping[str, Any] | Path | None = None
    tools: Sequence[str] = ("simfoundry-hls",)
    report: File | None = None
    ranges: Sequence[str] = ()
    sizes: Sequence[str] = ()
    include: Sequence[File] = ()
    others: Sequence[File] = ()
    define: Sequence[str] = ()
    targets: Sequence[str] = ()
    without: Sequence[str] = ()
    on_step: Callable[[Path, str], None] | None = None


@dataclass(frozen=True, slots=True)
class PragmaQuestion:
    """A program whose best directives are searched.

    Attributes:
        source: C text or a C file. top: function that becomes hardware; None for the one it is about.
        target: simfoundry, u200 (Merlin and Vitis HLS) or a JSON file of a target.
        define: macros, as NAME=TEXT.
        evaluate: most designs that are measured; 0 recommends by the engine's estimate.
        reports: folder of synthesis reports, for targets other than simfoundry.
        area: most area of a design in mm2. partitions: most partitions of an array. None for no limit.
        ordered_sums: floating sums keep their order. fine_only: copies only inside pipelined loops.
        power: estimate the power of the designs of the answer.
        style: simfoundry, merlin or vitis pragmas; None: the target's tool.
        solver_timeout: s of the solver, each time. hls_timeout: s of processor time of a design.
        together: designs measured at a time.
        out: file for the recommended design's annotated C.
    """

    source: File
    top: str | None = None
    _: KW_ONLY
    target: str = "simfoundry"
    define: Sequence[str] = ()
    evaluate: int = 0
    reports: Path | None = None
    area: float | None = None
    partitions: int | None = None
    ordered_sums: bool = False
    fine_only: bool = False
    power: bool = False
    style: str | None = None
    solver_timeout: float = 30.0
    hls_timeout: float = 120.0
    together: int = 2
    out: Path | None = None

    @property
    def file(self) -> Path:
        """The source as a file."""
        return Path(self.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkQuestion(NetworkRequest):
    """A network whose latency is estimated.

    Attributes:
        pods: of a three-tier fat tree; topology: JSON or GraphML file of any other network; one of the two.
        trace: CSV or Parquet file of packets; without it pattern, load, density, arrivals and scv.
        pattern: all_to_all, incast or broadcast. load: utilisation of the busiest host link by data.
        density: share of hosts of all_to_all. arrivals: poisson, ge or on_off.
        scv: squared coefficient of variation of arrivals; 1 for poisson, else 4.
        routing: ecmp or fixed. seed: of routes, and of hosts by density.
        queue_capacity: packets, 0 = unbounded. acknowledged: receivers acknowledge every packet.
        estimate: corrected, tree or maximum_entropy; None: corrected, maximum_entropy for a trace.
        flows: file for the latency of each flow (.parquet or .csv).
    """

    flows: File | None = None


@dataclass(frozen=True, slots=True)
class PlaceQuestion:
    """A graph to place and route.

    Attributes:
        graph: JSON file of a dataflow graph, or an ONNX model.
        fabric: YAML file; None for conf/fabric/present.yaml.
        cost_model: heuristic, simulator, or a registered model such as pnr-gnn@champion.
        moves: per graph, of all chains together. seed: of the search. clock: in MHz.
        dimension: sizes of symbolic dimensions of an ONNX model, as NAME=SIZE.
        svg: file for a picture.
        on_step: called with what begins, and with every tenth of the moves.
    """

    graph: File
    _: KW_ONLY
    fabric: File | None = None
    cost_model: str = "heuristic"
    moves: int = 16000
    seed: int = 0
    clock: float | None = None
    dimension: Sequence[str] = ()
    svg: File | None = None
    on_step: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True)
class PowerQuestion:
    """A neural network whose power is estimated.

    Attributes:
        network: ONNX file.
        hardware: YAML file of the accelerator; None for the default one.
        flow: systolic, or fixed (a fixed-point pipeline of adders).
        reuse_factor, hls_config, describe: of flow fixed: cycles per inference; YAML file of hls4ml; also
            the layers as hls4ml describes them.
        dimension: sizes of symbolic dimensions, as NAME=SIZE.
        measure: also synthesise and simulate it.
    """

    network: File
    _: KW_ONLY
    hardware: File | None = None
    flow: str = "systolic"
    reuse_factor: int | None = None
    hls_config: File | None = None
    describe: bool = False
    dimension: Sequence[str] = ()
    measure: bool = False


@dataclass(frozen=True, slots=True)
class ExploreQuestion:
    """A neural network whose accelerators are explored.

    Attributes:
        network: ONNX file.
        budget_mw: most power. candidates: drawn configurations. seed: of the draws.
        dimension: sizes of symbolic dimensions, as NAME=SIZE.
    """

    network: File
    _: KW_ONLY
    budget_mw: float
    candidates: int = 200
    seed: int = 0
    dimension: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class SimulateQuestion:
    """A design to simulate.

    Attributes:
        file: Verilog, SystemVerilog or FIRRTL. top: module. cycles: of the clock.
        stimuli: simulated side by side.
        engine: auto, reuse, arc, verilator, cxxrtl, cuda or hetero.
        seed: of the inputs. inputs: CSV or Parquet file with a column per input port instead.
        vcd, fst: files for a waveform of the first stimulus.
        signals: patterns of ports and registers of the waveform; none for all ports.
        library: Verilog files of modules that the design instantiates.
        define: macros, as NAME=TEXT, or NAME for 1. undefine: names of macros, such as SYNTHESIS.
        reset_cycles: cycles in which ports named like a reset are active; 0 = random.
        toggles: .csv or .parquet file for toggles of ports and registers.
        memory: images of memories, as NAME=FILE.
        checkpoint: file for the state after the last cycle. resume: checkpoint to go on from.
        threads, batch: of engine reuse; batch is the cycles that a thread runs between exchanges.
        skip_idle: skip parts of which nothing changed.
    """

    file: File
    _: KW_ONLY
    top: str
    cycles: int
    stimuli: int = 1
    engine: str = "auto"
    seed: int = 0
    inputs: File | None = None
    vcd: File | None = None
    fst: File | None = None
    signals: Sequence[str] = ()
    library: Sequence[File] = ()
    define: Sequence[str] = ()
    undefine: Sequence[str] = ()
    reset_cycles: int = 2
    toggles: File | None = None
    memory: Sequence[str] = ()
    checkpoint: File | None = None
    resume: File | None = None
    threads: int = 1
    batch: int = 1
    skip_idle: bool = False


@dataclass(frozen=True, slots=True)
class TrainQuestion:
    """A predictor to train.

    Attributes:
        name: of the predictor.
        releases: folders of releases; or suite: of your own labels, in data/suites.
        out: folder of the model; None for one in the data folder.
        seed: of initial weights and batches.
        settings: options of the training, as `{"epochs": 3}` or `["epochs=3"]`.
    """

    name: str
    _: KW_ONLY
    releases: Sequence[File] = ()
    suite: str | None = None
    out: File | None = None
    seed: int = 0
    settings: Mapping[str, Any] | Sequence[str] = ()

"""What is asked: the options of `sf.label`, `sf.power` and so on, and of the commands of the same names.

An option has its name, type, default, meaning and bounds here alone: the functions have the signatures of
these classes, the commands their options. Importing this module is cheap.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

from assets.errors import FoundryError
from assets.source_options import SourceOptions
from models.calibration_options import CalibrationOptions
from pipelines.base.bounds import CLOCK_PERIOD_NS, MEMORY_DELAY_CYCLES, asked
from pipelines.network.request import CollectiveRequest, NetworkRequest

File: TypeAlias = Path | str
DEFAULT_FABRIC = "fabric/present.yaml"
"""Fabric without `fabric`, in conf/."""
LARGEST_SEED = 2**63 - 1
DEFAULT_REUSE_FACTOR = 1
"""Cycles per inference of a fixed-point pipeline without `reuse_factor` and `hls_config`."""


_VALUES: dict[str, tuple[tuple[type, ...], str]] = {
    "str": ((str,), "text"),
    "str | None": ((str, types.NoneType), "text"),
    "File": ((str, Path), "text or Path"),
    "File | None": ((str, Path, types.NoneType), "text or Path"),
    "int": ((int,), "a whole number"),
    "int | None": ((int, types.NoneType), "a whole number"),
    "bool": ((bool,), "True or False"),
}
"""Types of an option's values, or of the items of its list, and what they are in messages."""


def is_text(source: File) -> bool:
    """Tell whether a source is C text and no path."""
    return isinstance(source, str) and any(mark in source for mark in "{;\n")


_DELAYS: dict[str, Any] = dict(zip(("least", "most"), MEMORY_DELAY_CYCLES, strict=True))
_CLOCKS: dict[str, Any] = dict(zip(("least", "most"), CLOCK_PERIOD_NS, strict=True))
_TOP: dict[str, Any] = {"meaning": "Function that becomes hardware.", "unset": "the one the file is about"}
_DIMENSION: dict[str, Any] = {
    "meaning": "Size of a symbolic dimension of an ONNX model.",
    "metavar": "NAME=SIZE",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """A configuration of hardware."""

    memory_delay: int = asked("Memory delay in cycles.", 2, **_DELAYS)
    write_delay: int | None = asked("Cycles of writes.", None, unset="the memory delay", **_DELAYS)
    clock_ns: float = asked("Clock period in ns.", 10.0, flags=["--clock"], **_CLOCKS)
    directives: Sequence[Mapping[str, Any]] | Path = asked("JSON file with a list of directives.", ())
    unsafe_math: bool = asked("Floating sums may be reordered.", False)
    unit_limits: Mapping[str, int] | Sequence[str] = asked(
        "At most N functional units of a class, mul_32 or fadd for example.",
        (),
        flags=["--unit-limit"],
        metavar="CLASS=N",
    )
    liberty: str = asked("Installed library or liberty file.", "osu018", role="name or file")

    @property
    def limit_texts(self) -> tuple[str, ...]:
        """Unit limits as `mul_32=1`."""
        limits = self.unit_limits
        return tuple(f"{k}={n}" for k, n in limits.items()) if isinstance(limits, Mapping) else tuple(limits)


@dataclass(frozen=True)
class DesignQuestion:
    """A program, or a folder of them, whose designs are made."""

    source: File = asked("C text, a C file, or a folder of C files.")
    top: str | None = asked(default=None, **_TOP)
    _: KW_ONLY
    options: Options = asked("Configuration of the hardware.", Options(), role="function")
    data: Mapping[str, Any] | Path | None = asked(
        "JSON file with the value of every argument.", None, unset="drawn values"
    )
    tools: Sequence[str] = asked(
        "HLS tool: simfoundry-hls, circt-calyx, circt-handshake or bambu.",
        ("simfoundry-hls",),
        flags=["--tool"],
    )
    report: File | None = asked(
        "Folder for each design's Verilog and schedule (JSON, SVG).", None, role="output folder"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelQuestion(SourceOptions, DesignQuestion):
    """A program, or a folder of them, to label."""

    targets: Sequence[str] = asked("Those of cycles,area,power to compute.", (), metavar="LIST", unset="all")
    without: Sequence[str] = asked("Leave out area or power.", (), metavar="TARGET")
    on_step: Callable[[Path, str], None] | None = asked(
        "Called with the file and the step that begins.", None, role="function"
    )


@dataclass(frozen=True, slots=True)
class PredictQuestion:
    """A program about which a model is asked."""

    source: File = asked("C text or a C file.")
    top: str | None = asked(default=None, **_TOP)
    _: KW_ONLY
    model: str | None = asked(
        "Registered model, NAME@ALIAS, or a folder of a trained one.", None, unset="the best champion"
    )
    options: Options = asked("Configuration of the hardware.", Options(), role="function")
    data: Mapping[str, Any] | Path | None = asked(
        "JSON file with every argument, for models that read data.", None
    )
    within: float | None = asked(
        "Ask the cheapest level first, and further ones up to the label until every interval reaches at most "
        "this share of the value from it.",
        None,
        above=0,
        unset="one model answers",
    )
    budget_s: float | None = asked(
        "With --within: seconds after which no further level is asked.",
        None,
        flags=["--budget"],
        least=0,
        unset="no limit",
    )
    targets: Sequence[str] = asked(
        "With --within: targets that must be that narrow, of area_um2, flip_flop_count, latency_cycles, "
        "power_mw and delay_ns.",
        (),
        metavar="LIST",
        unset="all",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptQuestion:
    """A predictor and labels of another tool that it learns."""

    labels: Path = asked("CSV file: file, top, directives, memory_delay, clock_ns, and a column per target.")
    model: str = asked("Boosted trees: NAME@ALIAS, or a folder of trained ones.", "lightgbm-hls@champion")
    out: File | None = asked("Folder for the adapted model.", None, role="output folder")


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrateQuestion(CalibrationOptions):
    """A program on whose profiles a numeric language model is calibrated."""

    file: File = asked("A C file.")
    top: str = asked("Function that becomes hardware.")
    options: Options = asked("Configuration of the hardware.", Options(), role="function")
    model: str = asked(
        "A numeric language model: NAME@ALIAS, or a folder of a trained one.", "numeric-lm-hls@champion"
    )
    specification: Path | None = asked(
        "JSON input specification.", None, flags=["--inputs"], unset="that of each argument"
    )
    out: Path | None = asked("Write the calibrated model to this folder.", None, role="output folder")


@dataclass(frozen=True, slots=True)
class PragmaQuestion:
    """A program whose best directives are searched."""

    source: File = asked("C text or a C file.")
    top: str | None = asked(default=None, **_TOP)
    _: KW_ONLY
    target: str = asked(
        "Tool that makes the design: simfoundry, u200 (Merlin and Vitis HLS) or a JSON file of a target.",
        "simfoundry",
        metavar="NAME",
        role="name or file",
    )
    define: Sequence[str] = asked(
        "Macro, such as MEDIUM_DATASET.", (), flags=["-D", "--define"], metavar="NAME[=TEXT]"
    )
    evaluate: int = asked(
        "Measure at most N designs and show the best ones: by our own synthesis, or by --reports.",
        0,
        least=0,
        metavar="N",
    )
    reports: Path | None = asked(
        "Folder of synthesis reports, a folder a configuration.", None, metavar="FOLDER"
    )
    area: float | None = asked(
        "Most estimated area of a design, in mm2; target simfoundry.", None, above=0, most=1e9, metavar="MM2"
    )
    partitions: int | None = asked("Most partitions of an array.", None, least=1, metavar="N")
    ordered_sums: bool = asked("Floating sums keep their order: results are equal bit by bit.", False)
    fine_only: bool = asked("Copy only what is inside pipelined loops.", False)
    power: bool = asked("Show the estimated power of the designs of the answer.", False)
    style: str | None = asked(
        "Pragmas of the annotated C: simfoundry, merlin or vitis. Without it the target's tool decides.",
        None,
        metavar="STYLE",
    )
    solver_timeout: float = asked("Most seconds of the solver, each time.", 30.0, least=0.01, metavar="S")
    hls_timeout: float = asked("Most seconds of processor time of a design.", 120.0, least=1, metavar="S")
    together: int = asked("Designs that are measured at a time.", 2, least=1, metavar="N")
    out: Path | None = asked(
        "Write the recommended design's annotated C.", None, metavar="FILE", role="output"
    )

    @property
    def file(self) -> Path:
        """The source as a file."""
        return Path(self.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkQuestion(NetworkRequest):
    """A network whose latency is estimated."""

    flows: File | None = asked(
        "Write each flow's latency to this .parquet or .csv file.", None, role="output"
    )


CollectiveQuestion = CollectiveRequest


@dataclass(frozen=True, slots=True)
class PlaceQuestion:
    """A graph to place and route."""

    graph: File = asked("JSON file of a dataflow graph, or an ONNX model.")
    _: KW_ONLY
    fabric: File | None = asked("YAML file of a fabric.", None, unset=f"conf/{DEFAULT_FABRIC}")
    cost_model: str = asked(
        "heuristic, simulator, or a registered model such as pnr-gnn@champion.", "heuristic"
    )
    moves: int = asked("Moves of the search per graph.", 16000, least=0)
    seed: int = asked("Seed of the search.", 0, least=0)
    clock: float | None = asked("Clock in MHz, for samples per second.", None, least=1e-6)
    dimension: Sequence[str] = asked(default=(), **_DIMENSION)
    svg: File | None = asked("Write a picture of the fabric to this file.", None, role="output")
    on_step: Callable[[str], None] | None = asked(
        "Called with what begins, and with every tenth of the moves.", None, role="function"
    )


@dataclass(frozen=True, slots=True)
class PowerQuestion:
    """A neural network whose power is estimated."""

    network: File = asked("ONNX file.")
    _: KW_ONLY
    hardware: File | None = asked("YAML file of the accelerator.", None, unset="the default accelerator")
    flow: str = asked(
        "systolic, or fixed: the network itself as a fixed-point pipeline of adders (extra `fixed`).",
        "systolic",
    )
    reuse_factor: int | None = asked(
        "For --flow fixed: cycles per inference, in which positions of a layer share units.",
        None,
        least=1,
        most=64,
        unset=DEFAULT_REUSE_FACTOR,
    )
    hls_config: File | None = asked(
        "For --flow fixed: YAML file of hls4ml with reuse factor and precision.", None
    )
    describe: bool = asked(
        "For --flow fixed: also the layers as hls4ml describes them (extra `fixed`).", False
    )
    dimension: Sequence[str] = asked(default=(), **_DIMENSION)
    measure: bool = asked("Also synthesise and simulate it: minutes, small ones only.", False)


@dataclass(frozen=True, slots=True)
class ExploreQuestion:
    """A neural network whose accelerators are explored."""

    network: File = asked("ONNX file.")
    _: KW_ONLY
    budget_mw: float = asked("Most power in mW.", above=0)
    candidates: int = asked("Drawn configurations.", 200, least=1, most=100_000)
    seed: int = asked("Seed of the draws.", 0, least=0, most=LARGEST_SEED)
    dimension: Sequence[str] = asked(default=(), **_DIMENSION)


@dataclass(frozen=True, slots=True)
class ProjectQuestion:
    """A design in Verilog, SystemVerilog or FIRRTL."""

    files: File | Sequence[File] = asked("Verilog, SystemVerilog or FIRRTL, in the order of compilation.", ())
    _: KW_ONLY
    top: str | None = asked(
        "Module that is simulated.", None, unset="the only module that no other one instantiates"
    )
    file_list: Sequence[File] = asked(
        "File list as Verilator reads it, its paths relative to the current folder.",
        (),
        flags=["-f", "--file-list"],
        metavar="LIST",
    )
    near_list: Sequence[File] = asked(
        "File list whose paths are relative to its own folder.",
        (),
        flags=["-F", "--near-list"],
        metavar="LIST",
    )
    include: Sequence[File] = asked(
        "Folder of included files and of modules that are missing.",
        (),
        flags=["-I", "--include"],
        metavar="FOLDER",
    )
    parameter: Sequence[str] = asked(
        "Parameter of the top module, such as WIDTH=8.", (), flags=["-G", "--parameter"], metavar="NAME=VALUE"
    )
    root: File | None = asked(
        "Folder that no file of the design may leave.", None, unset="see docs/rtlsim.md", metavar="FOLDER"
    )
    unroll_limit: int | None = asked(
        "Iterations of a loop that slang and Verilator unroll.",
        None,
        unset="their own limits",
        least=1,
        most=1_000_000,
    )
    library: Sequence[File] = asked(
        "Verilog of modules that the design instantiates (extmodules of FIRRTL).", ()
    )
    define: Sequence[str] = asked(
        "Macro of the design for every engine; SYNTHESIS is 1 for all.",
        (),
        flags=["-D", "--define"],
        metavar="NAME[=TEXT]",
    )
    undefine: Sequence[str] = asked(
        "Macro that no engine sees, such as SYNTHESIS.", (), flags=["-U", "--undefine"], metavar="NAME"
    )

    def __post_init__(self) -> None:
        """Check the types of values; a single text is a list of one.

        Raises: FoundryError: an option has another type.
        """
        for declared in fields(self):
            kind = str(declared.type)
            value = getattr(self, declared.name)
            is_list = "Sequence" in kind
            if is_list and isinstance(value, str | Path):
                value = (value,)
                object.__setattr__(self, declared.name, value)
            kinds, accepted = _VALUES[kind.rpartition("Sequence[")[2].removesuffix("]")]
            values = value if is_list and isinstance(value, list | tuple) else (value,)
            if is_list != (values is value) or not all(isinstance(one, kinds) for one in values):
                several = "a list of " if is_list else ""
                raise FoundryError(f"{declared.name}: {value!r}; accepted: {several}{accepted}")


@dataclass(frozen=True, slots=True)
class RunQuestion(ProjectQuestion):
    """A design that runs cycle by cycle."""

    _: KW_ONLY
    clock: Sequence[str] = asked(
        "Period of an input clock in cycles, and the first cycle at whose end it rises; for each of several.",
        (),
        metavar="NAME=PERIOD[:PHASE]",
        unset="one clock that rises in every cycle",
    )
    vcd: File | None = asked("Write a waveform of the first stimulus to this file.", None, role="output")
    signals: Sequence[str] = asked(
        "Ports and registers of the waveform, such as top.u.*.", (), metavar="PATTERN", unset="all ports"
    )


RTL_ENGINES = ("auto", "reuse", "arc", "verilator", "cxxrtl", "cuda", "hetero")


@dataclass(frozen=True, slots=True)
class SimulateQuestion(RunQuestion):
    """A design to simulate."""

    _: KW_ONLY
    cycles: int = asked("Clock cycles.", least=1, most=10**12)
    stimuli: int = asked("Stimuli that are simulated side by side.", 1, least=1, most=4096)
    engine: str = asked("Engine; docs/rtlsim.md compares them.", "auto", choices=RTL_ENGINES)
    seed: int = asked("Seed of the inputs.", 0, least=0, most=LARGEST_SEED)
    inputs: File | None = asked(
        "CSV or Parquet file with a column per input port and a row per cycle, instead of random values.",
        None,
    )
    fst: File | None = asked(
        "Write the waveform as FST to this file; needs vcd2fst of Debian's gtkwave.", None, role="output"
    )
    reset_cycles: int = asked(
        "Cycles in which ports named like a reset are active; then they are inactive. 0 = random.",
        2,
        least=0,
    )
    toggles: File | None = asked(
        "Write toggles of ports and registers to this .csv or .parquet file; without --vcd, --fst, --resume.",
        None,
        role="output",
    )
    memory: Sequence[str] = asked(
        "Hexadecimal words of a memory, such as top.u.words=image.hex.",
        (),
        metavar="NAME=FILE",
        role="name or file",
    )
    checkpoint: File | None = asked("Write the state after the last cycle to this file.", None, role="output")
    resume: File | None = asked("Go on from this checkpoint.", None)
    threads: int = asked("Threads of engine reuse.", 1, least=1, most=64)
    batch: int = asked(
        "Cycles that a thread of engine reuse runs before it exchanges values with the others.",
        1,
        least=1,
        most=16,
    )
    skip_idle: bool = asked("Skip parts of which nothing changed, for designs that idle.", False)


@dataclass(frozen=True, slots=True)
class VerilateQuestion(ProjectQuestion):
    """A design to translate for a test bench in C++."""

    _: KW_ONLY
    out: File = asked("Folder of the header, the source and the library.", role="output folder")
    prefix: str | None = asked("Name of the class.", None, unset="V and the top module", metavar="NAME")


@dataclass(frozen=True, slots=True)
class TrainQuestion:
    """A predictor to train."""

    name: str = asked("Name of the predictor.")
    _: KW_ONLY
    releases: Sequence[File] = asked("Folder of a release to train on.", (), flags=["--release"])
    suite: str | None = asked(
        "Suite of your own labels to train on, in data/suites/NAME.", None, metavar="NAME"
    )
    out: File | None = asked(
        "Folder of the model.", None, role="output folder", unset="models/NAME in the data folder"
    )
    seed: int = asked("Seed of initial weights and batches.", 0)
    settings: Mapping[str, Any] | Sequence[str] = asked(
        "Option of training.", (), flags=["-o", "--option"], metavar="NAME=VALUE"
    )
    tune: int | None = asked(
        "Search options that are not set in so many trainings; the best on the validation part is kept.",
        None,
        least=2,
        most=10_000,
    )


@dataclass(frozen=True, slots=True)
class SqlQuestion:
    """A statement over the tables."""

    query: str = asked("One statement of SQL that reads, for example SHOW TABLES.")
    _: KW_ONLY
    suite: str | None = asked("Tables of a suite of your own, in data/suites/NAME.", None, metavar="NAME")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportQuestion:
    """What an import of results of other tools, of labelled sources or of programs is told."""

    kernels: Path | None = asked("JSON file of a database's kernels.", None, unset="the one beside it")
    kernel: str | None = asked("Name for the rows of a report.", None, unset="its top function")
    directives: Path | None = asked("JSON file with a report's directives.", None, unset="its own")
    suite: str | None = asked(
        "Name of the suite of sources or programs.", None, metavar="NAME", unset="the file's"
    )
    list: Path | None = asked("File with the programs of a folder, PATH or PATH:TOP a line.", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeQuestion:
    """What `simfoundry node` is asked."""

    address: str | None = asked("Head to join.", None, metavar="HOST:PORT", unset="this is the head")
    host: str = asked("Address of this machine in the cluster's network.", "127.0.0.1")
    port: int = asked("Port of a head.", 6379, least=1, most=65535)
    cpus: int | None = asked("Items at a time.", None, least=0, unset="one per processor")
    node_memory: float | None = asked("Memory for items, GiB.", None, least=0.25, unset="what is free")

    @property
    def joined(self) -> str:
        """Address of the head."""
        return f"{self.host}:{self.port}" if self.address is None else self.address

"""Questions to the engines and the registered models, with the options of the commands."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simfoundry.pragma_options import PRAGMA_DEFAULTS, PragmaOptions

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """A configuration of hardware.

    Attributes:
        memory_delay: cycles per read and write. write_delay: cycles per write, if different.
        clock_ns: clock period.
        directives: as `{"kind": "pipeline", "loop": "L0"}`, or a JSON file of them.
        unsafe_math: floating sums may be reordered.
        unit_limits: most functional units by class, as `{"mul_32": 1}` or `["mul_32=1"]`.
        liberty: installed library or liberty file; None for osu018.
    """

    memory_delay: int = 2
    write_delay: int | None = None
    clock_ns: float = 10.0
    directives: Sequence[Mapping[str, Any]] | Path = ()
    unsafe_math: bool = False
    unit_limits: Mapping[str, int] | Sequence[str] = ()
    liberty: str | None = None

    @property
    def limit_texts(self) -> tuple[str, ...]:
        """Unit limits as `mul_32=1`."""
        limits = self.unit_limits
        return tuple(f"{k}={n}" for k, n in limits.items()) if isinstance(limits, Mapping) else tuple(limits)


_DEFAULTS = Options()


def label(
    source: str | Path,
    top: str | None = None,
    *,
    options: Options = _DEFAULTS,
    data: Mapping[str, Any] | Path | None = None,
    tools: Sequence[str] = ("simfoundry-hls",),
    report: Path | None = None,
    ranges: Sequence[str] = (),
    sizes: Sequence[str] = (),
    include: Sequence[Path] = (),
    others: Sequence[Path] = (),
    define: Sequence[str] = (),
    targets: Sequence[str] = (),
    without: Sequence[str] = (),
    on_step: Callable[[Path, str], None] | None = None,
) -> Answer:
    """Take a C program through high-level synthesis, simulation and logic synthesis.

    Args:
        source: C text, a C file, or a folder of C files.
        top: function that becomes hardware; None for the one the program is about.
        data: value of every argument, or a JSON file of them; None draws them.
        tools: high-level synthesis tools, one design of each.
        report: folder for Verilog and schedules.
        ranges: of drawn values, as NAME=LOW:HIGH. sizes: elements of pointer arguments, as NAME=N.
        include: folders of headers. others: further C files.
        define: macros, as NAME=TEXT.
        targets: of cycles, area and power those to compute, none for all. without: those to leave out.
        on_step: called with the file and the step that begins.
    Returns: the rows of `simfoundry label`; a failed design has its status and reason.
    Raises:  ProgramError, HlsError, SynthesisError, FoundryError: an input is not acceptable.
             ToolMissing: a tool is not installed; nothing was begun.
    """
    from assets.user_programs import SourceOptions
    from simfoundry.commands.label import Question, chosen_targets, label_path

    with _files(source, options, data) as (path, directives, values):
        question = Question(
            top=top,
            directives=directives,
            memory_delay=options.memory_delay,
            write_delay=options.write_delay,
            unsafe_math=options.unsafe_math,
            unit_limits=options.limit_texts,
            clock=options.clock_ns,
            data=values,
            liberty=options.liberty,
            tools=tuple(tools),
            report=report,
            source=SourceOptions(
                define=tuple(define),
                include=tuple(include),
                others=tuple(others),
                ranges=tuple(ranges),
                sizes=tuple(sizes),
            ),
            targets=chosen_targets(targets, without),
            **({} if on_step is None else {"on_step": on_step}),
        )
        return label_path(path, question)


def predict(
    source: str | Path,
    top: str | None = None,
    *,
    model: str | None = None,
    options: Options = _DEFAULTS,
    data: Mapping[str, Any] | Path | None = None,
) -> Answer:
    """Ask a model about a C program under one configuration.

    Args:
        source: C text or a C file.
        top: function that becomes hardware; None for the one the program is about.
        model: NAME@ALIAS, or a folder of a trained one. None for the champion with the lowest reference error
            among those that know most of the design and can answer.
        data: value of every argument, or a JSON file of them, for models that read data.
    Returns: a value per target with its interval, the engine's own estimates, the confidence, what is outside
             training, and where the answer is from: model, version, release and level of information.
    Raises:  FoundryError: no such model, or none can answer. ProgramError, HlsError: an input is not
             acceptable.
    """
    from simfoundry.commands.predict import predict_file

    with _files(source, options, data) as (path, directives, values):
        return predict_file(
            file=path,
            top=top,
            directives=directives,
            memory_delay=options.memory_delay,
            clock=options.clock_ns,
            model=model,
            data=values,
        )


def pragmas(
    source: str | Path,
    top: str | None = None,
    *,
    target: str = PRAGMA_DEFAULTS.target,
    define: Sequence[str] = PRAGMA_DEFAULTS.define,
    evaluate: int = PRAGMA_DEFAULTS.evaluate,
    reports: Path | None = PRAGMA_DEFAULTS.reports,
    area: float | None = PRAGMA_DEFAULTS.area,
    partitions: int | None = PRAGMA_DEFAULTS.partitions,
    ordered_sums: bool = PRAGMA_DEFAULTS.ordered_sums,
    fine_only: bool = PRAGMA_DEFAULTS.fine_only,
    power: bool = PRAGMA_DEFAULTS.power,
    style: str | None = PRAGMA_DEFAULTS.style,
    solver_timeout: float = PRAGMA_DEFAULTS.solver_timeout,
    hls_timeout: float = PRAGMA_DEFAULTS.hls_timeout,
    together: int = PRAGMA_DEFAULTS.together,
    out: Path | None = PRAGMA_DEFAULTS.out,
) -> Answer:
    """Find the best directives of a C program, with a proven lower bound on its latency.

    Args:
        source: C text or a C file. top: function that becomes hardware; None for the one it is about.
        target: simfoundry, u200 (Merlin and Vitis HLS) or a JSON file of a target.
        define: macros, as NAME=TEXT.
        evaluate: most designs that are measured; 0 recommends by the engine's estimate.
        reports: folder of synthesis reports, for targets other than simfoundry.
        area: most area of a design in mm2. partitions: most partitions of an array. None for no limit.
        ordered_sums: floating sums keep their order. fine_only: copies only inside pipelined loops.
        power: estimate the power of the designs of the answer.
        style: simfoundry, merlin or vitis pragmas; None for those of the target's tool.
        solver_timeout: s of the solver, each time. hls_timeout: s of processor time of a design.
        together: designs measured at a time.
        out: file for the recommended design's annotated C.
    Returns: the answer of `simfoundry pragmas --json`: `directives` as `Options.directives` takes them, the
             `recommended`, `plain` and best `designs`, the `bound` by part, the annotated `source`.
    Raises:  FoundryError, PragmaError, HlsError, ProgramError: an input is not acceptable.
    """
    from simfoundry.commands.pragmas import PragmaQuestion, answer_pragmas, pragma_json

    options = PragmaOptions(
        target=target,
        define=tuple(define),
        evaluate=evaluate,
        reports=reports,
        area=area,
        partitions=partitions,
        ordered_sums=ordered_sums,
        fine_only=fine_only,
        power=power,
        style=style,
        solver_timeout=solver_timeout,
        hls_timeout=hls_timeout,
        together=together,
        out=out,
    )
    with _files(source, _DEFAULTS, None) as (path, *_):
        question = PragmaQuestion(file=path, top=top, options=options)
        return pragma_json(answer_pragmas(question), question)


def network(*, flows: Path | None = None, **request: Any) -> Answer:
    """Estimate the latency of every flow of a network.

    Args:    flows: file for the latency of each flow. request: fields of
             `pipelines.network.estimation.NetworkRequest`, such as pods=4, load=0.5.
    Returns: the answer of `simfoundry network --json`.
    Raises:  FoundryError, NetworkError: an option, a file or the load is not acceptable.
    """
    from pipelines.network.estimation import NetworkRequest
    from simfoundry.commands.network import answer_network

    return answer_network(NetworkRequest(**request), flows=flows)


@contextmanager
def _files(
    source: str | Path, options: Options, data: Mapping[str, Any] | Path | None
) -> Iterator[tuple[Path, Path | None, Path | None]]:
    """The source, the directives and the data as files; texts are written for as long as they are needed."""
    with tempfile.TemporaryDirectory(prefix="simfoundry-") as folder:
        path = source
        if isinstance(source, str) and any(mark in source for mark in "{;\n"):
            path = _written(Path(folder) / "program.c", source)
        directives = options.directives
        if not isinstance(directives, Path):
            listed = json.dumps([dict(d) for d in directives])
            directives = _written(Path(folder) / "directives.json", listed) if directives else None
        if data is not None and not isinstance(data, Path):
            data = _written(Path(folder) / "data.json", json.dumps(dict(data)))
        yield Path(path), directives, data


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path

"""`simfoundry simulate`: a design, cycle by cycle, with random or given inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow.csv import write_csv
from pyarrow.parquet import write_table

from assets.deployments import find_deployment
from assets.errors import FoundryError
from pipelines.base.folders import replacing_file
from pipelines.base.limited import reading
from pipelines.base.tools import stopwatch
from pipelines.rtl.reuse import ENGINES, REUSE, Program, RunResult, Simulator, words_of
from pipelines.rtl.reuse.choice import installed_engines
from pipelines.rtl.reuse.gpu_engines import CUDA, HETERO, build_cuda, build_hetero
from pipelines.rtl.reuse.projects import Project, ProjectFiles, read_project
from pipelines.rtl.reuse.schedules import read_clocks
from pipelines.rtl.reuse.state import (
    Toggles,
    count_toggles,
    load_memory,
    read_checkpoint,
    read_image,
    write_checkpoint,
)
from pipelines.rtl.reuse.stimulus import read_stimulus
from pipelines.rtl.reuse.waveform import (
    Choice,
    choose_signals,
    traced_signals,
    write_fst,
    write_vcd,
)
from simfoundry.commands.predict import ask_model
from simfoundry.commands.rtl_project import (
    existing_files,
    naming_file,
    naming_memory_files,
    project_files,
    project_label,
    source_of,
)
from simfoundry.questions import RTL_ENGINES, SimulateQuestion

AUTO, PICKER = "auto", "rtl-engine"
SHORT_RUN_CYCLES = 100_000
"""Cycles below which asking the picker takes longer than it can save."""
_OUTPUTS = ("vcd", "fst", "toggles", "checkpoint")
TRACE_LIMIT_BYTES = 1 << 30
"""Limit on the values of ports from which a waveform is written."""
_BUILD_LIMIT_S = 3600.0
_BUILDERS = {**ENGINES, CUDA: build_cuda, HETERO: build_hetero}


def answer_simulate(question: SimulateQuestion) -> dict[str, Any]:
    """Build the simulator, unless it was built before, and run it.

    Raises: RtlError: the design or its inputs are not acceptable. FoundryError: an option is not acceptable.
            ToolMissing: a tool of the engine is not installed.
    """
    _require_options(question)
    named = project_files(question)
    with naming_file(named):
        return _answer(question, named)


def _answer(question: SimulateQuestion, named: ProjectFiles) -> dict[str, Any]:
    with reading(f"the design {project_label(named)}"):
        project = read_project(named)
    _require_other_outputs(question, project)
    clocks = read_clocks(question.clock)
    engine, engine_reason = _choose_engine(question, project, project_label(named))
    start = stopwatch()
    own: dict[str, Any] = {}
    if engine == REUSE:
        own = {"threads": question.threads, "batch": question.batch, "is_skipping": question.skip_idle}
        own["is_counting"] = question.toggles is not None
        own["is_apart"] = None if _may_try_layouts(question) else False
    with naming_memory_files(project):
        program = _BUILDERS[engine](
            project.text,
            top=project.top,
            folder=find_deployment().cache_dir / "simulators",
            stimuli=question.stimuli,
            timeout_s=_BUILD_LIMIT_S,
            **source_of(project, question, clocks),
            **own,
        )
    build_s = stopwatch() - start
    simulator = Simulator(program)
    _prepare(simulator, question)
    choice = choose_signals(simulator, project.top, question.signals)
    _require_memory(question, program, choice)
    start = stopwatch()
    result, toggles = _run(simulator, question)
    run_s = stopwatch() - start
    _write_waveforms(question, project.top, program, choice, result)
    if question.toggles is not None:
        _write_toggles(Path(question.toggles), toggles, question.cycles * question.stimuli)
    if question.checkpoint is not None:
        path = Path(question.checkpoint)
        with _writing("--checkpoint", path):
            write_checkpoint(simulator, path)
    return {
        "top": project.top,
        "engine": engine,
        "engine_reason": engine_reason,
        "front_end": program.front_end,
        "cycles": question.cycles,
        "stimuli": question.stimuli,
        "clock": program.ports.clock or ", ".join(program.ports.clocks) or None,
        "inputs": dict(program.ports.inputs),
        "outputs": dict(program.ports.outputs),
        "digests": [f"{int(digest):016x}" for digest in result.digests],
        "build_s": round(build_s, 3),
        "run_s": round(run_s, 3),
        "cycles_per_second": round(question.cycles * question.stimuli / max(run_s, 1e-9)),
        "program_bytes": program.bytes,
        "vcd": None if question.vcd is None else str(question.vcd),
        "fst": None if question.fst is None else str(question.fst),
        "toggles": _toggle_sums(toggles) if question.toggles is not None else None,
    }


def _require_other_outputs(question: SimulateQuestion, project: Project) -> None:
    """Refuse an output that is a file of the design, which a file list may name."""
    for option in _OUTPUTS:
        path = getattr(question, option)
        if path is not None and any(
            Path(path).exists() and file.samefile(path) for file in existing_files(project)
        ):
            raise FoundryError(f"--{option} {path} is a file of the design; accepted: another file")


def _require_options(question: SimulateQuestion) -> None:
    if question.engine not in RTL_ENGINES:
        raise FoundryError(f"unknown engine: {question.engine}; accepted: {', '.join(RTL_ENGINES)}")
    if question.inputs is not None and question.stimuli != 1:
        raise FoundryError(f"--inputs with {question.stimuli} stimuli; accepted: 1")
    for option in _OUTPUTS:
        path = getattr(question, option)
        if path is not None and not Path(path).parent.is_dir():
            raise FoundryError(f"no such folder: {Path(path).parent} (--{option} {path})")
    is_reuse = question.engine in (AUTO, REUSE)
    if not is_reuse and (question.threads, question.batch) != (1, 1):
        raise FoundryError(f"--threads or --batch with engine {question.engine}; accepted: {REUSE}")
    if not is_reuse and question.skip_idle:
        raise FoundryError(f"--skip-idle with engine {question.engine}; accepted: {REUSE}")
    if question.toggles is not None:
        if Path(question.toggles).suffix not in (".csv", ".parquet"):
            raise FoundryError(f"--toggles {question.toggles}; accepted: a .csv or .parquet file")
        for option in ("vcd", "fst", "resume"):
            if getattr(question, option) is not None:
                raise FoundryError(f"--toggles and --{option} are mutually exclusive")
    if question.resume is not None and question.seed != 0:
        raise FoundryError(
            "--seed with --resume; accepted: without, the checkpoint goes on with its own inputs"
        )
    if question.signals and question.vcd is None and question.fst is None:
        raise FoundryError("--signals without a waveform; accepted: with --vcd or --fst")
    for text in question.memory:
        if "=" not in text:
            raise FoundryError(f"--memory {text}; accepted: NAME=FILE, such as top.u.words=image.hex")


def _choose_engine(question: SimulateQuestion, project: Project, label: str) -> tuple[str, str]:
    """Return the engine, and why it is taken."""
    if question.engine != AUTO:
        return question.engine, "asked for"
    if question.cycles * question.stimuli < SHORT_RUN_CYCLES:
        return REUSE, f"shortest build, for runs below {SHORT_RUN_CYCLES:,} cycles"
    has_own = (
        question.threads > 1
        or question.batch > 1
        or question.skip_idle
        or bool(project.files or question.clock)
    )
    if question.stimuli > 1 or has_own or _has_state_options(question):
        return REUSE, "it has all options and stimuli side by side"
    row = {
        "verilog": project.text,
        "top": project.top,
        "cycles": question.cycles,
        "engines": " ".join(installed_engines()),
    }
    try:
        answer = ask_model(PICKER, "champion", row, label)
    except FoundryError as error:
        return REUSE, f"no answer of {PICKER}@champion: {str(error).partition(';')[0]}"
    return str(answer["engine"]), f"{PICKER}@champion expects these seconds: {answer['alternatives']}"


def _may_try_layouts(question: SimulateQuestion) -> bool:
    """Tell whether to try the faster layout of stimuli; a checkpoint needs the same one in all runs."""
    is_long = question.cycles * question.stimuli >= SHORT_RUN_CYCLES
    return is_long and question.checkpoint is None and question.resume is None


def _has_state_options(question: SimulateQuestion) -> bool:
    options = (question.memory, question.toggles, question.checkpoint, question.resume, question.signals)
    return any(bool(option) for option in options)


def _is_traced(question: SimulateQuestion) -> bool:
    return question.vcd is not None or question.fst is not None


def _require_memory(question: SimulateQuestion, program: Program, choice: Choice) -> None:
    if not _is_traced(question) and question.inputs is None:
        return
    words = len(words_of(program.ports.inputs)) + len(words_of(program.ports.outputs))
    needed = 8 * (words * question.stimuli + len(choice.registers))
    if needed * question.cycles > TRACE_LIMIT_BYTES:
        most = TRACE_LIMIT_BYTES // needed
        raise FoundryError(f"{question.cycles} cycles with --vcd, --fst or --inputs; accepted: up to {most}")


def _prepare(simulator: Simulator, question: SimulateQuestion) -> None:
    """Load the state of a checkpoint, then memory images."""
    if question.resume is not None:
        read_checkpoint(simulator, Path(question.resume))
    for text in question.memory:
        name, _, path = text.partition("=")
        load_memory(simulator, name, read_image(Path(path)))


def _run(simulator: Simulator, question: SimulateQuestion) -> tuple[RunResult, list[Toggles]]:
    inputs = None
    if question.inputs is not None:
        inputs = read_stimulus(Path(question.inputs), simulator.program.ports, question.cycles)
    draws = {"seed": question.seed, "reset_cycles": question.reset_cycles}
    if question.toggles is not None:
        return count_toggles(simulator, question.cycles, inputs=inputs, **draws)
    if inputs is not None:
        return simulator.play(inputs), []
    return simulator.run(question.cycles, is_traced=_is_traced(question), **draws), []


def _write_waveforms(
    question: SimulateQuestion, top: str, program: Program, choice: Choice, result: RunResult
) -> None:
    if not _is_traced(question):
        return
    clock = f"{top}.{program.ports.clock}" if program.ports.clock else ""
    signals = traced_signals(top, program.ports, choice, result)
    if question.vcd is not None:
        path = Path(question.vcd)
        with _writing("--vcd", path), replacing_file(path) as new:
            write_vcd(new, clock, signals)
    if question.fst is not None:
        path = Path(question.fst)
        with _writing("--fst", path), replacing_file(path) as new:
            write_fst(new, clock, signals)


@contextmanager
def _writing(option: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FoundryError(f"cannot write {option} {path}: {error.strerror}") from error


def _write_toggles(path: Path, rows: Sequence[Toggles], cycles: int) -> None:
    """Write a row per signal; the rate is toggles per bit and cycle."""
    table = pa.Table.from_pylist(
        [{**asdict(row), "toggle_rate": row.toggles / (row.width * cycles)} for row in rows]
    )
    with _writing("--toggles", path), replacing_file(path) as new:
        if path.suffix == ".parquet":
            write_table(table, new)
        else:
            write_csv(table, new)


def _toggle_sums(rows: Sequence[Toggles]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for row in rows:
        sums[row.kind] = sums.get(row.kind, 0) + row.toggles
    return sums


def _toggle_text(sums: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} of {kind}s" for kind, count in sums.items())


def simulate_text(answer: Mapping[str, Any]) -> str:
    """Return the answer as text."""
    shown = answer["digests"][:4]
    more = len(answer["digests"]) - len(shown)
    kind = "stimulus" if answer["stimuli"] == 1 else "stimuli"
    plain = {
        "design": f"{answer['top']}: {len(answer['inputs'])} inputs, {len(answer['outputs'])} outputs, "
        f"clock {answer['clock'] or 'none'}"
        + (f", read by {answer['front_end']}" if answer["front_end"] else ""),
        "engine": f"{answer['engine']}, {answer['program_bytes'] / 1024:,.0f} KiB, "
        f"ready in {answer['build_s']:.2f} s ({answer['engine_reason']})",
        "run": f"{answer['cycles']:,} cycles of {answer['stimuli']} {kind} in {answer['run_s']:.3f} s, "
        f"{answer['cycles_per_second']:,} per second",
        "digests": " ".join(shown) + (f" and {more} more" if more else ""),
        **({"waveform": answer["vcd"] or answer["fst"]} if answer["vcd"] or answer["fst"] else {}),
        **({"toggles": _toggle_text(answer["toggles"])} if answer["toggles"] else {}),
    }
    return "\n".join(f"{name:<10} {text}" for name, text in plain.items())

"""`simfoundry simulate`: a design, cycle by cycle, with random or given inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assets.deployments import find_deployment
from assets.errors import FoundryError
from pipelines.rtlreuse import ENGINES, REUSE, Program, RunResult, Simulator, language_of, words_of
from pipelines.rtlreuse.stimulus import read_stimulus
from pipelines.rtlreuse.waveform import write_vcd
from pipelines.tools import stopwatch

AUTO = "auto"
TRACE_LIMIT_BYTES = 1 << 30
"""Of the values of ports that a waveform is written from."""
_BUILD_LIMIT_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateQuestion:
    """The options of the command, see its help."""

    file: Path
    top: str
    cycles: int
    stimuli: int = 1
    engine: str = AUTO
    seed: int = 0
    inputs: Path | None = None
    vcd: Path | None = None
    reset_cycles: int = 2


def answer_simulate(question: SimulateQuestion) -> dict[str, Any]:
    """Build the simulator, unless it was built before, and run it.

    Raises: RtlError: the design or its inputs are not acceptable. FoundryError: an option is not acceptable.
            ToolMissing: a tool of the engine is not installed.
    """
    _require_options(question)
    engine = REUSE if question.engine == AUTO else question.engine
    start = stopwatch()
    program = ENGINES[engine](
        _text(question.file),
        top=question.top,
        folder=find_deployment().cache_dir / "simulators",
        stimuli=question.stimuli,
        timeout_s=_BUILD_LIMIT_S,
        language=language_of(question.file),
    )
    build_s = stopwatch() - start
    _require_memory(question, program)
    simulator = Simulator(program)
    start = stopwatch()
    result = _run(simulator, question)
    run_s = stopwatch() - start
    if question.vcd is not None:
        _write_waveform(question.vcd, question, program, result)
    return {
        "top": question.top,
        "engine": engine,
        "cycles": question.cycles,
        "stimuli": question.stimuli,
        "clock": program.ports.clock,
        "inputs": dict(program.ports.inputs),
        "outputs": dict(program.ports.outputs),
        "digests": [f"{int(digest):016x}" for digest in result.digests],
        "build_s": round(build_s, 3),
        "run_s": round(run_s, 3),
        "cycles_per_second": round(question.cycles * question.stimuli / max(run_s, 1e-9)),
        "program_bytes": program.bytes,
        "vcd": None if question.vcd is None else str(question.vcd),
    }


def _require_options(question: SimulateQuestion) -> None:
    if question.engine not in (AUTO, *ENGINES):
        raise FoundryError(f"unknown engine: {question.engine}; accepted: {', '.join((AUTO, *ENGINES))}")
    if question.inputs is not None and question.stimuli != 1:
        raise FoundryError(f"--inputs with {question.stimuli} stimuli; accepted: 1")
    if question.vcd is not None and not question.vcd.parent.is_dir():
        raise FoundryError(f"no such folder: {question.vcd.parent} (--vcd {question.vcd})")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise FoundryError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FoundryError(f"cannot read {path}: not UTF-8 text (byte {error.start})") from error


def _require_memory(question: SimulateQuestion, program: Program) -> None:
    if question.vcd is None and question.inputs is None:
        return
    words = len(words_of(program.ports.inputs)) + len(words_of(program.ports.outputs))
    needed = 8 * words * question.stimuli * question.cycles
    if needed > TRACE_LIMIT_BYTES:
        most = TRACE_LIMIT_BYTES // (8 * words * question.stimuli)
        raise FoundryError(f"{question.cycles} cycles with --vcd or --inputs; accepted: up to {most}")


def _run(simulator: Simulator, question: SimulateQuestion) -> RunResult:
    if question.inputs is not None:
        return simulator.play(read_stimulus(question.inputs, simulator.program.ports, question.cycles))
    return simulator.run(
        question.cycles,
        seed=question.seed,
        reset_cycles=question.reset_cycles,
        is_traced=question.vcd is not None,
    )


def _write_waveform(path: Path, question: SimulateQuestion, program: Program, result: RunResult) -> None:
    try:
        write_vcd(path, question.top, program.ports, result)
    except OSError as error:
        raise FoundryError(f"cannot write --vcd {path}: {error.strerror}") from error


def simulate_text(answer: Mapping[str, Any]) -> str:
    """The answer for a person."""
    shown = answer["digests"][:4]
    more = len(answer["digests"]) - len(shown)
    plain = {
        "design": f"{answer['top']}: {len(answer['inputs'])} inputs, {len(answer['outputs'])} outputs, "
        f"clock {answer['clock'] or 'none'}",
        "engine": f"{answer['engine']}, {answer['program_bytes'] / 1024:,.0f} KiB, "
        f"ready in {answer['build_s']:.2f} s",
        "run": f"{answer['cycles']:,} cycles of {answer['stimuli']} stimuli in {answer['run_s']:.3f} s, "
        f"{answer['cycles_per_second']:,} per second",
        "digests": " ".join(shown) + (f" and {more} more" if more else ""),
        **({"waveform": answer["vcd"]} if answer["vcd"] else {}),
    }
    return "\n".join(f"{name:<10} {text}" for name, text in plain.items())

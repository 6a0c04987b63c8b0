"""`simfoundry pragmas`: the best directives of a C program, with a proof."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assets.commands.aligned import aligned_lines
from assets.commands.programs import read_user_program
from assets.deployments import find_deployment
from assets.errors import FoundryError
from pipelines.cache import ContentCache
from pipelines.hls import HlsOptions, TransformOptions
from pipelines.pragmas import Configuration, Summary
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import Bound, Target, bound, read_target
from pipelines.pragmas.nlp import INFEASIBLE, SearchOptions, Solution, solve
from pipelines.pragmas.search import (
    EVALUATED,
    STYLES,
    Evaluator,
    Exploration,
    LadderOptions,
    OwnHls,
    RecordedReports,
    Step,
    annotate,
    explore,
    hls_directives,
    strips_design,
)
from pipelines.programs import program_from_file
from pipelines.schemas import ProgramRow
from pipelines.tools import stopwatch

OWN = "simfoundry"
AREA_UNITS_A_MM2 = 1000
"""What the target counts in place of DSP blocks: 1000 um2 of area."""
STEP_HEAD = ("step", "partitions", "copies", "decision", "bound", "measured", "status", "best")
PART_HEAD = ("part", "what", "cycles", "critical", "limit")


@dataclass(frozen=True, slots=True, kw_only=True)
class PragmaQuestion:
    """The options of the command, see its help."""

    file: Path
    top: str | None
    target: str
    define: tuple[str, ...]
    evaluate: int
    reports: Path | None
    area: float | None
    partitions: int | None
    ordered_sums: bool
    fine_only: bool
    style: str
    solver_timeout: float
    hls_timeout: float
    together: int
    out: Path | None


def answer_pragmas(question: PragmaQuestion) -> dict[str, Any]:
    """Find the directives, and measure designs when that is asked for.

    Returns: the annotated C, the configuration, its bound by part, and the log of what was tried.
    Raises:  FoundryError, PragmaError, HlsError, ProgramError: an input is not acceptable, the program is
             outside the class that is supported, or no design is feasible.
    """
    program, text = _read(question)
    target = _target(question)
    summary = summarise(program.source, program.top, file=question.file.name)
    options = SearchOptions(
        most_partitions=question.partitions,
        fine_only=question.fine_only,
        time_limit_s=question.solver_timeout,
    )
    start = stopwatch()
    solution = solve(summary, target, options)
    solver_s = stopwatch() - start
    if solution.configuration is None:
        raise FoundryError(_no_design(solution, question))
    searched = _search(question, program, summary, target)
    chosen = _chosen(searched, solution)
    annotated = annotate(text, summary, chosen, style=question.style)
    strips = _strips(text, summary, chosen, searched)
    if strips is not None:
        annotated = strips["source"]
    if question.out is not None:
        _write(question.out, annotated)
    return {
        "file": str(question.file),
        "top": program.top,
        "target": target.name,
        "solution": _solution(solution, solver_s),
        "bound": _bound(bound(summary, chosen, target)),
        "loops": _loops(summary, chosen),
        "exploration": None if searched is None else _exploration(searched),
        "source": annotated,
        **_directives(question, summary, chosen),
        **(strips or {}),
    }


def pragma_text(answer: Mapping[str, Any], question: PragmaQuestion) -> str:
    """The answer as text: the annotated C unless it went to a file, then bound, gap and log."""
    found, proof = answer["bound"], answer["solution"]
    lines = [] if question.out is not None else [answer["source"].rstrip("\n"), ""]
    if answer.get("strips"):
        lines += ["factors are strips in the text; its directives:", answer["directives"], ""]
    gap = "no gap is known" if proof["gap"] is None else f"gap {100 * proof['gap']:.2f} %"
    kind = "proven least" if proof["status"] == "optimal" else gap
    lines.append(
        f"bound {found['latency_cycles']:,.0f} cycles on {answer['target']}: computation "
        f"{found['computation_cycles']:,.0f}, transfer {found['transfer_cycles']:,.0f}; the best bound is "
        f"{proof['latency_cycles']:,.0f} ({kind}, {proof['solver_s']:.2f} s)"
    )
    lines += ["", *aligned_lines([PART_HEAD, *([str(p[n]) for n in PART_KEYS] for p in found["parts"])])]
    if answer["exploration"] is not None:
        lines += ["", *_exploration_lines(answer["exploration"], proof)]
    if question.out is not None:
        lines += ["", f"written to {question.out}"]
    return "\n".join(lines)


PART_KEYS = ("place", "kind", "cycles", "critical", "limit")


# ---- the question ----------------------------------------------------------------------------------------


def _read(question: PragmaQuestion) -> tuple[ProgramRow, str]:
    """The program, and the text of its own file."""
    if question.style not in STYLES:
        raise FoundryError(f"a style must be one of {', '.join(STYLES)}, got {question.style}")
    program = read_user_program(question.file, question.top, define=question.define)
    text = program_from_file(question.file, top=program.top).source
    return program, text.replace("\r\n", "\n").replace("\r", "\n")


def _target(question: PragmaQuestion) -> Target:
    target = read_target(question.target)
    if question.ordered_sums:
        target = target.ordered()
    if question.area is None:
        return target
    if question.target != OWN:
        raise FoundryError(f"--area is for target {OWN}, got target {question.target}")
    return replace(target, dsp_available=int(question.area * AREA_UNITS_A_MM2))


def _search(
    question: PragmaQuestion, program: ProgramRow, summary: Summary, target: Target
) -> Exploration | None:
    if question.evaluate == 0:
        return None
    evaluator = _evaluator(question, program, summary, target)
    options = LadderOptions(
        together=question.together,
        solver_timeout_s=question.solver_timeout,
        most_evaluations=question.evaluate,
        proof_evaluations=question.evaluate,
        most_copies=evaluator.most_copies if isinstance(evaluator, OwnHls) else None,
        design_s=evaluator.timeout_s if isinstance(evaluator, OwnHls) else None,
        size=evaluator.size if isinstance(evaluator, OwnHls) else None,
    )
    return explore(summary, target, evaluator, options)


def _evaluator(question: PragmaQuestion, program: ProgramRow, summary: Summary, target: Target) -> Evaluator:
    if question.reports is not None:
        if not question.reports.is_dir():
            raise FoundryError(f"reports must be in a folder, got none at {question.reports}")
        return RecordedReports(folder=question.reports, summary=summary, target=target)
    if question.target != OWN:
        raise FoundryError(
            f"--evaluate measures target {OWN}; for {question.target} give --reports, a folder with one of "
            "synthesis reports for each configuration"
        )
    return OwnHls(
        program=program,
        summary=summary,
        cache=ContentCache(folder=find_deployment().cache_dir),
        base=HlsOptions(transforms=TransformOptions(unsafe_math=not question.ordered_sums)),
        timeout_s=question.hls_timeout,
        most_area_um2=None if question.area is None else question.area * 1e6,
    )


def _chosen(searched: Exploration | None, solution: Solution) -> Configuration:
    """The best measured configuration, else the one with the least bound."""
    best = None if searched is None else searched.best
    found = solution.configuration if best is None else best.configuration
    if found is None:
        raise FoundryError("a solution must have a configuration, got none")
    return found


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FoundryError(
            f"--out must be a file that can be written, got {error.strerror} ({path})"
        ) from error


# ---- the answer ------------------------------------------------------------------------------------------


def _no_design(solution: Solution, question: PragmaQuestion) -> str:
    if solution.status == INFEASIBLE:
        clash = " and ".join(solution.clashing) or "the constraints"
        return f"some design must be feasible, got none, for {clash} clash ({question.file})"
    limit = f"{question.solver_timeout:g} s"
    return f"the solver must find a design within {limit}, got none ({question.file}); raise --solver-timeout"


def _solution(solution: Solution, solver_s: float) -> dict[str, Any]:
    return {
        "status": solution.status,
        "latency_cycles": solution.latency_cycles,
        "lower_bound_cycles": solution.lower_bound,
        "gap": None if solution.gap is None or math.isinf(solution.gap) else solution.gap,
        "solver_s": round(solver_s, 3),
    }


def _bound(found: Bound) -> dict[str, Any]:
    return {
        "latency_cycles": found.latency_cycles,
        "computation_cycles": found.computation_cycles,
        "transfer_cycles": found.transfer_cycles,
        "dsp_count": found.dsp_count,
        "onchip_bits": found.onchip_bits,
        "parts": [
            {
                "place": part.place,
                "kind": part.kind,
                "cycles": round(part.cycles, 1),
                "critical": part.critical,
                "limit": part.limit,
            }
            for part in found.parts
        ],
    }


def _loops(summary: Summary, chosen: Configuration) -> list[dict[str, Any]]:
    return [
        {
            "loop": name,
            "line": loop.line,
            "pipeline": chosen.of(name).pipeline,
            "unroll": chosen.of(name).unroll,
            "tile": chosen.of(name).tile,
        }
        for name, loop in summary.loops.items()
    ]


def _directives(question: PragmaQuestion, summary: Summary, chosen: Configuration) -> dict[str, Any]:
    """Directives that `simfoundry label --directives` takes, for the target that it measures."""
    if question.target != OWN:
        return {}
    from pipelines.hls import directives_json

    return {"directives": directives_json(hls_directives(summary, chosen))}


def _strips(
    text: str, summary: Summary, chosen: Configuration, searched: Exploration | None
) -> dict[str, Any] | None:
    """The text with strips and its directives, where the best design was measured so."""
    best = None if searched is None else searched.best
    if best is None or best.evaluation is None or not best.evaluation.strips:
        return None
    from pipelines.hls import directives_json

    found = strips_design(text, summary, chosen)
    if found is None:
        raise FoundryError("a text that was measured with strips must have some, got none")
    return {"source": found[0], "directives": directives_json(found[1]), "strips": True}


def _exploration(searched: Exploration) -> dict[str, Any]:
    lowest = searched.lower_bound_cycles
    return {
        "lower_bound_cycles": None if lowest is None or math.isinf(lowest) else lowest,
        "gap": searched.gap,
        "proven": searched.proven,
        "evaluated": sum(step.decision == EVALUATED for step in searched.steps),
        "steps": [_step(step) for step in searched.steps],
    }


def _step(step: Step) -> dict[str, Any]:
    measured = step.evaluation
    return {
        "step": step.index,
        "partitions": step.most_partitions,
        "copies": "fine" if step.fine_only else "coarse+fine",
        "decision": step.decision,
        "bound": step.bound_cycles,
        "measured": None if measured is None else measured.latency_cycles,
        "status": None if measured is None else measured.status,
        "reason": None if measured is None else measured.reason,
        "not_applied": [] if measured is None else list(measured.not_applied),
        "best": step.best_cycles,
    }


def _exploration_lines(found: Mapping[str, Any], proof: Mapping[str, Any]) -> list[str]:
    steps: Sequence[Mapping[str, Any]] = found["steps"]
    best = steps[-1]["best"] if steps else None
    lines = aligned_lines([STEP_HEAD, *([_cell(step[name]) for name in STEP_HEAD] for step in steps)])
    if best is None:
        return [*lines, "", f"{found['evaluated']} designs measured, none of them valid{_why(steps)}"]
    said = "proven best of the space" if found["proven"] else _gaps(best, found, proof)
    return [*lines, "", f"{found['evaluated']} designs measured, the best takes {best:,} cycles ({said})"]


def _why(steps: Sequence[Mapping[str, Any]]) -> str:
    """The reason that most designs were not valid for, with what may help."""
    reasons = Counter(step["reason"] for step in steps if step["reason"])
    if not reasons:
        return ""
    reason, times = reasons.most_common(1)[0]
    differs = "differs from native C" in reason
    hint = "; --ordered-sums keeps the order of floating sums" if differs else ""
    return f"; {times} of them: {reason}{hint}"


def _gaps(best: int, found: Mapping[str, Any], proof: Mapping[str, Any]) -> str:
    """How far the best measured design is from two bounds: of all designs, and of those within the limits."""
    said: list[str] = []
    if proof["lower_bound_cycles"]:
        least = proof["lower_bound_cycles"]
        said.append(f"gap {100 * (best / least - 1):.1f} % to the best bound within the limits, {least:,.0f}")
    if found["lower_bound_cycles"]:
        least = found["lower_bound_cycles"]
        said.append(f"{100 * (best / least - 1):.1f} % to that of any area not measured, {least:,.0f}")
    return "; ".join(said) or "no bound is known"


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)

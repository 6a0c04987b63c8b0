"""`simfoundry pragmas`: the best directives of a C program, with a proof."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assets.deployments import find_deployment
from assets.errors import FoundryError
from assets.user_programs import SourceOptions, read_user_program
from pipelines.cache import ContentCache
from pipelines.pragmas.nlp import OPTIMAL
from pipelines.pragmas.search import (
    EVALUATED,
    REPEATED,
    DirectiveRequest,
    Exploration,
    Recommendation,
    Step,
    recommend,
)
from pipelines.programs import program_from_file
from simfoundry.commands.aligned import aligned_lines

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


def answer_pragmas(question: PragmaQuestion) -> Recommendation:
    """Find the directives, measure designs when that is asked for, and write the annotated C.

    Raises: FoundryError, PragmaError, HlsError, ProgramError: an input is not acceptable, the program is
            outside the supported class, or no design is feasible.
    """
    program = read_user_program(
        question.file, question.top, options=SourceOptions(define=tuple(question.define))
    )
    text = program_from_file(question.file, top=program.top).source
    request = DirectiveRequest(
        program=program,
        text=text.replace("\r\n", "\n").replace("\r", "\n"),
        file=question.file,
        target=question.target,
        ordered_sums=question.ordered_sums,
        most_area_um2=None if question.area is None else question.area * 1e6,
        most_partitions=question.partitions,
        fine_only=question.fine_only,
        style=question.style,
        evaluations=question.evaluate,
        reports=question.reports,
        solver_timeout_s=question.solver_timeout,
        hls_timeout_s=question.hls_timeout,
        together=question.together,
    )
    answer = recommend(request, cache=ContentCache(folder=find_deployment().cache_dir))
    if question.out is not None:
        try:
            question.out.write_text(answer.source, encoding="utf-8")
        except OSError as error:
            raise FoundryError(f"cannot write --out {question.out}: {error.strerror}") from error
    return answer


# ---- JSON ------------------------------------------------------------------------------------------


def pragma_json(answer: Recommendation, question: PragmaQuestion) -> dict[str, Any]:
    """The answer as JSON: the annotated C, the configuration, its bound by part, and the log."""
    solution, lower, chosen = answer.solution, answer.bound, answer.configuration
    return {
        "file": str(question.file),
        "top": answer.summary.top,
        "target": answer.target.name,
        "solution": {
            "status": solution.status,
            "latency_cycles": solution.latency_cycles,
            "lower_bound_cycles": solution.lower_bound,
            "gap": _finite(solution.gap),
            "solver_s": round(answer.solver_s, 3),
        },
        "bound": {
            "latency_cycles": lower.latency_cycles,
            "computation_cycles": lower.computation_cycles,
            "transfer_cycles": lower.transfer_cycles,
            "dsp_count": lower.dsp_count,
            "onchip_bits": lower.onchip_bits,
            "parts": [
                {
                    "place": part.place,
                    "kind": part.kind,
                    "cycles": round(part.cycles, 1),
                    "critical": part.critical,
                    "limit": part.limit,
                }
                for part in lower.parts
            ],
        },
        "loops": [
            {
                "loop": name,
                "line": loop.line,
                "pipeline": chosen.of(name).pipeline,
                "unroll": chosen.of(name).unroll,
                "tile": chosen.of(name).tile,
            }
            for name, loop in answer.summary.loops.items()
        ],
        "exploration": None if answer.exploration is None else _exploration_json(answer.exploration),
        "source": answer.source,
        **({} if answer.directives is None else {"directives": answer.directives}),
        **({"strips": True} if answer.strips else {}),
    }


def _exploration_json(exploration: Exploration) -> dict[str, Any]:
    return {
        "lower_bound_cycles": _finite(exploration.lower_bound_cycles),
        "gap": exploration.gap,
        "proven": exploration.proven,
        "evaluated": _evaluated(exploration),
        "steps": [_step_json(step) for step in exploration.steps],
    }


def _step_json(step: Step) -> dict[str, Any]:
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


def _evaluated(exploration: Exploration) -> int:
    return sum(step.decision == EVALUATED for step in exploration.steps)


def _finite(number: float | None) -> float | None:
    return None if number is None or math.isinf(number) else number


# ---- text ------------------------------------------------------------------------------------------


def pragma_text(answer: Recommendation, question: PragmaQuestion) -> str:
    """The answer as text: the annotated C unless it went to a file, then bound, gap and log."""
    lower, solution = answer.bound, answer.solution
    lines = [] if question.out is not None else [answer.source.rstrip("\n"), ""]
    if answer.strips:
        lines += ["factors are strips in the text; its directives:", answer.directives or "", ""]
    gap = _finite(solution.gap)
    kind = "gap unknown" if gap is None else f"gap {100 * gap:.2f} %"
    kind = "proven least" if solution.status == OPTIMAL else kind
    lines.append(
        f"bound {lower.latency_cycles:,.0f} cycles on {answer.target.name}: computation "
        f"{lower.computation_cycles:,.0f}, transfer {lower.transfer_cycles:,.0f}; the best bound is "
        f"{solution.latency_cycles or 0:,.0f} ({kind}, {answer.solver_s:.2f} s)"
    )
    parts = [(p.place, p.kind, str(round(p.cycles, 1)), str(p.critical), str(p.limit)) for p in lower.parts]
    lines += ["", *aligned_lines([PART_HEAD, *parts])] if parts else []
    if answer.exploration is not None:
        lines += ["", *_exploration_lines(answer, answer.exploration)]
    if question.out is not None:
        lines += ["", f"written to {question.out}"]
    return "\n".join(lines)


def _exploration_lines(answer: Recommendation, exploration: Exploration) -> list[str]:
    steps, count = exploration.steps, _evaluated(exploration)
    shown = [step for step in steps if step.decision != REPEATED]
    rows = [[_cell(_step_json(step)[name]) for name in STEP_HEAD] for step in shown]
    lines = [*aligned_lines([STEP_HEAD, *rows]), ""] if rows else []
    if len(shown) < len(steps):
        lines.append(f"{len(steps) - len(shown)} further steps repeat configurations above")
    best = steps[-1].best_cycles if steps else None
    if best is None:
        return [*lines, f"{count} designs measured, none of them valid{_common_reason(steps)}"]
    proof = "proven best of the space" if exploration.proven else _gaps(best, answer, exploration)
    return [*lines, f"{count} designs measured, the best takes {best:,} cycles ({proof})"]


def _common_reason(steps: Sequence[Step]) -> str:
    """The reason that most designs were not valid for, with what may help."""
    reasons = Counter(step.evaluation.reason for step in steps if step.evaluation and step.evaluation.reason)
    if not reasons:
        return ""
    reason, times = reasons.most_common(1)[0]
    differs = "differs from native C" in (reason or "")
    hint = "; --ordered-sums keeps the order of floating sums" if differs else ""
    return f"; {times} of them: {reason}{hint}"


def _gaps(best: int, answer: Recommendation, exploration: Exploration) -> str:
    """The gap of the best measured design to two bounds: within the limits, and of designs of any area."""
    gaps: list[str] = []
    if least := answer.solution.lower_bound:
        gaps.append(f"gap {100 * (best / least - 1):.1f} % to the best bound within the limits, {least:,.0f}")
    if least := _finite(exploration.lower_bound_cycles):
        gaps.append(f"{100 * (best / least - 1):.1f} % to that of any area not measured, {least:,.0f}")
    return "; ".join(gaps) or "no bound is known"


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)

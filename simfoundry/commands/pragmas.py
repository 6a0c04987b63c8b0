"""`simfoundry pragmas`: the best directives of a C program, with a proof."""

from __future__ import annotations

import json
import math
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assets.deployments import find_deployment
from assets.errors import FoundryError
from assets.source_options import SourceOptions
from assets.user_programs import read_user_program
from pipelines.base.cache import ContentCache
from pipelines.c import Directive, directives_json
from pipelines.pragmas import Configuration
from pipelines.pragmas.nlp import OPTIMAL
from pipelines.pragmas.search import (
    EVALUATED,
    OWN,
    CandidateDesign,
    DirectiveRequest,
    Exploration,
    Recommendation,
    Step,
    recommend,
)
from pipelines.programs import program_from_file
from pipelines.schemas import write_bytes_atomically
from simfoundry.commands.aligned import aligned_lines
from simfoundry.questions import PragmaQuestion

PART_HEAD = ("part", "what", "cycles", "critical", "limit")


def answer_pragmas(question: PragmaQuestion) -> Recommendation:
    """Find the directives, measure designs when that is asked for, and write the annotated C.

    Raises: FoundryError, PragmaError, HlsError, ProgramError: an input is not acceptable, the program is
            outside the supported class, or no design is feasible.
    """
    if question.out is not None:
        _require_writable(question.out)
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
        power=question.power,
        solver_timeout_s=question.solver_timeout,
        hls_timeout_s=question.hls_timeout,
        together=question.together,
    )
    answer = recommend(request, cache=ContentCache(folder=find_deployment().cache_dir))
    if question.out is not None:
        _write(question.out, answer)
    return answer


def _require_writable(out: Path) -> None:
    """Refuse a file that cannot be written, before a search that takes minutes."""
    if out.is_dir():
        raise FoundryError(f"cannot write --out {out}: a folder; accepted: a file")
    if not out.parent.is_dir():
        raise FoundryError(f"cannot write --out {out}: no such folder: {out.parent}")


def _write(out: Path, answer: Recommendation) -> None:
    if answer.source is None:
        raise FoundryError(
            f"cannot write --out {out}: a loop comes from a macro or another file, so its pragmas have no "
            "place in the text; accepted: the directives of the answer"
        )
    try:
        write_bytes_atomically(out, answer.source.encode())
    except OSError as error:
        raise FoundryError(f"cannot write --out {out}: {error.strerror}") from error


# ---- JSON ------------------------------------------------------------------------------------------


def pragma_json(answer: Recommendation, question: PragmaQuestion) -> dict[str, Any]:
    """Return the answer as JSON: the recommended design, other designs, bound by part, log, annotated C."""
    solution, lower, best = answer.solution, answer.bound, answer.recommended
    chosen = best.configuration or Configuration()
    return {
        "file": str(question.file),
        "top": answer.summary.top,
        "target": answer.target.name,
        "recommended": {**_design_json(best), "why": answer.why},
        "plain": None if answer.plain is None else _design_json(answer.plain),
        "designs": [_design_json(design) for design in answer.designs],
        "directives": _objects(best.directives),
        "strips": best.strips,
        "unsafe_math": answer.unsafe_math,
        "solution": {
            "status": solution.status,
            "latency_cycles": _at_least_one(solution.latency_cycles),
            "lower_bound_cycles": _at_least_one(solution.lower_bound),
            "gap": _finite(solution.gap),
            "solver_s": round(answer.solver_s, 3),
        },
        "bound": {
            "latency_cycles": _at_least_one(lower.latency_cycles),
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
    }


def _design_json(design: CandidateDesign) -> dict[str, Any]:
    return {
        "name": design.name,
        "measured": design.measured,
        "cycles": design.cycles,
        "area_um2": design.area_um2,
        "power_mw": design.power_mw,
        "dsp_count": design.dsp_count,
        "reason": design.reason,
        "directives": _objects(design.directives),
        "pragmas": list(design.pragmas),
        "strips": design.strips,
    }


def _objects(directives: Sequence[Directive]) -> list[dict[str, Any]]:
    """Return the directives as `simfoundry label --directives` reads them."""
    return json.loads(directives_json(directives))


def _exploration_json(exploration: Exploration) -> dict[str, Any]:
    return {
        "lower_bound_cycles": _at_least_one(exploration.lower_bound_cycles),
        "gap": exploration.gap,
        "proven": exploration.proven,
        "evaluated": len(_evaluated(exploration)),
        "steps": [_step_json(step) for step in exploration.steps],
    }


def _step_json(step: Step) -> dict[str, Any]:
    measured = step.evaluation
    return {
        "step": step.index,
        "partitions": step.most_partitions,
        "copies": "fine" if step.fine_only else "coarse+fine",
        "decision": step.decision,
        "bound": _at_least_one(step.bound_cycles),
        "measured": None if measured is None else measured.latency_cycles,
        "status": None if measured is None else measured.status,
        "reason": None if measured is None else measured.reason,
        "not_applied": [] if measured is None else list(measured.not_applied),
        "best": step.best_cycles,
    }


def _evaluated(exploration: Exploration) -> list[Step]:
    return [step for step in exploration.steps if step.decision == EVALUATED]


def _finite(number: float | None) -> float | None:
    return None if number is None or math.isinf(number) else number


def _at_least_one(cycles: float | None) -> float | None:
    """Return a bound on cycles; every call takes one."""
    finite = _finite(cycles)
    return None if finite is None else max(1.0, finite)


# ---- text ------------------------------------------------------------------------------------------


def pragma_text(answer: Recommendation, question: PragmaQuestion) -> str:
    """Return the answer as text: the recommended design beside others, then the bound by part.

    For our own synthesis it shows directives, for other tools the annotated C unless it went to a file.
    """
    out = question.out
    if answer.plain is not None:
        lines = [*_recommended_lines(answer, question), ""]
    else:
        lines = [] if out is not None else [(answer.source or "").rstrip("\n"), ""]
    if answer.plain is not None or answer.exploration is not None:
        lines += [*aligned_lines(_design_table(answer, question)), ""]
    if answer.exploration is not None:
        lines += [_exploration_line(answer, answer.exploration), ""]
    lines += [*_area_lines(answer, question), *smaller_lines(answer)]
    lines.append(_bound_line(answer, question))
    parts = [
        (p.place, p.kind, str(round(p.cycles, 1)), "yes" if p.critical else "no", str(p.limit))
        for p in answer.bound.parts
    ]
    lines += ["", *aligned_lines([PART_HEAD, *parts])] if parts else []
    if out is not None:
        lines += ["", f"written to {out}"]
    return "\n".join(lines)


def _recommended_lines(answer: Recommendation, question: PragmaQuestion) -> list[str]:
    """Return the recommended directives, and how to label their design."""
    best = answer.recommended
    if not best.directives:
        return [f"recommended for {answer.target.name}: the plain program, without directives; {answer.why}"]
    objects = [f"  {json.dumps(directive)}" for directive in _objects(best.directives)]
    rank = f", design {best.name}" if best.measured else ""
    lines = [f"recommended for {answer.target.name}{rank}:", "[", ",\n".join(objects), "]"]
    if best.strips and question.out is None:
        return [*lines, "factors are strips in the text: these directives are for the C that --out writes"]
    return [*lines, f"to label it: {_label_command(answer, question)}"]


LARGE = 4.0
"""Area over that of the plain program from which the answer says how much it is."""


def _area_lines(answer: Recommendation, question: PragmaQuestion) -> list[str]:
    """Return how much larger than the plain program the recommended design is, if its area is unlimited."""
    plain = None if answer.plain is None else answer.plain.area_um2
    area = answer.recommended.area_um2
    if question.area is not None or not plain or not area or area <= LARGE * plain:
        return []
    return [f"area: {area / plain:.1f} times that of the plain program; --area MM2 limits it", ""]


def smaller_lines(answer: Recommendation) -> list[str]:
    """Return the design that is nearly as fast at much less area."""
    small, best = answer.smaller, answer.recommended
    if small is None or not small.area_um2 or not best.area_um2 or not small.cycles or not best.cycles:
        return []
    more = 100 * (small.cycles / best.cycles - 1)
    words = f" ({'; '.join(small.pragmas)})" if small.pragmas else ""
    return [
        f"hint: design {small.name}{words} takes {small.cycles:,} cycles, {more:.1f} % more, at "
        f"{small.area_um2:,.0f} um2, {best.area_um2 / small.area_um2:.1f} times less area",
        "",
    ]


def _label_command(answer: Recommendation, question: PragmaQuestion) -> str:
    """Return the command that labels the recommended design."""
    words = ["simfoundry", "label"]
    if question.out is not None and question.style in (None, OWN):
        words.append(str(question.out))
    else:
        words += [str(question.file), "--directives", "DIRECTIVES.json"]
    words += [] if question.top is None else ["--top", question.top]
    words += [word for macro in question.define for word in ("--define", macro)]
    words += ["--unsafe-math"] if answer.unsafe_math else []
    return shlex.join(words)


def _design_table(answer: Recommendation, question: PragmaQuestion) -> list[list[str]]:
    """Return the designs of the answer, the plain program first; none that is over the limit on area."""
    designs = [*([] if answer.plain is None else [answer.plain]), *answer.designs]
    limit = None if question.area is None else question.area * 1e6
    designs = [d for d in designs if limit is None or d.fits(limit)]
    columns = {
        "design": [_name(design, answer) for design in designs],
        "cycles": [_number(design.cycles) for design in designs],
    }
    if answer.plain is not None:
        columns["area_um2"] = [_number(design.area_um2) for design in designs]
    else:
        columns["dsp_count"] = [_number(design.dsp_count) for design in designs]
    if question.power:
        columns["power_mw"] = ["-" if d.power_mw is None else f"{d.power_mw:.3g}" for d in designs]
    columns["cycles are"] = [_origin(design) for design in designs]
    if answer.exploration is not None:
        columns["directives"] = [_in_words(design) for design in designs]
    return [list(columns), *(list(row) for row in zip(*columns.values(), strict=True))]


def _name(design: CandidateDesign, answer: Recommendation) -> str:
    is_chosen = design is answer.recommended and answer.exploration is None and design is not answer.plain
    return "recommended" if is_chosen else design.name


def _origin(design: CandidateDesign) -> str:
    if design.cycles is None:
        return "not known" if design.reason is None else f"not known: {design.reason}"
    return "measured" if design.measured else "estimated"


def _in_words(design: CandidateDesign) -> str:
    return "; ".join(design.pragmas) + (" (as strips)" if design.strips else "")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def _bound_line(answer: Recommendation, question: PragmaQuestion) -> str:
    lower, solution = answer.bound, answer.solution
    gap = _finite(solution.gap)
    kind = "gap unknown" if gap is None else f"found {excess(1 + gap)} that"
    kind = "with any number of partitions" if question.partitions is not None else kind
    kind = "proven least" if solution.status == OPTIMAL else kind
    known = f"({kind}, {answer.solver_s:.2f} s)"
    own, best = _at_least_one(lower.latency_cycles), _at_least_one(solution.lower_bound)
    if answer.plain is None:
        return (
            f"bound {_number(own)} cycles on {answer.target.name}: computation "
            f"{lower.computation_cycles:,.0f}, transfer {lower.transfer_cycles:,.0f}; the best bound is "
            f"{_number(best)} {known}"
        )
    if answer.recommended.configuration is None:
        return f"bound: a configuration takes at least {_cycles(best)} {known}"
    return (
        f"bound: the recommended configuration takes at least {_cycles(own)}, any other at least "
        f"{_cycles(best)} {known}"
    )


def _cycles(number: float | None) -> str:
    return f"{_number(number)} cycle" + ("" if number == 1 else "s")


def excess(ratio: float) -> str:
    """Return how far cycles are above a bound, as text."""
    return f"{100 * (ratio - 1):.1f} % above" if ratio < 2 else f"{ratio:,.0f} times"


def _exploration_line(answer: Recommendation, exploration: Exploration) -> str:
    """Return how many designs were measured, how they ended, and how good the best one is."""
    steps = _evaluated(exploration)
    counts = Counter(step.evaluation.status for step in steps if step.evaluation is not None)
    measured = f"{len(steps)} design{'' if len(steps) == 1 else 's'} measured"
    measured += f" ({', '.join(f'{n} {status}' for status, n in sorted(counts.items()))})" if counts else ""
    best = exploration.steps[-1].best_cycles if exploration.steps else None
    if best is None:
        return f"{measured}, none of them valid{_common_reason(steps)}"
    proof = "proven best of the space" if exploration.proven else _gaps(best, answer, exploration)
    return f"{measured}, the best takes {best:,} cycles ({proof})"


def _common_reason(steps: Sequence[Step]) -> str:
    """Return the reason that most designs were not valid for, with what may help."""
    reasons = Counter(step.evaluation.reason for step in steps if step.evaluation and step.evaluation.reason)
    if not reasons:
        return ""
    reason, times = reasons.most_common(1)[0]
    differs = "differs from native C" in (reason or "")
    hint = "; --ordered-sums keeps the order of floating sums" if differs else ""
    return f"; {times} of them: {reason}{hint}"


def _gaps(best: int, answer: Recommendation, exploration: Exploration) -> str:
    """Compare the best measured design with two bounds: of all designs, and of the unmeasured ones."""
    gaps: list[str] = []
    if least := _at_least_one(answer.solution.lower_bound):
        gaps.append(f"{excess(best / least)} the best bound of any area, {least:,.0f}")
    if least := _at_least_one(exploration.lower_bound_cycles):
        gaps.append(f"{excess(best / least)} that of what was not measured, {least:,.0f}")
    return "; ".join(gaps) or "no bound is known"

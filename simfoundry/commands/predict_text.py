"""The answer of `simfoundry predict` in words: a line per target, and whether it lies in what was learned."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

LOOPS_SHOWN = 4
"""Loops of a program in the text of an answer."""
LABEL = "label"
"""Level of an answer that is the label itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Quantity:
    """How a target is printed. Attributes: unit: empty for a count, which is printed as an integer."""

    name: str
    unit: str = ""

    def text(self, value: float) -> str:
        return f"{self.number(value)} {self.unit}".rstrip()

    def number(self, value: float) -> str:
        """Return three significant digits, four of a count."""
        if self.unit:
            return f"{Decimal(f'{value:#.3g}'):,f}".rstrip(".")
        return f"{round(float(f'{value:.4g}')):,}"


QUANTITIES = {
    "area_um2": _Quantity(name="area", unit="µm²"),
    "flip_flop_count": _Quantity(name="flip-flops"),
    "latency_cycles": _Quantity(name="cycles"),
    "power_mw": _Quantity(name="power", unit="mW"),
    "delay_ns": _Quantity(name="longest path", unit="ns"),
}
"""Targets of predictors of labels, in the order of the answer."""

_SUBJECTS = (
    ("the memory delay", r"memory_(read|write)_delay_cycles|(read|write)_delay"),
    ("the clock period", r"clock_period_ns"),
    (
        "the directives",
        r"directive_.+|pipelined_.+|largest_interval|(unroll|parallel|bank)_product|"
        r"(flatten|tile|reduction|cache)_count",
    ),
    (
        "the loops",
        r"(innermost_|while_)?loop_(count|depth)|unknown_bound_count|loop_bound_\d|scheduled_loops|loops_.+|"
        r"(innermost_)?iterations|entries|longest_.+|trips_known|text_(iterations|loop_depth|unknown_loops)",
    ),
    (
        "the arguments and arrays",
        r"(written_)?array_.+|scalar_count|element_bits|dimension_\d|largest_array|local_bits|local_memory_bits|"
        r"text_(local|variable)_bits",
    ),
    (
        "the operations",
        r".+_(work|operators|at_once)|(written|units|rate|at_once)_.+|variables|text_active|"
        r"(block|adder|multiplier|divider|float_unit|functional_unit)_count|run_(load|store)_count",
    ),
    ("the cycles", r"(estimated|run|text)_cycles"),
    ("the power", r".*power_mw|run_.+_toggles|text_power"),
    ("the longest path", r"critical_path_ns"),
    (
        "the size of the design",
        r"rtl_bytes|(state|module|multiplexer|register|memory_port|memory_port_conflict)_count|register_bits|"
        r"(multiplexer|estimated)_area_um2|estimated_flip_flop_count|text_(area|bits)",
    ),
)
"""What features are about, by pattern of their names without `log_` or `log2_`."""


def subject_of(feature: str) -> str:
    """Return the subject of a feature in words; its name where no pattern fits."""
    name = re.sub(r"^log2?_", "", feature)
    return next((words for words, pattern in _SUBJECTS if re.fullmatch(pattern, name)), feature)


def range_note(outside: Sequence[str]) -> str:
    """Return a sentence on the features of a question that lie beyond the training programs' range."""
    if not outside:
        return "inside what was learned: every feature lies in the range of the training programs"
    subjects = ", ".join(dict.fromkeys(map(subject_of, outside)))
    return (
        f"outside what was learned: {subjects} beyond the range of the training programs; "
        "the values may be farther off than the intervals say"
    )


def prediction_text(answer: Mapping[str, Any]) -> str:
    """Return the answer as lines: a header, a line per target, notes."""
    rows = [_row(answer, target) for target in QUANTITIES if answer.get(target) is not None]
    widths = [max((len(row[n]) for row in rows), default=0) for n in range(3)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    notes = [
        answer.get("reason"),
        _end_note(answer),
        _trips_note(answer),
        answer.get("note"),
        _engine_note(answer),
        _loops_note(answer),
        _fallback_note(answer),
        _steps_note(answer),
    ]
    return "\n".join([_header(answer), *lines, *(note for note in notes if note)])


def _row(answer: Mapping[str, Any], target: str) -> tuple[str, str, str]:
    """Name, value with interval, and the engine's estimate of a target."""
    quantity, value = QUANTITIES[target], _value(answer, target)
    engine = answer.get(f"engine_{target}")
    return quantity.name, value, "" if engine is None else f"engine's estimate {quantity.text(engine)}"


def _value(answer: Mapping[str, Any], target: str) -> str:
    quantity = QUANTITIES[target]
    low, high = (answer.get(f"{target}_{end}") for end in ("low", "high"))
    value = quantity.text(answer[target])
    if target == "latency_cycles" and answer.get("not_ended"):
        return f"{value} or more"
    if low is None or high is None:
        return value
    return f"{value} ({quantity.number(low)} to {quantity.number(high)})"


def _header(answer: Mapping[str, Any]) -> str:
    error = answer.get("reference_error")
    if answer.get("level") == LABEL:
        return f"{answer.get('top')}: its label, by synthesis and simulation"
    facts = [f"level {answer.get('level')}", f"trained on {answer.get('release') or 'unknown data'}"]
    facts += [] if error is None else [f"reference error {error:.1%}"]
    return f"{answer.get('top')}: {answer.get('model')}, {', '.join(facts)}"


def _engine_note(answer: Mapping[str, Any]) -> str:
    reason = answer.get("engine_reason")
    return f"no engine's estimate: {reason}" if reason else ""


def _end_note(answer: Mapping[str, Any]) -> str:
    """Say in which loop the run passed its limit of cycles."""
    late = answer.get("not_ended")
    if not late:
        return ""
    place = f"{late['loop']} (line {late['line']})" if late["line"] else late["loop"]
    trips = late.get("trip_count")
    return (
        f"the run did not end within {late['cycle_limit']:,} cycles: it was in loop {place}, whose trip "
        f"count is {'unknown' if trips is None else f'{trips:,}'}; the cycles above are the least of a run "
        "that goes through it, not a count"
    )


def _trips_note(answer: Mapping[str, Any]) -> str:
    """Return the loops with an unknown trip count, and what fixes it."""
    late = (answer.get("not_ended") or {}).get("loop")
    unknown = [loop for loop in answer.get("unknown_loops") or () if loop["loop"] != late]
    loops = [f"{loop['loop']} (line {loop['line']})" for loop in unknown]
    if not loops:
        return ""
    return (
        f"unknown trip count: {', '.join(loops)}, assumed at 8 iterations; give the data with --data, or the "
        "ranges of arguments with #pragma simfoundry range NAME=LOW:HIGH"
    )


def _loops_note(answer: Mapping[str, Any]) -> str:
    """Say which loops have most of the area and of the cycles."""
    shares = answer.get("loop_shares") or ()
    if not any(share["loop"] for share in shares):
        return ""
    words = [
        f"{_loop_name(share)} {share['area_share']:.0%} of the area, {share['cycle_share']:.0%} of the cycles"
        for share in shares[:LOOPS_SHOWN]
    ]
    more = len(shares) - LOOPS_SHOWN
    others = f"; {more} more in --json" if more > 0 else ""
    return f"by the engine's estimate: {'; '.join(words)}{others}"


def _loop_name(share: Mapping[str, Any]) -> str:
    return f"loop {share['loop']} (line {share['line']})" if share["loop"] else "no loop"


def _fallback_note(answer: Mapping[str, Any]) -> str:
    reason = answer.get("fallback_reason")
    return f"a better model did not answer: {reason}" if reason else ""


def _steps_note(answer: Mapping[str, Any]) -> str:
    """Say what each level took and said; equal reasons once."""
    words: list[str] = []
    earlier = ""
    for step in answer.get("steps", ()):
        took = (
            f"{step['level']} {step['seconds']:.2f} s" if "seconds" in step else f"{step['level']} not asked"
        )
        said = str(step.get("reason") or _width(step))
        words.append(f"{took} (the same)" if said == earlier else f"{took} ({said})")
        earlier = said
    if not words:
        return ""
    met = "" if answer["is_within"] else f"no level is within {100 * answer['within']:.3g}%; "
    return f"{met}asked: {', '.join(words)}"


def _width(step: Mapping[str, Any]) -> str:
    """Return the widest interval of a level in words, a factor where it is wide."""
    width, name = step["widest"], QUANTITIES[step["target"]].name
    if width is None:
        return f"no interval of {name}"
    return f"{name} within {width:.0%}" if width < 1 else f"{name} within a factor of {1 + width:.3g}"

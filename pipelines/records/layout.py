"""The text of a record: prompt and completion, written and read back.

A prompt is the quadruple {G, Op, Params, data} (LLMulator sections 3 and 6.2):

    <Graph>
    headers, macros, types, tables, and the graph function
    </Graph>
    <Operator name="gemm_0" dynamic="false">
    an operator function
    </Operator>
    <Params>
    -mem-delay-read=2
    </Params>
    <Data>
    n=12
    </Data>

A completion has one label per line, `<Area unit="um2">00012345.6</Area>`; that of a reasoning record begins
with `<think>`, the features of the RTL in words (Figure 8), one per line, and `</think>`.

A label is written in decimal, in fixed form: leading zeros, a fixed number of digits before and after the
point; no sign, no exponent, no separators. The digit at one place then always means the same power of ten,
which a model needs that predicts digits from the highest to the lowest (LLMulator section 4.2). Section 4.1,
how digits become tokens, is left to the tokeniser. Numbers of the reasoning fragment are plain decimals.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal


class RecordError(ValueError):
    """A text is no record, a number does not fit its format, or tables do not belong together."""


# ---- numbers ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A label.

    Attributes:
        tag: around its value.
        column: where it stands, in `labels` or `runs`.
        unit: of the value; empty for counts.
        digits, decimals: before and after the point.
        dynamic: it depends on the input data (LLMulator section 5.2).
    """

    tag: str
    column: str
    unit: str
    digits: int
    decimals: int
    dynamic: bool

    def text(self, value: float) -> str:
        """A value as text, rounded half to even.

        Raises: RecordError: negative, not finite, or too large for the digits.
        """
        if math.isfinite(value) and value >= 0:
            step = Decimal(1).scaleb(-self.decimals)
            rounded = Decimal(repr(value)).quantize(step, rounding=ROUND_HALF_EVEN)
            if rounded < Decimal(10) ** self.digits:
                return f"{rounded:0{self.digits + self.decimals + bool(self.decimals)}f}"
        raise RecordError(f"{self.column} must be 0 to below 1e{self.digits}, got {value}")

    def value(self, text: str) -> float:
        """The value of a text.

        Raises: RecordError: another form.
        """
        form = rf"\d{{{self.digits}}}" + (rf"\.\d{{{self.decimals}}}" if self.decimals else "")
        if re.fullmatch(form, text) is None:
            raise RecordError(f"{self.tag} must have {self.digits}.{self.decimals} digits, got {text!r}")
        return float(text)


QUANTITIES = (
    Quantity(tag="Power", column="power_mw", unit="mW", digits=5, decimals=4, dynamic=True),
    Quantity(tag="Area", column="area_um2", unit="um2", digits=8, decimals=1, dynamic=False),
    Quantity(tag="FlipFlops", column="flip_flop_count", unit="", digits=7, decimals=0, dynamic=False),
    Quantity(tag="Delay", column="delay_ns", unit="ns", digits=4, decimals=3, dynamic=False),
    Quantity(tag="Cycles", column="latency_cycles", unit="cycles", digits=9, decimals=0, dynamic=True),
    Quantity(tag="Energy", column="energy_nj", unit="nJ", digits=8, decimals=3, dynamic=True),
)
"""What a completion says, in its order; LLMulator predicts power, area, flip-flops and cycles."""


def plain_number(value: float) -> str:
    """A number of the reasoning fragment: decimal, without exponent or needless zeros."""
    text = f"{Decimal(repr(value)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


# ---- layout ----------------------------------------------------------------------------------------


FEATURES = (
    ("Number of modules instantiated", "module_count", ""),
    ("Number of performance conflicts", "memory_port_conflict_count", ""),
    ("Estimated resources area", "estimated_area_um2", "um2"),
    ("Estimated area of MUX21", "multiplexer_area_um2", "um2"),
    ("Number of allocated multiplexers", "multiplexer_count", ""),
    ("Number of functional units", "functional_unit_count", ""),
    ("Number of states", "state_count", ""),
    ("Bits of registers", "register_bits", ""),
    ("Estimated critical path", "critical_path_ns", "ns"),
)
"""Lines of the reasoning fragment, columns of `designs` and units; the first five are those of Figure 8."""

INTERVALS = "Initiation intervals"

_TAG_LINE = re.compile(r"</?(?:Graph|Operator|Params|Data|think)\b[^>]*>")
_OPERATOR = re.compile(r'<Operator name="(\w+)"(?: dynamic="(true|false)")?>')
_LABEL = re.compile(r'<(\w+)(?: unit="([^"]*)")?>([^<]*)</(\w+)>')


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorText:
    """An operator function.

    Attributes:
        dynamic: its control flow depends on the input data (class II of LLMulator section 5.2); None when the
            program's graph does not say.
    """

    name: str
    text: str
    dynamic: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The quadruple.

    Attributes:
        graph: text of the graph function and what stands outside functions.
        params: hardware parameters, by name in order; mapping: directives that the code does not have.
        data: runtime inputs by name, as text.
    """

    graph: str
    operators: tuple[OperatorText, ...]
    params: Mapping[str, str]
    mapping: tuple[str, ...]
    data: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """Labels and features by the columns they come from; empty features for a direct record.

    Attributes:
        intervals: cycles by loop, of pipelined loops; None for a direct record.
    """

    labels: Mapping[str, float]
    features: Mapping[str, float]
    intervals: Mapping[str, int] | None


def write_prompt(prompt: Prompt) -> str:
    """A prompt as text."""
    parts = [_block("Graph", prompt.graph)]
    for operator in prompt.operators:
        known = "" if operator.dynamic is None else f' dynamic="{str(operator.dynamic).lower()}"'
        parts.append(_block("Operator", operator.text, f' name="{operator.name}"{known}'))
    params = [f"-{name}={value}" for name, value in prompt.params.items()]
    parts.append(_block("Params", "\n".join([*params, *prompt.mapping])))
    parts.append(_block("Data", "\n".join(f"{name}={value}" for name, value in prompt.data.items())))
    return "\n".join(parts)


def _block(tag: str, content: str, attributes: str = "") -> str:
    """A tagged block; a line of the content that reads like a tag is indented, which C does not mind."""
    lines = [f" {line}" if _TAG_LINE.fullmatch(line) else line for line in content.split("\n")]
    return "\n".join([f"<{tag}{attributes}>", *([] if not content else lines), f"</{tag}>"])


def read_prompt(text: str) -> Prompt:
    """The prompt of a text.

    Raises: RecordError: another layout.
    """
    graph = ""
    operators: list[OperatorText] = []
    params: dict[str, str] = {}
    mapping: list[str] = []
    data: dict[str, str] = {}
    for opening, content in _blocks(text):
        operator = _OPERATOR.fullmatch(opening)
        if operator is not None:
            dynamic = None if operator[2] is None else operator[2] == "true"
            operators.append(OperatorText(name=operator[1], text="\n".join(content), dynamic=dynamic))
        elif opening == "<Graph>":
            graph = "\n".join(content)
        elif opening == "<Params>":
            params = dict(_pair(line[1:]) for line in content if line.startswith("-"))
            mapping = [line for line in content if not line.startswith("-")]
        else:
            data = dict(_pair(line) for line in content)
    return Prompt(graph=graph, operators=tuple(operators), params=params, mapping=tuple(mapping), data=data)


def _blocks(text: str) -> list[tuple[str, list[str]]]:
    """Opening tags and the lines of their blocks."""
    blocks: list[tuple[str, list[str]]] = []
    closing = ""
    for line in text.split("\n"):
        if closing and line == closing:
            closing = ""
        elif closing:
            blocks[-1][1].append(line)
        elif _TAG_LINE.fullmatch(line) and not line.startswith("</"):
            blocks.append((line, []))
            closing = f"</{re.split('[ >]', line[1:])[0]}>"
        else:
            raise RecordError(f"a prompt must be a sequence of tagged blocks, got {line[:60]!r} between them")
    if closing:
        raise RecordError(f"a prompt's block must end with {closing}, got the end of the text")
    return blocks


def _pair(line: str) -> tuple[str, str]:
    name, equals, value = line.partition("=")
    if not equals:
        raise RecordError(f"a line of a prompt's block must be name=value, got {line[:60]!r}")
    return name, value


def write_completion(completion: Completion) -> str:
    """A completion as text: with a reasoning fragment where there are intervals, though they may be none.

    Raises: RecordError: a label does not fit its digits.
    """
    lines: list[str] = []
    if completion.intervals is not None:
        lines.append("<think>")
        for said, column, unit in FEATURES:
            if column in completion.features:
                number = plain_number(completion.features[column])
                lines.append(f"{said}: {number}{f' {unit}' if unit else ''}")
        pairs = ", ".join(f"{loop}={cycles}" for loop, cycles in completion.intervals.items())
        lines += [f"{INTERVALS}: {pairs or 'none'}", "</think>"]
    for quantity in QUANTITIES:
        if quantity.column in completion.labels:
            unit = f' unit="{quantity.unit}"' if quantity.unit else ""
            text = quantity.text(completion.labels[quantity.column])
            lines.append(f"<{quantity.tag}{unit}>{text}</{quantity.tag}>")
    return "\n".join(lines)


def read_completion(text: str) -> Completion:
    """The labels and features of a completion.

    Raises: RecordError: another layout, an unknown label or feature, or other digits.
    """
    lines = text.split("\n")
    fragment: Sequence[str] | None = None
    if lines[0] == "<think>":
        if "</think>" not in lines:
            raise RecordError("a reasoning fragment must end with </think>, got the end of the text")
        end = lines.index("</think>")
        fragment, lines = lines[1:end], lines[end + 1 :]
    features, intervals = _features(fragment) if fragment is not None else ({}, None)
    return Completion(labels=dict(_label(line) for line in lines), features=features, intervals=intervals)


def _label(line: str) -> tuple[str, float]:
    match = _LABEL.fullmatch(line)
    quantity = None if match is None else next((q for q in QUANTITIES if q.tag == match[1]), None)
    if match is None or quantity is None or (match[2] or "") != quantity.unit or match[4] != quantity.tag:
        raise RecordError(f"a label must be a known tag with its unit around a number, got {line[:80]!r}")
    return quantity.column, quantity.value(match[3])


def _features(lines: Sequence[str]) -> tuple[dict[str, float], dict[str, int]]:
    columns = {said: column for said, column, _ in FEATURES}
    features: dict[str, float] = {}
    intervals: dict[str, int] = {}
    for line in lines:
        said, _, value = line.partition(": ")
        try:
            if said == INTERVALS:
                pairs = [] if value == "none" else [pair.split("=") for pair in value.split(", ")]
                intervals = {loop: int(cycles) for loop, cycles in pairs}
            else:
                features[columns[said]] = float(value.split(" ")[0])
        except (KeyError, ValueError) as error:
            raise RecordError(f"a line of a fragment must be a known feature, got {line[:80]!r}") from error
    return features, intervals

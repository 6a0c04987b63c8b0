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
with `<think>`, features in words, one per line, and `</think>`. The features are of one level of
information: what the front end reads (`static`), the RTL as well (`hls`, Figure 8), or a run too (`run`).

A label is written in decimal, in fixed form: leading zeros, a fixed number of digits before and after the
point; no sign, no exponent, no separators. The digit at one place then always means the same power of ten,
which a model needs that predicts digits from the highest to the lowest (LLMulator section 4.2). Section 4.1,
how digits become tokens, is left to the tokeniser. Numbers of the reasoning fragment are plain decimals.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
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
        """Return a value as text, rounded half to even.

        Raises: RecordError: negative, not finite, or too large for the digits.
        """
        if math.isfinite(value) and value >= 0:
            step = Decimal(1).scaleb(-self.decimals)
            rounded = Decimal(repr(value)).quantize(step, rounding=ROUND_HALF_EVEN)
            if rounded < Decimal(10) ** self.digits:
                return f"{rounded:0{self.digits + self.decimals + bool(self.decimals)}f}"
        raise RecordError(f"{self.column} must be 0 to below 1e{self.digits}, got {value}")

    def value(self, text: str) -> float:
        """Return the value of a text.

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
    """Return a number of the reasoning fragment: decimal, without exponent or needless zeros."""
    text = f"{Decimal(repr(value)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


# ---- layout ----------------------------------------------------------------------------------------


FEATURES = (
    ("Number of loops", "loop_count", "", "static"),
    ("Depth of the deepest loop nest", "loop_depth", "", "static"),
    ("Number of operations written", "operation_count", "", "static"),
    ("Share of executed operations on arrays", "array_operation_share", "", "static"),
    ("Number of conditions in loops", "condition_count", "", "static"),
    ("Number of modules instantiated", "module_count", "", "hls"),
    ("Number of performance conflicts", "memory_port_conflict_count", "", "hls"),
    ("Estimated resources area", "estimated_area_um2", "um2", "hls"),
    ("Estimated area of MUX21", "multiplexer_area_um2", "um2", "hls"),
    ("Number of allocated multiplexers", "multiplexer_count", "", "hls"),
    ("Number of functional units", "functional_unit_count", "", "hls"),
    ("Number of states", "state_count", "", "hls"),
    ("Bits of registers", "register_bits", "", "hls"),
    ("Estimated critical path", "critical_path_ns", "ns", "hls"),
)
"""Lines of the reasoning fragment, their names in rows, units, and level of information.

LLMulator's Figure 8 has the first five of level `hls`.
"""

LISTS = (
    ("Trip counts", "trip_counts", "static"),
    ("Initiation intervals", "initiation_intervals", "hls"),
    ("Iterations", "iterations", "run"),
    ("Branches taken", "branches_taken", "run"),
)
"""Lines of the fragment with one number a loop, their names, and level of information."""

UNKNOWN = "unknown"
"""Number of a loop that its level of information does not have."""

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
    """Labels, and what a reasoning fragment says.

    Attributes:
        labels: by column.
        features: by name in `FEATURES`.
        lists: number by loop, by name in `LISTS`; None where a loop's number is not known.

    A direct record has neither features nor lists.
    """

    labels: Mapping[str, float]
    features: Mapping[str, float] = field(default_factory=dict[str, float])
    lists: Mapping[str, Mapping[str, int | None]] = field(default_factory=dict[str, Mapping[str, int | None]])


def write_prompt(prompt: Prompt) -> str:
    """Return a prompt as text."""
    parts = [_block("Graph", prompt.graph)]
    for operator in prompt.operators:
        known = "" if operator.dynamic is None else f' dynamic="{str(operator.dynamic).lower()}"'
        parts.append(_block("Operator", operator.text, f' name="{operator.name}"{known}'))
    params = [f"-{name}={value}" for name, value in prompt.params.items()]
    parts.append(_block("Params", "\n".join([*params, *prompt.mapping])))
    parts.append(_block("Data", "\n".join(f"{name}={value}" for name, value in prompt.data.items())))
    return "\n".join(parts)


def _block(tag: str, content: str, attributes: str = "") -> str:
    """Return a tagged block; a content line that reads like a tag is indented, which C ignores."""
    lines = [f" {line}" if _TAG_LINE.fullmatch(line) else line for line in content.split("\n")]
    return "\n".join([f"<{tag}{attributes}>", *([] if not content else lines), f"</{tag}>"])


def read_prompt(text: str) -> Prompt:
    """Read the prompt of a text.

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
    """Return the opening tags and the lines of their blocks."""
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
    """Return a completion as text: with a reasoning fragment where there are features or lists.

    Raises: RecordError: a label does not fit its digits.
    """
    lines: list[str] = []
    if completion.features or completion.lists:
        lines = ["<think>", *_fragment(completion), "</think>"]
    for quantity in QUANTITIES:
        if quantity.column in completion.labels:
            unit = f' unit="{quantity.unit}"' if quantity.unit else ""
            text = quantity.text(completion.labels[quantity.column])
            lines.append(f"<{quantity.tag}{unit}>{text}</{quantity.tag}>")
    return "\n".join(lines)


def _fragment(completion: Completion) -> Iterator[str]:
    for said, name, unit, _ in FEATURES:
        if name in completion.features:
            number = plain_number(completion.features[name])
            yield f"{said}: {number}{f' {unit}' if unit else ''}"
    for said, name, _ in LISTS:
        if name in completion.lists:
            values = completion.lists[name].items()
            pairs = ", ".join(f"{loop}={UNKNOWN if value is None else value}" for loop, value in values)
            yield f"{said}: {pairs or 'none'}"


def read_completion(text: str) -> Completion:
    """Read the labels and features of a completion.

    Raises: RecordError: another layout, an unknown label or feature, or other digits.
    """
    lines = text.split("\n")
    features: dict[str, float] = {}
    lists: dict[str, Mapping[str, int | None]] = {}
    if lines[0] == "<think>":
        if "</think>" not in lines:
            raise RecordError("a reasoning fragment must end with </think>, got the end of the text")
        end = lines.index("</think>")
        for line in lines[1:end]:
            _read_feature(line, features, lists)
        lines = lines[end + 1 :]
    return Completion(labels=dict(_label(line) for line in lines), features=features, lists=lists)


def _label(line: str) -> tuple[str, float]:
    match = _LABEL.fullmatch(line)
    quantity = None if match is None else next((q for q in QUANTITIES if q.tag == match[1]), None)
    if match is None or quantity is None or (match[2] or "") != quantity.unit or match[4] != quantity.tag:
        raise RecordError(f"a label must be a known tag with its unit around a number, got {line[:80]!r}")
    return quantity.column, quantity.value(match[3])


_FEATURE_NAMES = {said: name for said, name, _, _ in FEATURES}
_LIST_NAMES = {said: name for said, name, _ in LISTS}


def _read_feature(line: str, features: dict[str, float], lists: dict[str, Mapping[str, int | None]]) -> None:
    """Add what a line of a fragment says to the features or to the lists."""
    said, _, value = line.partition(": ")
    try:
        if said in _LIST_NAMES:
            pairs = [] if value == "none" else [pair.split("=") for pair in value.split(", ")]
            known = {loop: None if number == UNKNOWN else int(number) for loop, number in pairs}
            lists[_LIST_NAMES[said]] = known
        else:
            features[_FEATURE_NAMES[said]] = float(value.split(" ")[0])
    except (KeyError, ValueError) as error:
        raise RecordError(f"a line of a fragment must be a known feature, got {line[:80]!r}") from error

"""What Bambu prints, as numbers.

Bambu reports function by function; the counts of a design are sums over its functions, which are
synthesised as modules of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipelines.bambu.errors import BambuError

LARGEST = 1e15
_NUMBER = r"\s*[:=]?\s*([0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)"
_VERSION = re.compile(r"^\s*Version:\s*(.+?)\s*$", re.MULTILINE)
_ERROR = re.compile(r"^\s*(?:error\s*->|.*\berror:)\s*(.+?)\s*$", re.MULTILINE)
_CYCLES = (
    re.compile(r"^\s*Total cycles\s*:\s*(\d+)\s*cycles", re.MULTILINE),
    re.compile(r"Simulation completed with success.*?(?:execution time|cycles)\D*(\d+)", re.IGNORECASE),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BambuReport:
    """Counts of one synthesis; None where Bambu said nothing.

    Attributes:
        module_count: modules instantiated; conflict_count: performance conflicts.
        estimated_area, multiplexer_area: Bambu's own units, multiplexers apart.
        multiplexer_count: multiplexers allocated; state_count: states of all controllers.
        flip_flop_count: of the datapath; dsp_count: estimated.
        minimum_slack_ns: smallest over the functions; frequency_mhz: smallest estimated maximum.
        latency_cycles: of the simulation, when one was asked for.
    """

    version: str | None
    module_count: int | None
    conflict_count: int | None
    estimated_area: float | None
    multiplexer_area: float | None
    multiplexer_count: int | None
    state_count: int | None
    flip_flop_count: int | None
    dsp_count: int | None
    minimum_slack_ns: float | None
    frequency_mhz: float | None
    latency_cycles: int | None


def _numbers(text: str, label: str) -> list[float]:
    return [_number(n) for n in re.findall(r"^\s*" + label + _NUMBER, text, re.MULTILINE)]


def _number(text: str) -> float:
    """The number; a row has no more than whole numbers of 64 bits, and no infinity."""
    number = float(text)
    if number > LARGEST:
        raise BambuError(f"bambu printed the number {text[:40]}; accepted: at most {LARGEST:g}")
    return number


def _total(text: str, label: str) -> float | None:
    found = _numbers(text, label)
    return sum(found) if found else None


def _count(text: str, label: str) -> int | None:
    total = _total(text, label)
    return None if total is None else round(total)


def _smallest(text: str, label: str) -> float | None:
    return min(_numbers(text, label), default=None)


def parse_report(text: str) -> BambuReport:
    """Read the report Bambu prints on standard output.

    Args:    text: the whole output, of any verbosity; lines it does not know are skipped.
    Returns: sums over the functions of the design.
    Raises:  BambuError: a number is larger than a row can hold.
    Source:  the counts are those of LLMulator, Figure 8.
    """
    version = _VERSION.search(text)
    cycles = next((m for m in (form.search(text) for form in _CYCLES) if m), None)
    return BambuReport(
        version=version[1] if version else None,
        module_count=_count(text, "Number of modules instantiated"),
        conflict_count=_count(text, "Number of performance conflicts"),
        estimated_area=_total(text, r"Estimated resources area(?: \(no Muxes and address logic\))?"),
        multiplexer_area=_total(text, "Estimated area of MUX21"),
        multiplexer_count=_count(text, "Number of allocated multiplexers(?: \\(2-to-1 equivalent\\))?"),
        state_count=_count(text, "Number of states"),
        flip_flop_count=_count(text, r"Total number of flip-flops in function \w+"),
        dsp_count=_count(text, "Estimated number of DSPs"),
        minimum_slack_ns=_smallest(text, "Minimum slack"),
        frequency_mhz=_smallest(text, r"Estimated max frequency \(MHz\)"),
        latency_cycles=round(_number(cycles[1])) if cycles else None,
    )


def failure_reason(text: str) -> str | None:
    """The first error Bambu named, None when there is none."""
    found = _ERROR.search(text)
    return found[1] if found else None

"""Port values of a run as a VCD file (IEEE 1364-2005, section 18)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pipelines.rtlreuse.ir import LIMB
from pipelines.rtlreuse.simulator import Ports, RunResult, Words
from pipelines.rtlreuse.structure import words_of

_FIRST, _SYMBOLS = 33, 94  # of the printable characters that identify signals
_PERIOD = 10


def write_vcd(path: Path, top: str, ports: Ports, result: RunResult) -> None:
    """Write inputs and outputs of stimulus 0, with a clock that rises in the middle of each cycle.

    Args:   result: of a run that was traced.
    Raises: OSError: not writable.
    """
    if result.inputs is None or result.outputs is None:
        raise ValueError("the run was not traced")
    with path.open("w", encoding="ascii") as stream:
        stream.writelines(f"{line}\n" for line in _lines(top, ports, result.inputs, result.outputs))


def _lines(top: str, ports: Ports, inputs: Words, outputs: Words) -> Iterator[str]:
    names = [*ports.inputs, *ports.outputs]
    identifiers = {name: _identifier(i + 1) for i, name in enumerate(names)}
    clock = _identifier(0)
    yield "$timescale 1ns $end"
    yield f"$scope module {top} $end"
    if ports.clock:
        yield f"$var wire 1 {clock} {ports.clock} $end"
    for name, width in (*ports.inputs.items(), *ports.outputs.items()):
        kind = f"[{width - 1}:0] " if width > 1 else ""
        yield f"$var wire {width} {identifiers[name]} {name} {kind}$end"
    yield "$upscope $end"
    yield "$enddefinitions $end"
    before: dict[str, int] = {}
    for cycle in range(len(inputs)):
        values = {**_values(ports.inputs, inputs[cycle]), **_values(ports.outputs, outputs[cycle])}
        yield f"#{cycle * _PERIOD}"
        if ports.clock:
            yield f"0{clock}"
        for name, value in values.items():
            if before.get(name) != value:
                yield _change(identifiers[name], value, ports.inputs.get(name) or ports.outputs[name])
        before = values
        if ports.clock:
            yield f"#{cycle * _PERIOD + _PERIOD // 2}"
            yield f"1{clock}"
    yield f"#{len(inputs) * _PERIOD}"


def _values(ports: Mapping[str, int], row: Words) -> dict[str, int]:
    values = dict.fromkeys(ports, 0)
    for i, (port, limb, _) in enumerate(words_of(ports)):
        values[port] |= int(row[i, 0]) << LIMB * limb
    return values


def _change(identifier: str, value: int, width: int) -> str:
    return f"{value}{identifier}" if width == 1 else f"b{value:b} {identifier}"


def _identifier(number: int) -> str:
    text = chr(_FIRST + number % _SYMBOLS)
    while number >= _SYMBOLS:
        number = number // _SYMBOLS - 1
        text += chr(_FIRST + number % _SYMBOLS)
    return text

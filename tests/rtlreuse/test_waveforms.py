"""VCD files: a reader of another origin finds every value of every signal."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from vcd.reader import TokenKind, tokenize

from pipelines.rtl.reuse.waveform import Signal, write_vcd

MASK = (1 << 64) - 1


def _signal(path: str, width: int, values: list[int]) -> Signal:
    limbs = range((width + 63) // 64)
    words = np.array([[value >> 64 * limb & MASK for limb in limbs] for value in values], np.uint64)
    return Signal(path=path, width=width, words=words)


def _read(file: Path, cycles: int) -> dict[str, list[int]]:
    """Values by scopes and name, one per half cycle."""
    scopes: list[str] = []
    names: dict[str, str] = {}
    values: dict[str, list[int]] = {}
    half = 0
    with file.open("rb") as stream:
        for token in tokenize(stream):
            if token.kind is TokenKind.SCOPE:
                scopes.append(token.scope.ident)
            elif token.kind is TokenKind.UPSCOPE:
                scopes.pop()
            elif token.kind is TokenKind.VAR:
                names[token.var.id_code] = ".".join([*scopes, token.var.reference])
                values[token.var.id_code] = []
            elif token.kind is TokenKind.CHANGE_TIME:
                half = token.time_change // 5
            elif token.kind in (TokenKind.CHANGE_SCALAR, TokenKind.CHANGE_VECTOR):
                change = token.scalar_change if token.kind is TokenKind.CHANGE_SCALAR else token.vector_change
                known = values[change.id_code]
                known += known[-1:] * (half - len(known))
                known.append(int(change.value))
    return {names[code]: known + known[-1:] * (2 * cycles - len(known)) for code, known in values.items()}


@pytest.mark.parametrize("clock", ["top.clk", ""])
def test_waveforms_have_every_value_of_every_signal(tmp_path: Path, clock: str) -> None:
    draw = Random(3)
    cycles = 40
    widths = {"top.a": 1, "top.u[0].b": 7, "top.u[0].v.c": 64, "top.d": 130, "other.e": 65}
    expected = {path: [draw.getrandbits(width)] for path, width in widths.items()}
    for path, values in expected.items():
        while len(values) < cycles:
            values.append(draw.choice((values[-1], draw.getrandbits(widths[path]))))
    signals = [_signal(path, widths[path], values) for path, values in expected.items()]
    write_vcd(tmp_path / "x.vcd", clock, signals)
    read = _read(tmp_path / "x.vcd", cycles)
    if clock:
        assert read.pop(clock) == [0, 1] * cycles
    assert {path: values[::2] for path, values in read.items()} == expected
    assert all(values[::2] == values[1::2] for values in read.values())


def test_waveforms_keep_dots_in_names_of_ports(tmp_path: Path) -> None:
    port = Signal(path="top.a.b", width=1, words=np.ones((1, 1), np.uint64), is_port=True)
    write_vcd(tmp_path / "w.vcd", "top.c.k", [port, _signal("top.a.b", 1, [0])])
    lines = (tmp_path / "w.vcd").read_text("ascii").splitlines()
    declared = [line.split()[-2] for line in lines if line.startswith(("$scope", "$var"))]
    assert declared == ["top", "c.k", "a.b", "a", "b"]


def test_waveforms_keep_signals_apart_whose_plain_names_are_equal(tmp_path: Path) -> None:
    write_vcd(tmp_path / "x.vcd", "", [_signal("top.a+b", 3, [5, 2]), _signal("top.a*b", 3, [1, 7])])
    assert _read(tmp_path / "x.vcd", 2) == {"top.a_b": [5, 5, 2, 2], "top.a_b_": [1, 1, 7, 7]}

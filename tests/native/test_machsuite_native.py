"""Every program in the manner of MachSuite: defined behaviour, and the result of an independent reference."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from program_support import interface_of

from pipelines.c.signature import DataSet
from pipelines.native import NativeRun, run_native
from pipelines.programs import MACHSUITE_SIZES, draw_data, machsuite_programs
from pipelines.schemas import ProgramRow

Sizes = dict[str, int]
Check = Callable[[DataSet, DataSet, int | None, Sizes], None]


@cache
def programs(size: str) -> dict[str, ProgramRow]:
    return {row.name: row for row in machsuite_programs(sizes=[size])}


def check_adpcm(data: DataSet, out: DataSet, _: int | None, s: Sizes) -> None:
    """A decoder that knows only the codes and the tables follows the samples, once its step has grown."""
    value, index, table = 0, 0, np.geomspace(7, 32767, 89)
    for i in range(s["SAMPLES"]):
        code = int(out["codes"][i // 2]) >> (4 * (i % 2)) & 15
        step = table[index]
        change = step * ((code & 7) + 0.5) / 4
        value = min(32767, max(-32768, value + (-change if code & 8 else change)))
        index = min(88, max(0, index + (-1, -1, -1, -1, 2, 4, 6, 8)[code & 7]))
        missed = abs(value - int(data["samples"][i]))
        assert missed <= step or code & 7 == 7, (i, value, data["samples"][i])


def check_aes(data: DataSet, out: DataSet, _: int | None, s: Sizes) -> None:
    """Blocks differ from each other and from the plain text; the standard's own example is below."""
    blocks = {bytes(b) for b in out["data"]} | {bytes(b) for b in data["data"]}
    assert len(blocks) == 2 * s["BLOCKS"]


def check_bfs(data: DataSet, out: DataSet, returned: int | None, s: Sizes) -> None:
    level = {int(data["start"]): 0}
    frontier = [int(data["start"])]
    while frontier:
        found = []
        for node in frontier:
            for target in data["target"][data["first"][node] : data["first"][node + 1]].tolist():
                if target not in level:
                    level[target] = level[node] + 1
                    found.append(target)
        frontier = found
    assert out["level"].tolist() == [level.get(i, -1) for i in range(s["NODES"])]
    assert returned == len(level)


def check_crc32(data: DataSet, out: DataSet, returned: int | None, s: Sizes) -> None:
    assert returned == zlib.crc32(data["message"].tobytes())


def check_fft(data: DataSet, out: DataSet, _: int | None, s: Sizes) -> None:
    """Each stage by its definition, in double; with true twiddles it is a transform, see below."""
    x = data["re"].astype(complex) + 1j * data["im"]
    twiddle = data["twiddle_re"] + 1j * data["twiddle_im"].astype(float)
    span, n = s["POINTS"] // 2, s["POINTS"]
    while span:
        halves = x.reshape(-1, 2, span)
        factors = twiddle[:: n // (2 * span)]
        x = np.stack((halves.sum(axis=1), (halves[:, 0] - halves[:, 1]) * factors), axis=1).reshape(-1)
        span //= 2
    np.testing.assert_allclose(out["re"] + 1j * out["im"], x, rtol=1e-3, atol=1e-3)


def check_gemm_blocked(data: DataSet, out: DataSet, _: int | None, s: Sizes) -> None:
    a, b, c = (data[k].reshape(s["N"], s["N"]).astype(float) for k in "ABC")
    np.testing.assert_allclose(out["C"].reshape(c.shape), c + a @ b, rtol=1e-4, atol=1e-4)


def check_huffman(data: DataSet, out: DataSet, returned: int | None, s: Sizes) -> None:
    codes, code = {}, 0
    symbols = iter(" etaonishrdl")
    for length, count in enumerate((0, 0, 2, 2, 3, 1, 0, 4)):
        code <<= 1
        for _ in range(count):
            codes[f"{code:0{length}b}"] = next(symbols)
            code += 1
    text, word = "", ""
    for bit in "".join(f"{b:08b}" for b in data["data"].tolist()):
        word += bit
        if word in codes and len(text) < s["SYMBOLS"]:
            text, word = text + codes[word], ""
    assert bytes(out["text"]).rstrip(b"\0").decode() == text
    assert returned == (s["SYMBOLS"] if len(text) == s["SYMBOLS"] else -1 - len(text))


def check_kmp(data: DataSet, out: DataSet, returned: int | None, s: Sizes) -> None:
    text, pattern = data["text"].tobytes(), data["pattern"].tobytes()
    places = [i for i in range(len(text)) if text[i:].startswith(pattern)]
    assert returned == len(places)
    assert out["place"].tolist() == [places[0] if places else -1]


def check_machine(data: DataSet, out: DataSet, returned: int | None, s: Sizes) -> None:
    memory = data["memory"].tolist()
    product = 1
    for word in memory[:10]:
        product = product * word % 2**32
    assert out["memory"].tolist() == [*memory[:10], sum(memory[:10]), product, *memory[12:]]
    assert returned == 2 + 10 * 6 + 2


def check_md_knn(data: DataSet, out: DataSet, _: int | None, s: Sizes) -> None:
    d = data["position"][:, None, :] - data["position"][data["neighbour"]]
    square = (d**2).sum(axis=2)
    near = square < 0.01
    inverse = 1 / np.where(near, 1, square)
    size = np.where(near, 0, inverse * inverse**3 * (1.5 * inverse**3 - 2))
    np.testing.assert_allclose(out["force"], (d * size[:, :, None]).sum(axis=1), rtol=1e-9)


def check_nw(data: DataSet, out: DataSet, returned: int | None, s: Sizes) -> None:
    """The alignment spells both sequences, and its score is the one returned and the best there is."""
    a, b = (bytes(out[k])[::-1].decode().lstrip("_") for k in ("aligned_a", "aligned_b"))
    assert a.replace("-", "") == data["a"].tobytes().decode()
    assert b.replace("-", "") == data["b"].tobytes().decode()
    assert sum(1 if p == q else -1 for p, q in zip(a, b, strict=True)) == returned
    best = list(range(0, -s["A_LENGTH"] - 1, -1))
    for j, letter in enumerate(data["b"]):
        row = [-j - 1]
        for i, other in enumerate(data["a"]):
            row.append(max(best[i] + (1 if letter == other else -1), best[i + 1] - 1, row[i] - 1))
        best = row
    assert returned == best[-1]


def check_radix_sort(data: DataSet, out: DataSet, _: int | None, s: Sizes) -> None:
    np.testing.assert_array_equal(out["a"], np.sort(data["a"]))


def check_sha256(data: DataSet, out: DataSet, _: int | None, s: Sizes) -> None:
    """The compression differs from the initial state; hashlib is compared with below."""
    assert out["digest"].tolist() != data["digest"].tolist()


def check_spmv_crs(data: DataSet, out: DataSet, _: int | None, s: Sizes) -> None:
    dense = np.zeros((s["ROWS"], s["COLUMNS"]))
    rows = np.repeat(np.arange(s["ROWS"]), np.diff(data["first"]))
    np.add.at(dense, (rows, data["column"]), data["value"].astype(float))
    np.testing.assert_allclose(out["y"], dense @ data["x"], rtol=1e-4, atol=1e-5)


def check_stencil3d(data: DataSet, out: DataSet, _: int | None, s: Sizes) -> None:
    a = data["from"].astype(np.int64)
    around = sum(np.roll(a, k, axis) for axis in range(3) for k in (1, -1))
    wanted, inner = a.copy(), (slice(1, -1),) * 3
    wanted[inner] = ((data["c0"] * a + data["c1"] * around) >> 16)[inner]
    np.testing.assert_array_equal(out["to"], wanted)


def check_viterbi(data: DataSet, out: DataSet, returned: int | None, s: Sizes) -> None:
    """No path is cheaper than the one returned."""
    cost = data["start"].astype(float) + data["emission"][:, data["observed"][0]]
    for token in data["observed"][1:]:
        cost = (cost[:, None] + data["transition"]).min(axis=0) + data["emission"][:, token]
    path = out["path"].astype(int)
    paid = data["start"][path[0]].astype(float) + data["emission"][path, data["observed"]].astype(float).sum()
    paid += data["transition"][path[:-1], path[1:]].astype(float).sum()
    assert returned is not None
    given = np.array(returned, np.uint32).view(np.float32)
    np.testing.assert_allclose([paid, given], cost.min(), rtol=1e-5)


CHECKS: dict[str, Check] = {
    name.removeprefix("check_").replace("_", "-"): function
    for name, function in list(globals().items())
    if name.startswith("check_")
}


def run(row: ProgramRow, data: DataSet, folder: Path) -> NativeRun:
    native = run_native(row.source, interface_of(row), data, folder=folder)
    assert (native.status, native.reason) == ("ok", None)
    return native


@pytest.mark.sample(5)
@pytest.mark.parametrize("size", MACHSUITE_SIZES)
@pytest.mark.parametrize("name", CHECKS)
def test_program_equals_its_reference(name: str, size: str, tmp_path: Path) -> None:
    row = programs(size)[name]
    data = draw_data(interface_of(row), row.inputs, seed=1)
    native = run(row, data, tmp_path)
    CHECKS[row.name](data, native.outputs, native.returned, json.loads(row.parameters))


def test_every_program_has_a_check() -> None:
    assert set(CHECKS) == set(programs("mini"))


def test_aes_gives_the_ciphertext_of_the_standard(tmp_path: Path) -> None:
    plain = np.frombuffer(bytes.fromhex("00112233445566778899aabbccddeeff"), np.uint8)
    data = {"key": np.arange(16, dtype=np.uint8), "data": np.stack((plain, np.zeros(16, np.uint8)))}
    out = run(programs("mini")["aes"], data, tmp_path).outputs["data"]
    assert bytes(out[0]).hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"


def test_sha256_equals_hashlib(tmp_path: Path) -> None:
    message = b"a message of forty bytes, padded by hand"
    padded = message + b"\x80" + bytes(64 - 9 - len(message)) + (8 * len(message)).to_bytes(8, "big")
    data = {"message": np.frombuffer(padded, np.uint8).reshape(1, 64), "digest": np.zeros(8, np.uint32)}
    out = run(programs("mini")["sha256"], data, tmp_path).outputs["digest"]
    assert out.astype(">u4").tobytes() == hashlib.sha256(message).digest()


def test_fft_with_true_twiddles_is_a_transform(tmp_path: Path) -> None:
    row = programs("mini")["fft"]
    n = json.loads(row.parameters)["POINTS"]
    data = draw_data(interface_of(row), row.inputs, seed=3)
    twiddle = np.exp(-2j * np.pi * np.arange(n // 2) / n)
    data |= {"twiddle_re": twiddle.real.astype(np.float32), "twiddle_im": twiddle.imag.astype(np.float32)}
    out = run(row, data, tmp_path).outputs
    reversed_bits = [int(f"{i:0{n.bit_length() - 1}b}"[::-1], 2) for i in range(n)]
    wanted = np.fft.fft(data["re"] + 1j * data["im"])
    np.testing.assert_allclose((out["re"] + 1j * out["im"])[reversed_bits], wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("program", "change", "returned"),
    [
        ("bfs", {"start": np.array(-1, np.int32)}, 0),
        ("crc32", {"length": np.array(0, np.int32)}, 0),
        ("machine", {"code": np.full(16, 255 << 24, np.uint32)}, 0),
        ("machine", {"code": np.full(16, 11 << 24, np.uint32)}, 400),
        ("huffman", {"count": np.array(3, np.int32)}, 3),
        ("kmp", {"text": np.zeros(256, np.int8)}, 0),
    ],
)
def test_program_leaves_early(program: str, change: DataSet, returned: int, tmp_path: Path) -> None:
    row = programs("mini")[program]
    data = draw_data(interface_of(row), row.inputs, seed=1) | change
    assert run(row, data, tmp_path).returned == returned

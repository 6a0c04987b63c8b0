"""Random hierarchical designs: outputs of our engine against those of Verilator, CXXRTL and Arc.

    python -m tests.benchmarks.rtl_fuzzing RESULTS.jsonl [--first 0] [--count 2000] [--bundle 20]
        [--engines cxxrtl verilator arc]

From seed 20,000 on designs have macros, asynchronous resets, parameters and memory files; from 30,000 on also
memories with lower bounds and resets that synchronisers hold; from 40,000 on, in runs of 25 seeds, falling
edges, clock gates, both, or several clocks with periods, and in some runs unpacked array ports.

Designs are compared in bundles, as compilers take seconds per program. A bundle in which engines differ, or
that an engine rejects, is taken apart. Every finished bundle is a line of the results, with processor
seconds by engine; a second run goes on behind the last. Compilers run unconfined, as the designs are our own.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.rtl.reuse import ENGINES, Program, RtlError, Simulator, build_reuse
from pipelines.rtl.reuse.arc_engine import ARC
from pipelines.rtl.reuse.building import read_design
from pipelines.rtl.reuse.designs import DesignSource
from pipelines.rtl.reuse.structure import words_of
from tests.benchmarks.harness import KeptRows, Row, options_parser, processor_s
from tests.benchmarks.rtl_engines import unconfine
from tests.support.random_clocks import language_of, periods_of
from tests.support.random_designs import bundle
from tests.support.random_kinds import Kind

CYCLES = 300
EQUAL, DIFFERENT, REJECTED = "equal", "different", "rejected"
GATED = "gated clock clk with engine cxxrtl"
"""Beginning of the refusal that CXXRTL has for all designs with clock gates."""
_NUMBERS = re.compile(r"\d+")
_NAMED = re.compile(r"[du](\d{3,})(?=_)")
"""A design's seed in the name of a module, an instance or a port."""
_LINE, _MODULE = re.compile(r"design\.s?v:(\d+)"), re.compile(r"^module d(\d+)", re.MULTILINE)
OTHERS = ("cxxrtl", "verilator", ARC)


def outcome(seeds: Sequence[int], folder: Path, engines: Sequence[str]) -> dict[str, str]:
    """What became of each seed, by engine: equal, different in some output, or the reason of a rejection."""
    source = bundle(seeds)
    try:
        ours = build_reuse(
            source.verilog,
            top=source.top,
            folder=folder,
            compiler="g++",
            is_quick=True,
            files=source.files,
            language=language_of(seeds[0]),
            clocks=periods_of(seeds[0]),
        )
    except RtlError as error:
        return {"reuse": str(error)}
    found: dict[str, str] = {}
    expected = outputs_of(ours, seeds[0])
    for engine in engines:
        try:
            theirs = build_other(engine, source, ours, folder, language_of(seeds[0]))
            actual = outputs_of(theirs, seeds[0])
            found[engine] = difference(ours, expected, actual) or EQUAL
        except RtlError as error:
            found[engine] = str(error)[-300:]
    return found


def rejection(seed: int) -> str:
    """Why our engine rejects a design; empty if it does not."""
    source = bundle([seed])
    try:
        read_design(
            source.verilog,
            top=source.top,
            timeout_s=60,
            files=source.files,
            language=language_of(seed),
            clocks=periods_of(seed),
        )
    except RtlError as error:
        return str(error)
    return ""


def culprits(seeds: Sequence[int], messages: Iterable[str]) -> list[int]:
    """Seeds whose instances, ports or lines messages name."""
    lines = bundle(seeds).verilog.splitlines()
    named = set[int]()
    for message in messages:
        named.update(int(number) for number in _NAMED.findall(message))
        for number in _LINE.findall(message):
            before = _MODULE.findall("\n".join(lines[: int(number)]))
            named.update(int(seed) for seed in before[-1:])
    return [seed for seed in seeds if seed in named]


def build_other(engine: str, source: DesignSource, ours: Program, folder: Path, language: str) -> Program:
    """The program of another engine, compiled in little time; the ports of ours have the clocks."""
    options: dict[str, Any] = {} if engine == ARC else {"ports": ours.ports, "is_quick": True}
    options |= {"language": language, "clocks": ours.ports.clocks}
    return ENGINES[engine](source.verilog, top=source.top, folder=folder, files=source.files, **options)


def outputs_of(program: Program, seed: int) -> np.ndarray:
    """Outputs of a run; the program is removed."""
    simulator = Simulator(program)
    try:
        outputs = simulator.run(CYCLES, seed=seed, is_traced=True).outputs
        assert outputs is not None
        return outputs
    finally:
        simulator.close()
        program.path.unlink()


def difference(program: Program, expected: np.ndarray, actual: np.ndarray) -> str:
    """The first word that differs; empty if none."""
    places = np.argwhere(expected != actual)
    if not len(places):
        return ""
    cycle, word, stimulus = (int(n) for n in places[0])
    port, limb, _ = words_of(program.ports.outputs)[word]
    values = f"{int(expected[cycle, word, stimulus]):x}, not {int(actual[cycle, word, stimulus]):x}"
    return f"{DIFFERENT}: cycle {cycle}, {port} word {limb}: {values}"


def compare(
    seeds: Sequence[int], folder: Path, engines: Sequence[str]
) -> Iterator[tuple[list[int], dict[str, str]]]:
    """Outcomes of seeds; rejected ones and those that messages name are taken out, then halves are."""
    found = outcome(seeds, folder, engines)
    if len(seeds) == 1 or all(text == EQUAL or text.startswith(GATED) for text in found.values()):
        yield list(seeds), found
        return
    rejected = {seed: reason for seed in seeds if (reason := rejection(seed))} if "reuse" in found else {}
    if rejected:
        yield from (([seed], {"reuse": reason}) for seed, reason in rejected.items())
        rest = [seed for seed in seeds if seed not in rejected]
        yield from compare(rest, folder, engines) if rest else ()
        return
    named = culprits(seeds, found.values())
    middle = len(seeds) // 2
    if 0 < len(named) <= middle:
        rest = [seed for seed in seeds if seed not in named]
        for part in (*([seed] for seed in named), rest):
            yield from compare(part, folder, engines)
        return
    yield from compare(seeds[:middle], folder, engines)
    yield from compare(seeds[middle:], folder, engines)


def bundles(seeds: Sequence[int], most: int) -> Iterator[list[int]]:
    """Seeds in bundles of one kind of clocks."""
    for _, run in groupby(seeds, key=lambda seed: Kind.of(seed).run):
        alike = list(run)
        yield from (alike[i : i + most] for i in range(0, len(alike), most))


def main() -> None:
    """Read the command line; the exit status is 1 if a design differs."""
    parser = options_parser(__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--bundle", type=int, default=20)
    parser.add_argument("--engines", nargs="+", choices=OTHERS, default=OTHERS[:2])
    options = parser.parse_args()
    kept = KeptRows(options.results, lambda row: tuple(row["seeds"]))
    done = {seed for seeds in kept.rows for seed in seeds}
    waiting = [seed for seed in range(options.first, options.first + options.count) if seed not in done]
    unconfine()
    with tempfile.TemporaryDirectory(prefix="simulators-") as name:
        for seeds in bundles(waiting, options.bundle):
            used = processor_s()
            for part, found in compare(seeds, Path(name), options.engines):
                spent, used = processor_s() - used, processor_s()
                kept.add({"seeds": part, "processor_s": round(spent, 1), **found})
                if len(part) == 1:
                    print(part, found, flush=True)
    sys.exit(summarise(list(kept.rows.values())))


def summarise(results: Sequence[Row]) -> int:
    """Print counts by engine and the reasons of rejections; 1 if a design differs."""
    differing = 0
    for engine in ("reuse", *OTHERS):
        counts, reasons = Counter[str](), Counter[str]()
        for line in results:
            text = str(line.get(engine, EQUAL if engine == "reuse" else line.get("reuse", "")))
            if not text or ("reuse" in line and engine != "reuse"):
                continue  # not asked for, or there is nothing to compare with
            kind = text if text == EQUAL else DIFFERENT if text.startswith(DIFFERENT) else REJECTED
            counts[kind] += len(line["seeds"])
            if kind == REJECTED:
                reasons[_NUMBERS.sub("N", text)[:100]] += len(line["seeds"])
        differing += counts[DIFFERENT]
        print(f"{engine}: " + ", ".join(f"{counts[kind]} {kind}" for kind in (EQUAL, DIFFERENT, REJECTED)))
        for reason, number in reasons.most_common():
            print(f"    {number} {reason}")
    return min(1, differing)


if __name__ == "__main__":
    main()

"""Throughput of placed operations, cycle by cycle: problems, results, and the compiled simulator."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.base.compiling import compiled_program
from pipelines.base.tools import run_tool
from pipelines.fabric.errors import FabricError

ENGINE = "fabric-simulator"
VERSION = "3"
"""Raise it when the same problem gives other cycles."""
_FLAGS = ("-std=c++17", "-O2")
_SOURCE = Path(__file__).with_name("simulator.cc")
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """Data that one operation sends to another.

    Attributes:
        links, durations: of its route, and the cycles of a packet on each.
        output_samples, input_samples: samples that the buffers at its two ends hold.
    """

    source: int
    target: int
    links: tuple[int, ...]
    durations: tuple[int, ...]
    output_samples: int = 2
    input_samples: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is simulated.

    An operation starts a sample when every input buffer holds one and every output buffer has room for one.
    It is busy for its service time; its output is there after a further delay. A sample travels on each flow
    as `packets` packets. A packet occupies a link for its duration, and arrives after the link's latency; its
    place in the buffer before the link is free when the link has sent it. It is sent only when the buffer
    behind the link has room. Of packets that wait for a link the first to arrive is sent, of those of one
    cycle the one of the lowest flow. Every flow has its own buffers, so flows block each other on links only.

    Attributes:
        services, delays: cycles, by operation; services >= 1.
        flows: see `Flow`; durations >= 1.
        latencies: cycles, by link.
        samples: of the batch.
        window: samples; 0 to simulate the whole batch. Otherwise the simulation ends when the flow is steady:
            between two samples that far apart, every operation started as many samples, give or take one. A
            shorter batch is not: buffers that fill at its beginning let the last operations run ahead.
        packets: per flow and sample.
        hop_packets: packets that the buffer between two links of a route holds.
    """

    services: tuple[int, ...]
    delays: tuple[int, ...]
    flows: tuple[Flow, ...]
    latencies: tuple[int, ...]
    samples: int = 16
    window: int = 0
    packets: int = 8
    hop_packets: int = 2

    def __post_init__(self) -> None:
        if not self.services or min(self.services) < 1 or len(self.services) != len(self.delays):
            raise FabricError("a problem needs operations, each with a service time of 1 cycle or more")
        if min(*self.delays, *self.latencies, 0) < 0:
            raise FabricError("negative delay or latency; accepted: 0 cycles or more")
        if self.samples < 2:
            raise FabricError(f"too few samples: {self.samples}; accepted: 2 or more")
        if self.window < 0 or self.window % 2 or self.window >= self.samples:
            raise FabricError(
                f"window of {self.window} samples; accepted: 0, or an even number below {self.samples}"
            )
        for name in ("packets", "hop_packets"):
            if getattr(self, name) < 1:
                raise FabricError(f"too small: {name} {getattr(self, name)}; accepted: 1 or more")
        for flow in self.flows:
            if not flow.links or len(flow.links) != len(flow.durations) or min(flow.durations) < 1:
                raise FabricError(f"a route needs links, each of 1 cycle per packet or more: {flow}")
            if not 0 <= min(flow.links) <= max(flow.links) < len(self.latencies):
                raise FabricError(f"unknown link: {flow.links}; accepted: 0 to {len(self.latencies) - 1}")
            if not (0 <= flow.source < len(self.services) and 0 <= flow.target < len(self.services)):
                raise FabricError(f"unknown operation: {flow.source} or {flow.target}")
            if min(flow.output_samples, flow.input_samples) < 1:
                raise FabricError(f"a buffer needs room for 1 sample or more: {flow}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """What a simulation gives.

    Attributes:
        is_deadlocked: whether samples were left when nothing could move any more.
        cycles: until the last event.
        complete: samples that left every last operation.
        finished: cycle in which each sample left the last operation; 0 for those that never did.
        window: of the problem.
        link_cycles: cycles in which each link sent.
    """

    is_deadlocked: bool
    cycles: int
    complete: int
    finished: tuple[int, ...]
    link_cycles: tuple[int, ...]
    window: int

    @property
    def is_steady(self) -> bool:
        """Whether the simulation ended before the batch did."""
        return self.complete < len(self.finished)

    @property
    def interval_cycles(self) -> float:
        """Cycles per sample over the last window; over the second half of a batch that never was steady.

        Raises: FabricError: samples were left, so there is none.
        """
        if self.is_deadlocked:
            raise FabricError(f"deadlock after {self.cycles} cycles")
        last = self.complete - 1
        first = last - self.window if self.window and self.is_steady else len(self.finished) // 2 - 1
        return (self.finished[last] - self.finished[first]) / (last - first)


def simulate(
    problems: Sequence[Problem], *, engine_folder: Path, timeout_s: float = 600.0
) -> list[Simulated]:
    """Simulate problems, one after the other, in one process.

    Args:   engine_folder: folder of compiled programs, one per version.
    Raises: ToolMissing: g++ is not installed. FabricError: the simulator failed or took too long.
    """
    content = np.concatenate([np.array([len(problems)], np.int64), *map(_encode, problems)])
    program = compiled_program(
        engine_folder, engine=ENGINE, sources=(_SOURCE,), flags=_FLAGS, error=FabricError
    )
    with tempfile.TemporaryDirectory(prefix="fabric-") as name:
        folder = Path(name)
        (folder / "problems").write_bytes(content.tobytes())
        argv = [os.fspath(program), "problems", "results"]
        run = run_tool(argv, folder=folder, timeout_s=timeout_s, of_processor=True)
        if run.returncode != 0:
            raise FabricError(f"the fabric simulator failed: {run.last_words()}")
        results = np.frombuffer((folder / "results").read_bytes(), np.int64)
    return _decode(results, problems)


def _encode(problem: Problem) -> Ints:
    flows = problem.flows
    hops = [n for f in flows for hop in zip(f.links, f.durations, strict=True) for n in hop]
    head = (problem.samples, problem.packets, problem.window, problem.hop_packets)
    sizes = (len(problem.services), len(flows), len(problem.latencies))
    ends = ([f.source for f in flows], [f.target for f in flows], [len(f.links) for f in flows])
    buffers = [*(f.output_samples for f in flows), *(f.input_samples for f in flows)]
    parts = (head, sizes, problem.services, problem.delays, *ends, buffers, hops, problem.latencies)
    return np.array([n for part in parts for n in part], np.int64)


def _decode(results: Ints, problems: Sequence[Problem]) -> list[Simulated]:
    simulated: list[Simulated] = []
    at = 0
    for problem in problems:
        links = at + 3 + problem.samples
        end = links + len(problem.latencies)
        simulated.append(
            Simulated(
                is_deadlocked=bool(results[at]),
                cycles=int(results[at + 1]),
                complete=int(results[at + 2]),
                finished=tuple(results[at + 3 : links].tolist()),
                link_cycles=tuple(results[links:end].tolist()),
                window=problem.window,
            )
        )
        at = end
    if at != len(results):
        raise FabricError(f"the fabric simulator wrote {len(results)} numbers; expected {at}")
    return simulated

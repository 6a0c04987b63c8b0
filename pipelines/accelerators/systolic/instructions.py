"""The instruction stream of a job, and how often every category occurs in it without listing it.

A command has 64 bits: operation, four token flags, payload (systolic.v). The flags take a token from, or
give one to, the unit before (load - execute - store) or after it; so loads run ahead by one step, and
results of one block are stored while the next one is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipelines.accelerators.errors import AcceleratorError
from pipelines.accelerators.systolic.hardware import Hardware
from pipelines.accelerators.systolic.tiling import (
    OUTPUT,
    WEIGHT,
    Job,
    OutputPlan,
    WeightPlan,
    plan_output,
    plan_weight,
)

CONFIG_LOAD, MVIN, PRELOAD, COMPUTE, CONFIG_STORE, CONFIG_SCALE, BIAS, CONFIG_EXECUTE, MVOUT, FENCE = range(
    10
)
TAKE_BEFORE, TAKE_AFTER, GIVE_BEFORE, GIVE_AFTER = 1, 2, 4, 8
CATEGORIES = (
    *("config_load", "mvin", "mvin_rows", "mvin_beats", "preload", "preload_rows", "compute", "compute_rows"),
    *("written_rows", "accumulated_rows", "drain", "config_execute", "config_store", "bias", "mvout"),
    *("mvout_rows", "mvout_beats", "pool_reads", "fence", "host_elements"),
)
"""Categories of a block's histogram: commands, and rows and beats that they move."""


class Scale(NamedTuple):
    """Rescaling of stores: factor, shift, lowest and highest result."""

    factor: int = 1
    shift: int = 0
    low: int = -127
    high: int = 127


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Commands of a job and what they need: scale, and biases (outputs,) or None."""

    hardware: Hardware
    job: Job
    scale: Scale = field(default_factory=Scale)
    bias: NDArray[np.int64] | None = None

    def commands(self) -> list[int]:
        """Return the commands of one product, a fence last.

        Raises: AcceleratorError: the job does not fit the addresses of commands.
        """
        job = self.job
        if job.results_at + job.outputs * job.positions >= 1 << 24:
            raise AcceleratorError("a layer of more than 16 MiB; accepted: smaller ones")
        return list(self.listed())

    def listed(self) -> Iterator[int]:
        """Yield the commands one by one, for layers of any size; addresses of large ones mean nothing."""
        job = self.job
        is_output = job.flow == OUTPUT
        # the distance of results: rows are positions (weight stationary) or outputs
        stride = job.positions if is_output else job.outputs
        low, high = (value & 0xFF for value in self.scale[2:])
        head = [
            _command(CONFIG_EXECUTE, (int(is_output), 8)),
            _command(
                CONFIG_STORE, (stride, 8), (job.pool[1], 32), (job.pool[0], 36), (job.columns % 256, 40)
            ),
            _command(
                CONFIG_SCALE,
                *(
                    (self.scale.factor, 8),
                    (self.scale.shift, 24),
                    (low, 32),
                    (high, 40),
                    (int(is_output), 48),
                ),
            ),
        ]
        if not job.has_bias:
            head += self._biases(0, min(job.outputs, self._tile))
        body = (
            self._output(plan_output(job, self.hardware))
            if is_output
            else self._weight(plan_weight(job, self.hardware))
        )
        yield from head
        yield from body
        yield _command(FENCE)

    @property
    def _tile(self) -> int:
        return self.hardware.rows if self.job.flow == OUTPUT else self.hardware.columns

    def _biases(self, first: int, count: int) -> list[int]:
        mask = (1 << self.hardware.accumulator_bits) - 1
        values = [0] * count if self.bias is None else self.bias[first : first + count].tolist()
        return [_command(BIAS, (i, 8), (value & mask, 16)) for i, value in enumerate(values)]

    # ---- weight stationary -------------------------------------------------------------------------

    def _weight(self, plan: WeightPlan) -> Iterator[int]:
        h, job = self.hardware, self.job
        quarter, half = h.scratchpad_rows // 4, h.accumulator_rows // 2
        chunks = plan.chunks(h.rows)
        tiles = [(n, min(h.columns, job.outputs - n)) for n in range(0, job.outputs, h.columns)]
        hop = part = loads = 0
        for first, count in plan.blocks():
            segments = plan.segments(first, count)
            for group in range(0, len(tiles), plan.tiles):
                members = tiles[group : group + plan.tiles]
                hops = [
                    (chunk, i, [j for j in range(len(members)) if _reads(job, chunk, members[j])])
                    for i, chunk in enumerate(chunks)
                ]
                hops = [entry for entry in hops if entry[2]]
                seen: set[int] = set()
                last = (hops[-1][1], hops[-1][2][-1])
                taken = part < 2
                for (term, k, length), number, readers in hops:
                    a_row = loads % 2 * quarter
                    for j in readers:
                        n, size = members[j]
                        take = TAKE_AFTER if hop >= 2 else 0
                        w_row = 2 * quarter + hop % 2 * quarter
                        if j == readers[0]:
                            yield _command(CONFIG_LOAD, (job.column_stride, 8), (1, 32), flags=take)
                            take, row = 0, a_row
                            for place, rows in segments:
                                yield _mvin(place + term.base + k, row, rows, length)
                                row += rows
                            yield _command(CONFIG_LOAD, (job.outputs, 8), (1, 32))
                        source = job.weights_at + (term.first + k) * job.outputs + n
                        yield _mvin(source, w_row, length, size, flags=take | GIVE_AFTER)
                        yield _command(PRELOAD, (w_row, 8), (length, 24), flags=TAKE_BEFORE)
                        flags = GIVE_BEFORE | (0 if taken else TAKE_AFTER)
                        flags |= GIVE_AFTER if (number, j) == last else 0
                        taken = True
                        c_row = part % 2 * half + j * plan.block
                        yield _compute(a_row, count, c_row, accumulate=j in seen, flags=flags)
                        seen.add(j)
                        hop += 1
                    loads += 1
                yield from self._stores(plan, members, first, count, part % 2 * half, first_of_all=part == 0)
                part += 1

    def _stores(
        self,
        plan: WeightPlan,
        members: list[tuple[int, int]],
        first: int,
        count: int,
        row: int,
        *,
        first_of_all: bool,
    ) -> Iterator[int]:
        job = self.job
        line, narrow = job.columns, job.columns // job.pool[1]
        for j, (n, size) in enumerate(members):
            if job.has_bias and (first_of_all or job.outputs > self.hardware.columns):
                yield from self._biases(n, size)
            if job.pool == (1, 1):
                stores = [(first, row + j * plan.block, count)]
            else:
                bands = count // (job.pool[0] * line)
                stores = [
                    (
                        (first // (job.pool[0] * line) + band) * narrow,
                        row + j * plan.block + band * job.pool[0] * line,
                        narrow,
                    )
                    for band in range(bands)
                ]
            for i, (m, source, rows) in enumerate(stores):
                flags = TAKE_BEFORE if j == 0 and i == 0 else 0
                flags |= GIVE_BEFORE if j == len(members) - 1 and i == len(stores) - 1 else 0
                yield _mvin(
                    job.results_at + m * job.outputs + n, source, rows, size, flags=flags, operation=MVOUT
                )

    # ---- output stationary -------------------------------------------------------------------------

    def _output(self, plan: OutputPlan) -> Iterator[int]:
        job, quarter = self.job, self.hardware.scratchpad_rows // 4
        half = self.hardware.accumulator_rows // 2
        spacing = job.column_stride
        hop = part = 0
        for tile, (n, size) in enumerate(plan.tiles()):
            chunks = plan.chunks(n, size)
            keeps = len(chunks) == 1
            for number, (m, place, count) in enumerate(plan.positions()):
                for i, (term, k, length) in enumerate(chunks):
                    take = TAKE_AFTER if hop >= 2 else 0
                    w_row = (tile if keeps else hop) % 2 * quarter
                    a_row = 2 * quarter + hop % 2 * quarter
                    if not keeps or number == 0:
                        yield _command(CONFIG_LOAD, (job.outputs, 8), (1, 32), flags=take)
                        take = 0
                        source = job.weights_at + (term.first + k) * job.outputs + n
                        yield _mvin(source, w_row, length, size)
                        yield _command(CONFIG_LOAD, (job.k_stride, 8), (spacing, 32))
                    source = place + term.base + k * job.k_stride
                    yield _mvin(source, a_row, length, count, flags=take | GIVE_AFTER)
                    yield _command(PRELOAD, (a_row, 8), (size, 24), flags=TAKE_BEFORE)
                    is_last = i == len(chunks) - 1
                    flags = GIVE_BEFORE | (TAKE_AFTER if i == 0 and part >= 2 else 0)
                    flags |= GIVE_AFTER if is_last else 0
                    yield _compute(
                        w_row, length, part % 2 * half, accumulate=False, flags=flags, last=is_last
                    )
                    hop += 1
                if job.has_bias and number == 0:
                    yield from self._biases(n, size)
                target = job.results_at + n * job.positions + m
                yield _mvin(
                    target, part % 2 * half, size, count, flags=TAKE_BEFORE | GIVE_BEFORE, operation=MVOUT
                )
                part += 1


def _command(operation: int, *fields: tuple[int, int], flags: int = 0) -> int:
    word = operation | flags << 4
    for value, place in fields:
        word |= value << place
    return word


def _mvin(place: int, row: int, rows: int, length: int, *, flags: int = 0, operation: int = MVIN) -> int:
    return _command(operation, (place, 8), (row, 32), (rows, 48), (length, 56), flags=flags)


def _compute(a_row: int, rows: int, c_row: int, *, accumulate: bool, flags: int, last: bool = False) -> int:
    fields = ((a_row, 8), (rows, 24), (c_row, 32), (int(accumulate), 48), (int(last), 49))
    return _command(COMPUTE, *fields, flags=flags)


def _reads(job: Job, chunk: tuple[object, int, int], tile: tuple[int, int]) -> bool:
    low, high = job.channels(tile[0], tile[0] + tile[1])
    return job.groups == 1 or (chunk[1] < high and low < chunk[1] + chunk[2])


# ---- counts without a list -------------------------------------------------------------------------


def count_commands(job: Job, hardware: Hardware) -> dict[str, int]:
    """Return the occurrences of every category in one product's stream; equal to `count_stream` of it."""
    counts = dict.fromkeys(CATEGORIES, 0)
    counts |= {"config_execute": 1, "config_store": 2, "fence": 1}
    if job.flow == WEIGHT:
        _count_weight(counts, plan_weight(job, hardware), hardware)
    else:
        _count_output(counts, plan_output(job, hardware), hardware)
    return counts


def _beats(lengths: NDArray[np.int64] | int, hardware: Hardware) -> NDArray[np.int64]:
    return -(-np.asarray(lengths) // hardware.dma_bytes)


def _count_weight(counts: dict[str, int], plan: WeightPlan, h: Hardware) -> None:
    job, chunks = plan.job, plan.chunks(h.rows)
    firsts = np.array([k for _, k, _ in chunks])
    lengths = np.array([length for *_, length in chunks])
    starts = np.arange(0, job.outputs, h.columns)
    sizes = np.minimum(h.columns, job.outputs - starts)
    read = np.ones((len(chunks), len(starts)), bool)
    if job.groups > 1:
        bounds = np.array([job.channels(int(n), int(n + s)) for n, s in zip(starts, sizes, strict=True)])
        read = (firsts[:, None] < bounds[:, 1]) & (bounds[:, 0] < (firsts + lengths)[:, None])
    groups = np.add.reduceat(read, np.arange(0, len(starts), plan.tiles), axis=1, dtype=np.int64) > 0
    blocks = plan.blocks()
    segments = sum(len(plan.segments(first, count)) for first, count in blocks)
    operand_loads = groups.sum(axis=1)  # (chunks,) of every block
    hops = int(read.sum())
    counts["config_load"] = 2 * int(groups.sum()) * len(blocks)
    counts["mvin"] = int(groups.sum()) * segments + hops * len(blocks)
    counts["mvin_rows"] = int(groups.sum()) * job.positions + int((read * lengths[:, None]).sum()) * len(
        blocks
    )
    operand_beats = int((operand_loads * _beats(lengths, h)).sum()) * job.positions
    weight_beats = int((read * lengths[:, None] * _beats(sizes, h)).sum()) * len(blocks)
    counts["mvin_beats"] = operand_beats + weight_beats
    counts["preload"] = counts["compute"] = hops * len(blocks)
    counts["preload_rows"] = hops * len(blocks) * h.rows
    counts["compute_rows"] = hops * job.positions
    counts["written_rows"] = len(starts) * job.positions
    counts["accumulated_rows"] = (hops - len(starts)) * job.positions
    if job.has_bias:
        counts["bias"] = job.outputs * (len(blocks) if job.outputs > h.columns else 1)
    else:
        counts["bias"] = min(job.outputs, h.columns)
    results = job.result_positions
    bands = sum(count // (job.pool[0] * job.columns) for _, count in blocks)
    counts["mvout"] = len(starts) * (len(blocks) if job.pool == (1, 1) else bands)
    counts["mvout_rows"] = len(starts) * results
    counts["mvout_beats"] = int(_beats(sizes, h).sum()) * results
    counts["pool_reads"] = len(starts) * results * job.pool[0] * job.pool[1]


def _count_output(counts: dict[str, int], plan: OutputPlan, h: Hardware) -> None:
    job = plan.job
    places = plan.positions()
    widths = np.array([count for *_, count in places])
    beats = widths if job.column_stride != 1 else _beats(widths, h)
    for n, size in plan.tiles():
        chunks = plan.chunks(n, size)
        depth, hops = sum(length for *_, length in chunks), len(chunks) * len(places)
        weight_loads = 1 if len(chunks) == 1 else len(places)
        counts["config_load"] += 2 * len(chunks) * weight_loads
        counts["mvin"] += hops + len(chunks) * weight_loads
        counts["mvin_rows"] += depth * (len(places) + weight_loads)
        counts["mvin_beats"] += depth * (int(beats.sum()) + weight_loads * int(_beats(size, h)))
        counts["preload"] += hops
        counts["compute"] += hops
        counts["compute_rows"] += depth * len(places)
        counts["written_rows"] += size * len(places)
        counts["drain"] += len(places)
        counts["bias"] += size if job.has_bias else 0
        counts["mvout"] += len(places)
        counts["mvout_rows"] += size * len(places)
        counts["mvout_beats"] += size * int(_beats(widths, h).sum())
        counts["pool_reads"] += size * len(places)
    if not job.has_bias:
        counts["bias"] = min(job.outputs, h.rows)


def count_stream(commands: list[int], hardware: Hardware) -> Mapping[str, int]:
    """Return the occurrences of every category in a list of commands, one command at a time."""
    counts = dict.fromkeys(CATEGORIES, 0)
    spacing, pool, is_output, c_rows = 1, (1, 1), False, 0
    names = {CONFIG_LOAD: "config_load", CONFIG_EXECUTE: "config_execute", BIAS: "bias", FENCE: "fence"}
    names |= {MVIN: "mvin", PRELOAD: "preload", COMPUTE: "compute", MVOUT: "mvout"}
    names |= {CONFIG_STORE: "config_store", CONFIG_SCALE: "config_store"}
    for command in commands:
        operation, rows, length = command & 15, command >> 48 & 255, command >> 56 & 255
        counts[names[operation]] += 1
        beats = -(-length // hardware.dma_bytes)
        if operation == CONFIG_LOAD:
            spacing = command >> 32 & 0xFFFF
        elif operation == CONFIG_EXECUTE:
            is_output = bool(command >> 8 & 1)
        elif operation == CONFIG_STORE:
            pool = (command >> 36 & 15, command >> 32 & 15)
        elif operation == MVIN:
            counts["mvin_rows"] += rows
            counts["mvin_beats"] += rows * (beats if spacing == 1 else length)
        elif operation == PRELOAD:
            c_rows = command >> 24 & 255
            counts["preload_rows"] += 0 if is_output else hardware.rows
        elif operation == COMPUTE:
            count_compute(counts, command, is_output=is_output, c_rows=c_rows)
        elif operation == MVOUT:
            counts["mvout_rows"] += rows
            counts["mvout_beats"] += rows * beats
            counts["pool_reads"] += rows * pool[0] * pool[1]
    return counts


def count_compute(counts: dict[str, int], command: int, *, is_output: bool, c_rows: int) -> None:
    """Add the rows of a compute command."""
    rows, accumulates, last = command >> 24 & 255, command >> 48 & 1, command >> 49 & 1
    counts["compute_rows"] += rows
    if is_output:
        counts["written_rows"] += c_rows if last else 0
        counts["drain"] += last
    else:
        counts["accumulated_rows" if accumulates else "written_rows"] += rows

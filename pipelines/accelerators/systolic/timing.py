"""Cycles of a job from its commands: queues, tokens and the three units of systolic.v, command by command.

What is left out: both readers of an accumulator bank at once. The first commands of a long job are timed, and
the rest at their rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from pipelines.accelerators.systolic.hardware import Hardware
from pipelines.accelerators.systolic.instructions import (
    BIAS,
    COMPUTE,
    CONFIG_EXECUTE,
    CONFIG_LOAD,
    CONFIG_SCALE,
    CONFIG_STORE,
    FENCE,
    GIVE_AFTER,
    GIVE_BEFORE,
    MVIN,
    MVOUT,
    PRELOAD,
    TAKE_AFTER,
    TAKE_BEFORE,
    Stream,
)
from pipelines.accelerators.systolic.tiling import OUTPUT, Job

TIMED_COMMANDS = 2000
_COMMANDS = ("config_load", "mvin", "preload", "compute", "config_execute", "config_store", "bias", "mvout")
_LOAD, _EXECUTE, _STORE = range(3)
_UNIT = {
    **dict.fromkeys((CONFIG_LOAD, MVIN), _LOAD),
    **dict.fromkeys((PRELOAD, COMPUTE, CONFIG_EXECUTE), _EXECUTE),
    **dict.fromkeys((CONFIG_STORE, CONFIG_SCALE, BIAS, MVOUT), _STORE),
}


@lru_cache(maxsize=4096)
def job_cycles(job: Job, hardware: Hardware, counts: tuple[tuple[str, int], ...]) -> int:
    """Return the cycles of one product; `counts`: occurrences in all its commands."""
    units = _Units(hardware=hardware, is_output=job.flow == OUTPUT)
    number = units.run(islice(Stream(hardware=hardware, job=job).listed(), TIMED_COMMANDS))
    known: Mapping[str, int] = dict(counts)
    whole = sum(known[name] for name in _COMMANDS)
    return round(units.end * max(1.0, whole / max(1, number)))


@dataclass(slots=True, kw_only=True)
class _Units:
    """Times of the queues, the units and their tokens; a time is the cycle in which something can happen.

    Attributes:
        accepted: cycle in which the last command entered a queue. free: from when a unit can take a command.
        pops: of the commands of each unit. given: tokens between units by (from, to), in order.
        taken: how many were taken. clear: from when weights may be shifted in. end: of all work.
    """

    hardware: Hardware
    is_output: bool
    accepted: int = -1
    free: list[int] = field(default_factory=lambda: [0, 0, 0])
    pops: tuple[list[int], ...] = field(default_factory=lambda: ([], [], []))
    given: dict[tuple[int, int], list[int]] = field(default_factory=dict[tuple[int, int], list[int]])
    taken: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    spacing: int = 1
    pool: int = 1
    is_fresh: bool = False
    clear: int = 0
    end: int = 0

    def run(self, commands: Iterable[int]) -> int:
        """Return the time commands; their number, without the fence."""
        h = self.hardware
        depths = (h.load_queue, h.execute_queue, h.store_queue)
        number = 0
        for command in commands:
            operation, flags = command & 15, command >> 4 & 15
            if operation == FENCE:
                break
            number += 1
            unit = _UNIT[operation]
            pops, depth = self.pops[unit], depths[unit]
            self.accepted += 1
            if len(pops) >= depth:
                self.accepted = max(self.accepted, pops[-depth] + 1)
            start = max(self.accepted + 1, self.free[unit])
            for flag, neighbour in ((TAKE_BEFORE, unit - 1), (TAKE_AFTER, unit + 1)):
                if flags & flag:
                    start = max(start, self._take(neighbour, unit))
            if unit == _EXECUTE and operation == PRELOAD and not self.is_output:
                start = max(start, self.clear)
            pops.append(start)
            done = (self._load, self._execute, self._store)[unit](operation, command, start)
            for flag, neighbour in ((GIVE_BEFORE, unit - 1), (GIVE_AFTER, unit + 1)):
                if flags & flag:
                    at = done if neighbour > unit or unit == _STORE else self.free[unit] - 1
                    self.given.setdefault((unit, neighbour), []).append(at + 1)
            self.end = max(self.end, done, self.free[unit])
        return number

    def _take(self, giver: int, taker: int) -> int:
        """Take the next token; return the cycle at which it is there."""
        place = self.taken.get((giver, taker), 0)
        self.taken[giver, taker] = place + 1
        tokens = self.given.get((giver, taker), [])
        return tokens[place] if place < len(tokens) else 0

    def _load(self, operation: int, command: int, start: int) -> int:
        """Execute a load; return when the last row is written."""
        h = self.hardware
        if operation == CONFIG_LOAD:
            self.spacing = command >> 32 & 0xFFFF
            self.free[_LOAD] = start + 1
            return start
        rows, length = command >> 48 & 255, command >> 56 & 255
        beats = rows * (length if h.transposer and self.spacing != 1 else -(-length // h.dma_bytes))
        latency, most = h.memory_latency_cycles, h.dma_requests
        last = beats - 1 if most > latency else (beats - 1) // most * (latency + 1) + (beats - 1) % most
        done = start + 1 + last + latency
        self.free[_LOAD] = done + 1
        return done

    def _execute(self, operation: int, command: int, start: int) -> int:
        """Execute a product; return when its last row is accumulated. `free`: the next command's start."""
        h = self.hardware
        latency = h.rows // h.tile_rows + h.columns // h.tile_columns - 1
        if operation != COMPUTE:
            is_shift = operation == PRELOAD and not self.is_output
            self.is_fresh = self.is_fresh or operation == PRELOAD
            self.free[_EXECUTE] = start + 1 + (h.rows if is_shift else 0)
            return self.free[_EXECUTE]
        rows, last = command >> 24 & 255, command >> 49 & 1
        feed = rows * (2 if self.is_output and h.scratchpad_banks == 1 else 1)
        ended = start + feed  # the cycle of the last row
        self.free[_EXECUTE] = ended + 1
        if self.is_output:
            self.free[_EXECUTE] += last * (latency + 4 + h.rows)
            return self.free[_EXECUTE]
        if h.weight_buffers == 2:
            if self.is_fresh:
                self.clear = start + 2 + latency + 2
        else:
            self.clear = ended + latency + 3
        self.is_fresh = False
        return ended + latency + 2

    def _store(self, operation: int, command: int, start: int) -> int:
        """Execute a store; return when the last row is written out."""
        h = self.hardware
        if operation != MVOUT:
            if operation == CONFIG_STORE:
                self.pool = (command >> 36 & 15) * (command >> 32 & 15) if h.pooling else 1
            self.free[_STORE] = start + 1
            return start
        rows, length = command >> 48 & 255, command >> 56 & 255
        row = self.pool + 1 + -(-length // h.scale_lanes) + -(-length // h.dma_bytes)
        done = start + rows * row
        self.free[_STORE] = done + 1
        return done

"""A network compiled for an accelerator: blocks with counts of commands, and data that flows between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from pipelines.accelerators.graph import Layer, Network
from pipelines.accelerators.systolic.hardware import Hardware
from pipelines.accelerators.systolic.instructions import CATEGORIES, count_commands
from pipelines.accelerators.systolic.tiling import OUTPUT, Job, jobs_of
from pipelines.accelerators.systolic.timing import job_cycles

COMPILER_VERSION = "1"
"""Raised by hand when the same network and hardware give other commands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The commands of one layer.

    Attributes:
        name, kind: of the layer. counts: occurrences of every category. parameter_count: of the layer.
        estimated_cycles: by `timing`, of the first commands of a product; 0 for the host.
        bound_cycles: of the busiest unit, by `estimate_cycles`.
        multiplications: of the layer, without those by structural zeros.
    """

    name: str
    kind: str
    counts: Mapping[str, int]
    parameter_count: int
    estimated_cycles: int
    bound_cycles: int
    multiplications: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A compiled network: blocks in order, and edges (source, target) between their numbers."""

    flow: str
    blocks: tuple[Block, ...]
    edges: tuple[tuple[int, int], ...]

    @property
    def estimated_cycles(self) -> int:
        """Estimated cycles of all blocks."""
        return sum(block.estimated_cycles for block in self.blocks)


def compile_network(network: Network, hardware: Hardware) -> Compiled:
    """Compile the blocks of a network; of two dataflows the one whose busiest units take fewer cycles."""
    candidates = [_compiled(network, hardware, flow) for flow in hardware.flows()]
    return min(candidates, key=lambda compiled: sum(block.bound_cycles for block in compiled.blocks))


def _compiled(network: Network, hardware: Hardware, flow: str) -> Compiled:
    makers = {layer.output: i for i, layer in enumerate(network.layers)}
    edges = [
        (makers[name], i)
        for i, layer in enumerate(network.layers)
        for name in dict.fromkeys(layer.inputs)
        if name in makers
    ]
    blocks = tuple(compile_layer(layer, hardware, flow) for layer in network.layers)
    return Compiled(flow=flow, blocks=blocks, edges=tuple(edges))


def compile_layer(layer: Layer, hardware: Hardware, flow: str) -> Block:
    """Compile the block of one layer; one of the host counts the elements that it writes."""
    counts, cycles, bound, multiplications = dict.fromkeys(CATEGORIES, 0), 0, 0, 0
    if layer.kind == "host":
        counts["host_elements"] = prod(layer.out_shape)
    else:
        job = jobs_of(layer, hardware, flow)
        own = _counts(job, hardware)
        counts = {name: count * job.repeats for name, count in own}
        bound = estimate_cycles(counts, hardware, flow)
        cycles = job_cycles(job, hardware, own) * job.repeats
        multiplications = job.repeats * job.positions * job.outputs * job.depth // job.groups
        is_clipped = layer.activation == "none" or hardware.activation != "none"
        if not is_clipped or (layer.pool and job.pool == (1, 1)):
            counts["host_elements"] = prod(layer.out_shape)
    return Block(
        name=layer.name,
        kind=layer.kind if layer.kind != "host" else layer.kinds[0].lower(),
        counts=counts,
        parameter_count=layer.parameter_count,
        estimated_cycles=cycles,
        bound_cycles=bound,
        multiplications=multiplications,
    )


@lru_cache(maxsize=4096)
def _counts(job: Job, hardware: Hardware) -> tuple[tuple[str, int], ...]:
    return tuple(count_commands(job, hardware).items())


def estimate_cycles(counts: Mapping[str, int], hardware: Hardware, flow: str) -> int:
    """Return the cycles of a block's busiest unit, in closed form, without tokens and queues."""
    h = hardware
    latency = h.rows // h.tile_rows + h.columns // h.tile_columns - 1
    waits = -(-h.memory_latency_cycles // h.dma_requests)
    load = counts["mvin_beats"] * max(1, waits) + counts["mvin"] * (h.memory_latency_cycles + 2)
    load += counts["config_load"]
    execute = counts["compute_rows"] + 2 * counts["compute"] + counts["preload_rows"] + counts["preload"]
    if flow == OUTPUT:
        conflicts = counts["compute_rows"] if h.scratchpad_banks == 1 else 0
        execute += conflicts + counts["drain"] * (h.rows + latency + 4)
    elif h.weight_buffers == 1:
        execute += counts["preload"] * (latency + 2)
    rescale = -(-h.columns // h.scale_lanes)
    store = counts["mvout_rows"] * (2 + rescale) + counts["pool_reads"] + counts["mvout_beats"]
    store += counts["bias"] + 2 * counts["mvout"]
    return max(load, execute, store)

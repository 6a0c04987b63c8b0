"""A quantised network on the RTL: memory images, commands, cycles, results, and values of ports for power."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.accelerators.errors import AcceleratorError
from pipelines.accelerators.graph import Layer
from pipelines.accelerators.systolic.hardware import Hardware
from pipelines.accelerators.systolic.instructions import Stream
from pipelines.accelerators.systolic.quantise import (
    IntegerLayer,
    IntegerNetwork,
    Integers,
    integer_layer,
    padded,
)
from pipelines.accelerators.systolic.tiling import OUTPUT, WEIGHT, Job, jobs_of
from pipelines.accelerators.systolic.verilog import BENCH, bench_verilog, core_inputs
from pipelines.rtl.reuse import Simulator, build_reuse, words_of

Words = NDArray[np.uint64]
MEMORY_BITS, PROGRAM_BITS = 16, 16
"""External memory of the bench: 512 KiB; commands: 65,536."""
_CHUNK = 4096
_CYCLE_LIMIT = 4_000_000
_WORD = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """A product on the RTL.

    Attributes:
        results: (positions, outputs) signed integers.
        cycles: from the first command to the end of the fence.
        ports: value of every input of the core in every cycle, (cycles,), reset first; empty when not
            asked for.
        reset_cycles: at the start of `ports`.
        accesses: reads and writes of every memory: s_re, s_we, a_re, a_we over all banks; beats read and
            written outside: rd, wr.
        writes: wr_request, wr_address, wr_data and wr_count in every cycle of `ports`.
    """

    results: Integers
    cycles: int
    ports: Mapping[str, Words]
    reset_cycles: int
    accesses: Mapping[str, int]
    writes: Mapping[str, Words]


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerRun:
    """A layer of the accelerator: its jobs, and whether they gave what integer inference gives."""

    layer: Layer
    jobs: tuple[JobRun, ...]
    is_equal: bool

    @property
    def cycles(self) -> int:
        """Cycles of all jobs."""
        return sum(job.cycles for job in self.jobs)


@dataclass(slots=True)
class Bench:
    """The RTL of a configuration, ready to run."""

    hardware: Hardware
    folder: Path
    simulator: Simulator = field(init=False)

    def __post_init__(self) -> None:
        text = bench_verilog(self.hardware, memory_bits=MEMORY_BITS, program_bits=PROGRAM_BITS)
        self.simulator = Simulator(build_reuse(text, top=BENCH, folder=self.folder))

    def run(
        self, job: Job, commands: list[int], image: NDArray[np.uint8], *, is_traced: bool = True
    ) -> JobRun:
        """Run the commands on a memory image of bytes.

        Raises: AcceleratorError: image or commands do not fit the bench, or the run does not end.
        """
        if len(commands) > 1 << PROGRAM_BITS or image.size > 8 << MEMORY_BITS:
            raise AcceleratorError(
                f"a layer with {len(commands)} commands and {image.size} bytes; accepted by the bench: up to "
                f"{1 << PROGRAM_BITS} and {8 << MEMORY_BITS}"
            )
        self.simulator.reset()
        self.simulator.play(self._loading(commands, image))
        settle = 2 * (self.hardware.rows + self.hardware.columns) + 4
        parts = [self._observed(self._steady(settle, rst=1))]
        running = self._steady(_CHUNK, run=1, commands=len(commands))
        for _ in range(_CYCLE_LIMIT // _CHUNK):
            parts.append(self._observed(running))
            if parts[-1]["done"][-1]:
                break
        else:
            raise AcceleratorError(f"no end after {_CYCLE_LIMIT} cycles: {len(commands)} commands")
        trace = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        end = int(np.flatnonzero(trace["done"])[0]) + 1
        trace = {name: values[:end] for name, values in trace.items()}
        ports = {name: trace[f"in_{name}"] for name in core_inputs(self.hardware)} if is_traced else {}
        return JobRun(
            results=self._results(job, trace),
            cycles=end - settle,
            ports=ports,
            reset_cycles=settle,
            accesses=_accesses(trace),
            writes={
                name: trace[f"out_{name}"] for name in ("wr_request", "wr_address", "wr_data", "wr_count")
            },
        )

    def _steady(self, cycles: int, **values: int) -> Words:
        names = [name for name, _, _ in words_of(self.simulator.program.ports.inputs)]
        inputs = np.zeros((cycles, len(names), 1), np.uint64)
        for name, value in values.items():
            inputs[:, names.index(name), 0] = value
        return inputs

    def _loading(self, commands: list[int], image: NDArray[np.uint8]) -> Words:
        memory = np.pad(image, (0, -image.size % 8)).view("<u8")
        words = np.concatenate([memory, np.array(commands, np.uint64)])
        inputs = self._steady(words.size, rst=1, load=1)
        names = [name for name, _, _ in words_of(self.simulator.program.ports.inputs)]
        inputs[:, names.index("load_data"), 0] = words
        inputs[memory.size :, names.index("load_program"), 0] = 1
        places = np.concatenate([np.arange(memory.size), np.arange(len(commands))])
        inputs[:, names.index("load_address"), 0] = places.astype(np.uint64)
        return inputs

    def _observed(self, inputs: Words) -> dict[str, Words]:
        outputs = self.simulator.play(inputs).outputs
        if outputs is None:
            raise AcceleratorError("the simulator gave no outputs")
        names = [name for name, _, _ in words_of(self.simulator.program.ports.outputs)]
        return {name: outputs[:, i, 0] for i, name in enumerate(names)}

    def _results(self, job: Job, trace: Mapping[str, Words]) -> Integers:
        """Return the bytes that the accelerator wrote, as results by position and output."""
        size = job.outputs * job.result_positions
        written = np.zeros(size, np.int64)
        at = np.flatnonzero(trace["out_wr_request"])
        data, counts = trace["out_wr_data"][at], trace["out_wr_count"][at]
        places = trace["out_wr_address"][at].astype(np.int64) - job.results_at
        for byte in range(self.hardware.dma_bytes):
            kept = byte < counts
            values = (data[kept] >> np.uint64(8 * byte)).astype(np.uint8).astype(np.int8)
            written[places[kept] + byte] = values
        if job.flow == OUTPUT:
            return written.reshape(job.outputs, job.result_positions).T
        return written.reshape(job.result_positions, job.outputs)


def _accesses(trace: Mapping[str, Words]) -> dict[str, int]:
    counts = {
        name: int(np.bitwise_count(trace[f"out_{name}"]).sum()) for name in ("s_re", "s_we", "a_re", "a_we")
    }
    return counts | {"rd": int(trace["in_rd_valid"].sum()), "wr": int(trace["out_wr_request"].sum())}


def run_network(
    bench: Bench, integer: IntegerNetwork, *, flow: str, is_traced: bool = True
) -> list[LayerRun]:
    """Run every layer of the accelerator on the RTL, with the inputs of integer inference."""
    network, hardware = integer.network, bench.hardware
    values: dict[str, Integers] = {network.input: integer.sample}
    runs: list[LayerRun] = []
    for layer in integer.layers:
        operands = [values[name] for name in layer.layer.inputs]
        result = integer_layer(layer, operands, hardware, network.opset)
        values[layer.layer.output] = result
        if layer.layer.kind != "host":
            runs.append(run_layer(bench, layer, operands, result, flow=flow, is_traced=is_traced))
    return runs


def run_layer(
    bench: Bench,
    integer: IntegerLayer,
    operands: list[Integers],
    expected: Integers,
    *,
    flow: str,
    is_traced: bool,
) -> LayerRun:
    """Return one layer on the RTL, compared element by element with its integer result."""
    layer, hardware = integer.layer, bench.hardware
    job = jobs_of(layer, hardware, flow)
    stream = Stream(hardware=hardware, job=job, scale=integer.scale, bias=integer.bias)
    commands = stream.commands()
    runs = [
        bench.run(job, commands, _image(job, left, right), is_traced=is_traced)
        for left, right in _operands(integer, job, operands)
    ]
    shaped = np.stack([run.results for run in runs])  # (repeats, positions, outputs)
    return LayerRun(layer=layer, jobs=tuple(runs), is_equal=_is_equal(layer, job, hardware, shaped, expected))


def _is_equal(layer: Layer, job: Job, hardware: Hardware, results: Integers, expected: Integers) -> bool:
    """Tell whether results are the expected ones; ReLU and pools that the hardware lacks are the host's."""
    if hardware.activation == "none" and layer.activation != "none":
        results = np.maximum(results, 0)
    if layer.kind == "conv" or (len(expected.shape) == 4 and layer.kind == "add"):
        if layer.pool and job.pool == (1, 1):
            image = results[0].T.reshape(job.outputs, *_image_size(layer))
            high, wide = (size // w for size, w in zip(image.shape[1:], layer.pool, strict=True))
            image = image[:, : high * layer.pool[0], : wide * layer.pool[1]]
            image = image.reshape(job.outputs, high, layer.pool[0], wide, layer.pool[1]).max(axis=(2, 4))
            return bool((image == expected[0]).all())
        return bool((results[0].T.reshape(expected.shape) == expected).all())
    return bool((results.reshape(expected.shape) == expected).all())


def _image_size(layer: Layer) -> tuple[int, int]:
    _, _, height, width = layer.in_shapes[0]
    top, left, bottom, right = layer.pads
    return (
        (height + top + bottom - layer.weight_shape[2]) // layer.strides[0] + 1,
        (width + left + right - layer.weight_shape[3]) // layer.strides[1] + 1,
    )


def _operands(integer: IntegerLayer, job: Job, operands: list[Integers]) -> list[tuple[Integers, Integers]]:
    """Return the bytes of the first operand, and weights (k, outputs), of every product of a layer."""
    layer, is_weight = integer.layer, job.flow == WEIGHT
    if layer.kind == "conv" and integer.weights is not None:
        return [(_conv_operand(layer, job, operands[0]), integer.weights)]
    if layer.kind == "add" and integer.weights is not None:
        parts = [_channels_first(o) if not is_weight else _channels_first(o).T for o in operands]
        return [(np.concatenate([part.ravel() for part in parts]), integer.weights)]
    lefts = operands[0].reshape(job.repeats, -1, operands[0].shape[-1])
    rights = (
        operands[1].reshape(job.repeats, -1, job.outputs)
        if integer.weights is None
        else integer.weights[None]
    )
    return [
        ((left if is_weight else left.T).ravel(), right) for left, right in zip(lefts, rights, strict=True)
    ]


def _channels_first(values: Integers) -> Integers:
    """Return (channels, positions)."""
    if values.ndim == 4:
        return values[0].reshape(values.shape[1], -1)
    return values.reshape(-1, values.shape[-1]).T


def _conv_operand(layer: Layer, job: Job, values: Integers) -> Integers:
    image = padded(layer, values)[0]  # (channels, height, width)
    if job.flow == WEIGHT:
        return image.transpose(1, 2, 0).ravel()
    if not job.expanded:
        return image.ravel()
    high, wide = _image_size(layer)
    parts = [
        image[
            :,
            ky : ky + high * layer.strides[0] : layer.strides[0],
            kx : kx + wide * layer.strides[1] : layer.strides[1],
        ]
        for ky in range(layer.weight_shape[2])
        for kx in range(layer.weight_shape[3])
    ]
    return np.concatenate([part[:, :high, :wide].ravel() for part in parts])


def _image(job: Job, left: Integers, right: Integers) -> NDArray[np.uint8]:
    image = np.zeros(job.results_at, np.int8)
    image[: left.size] = left
    image[job.weights_at : job.weights_at + right.size] = right.ravel()
    return image.view(np.uint8)

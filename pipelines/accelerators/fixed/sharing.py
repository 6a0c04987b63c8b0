"""A network over several cycles: units that compute one position each are shared by a layer's positions.

With a reuse factor R an inference starts every R cycles. A convolution keeps a constant matrix per unit, and
R positions take turns on it. Outputs of a dense layer take turns on a row of multipliers, whose weights are
selected, too. Results gather in registers, so that the next part sees all of them for R cycles. What lies
between is a pipeline of da4ml, whose inputs change every R cycles.

There is no counter and no reset: port `start` is 1 in the first cycle of an inference, and a chain of
registers carries it along; its taps select.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import prod
from typing import Any

import numpy as np

from pipelines.accelerators.errors import AcceleratorError
from pipelines.accelerators.fixed import ACTIVITIES
from pipelines.accelerators.fixed.activity import Values, estimate_activity
from pipelines.accelerators.fixed.tracing import (
    BITS,
    FRACTION,
    TOP,
    VIEWS,
    FixedDesign,
    StageOperation,
    core_verilog,
    fixed_values,
    formats,
    is_wired,
    load_library,
    pooled,
    quantised,
    stage_operations,
    top_ports,
    trace_layer,
    trace_network,
    uniform_inputs,
    wired_places,
)
from pipelines.accelerators.graph import Layer, Network
from pipelines.base.summation import ordered_sum

Source = int | float
"""What a unit reads: the place of a value, or a constant."""
_SELECT = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A layer or its pool.

    Attributes: inputs, output: names of values. kind: shared (by units), wired (no hardware), pool or plain.
    """

    layer: Layer
    inputs: tuple[str, ...]
    output: str
    kind: str = "plain"

    @property
    def group(self) -> str:
        """Neighbours of one group are one pipeline."""
        return "pipeline" if self.kind in ("plain", "pool") else f"{self.kind} {self.output}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kernel:
    """What one unit computes, and for which positions.

    Attributes:
        function: traced results of traced inputs. size: inputs.
        sources: of every position, size of them. places: of its results in the layer's output.
    """

    function: Callable[[Any, Any], Any]
    size: int
    sources: tuple[tuple[Source, ...], ...]
    places: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Core:
    """A module of da4ml.

    Attributes: in_formats, out_formats: bits and fraction of every number. latency: registers from input to
        output. signs: whether a result may be negative. pipeline: of da4ml.
    """

    name: str
    in_formats: tuple[tuple[int, int], ...]
    out_formats: tuple[tuple[int, int], ...]
    signs: tuple[bool, ...]
    stages: tuple[tuple[StageOperation, ...], ...]
    register_bits: tuple[int, ...]
    pipeline: Any

    @property
    def latency(self) -> int:
        return len(self.stages) + 1

    @property
    def width(self) -> int:
        """Bits of the output."""
        return sum(bits for bits, _ in self.out_formats)

    def packed(self, values: Sequence[str]) -> str:
        """Return the input of the module from values of 8 bits."""
        parts = [
            f"{value}[{FRACTION - fraction + bits - 1}:{FRACTION - fraction}]"
            for value, (bits, fraction) in zip(values, self.in_formats, strict=True)
            if bits
        ]
        return "{" + ", ".join(reversed(parts)) + "}"

    def unpacked(self, output: str) -> list[str]:
        """Return the values of 8 bits from the output of the module."""
        values: list[str] = []
        first = 0
        for (bits, fraction), is_signed in zip(self.out_formats, self.signs, strict=True):
            values.append(_extended(output, first, bits, fraction, is_signed=is_signed))
            first += bits
        return values


def _extended(name: str, first: int, bits: int, fraction: int, *, is_signed: bool) -> str:
    """Return the expression of 8 bits with the format's fraction."""
    if not bits:
        return f"{BITS}'d0"
    below = FRACTION - fraction
    above = BITS - below - bits
    parts = [f"{name}[{first + bits - 1}:{first}]"]
    if above:
        parts.insert(0, f"{{{above}{{{name}[{first + bits - 1}]}}}}" if is_signed else f"{above}'d0")
    if below:
        parts.append(f"{below}'d0")
    return "{" + ", ".join(parts) + "}"


def trace_shared(network: Network, *, reuse_factor: int, depth: int = 5) -> FixedDesign:
    """Trace a network with data, an inference every `reuse_factor` cycles.

    Args:   depth: adders between two registers, at most.
    Raises: AcceleratorError: as `trace_network`; a part's outputs are the same for all inputs.
    """
    unrolled = trace_network(network, depth=depth)
    if reuse_factor == 1:
        return unrolled
    inputs, outputs = prod(network.input_shape), unrolled.outputs
    numbers = {network.input: uniform_inputs(inputs)}
    emitter = _Emitter(reuse=reuse_factor, depth=depth, numbers=numbers)
    live = {network.input: inputs}
    values = {network.input: [f"live_in_{i}" for i in range(inputs)]}
    groups = [list(group) for _, group in groupby(_parts(network), key=lambda part: part.group)]
    for place, group in enumerate(groups):
        later = {name for rest in groups[place + 1 :] for part in rest for name in part.inputs}
        later |= {network.outputs[0]}
        kept = [name for name in live if name in later]
        made = [part.output for part in group if part.output in later]
        if group[0].kind == "shared":
            values = emitter.shared(group[0], kept, values)
        elif group[0].kind == "wired":
            sources = [value for name in group[0].inputs for value in values[name]]
            numbers = np.concatenate([emitter.numbers[name] for name in group[0].inputs], axis=1)
            places = _wired(group[0], len(sources), network.opset)
            emitter.numbers[group[0].output] = numbers[:, places]
            wires = [sources[place] for place in places]
            values = {name: values[name] for name in kept} | {group[0].output: wires}
        else:
            values = emitter.plain(group, kept, made, values, network.opset)
        live = {name: len(values[name]) for name in (*kept, *made)}
    results = values[network.outputs[0]]
    if not np.array_equal(
        emitter.numbers[network.outputs[0]], unrolled.expected(emitter.numbers[network.input])
    ):
        raise AcceleratorError("shared units differ from the unrolled network")
    ports = [BITS * inputs, BITS * outputs]
    return FixedDesign(
        verilog="\n".join(emitter.modules.values()) + emitter.top(inputs, results),
        inputs=inputs,
        outputs=outputs,
        input_bits=ports[0],
        output_bits=ports[1],
        latency_cycles=emitter.cycle,
        stages=tuple(emitter.stages),
        register_bits=tuple(emitter.register_bits),
        repeats=tuple(emitter.repeats),
        activity=tuple(emitter.activity),
        input_formats=((BITS, FRACTION),) * inputs,
        output_formats=((BITS, FRACTION),) * outputs,
        interval_cycles=reuse_factor,
        model=unrolled.model,
    )


def _parts(network: Network) -> list[_Part]:
    """Return the layers in order; a pool is a part of its own behind shared units."""
    result: list[_Part] = []
    for layer in network.executed:
        if not layer.weight_shape:
            is_view = layer.kind == "host" and layer.kinds[0] in VIEWS
            kind = "wired" if is_view or is_wired(layer) else "plain"
            result.append(_Part(layer=layer, inputs=layer.inputs, output=layer.output, kind=kind))
            continue
        inner = f"{layer.output}, before the pool" if layer.pool else layer.output
        result.append(_Part(layer=layer, inputs=layer.inputs, output=inner, kind="shared"))
        if layer.pool:
            result.append(_Part(layer=layer, inputs=(inner,), output=layer.output, kind="pool"))
    return result


def _wired(part: _Part, size: int, opset: int) -> list[int]:
    """Return places of the values that a view or a layer of wires passes on; operands are concatenated."""
    return list(range(size)) if part.layer.kinds[0] in VIEWS else wired_places(part.layer, opset).tolist()


# ---- kernels ---------------------------------------------------------------------------------------


def _kernels(layer: Layer) -> list[_Kernel]:
    return _convolved(layer) if layer.kind == "conv" else [_multiplied(layer)]


def _activated(library: Any, layer: Layer, result: Any) -> Any:
    return quantised(library, library.ops.relu(result) if layer.activation != "none" else result)


def _bias(layer: Layer, outputs: int) -> Any:
    return np.zeros(outputs) if layer.bias is None else fixed_values(layer.bias.reshape(-1))


def _convolved(layer: Layer) -> list[_Kernel]:
    """Return a constant matrix per group of channels; places outside the image read 0."""
    _, channels, height, width = layer.in_shapes[0]
    outputs, per_group, high, wide = layer.weight_shape
    top, left, bottom, right = layer.pads
    rows = range((height + top + bottom - high) // layer.strides[0] + 1)
    columns = range((width + left + right - wide) // layer.strides[1] + 1)
    weights, bias = fixed_values(np.asarray(layer.weight)), _bias(layer, outputs)
    share = outputs // layer.groups

    def source(channel: int, y: int, x: int) -> Source:
        is_inside = 0 <= y < height and 0 <= x < width
        return (channel * height + y) * width + x if is_inside else 0.0

    def kernel(group: int) -> _Kernel:
        own = slice(group * share, (group + 1) * share)
        matrix = weights[own].reshape(share, -1).T
        offset = bias[own]
        starts = [(r * layer.strides[0] - top, c * layer.strides[1] - left) for r in rows for c in columns]
        taps = [
            (group * per_group + i, y, x) for i in range(per_group) for y in range(high) for x in range(wide)
        ]
        return _Kernel(
            function=lambda library, x: _activated(library, layer, x @ matrix + offset),
            size=len(taps),
            sources=tuple(tuple(source(i, y + dy, x + dx) for i, dy, dx in taps) for y, x in starts),
            places=tuple(
                tuple(o * len(starts) + place for o in range(own.start, own.stop))
                for place in range(len(starts))
            ),
        )

    return [kernel(group) for group in range(channels // per_group)]


def _multiplied(layer: Layer) -> _Kernel:
    """Return a row of multipliers; weights and bias are inputs."""
    size, outputs = layer.weight_shape
    rows = prod(layer.in_shapes[0]) // size
    weights, bias = fixed_values(np.asarray(layer.weight)), _bias(layer, outputs)

    def function(library: Any, x: Any) -> Any:
        return _activated(library, layer, np.sum(x[:size] * x[size:-1], keepdims=True) + x[-1:])

    places = [(row, column) for row in range(rows) for column in range(outputs)]
    return _Kernel(
        function=function,
        size=2 * size + 1,
        sources=tuple(
            (*range(row * size, (row + 1) * size), *map(float, weights[:, column]), float(bias[column]))
            for row, column in places
        ),
        places=tuple((row * outputs + column,) for row, column in places),
    )


# ---- Verilog ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Emitter:
    """Writes part after part.

    Attributes: cycle: when the values at hand are there, from the start. numbers: (samples, size) of every
        name, for the estimate of activity. bits: of registers that are not yet described.
    """

    reuse: int
    depth: int
    numbers: dict[str, Values]
    library: Any = field(default_factory=load_library)
    cycle: int = 0
    taps: int = 0
    bits: int = 0
    count: int = 0
    lines: list[str] = field(default_factory=list[str])
    modules: dict[str, str] = field(default_factory=dict[str, str])
    stages: list[tuple[StageOperation, ...]] = field(default_factory=list[tuple[StageOperation, ...]])
    register_bits: list[int] = field(default_factory=list[int])
    repeats: list[int] = field(default_factory=list[int])
    activity: list[tuple[float, ...]] = field(default_factory=list[tuple[float, ...]])

    def plain(
        self,
        group: Sequence[_Part],
        kept: Sequence[str],
        made: Sequence[str],
        values: Mapping[str, list[str]],
        opset: int,
    ) -> dict[str, list[str]]:
        """Return a pipeline of da4ml: the parts of a group, and the values that others read later."""
        read = [name for name in values if name in {n for part in group for n in part.inputs} | set(kept)]
        sizes = {name: len(values[name]) for name in read}
        ends = dict(zip(read, np.cumsum(list(sizes.values())).tolist(), strict=True))

        def function(library: Any, x: Any) -> Any:
            known = {name: x[ends[name] - sizes[name] : ends[name]] for name in read}
            for part in group:
                operands = [known[name] for name in part.inputs]
                if part.kind == "pool":
                    known[part.output] = pooled(part.layer, operands[0])
                else:
                    known[part.output] = trace_layer(library, part.layer, operands, opset)
            lengths.update({name: len(known[name]) for name in (*kept, *made)})
            return np.concatenate([known[name] for name in (*kept, *made)])

        lengths: dict[str, int] = {}
        core = self._core(sum(sizes.values()), function)
        (output,) = self._instances(core, [core.packed([v for name in read for v in values[name]])])
        numbers = np.concatenate([self.numbers[name] for name in read], axis=1)
        activity, results = estimate_activity(core.pipeline, numbers)
        self._describe(core, activity, repeats=1)
        self.cycle += core.latency
        wires = self._wires(core.unpacked(output))
        stops = np.cumsum(list(lengths.values())).tolist()
        ranges = {
            name: slice(stop - size, stop) for (name, size), stop in zip(lengths.items(), stops, strict=True)
        }
        self.numbers |= {name: results[:, own] for name, own in ranges.items()}
        return {name: wires[own] for name, own in ranges.items()}

    def shared(
        self, part: _Part, kept: Sequence[str], values: Mapping[str, list[str]]
    ) -> dict[str, list[str]]:
        """Return the units of a layer, and the registers that gather their results."""
        results: dict[int, str] = {}
        samples = self.numbers[part.inputs[0]]
        computed: dict[int, Values] = {}
        selects = 0
        cores = [(kernel, self._core(kernel.size, kernel.function)) for kernel in _kernels(part.layer)]
        latency = max(core.latency for _, core in cores)
        for kernel, core in cores:
            inputs: list[str] = []
            turns = [
                range(first, min(first + self.reuse, len(kernel.sources)))
                for first in range(0, len(kernel.sources), self.reuse)
            ]
            for unit in turns:
                selected, count = self._selected(
                    core, [kernel.sources[p] for p in unit], values[part.inputs[0]]
                )
                inputs.append(selected)
                selects += count
            for unit, output in zip(turns, self._instances(core, inputs), strict=True):
                late = self._delayed(output, core.width, latency - core.latency)
                for turn, position in enumerate(unit):
                    held = self._gathered(late, core.width, turn, latency)
                    results |= dict(zip(kernel.places[position], core.unpacked(held), strict=True))
            activity, answers = self._evaluated(core, kernel, turns, samples)
            self._describe(core, activity, repeats=len(kernel.sources), units=len(turns))
            for position, places in enumerate(kernel.places):
                computed |= {place: answers[position][:, i] for i, place in enumerate(places)}
        self.cycle += self.reuse - 1
        made = {part.output: [results[i] for i in range(len(results))]}
        passed = {name: self._passed(values[name], latency) for name in kept}
        final = {
            name: self._registered(expressions, self._tap(latency))
            for name, expressions in (passed | made).items()
        }
        self.numbers[part.output] = np.stack([computed[i] for i in range(len(computed))], axis=1)
        held = [self.numbers[name] for name in (part.output, part.output, *kept)]
        self._describe_registers(selects, ordered_sum(map(_changes, held)))
        self.cycle += latency + 1
        return final

    def top(self, inputs: int, results: Sequence[str]) -> str:
        ports, (words, outs) = top_ports(BITS * inputs, BITS * len(results))
        chain = max(1, self.taps)
        declared = [
            f"wire [{BITS * inputs - 1}:0] live_in = {{{words}}};",
            *(f"wire [{BITS - 1}:0] live_in_{i} = live_in[{BITS * i} +: {BITS}];" for i in range(inputs)),
            f"reg [{chain - 1}:0] chain;",
            f"wire [{chain}:0] tap = {{chain, start}};",
            f"always @(posedge clk) chain <= tap[{chain - 1}:0];",
            *self.lines,
            f"assign {{{outs}}} = {{{', '.join(reversed(results))}}};",
        ]
        body = "\n  ".join(declared)
        return f"\nmodule {TOP} (input clk, input start, {ports});\n  {body}\nendmodule\n"

    def _name(self, kind: str) -> str:
        self.count += 1
        return f"{kind}_{self.count}"

    def _core(self, inputs: int, function: Callable[[Any, Any], Any]) -> _Core:
        library, name = self.library, self._name(f"{TOP}_part")
        variables = library.trace.FixedVariableArrayInput(inputs)
        results = function(library, quantised(library, variables))
        combinational = library.trace.comb_trace(variables, results)
        pipeline = library.trace.to_pipeline(combinational, self.depth, verbose=False)
        in_formats, out_formats = formats(combinational.inp_qint), formats(combinational.out_qint)
        if not sum(bits for bits, _ in in_formats) or not sum(bits for bits, _ in out_formats):
            raise AcceleratorError("outputs of a layer are the same for all inputs")
        self.modules |= core_verilog(library, pipeline, name)
        return _Core(
            name=name,
            in_formats=tuple(in_formats),
            out_formats=tuple(out_formats),
            signs=tuple(interval[0] < 0 for interval in combinational.out_qint),
            stages=tuple(stage_operations(stage) for stage in pipeline.solutions),
            register_bits=tuple(sum(b for b, _ in formats(stage.out_qint)) for stage in pipeline.solutions),
            pipeline=pipeline,
        )

    def _instances(self, core: _Core, inputs: Sequence[str]) -> list[str]:
        """Return the names of the outputs of a module, an instance per input."""
        outputs: list[str] = []
        for value in inputs:
            output = self._name("result")
            self.lines.append(f"wire [{core.width - 1}:0] {output};")
            ports = f".clk(clk), .model_inp({value}), .model_out({output})"
            self.lines.append(f"{core.name} {output}_unit ({ports});")
            outputs.append(output)
        return outputs

    def _selected(
        self, core: _Core, positions: Sequence[Sequence[Source]], values: Sequence[str]
    ) -> tuple[str, int]:
        """Return the input of a unit, a position in every cycle; and the number of selections of 8 bits."""
        names: list[str] = []
        count = 0
        for place, (bits, _) in enumerate(core.in_formats):
            readers: dict[str, list[int]] = {}
            for turn, sources in enumerate(positions):
                readers.setdefault(_expression(sources[place], values), []).append(turn)
            name = self._name("read")
            if len(readers) == 1 and len(positions) == self.reuse:
                chosen = next(iter(readers))
            else:
                terms = [
                    f"{{{BITS}{{{' | '.join(self._tap(turn) for turn in turns)}}}}} & {value}"
                    for value, turns in readers.items()
                    if value != _expression(0.0, values)
                ]
                chosen = " | ".join(terms) or f"{BITS}'d0"
                count += (len(readers) - 1) * (bits > 0)
            self.lines.append(f"wire [{BITS - 1}:0] {name} = {chosen};")
            names.append(name)
        return core.packed(names), count

    def _tap(self, offset: int) -> str:
        """Return 1 in the cycle that lies `offset` behind the present one."""
        self.taps = max(self.taps, self.cycle + offset)
        return f"tap[{self.cycle + offset}]"

    def _delayed(self, value: str, width: int, cycles: int) -> str:
        for _ in range(cycles):
            value = self._register(value, width, "1'b1")
        return value

    def _gathered(self, output: str, width: int, turn: int, latency: int) -> str:
        """Return a unit's result of a turn, there until the last one is."""
        if turn == self.reuse - 1:
            return output
        return self._register(output, width, self._tap(turn + latency))

    def _passed(self, values: Sequence[str], latency: int) -> list[str]:
        """Register values that a later part reads while new ones come; called in the turns' last cycle."""
        names = list(values)
        for copy in range((self.reuse - 1 + latency) // self.reuse):
            names = self._registered(names, self._tap(copy * self.reuse))
        return names

    def _registered(self, values: Sequence[str], enable: str) -> list[str]:
        name = self._register(f"{{{', '.join(reversed(values))}}}", BITS * len(values), enable)
        return self._wires(f"{name}[{BITS * place} +: {BITS}]" for place in range(len(values)))

    def _register(self, value: str, width: int, enable: str) -> str:
        name = self._name("kept")
        self.bits += width
        self.lines.append(f"reg [{width - 1}:0] {name};")
        self.lines.append(f"always @(posedge clk) if ({enable}) {name} <= {value};")
        return name

    def _wires(self, expressions: Iterable[str]) -> list[str]:
        names: list[str] = []
        for expression in expressions:
            names.append(self._name("value"))
            self.lines.append(f"wire [{BITS - 1}:0] {names[-1]} = {expression};")
        return names

    def _evaluated(
        self, core: _Core, kernel: _Kernel, turns: Sequence[range], samples: Values
    ) -> tuple[list[list[float]], list[Values]]:
        """Return the activity of all units per inference, and (samples, results) of every position."""
        total = np.zeros((len(core.stages), len(ACTIVITIES)))
        answers: list[Values] = []
        for unit in turns:
            inputs = np.stack(
                [_sourced(kernel.sources[position], samples) for position in unit], axis=1
            )  # (samples, turns, inputs)
            activity, results = estimate_activity(core.pipeline, inputs.reshape(-1, kernel.size))
            total += np.array(activity) * len(unit)
            answers += list(results.reshape(len(samples), len(unit), -1).transpose(1, 0, 2))
        return total.tolist(), answers

    def _describe(
        self, core: _Core, activity: Sequence[Sequence[float]], *, repeats: int, units: int = 1
    ) -> None:
        """Append a module's stages and their executions per inference; registers are clocked every cycle."""
        self.stages += core.stages
        self.register_bits += [bits * units * self.reuse for bits in core.register_bits]
        self.repeats += [repeats] * len(core.stages)
        self.activity += [tuple(stage) for stage in activity]

    def _describe_registers(self, selects: int, changes: float) -> None:
        """Append a stage of a layer's selections, and of the registers around its units."""
        select = StageOperation(code=_SELECT, operands=(), bits=BITS)
        self.stages.append((select,) * selects)
        self.register_bits.append(self.bits * self.reuse)
        self.repeats.append(self.reuse)
        self.activity.append((0.0, 0.0, changes))
        self.bits = 0


def _sourced(sources: Sequence[Source], samples: Values) -> Values:
    """Return (samples, inputs) of a unit at one position."""
    columns = [samples[:, s] if isinstance(s, int) else np.full(len(samples), s) for s in sources]
    return np.stack(columns, axis=1)


def _changes(values: Values) -> float:
    """Return the bits that change from sample to sample, in the mean."""
    numbers = np.round(values * 2**FRACTION).astype(np.int64)
    return float(np.bitwise_count((numbers[1:] ^ numbers[:-1]) & ((1 << BITS) - 1)).mean(axis=0).sum())


def _expression(source: Source, values: Sequence[str]) -> str:
    if isinstance(source, int):
        return values[source]
    return f"{BITS}'d{round(source * 2**FRACTION) % (1 << BITS)}"

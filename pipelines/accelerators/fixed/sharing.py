"""Networks as Verilog of da4ml: one pipeline, or units that are shared by the positions of a layer.

With a reuse factor R an inference starts every R cycles. A convolution keeps a constant matrix per unit, and
R positions take turns on it. Outputs of a dense layer take turns on a row of multipliers, whose weights are
selected, too. Results gather in registers, so that the next part sees all of them for R cycles. What lies
between is a pipeline of da4ml, whose inputs change every R cycles.

There is no counter and no reset: port `start` is 1 in the first cycle of an inference, and a chain of
registers carries it along; its taps select.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
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
    Kernel,
    Part,
    Source,
    Traced,
    kernels_of,
    load_library,
    parts_of,
    quantised,
    require_size,
    trace_layers,
    trace_parts,
    uniform_inputs,
    wired_places,
)
from pipelines.accelerators.graph import Network
from pipelines.base.summation import ordered_sum

TOP = "fixed_network"
_SELECT = 6
_LEAVES = (-1, 5)
"""Codes of da4ml's operations without operands: inputs and constants."""
_WORD = 64
Format = tuple[int, int]
"""Bits and fractional bits of a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageOperation:
    """An operation of da4ml: its code, places of operands in the stage, bits of the result."""

    code: int
    operands: tuple[int, ...]
    bits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedDesign:
    """A network as a pipeline.

    Attributes:
        verilog: module `fixed_network`: clk, inputs in_0, in_1, ..., outputs out_0, ... of at most 64 bits.
        latency_cycles: from an input to its output. stages: operations of every stage, operands first.
        register_bits: that every stage passes on.
        model: da4ml's, which computes what the Verilog does.
        input_formats, output_formats: bits and fractional bits of every number.
        interval_cycles: between two inputs; port `start` is 1 in the first of them when there are several.
        repeats: how often the operations of every stage are executed per inference.
        activity: of every stage, values of `fixed.ACTIVITIES` per inference.
    """

    verilog: str
    latency_cycles: int
    stages: tuple[tuple[StageOperation, ...], ...]
    register_bits: tuple[int, ...]
    model: Any
    input_formats: tuple[Format, ...]
    output_formats: tuple[Format, ...]
    repeats: tuple[int, ...]
    activity: tuple[tuple[float, ...], ...]
    interval_cycles: int = 1

    @property
    def inputs(self) -> int:
        """Numbers per inference."""
        return len(self.input_formats)

    def expected(self, values: Values) -> Values:
        """Return (samples, outputs) of (samples, inputs), bit by bit as the hardware."""
        return np.asarray(self.model.predict(values))


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """A module of da4ml.

    Attributes:
        modules: Verilog by file; files of da4ml's own modules have the same name for every core.
        stages, register_bits: as of `FixedDesign`. model, pipeline: of da4ml.
        in_formats, out_formats: of every number.
    """

    name: str
    modules: dict[str, str]
    in_formats: tuple[Format, ...]
    out_formats: tuple[Format, ...]
    stages: tuple[tuple[StageOperation, ...], ...]
    register_bits: tuple[int, ...]
    model: Any
    pipeline: Any

    @property
    def latency(self) -> int:
        """Registers from input to output."""
        return len(self.stages) + 1

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
        for (bits, fraction), (least, _, _) in zip(self.out_formats, self.model.out_qint, strict=True):
            values.append(_extended(output, first, bits, fraction, is_signed=least < 0))
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


def compile_core(library: Any, function: Traced, inputs: int, *, name: str, depth: int, what: str) -> Core:
    """Trace a function of numbers in the format, and compile it to a module.

    Args:    depth: adders between two registers, at most. what: has the outputs, for the message.
    Raises:  AcceleratorError: no output depends on the inputs.
    """
    variables = library.trace.FixedVariableArrayInput(inputs)
    model = library.trace.comb_trace(variables, function(library, quantised(library, variables)))
    pipeline = library.trace.to_pipeline(model, depth, verbose=False)
    in_formats, out_formats = tuple(formats(model.inp_qint)), tuple(formats(model.out_qint))
    if not format_bits(in_formats) or not format_bits(out_formats):
        raise AcceleratorError(f"{what} the same for all inputs")
    texts = library.verilog.pipeline_logic_gen(pipeline, name)
    return Core(
        name=name,
        modules={f"{part}.v": text for part, text in sorted(texts.items())} | library.modules,
        in_formats=in_formats,
        out_formats=out_formats,
        stages=tuple(_stage_operations(stage) for stage in pipeline.solutions),
        register_bits=tuple(format_bits(formats(stage.out_qint)) for stage in pipeline.solutions),
        model=model,
        pipeline=pipeline,
    )


def trace_network(network: Network, *, depth: int = 5) -> FixedDesign:
    """Trace a network with data.

    Args:   depth: adders between two registers, at most.
    Raises: AcceleratorError: an operator has no fixed-point form here, there is no data, or no da4ml.
    """
    library = load_library()
    require_size(network)
    size = prod(network.input_shape)

    function = partial(trace_layers, network=network)
    core = compile_core(library, function, size, name=TOP + "_core", depth=depth, what="every output is")
    ports, (words, outs) = top_ports(format_bits(core.in_formats), format_bits(core.out_formats))
    top = (
        f"\nmodule {TOP} (input clk, {ports});\n"
        f"  {core.name} core (.clk(clk), .model_inp({{{words}}}), .model_out({{{outs}}}));\n"
        "endmodule\n"
    )
    return FixedDesign(
        verilog="\n".join(core.modules.values()) + top,
        latency_cycles=core.latency,
        stages=core.stages,
        register_bits=core.register_bits,
        repeats=(1,) * len(core.stages),
        activity=tuple(tuple(stage) for stage in estimate_activity(core.pipeline, uniform_inputs(size))[0]),
        input_formats=core.in_formats,
        output_formats=core.out_formats,
        model=core.model,
    )


def trace_shared(network: Network, *, reuse_factor: int, depth: int = 5) -> FixedDesign:
    """Trace a network with data, an inference every `reuse_factor` cycles.

    Args:   depth: adders between two registers, at most.
    Raises: AcceleratorError: as `trace_network`; a part's outputs are the same for all inputs.
    """
    unrolled = trace_network(network, depth=depth)
    if reuse_factor == 1:
        return unrolled
    inputs, output = unrolled.inputs, network.outputs[0]
    drawn = uniform_inputs(inputs)
    emitter = _Emitter(reuse=reuse_factor, depth=depth, opset=network.opset, numbers={network.input: drawn})
    values = {network.input: [f"live_in_{i}" for i in range(inputs)]}
    groups = [list(group) for _, group in groupby(parts_of(network), key=lambda part: part.group)]
    for place, group in enumerate(groups):
        later = {name for rest in groups[place + 1 :] for part in rest for name in part.inputs} | {output}
        kept = [name for name in values if name in later]
        if group[0].kind == "shared":
            values = emitter.shared(group[0], kept, values)
        elif group[0].kind == "wired":
            values = emitter.wired(group[0], kept, values)
        else:
            made = [part.output for part in group if part.output in later]
            values = emitter.plain(group, kept, made, values)
    results = values[output]
    if not np.array_equal(emitter.numbers[output], unrolled.expected(drawn)):
        raise AcceleratorError("shared units differ from the unrolled network")
    return FixedDesign(
        verilog="\n".join(emitter.modules.values()) + emitter.top(inputs, results),
        latency_cycles=emitter.cycle,
        stages=tuple(emitter.stages),
        register_bits=tuple(emitter.register_bits),
        repeats=tuple(emitter.repeats),
        activity=tuple(emitter.activity),
        input_formats=((BITS, FRACTION),) * inputs,
        output_formats=((BITS, FRACTION),) * len(results),
        interval_cycles=reuse_factor,
        model=unrolled.model,
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
    opset: int
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
        group: Sequence[Part],
        kept: Sequence[str],
        made: Sequence[str],
        values: Mapping[str, list[str]],
    ) -> dict[str, list[str]]:
        """Write a pipeline of da4ml: the parts of a group, and the values that others read later."""
        read = [name for name in values if name in {n for part in group for n in part.inputs} | set(kept)]
        sizes = {name: len(values[name]) for name in read}
        ends = dict(zip(read, np.cumsum(list(sizes.values())).tolist(), strict=True))

        def function(library: Any, x: Any) -> Any:
            known = {name: x[ends[name] - sizes[name] : ends[name]] for name in read}
            trace_parts(library, group, known, self.opset)
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

    def wired(self, part: Part, kept: Sequence[str], values: Mapping[str, list[str]]) -> dict[str, list[str]]:
        """Write wires from the values that a layer gives elsewhere."""
        places: list[int] = wired_places(part.layer, self.opset).tolist()
        sources = [value for name in part.inputs for value in values[name]]
        numbers = np.concatenate([self.numbers[name] for name in part.inputs], axis=1)
        self.numbers[part.output] = numbers[:, places]
        return {name: values[name] for name in kept} | {part.output: [sources[place] for place in places]}

    def shared(
        self, part: Part, kept: Sequence[str], values: Mapping[str, list[str]]
    ) -> dict[str, list[str]]:
        """Return the units of a layer, and the registers that gather their results."""
        results: dict[int, str] = {}
        samples = self.numbers[part.inputs[0]]
        computed: dict[int, Values] = {}
        selects = 0
        cores = [(kernel, self._core(kernel.size, kernel.function)) for kernel in kernels_of(part.layer)]
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
                late = self._delayed(output, format_bits(core.out_formats), latency - core.latency)
                for turn, position in enumerate(unit):
                    held = self._gathered(late, format_bits(core.out_formats), turn, latency)
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
        """Write the module of the whole network."""
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

    def _core(self, inputs: int, function: Traced) -> Core:
        name = self._name(f"{TOP}_part")
        what = "outputs of a layer are"
        core = compile_core(self.library, function, inputs, name=name, depth=self.depth, what=what)
        self.modules |= core.modules
        return core

    def _instances(self, core: Core, inputs: Sequence[str]) -> list[str]:
        """Return the names of the outputs of a module, an instance per input."""
        outputs: list[str] = []
        for value in inputs:
            output = self._name("result")
            self.lines.append(f"wire [{format_bits(core.out_formats) - 1}:0] {output};")
            ports = f".clk(clk), .model_inp({value}), .model_out({output})"
            self.lines.append(f"{core.name} {output}_unit ({ports});")
            outputs.append(output)
        return outputs

    def _selected(
        self, core: Core, positions: Sequence[Sequence[Source]], values: Sequence[str]
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
        self, core: Core, kernel: Kernel, turns: Sequence[range], samples: Values
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
        self, core: Core, activity: Sequence[Sequence[float]], *, repeats: int, units: int = 1
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


# ---- formats and ports -------------------------------------------------------------------------------


def _stage_operations(stage: Any) -> tuple[StageOperation, ...]:
    """Return the operations of a stage; code -1 reads an input, which is no operand."""
    widths = formats([op.qint for op in stage.ops])
    return tuple(
        StageOperation(
            code=int(op.opcode),
            operands=() if op.opcode in _LEAVES else tuple(i for i in (op.id0, op.id1) if i >= 0),
            bits=bits,
        )
        for op, (bits, _) in zip(stage.ops, widths, strict=True)
    )


def formats(intervals: Sequence[Any]) -> list[Format]:
    """Return bits and fractional bits of every number: the fewest for its interval (least, largest, step)."""
    result: list[Format] = []
    for least, largest, step in intervals:
        if least == largest == 0:
            result.append((0, 0))
            continue
        fraction = round(-np.log2(step))
        steps = (round(least / step), round(largest / step))
        magnitude = max(max(steps[1], 0).bit_length(), (-steps[0] - 1).bit_length() if steps[0] < 0 else 0)
        result.append((magnitude + (steps[0] < 0), fraction))
    return result


def format_bits(numbers: Sequence[Format]) -> int:
    """Sum the bits of numbers."""
    return sum(bits for bits, _ in numbers)


def word_widths(bits: int) -> list[int]:
    """Return the widths of the ports that carry so many bits."""
    return [min(_WORD, bits - start) for start in range(0, bits, _WORD)]


def top_ports(in_bits: int, out_bits: int) -> tuple[str, tuple[str, str]]:
    """Return declarations of the ports in_0, ..., out_0, ..., and their names joined, the highest first."""
    ports = [f"input [{w - 1}:0] in_{i}" for i, w in enumerate(word_widths(in_bits))]
    ports += [f"output [{w - 1}:0] out_{i}" for i, w in enumerate(word_widths(out_bits))]
    words, outs = (
        ", ".join(f"{name}_{i}" for i in reversed(range(len(word_widths(bits)))))
        for name, bits in (("in", in_bits), ("out", out_bits))
    )
    return ", ".join(ports), (words, outs)

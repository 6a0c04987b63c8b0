"""An interpreter of control/data-flow graphs for tests, operation by operation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pipelines.c.arithmetic import evaluate, wrap
from pipelines.c.cdfg import Block, Branch, Cdfg, Finish, Jump, Operation
from pipelines.c.ir import (
    BINARY_OPERATORS,
    COMPARISONS,
    Array,
    Variable,
    bits_of_float,
    float_of_bits,
)
from pipelines.c.signature import DataSet, ScalarType

Watch = Callable[[Block, Operation, int], None]


def bits_of(value: Any, kind: ScalarType) -> int:
    """A NumPy scalar as in the graph: an integer, or the bits of a floating number."""
    if not kind.floating:
        return int(value)
    return int(np.asarray(value, kind.dtype).view(f"u{kind.width_bits // 8}"))


def _floating(opcode: str, operands: list[int], kind: ScalarType, result: ScalarType) -> int:
    numbers = [float_of_bits(o, kind) for o in operands]
    sign = 1 << (kind.width_bits - 1)
    match opcode:
        case "neg":
            return operands[0] ^ sign
        case "abs":
            return operands[0] & ~sign
        case "sqrt":
            return bits_of_float(math.sqrt(numbers[0]), kind)
        case "add" | "sub" | "mul" | "div":
            a, b = (np.asarray(n, kind.dtype) for n in numbers)
            with np.errstate(all="ignore"):
                value = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[opcode](
                    a, b
                )
            return bits_of(value, kind)
        case _:
            a, b = numbers
            return int(
                {"lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b, "eq": a == b, "ne": a != b}[opcode]
            )


def _cast(value: int, source: ScalarType, kind: ScalarType) -> int:
    if not source.floating and not kind.floating:
        return wrap(value, kind)
    if not source.floating:
        return bits_of(kind.dtype.type(value), kind)
    number = float_of_bits(value, source)
    if kind.floating:
        with np.errstate(all="ignore"):
            return bits_of(kind.dtype.type(number), kind)
    return wrap(int(number), kind) if math.isfinite(number) else 0


class Interpreter:
    """Runs a graph on data; `watch` gets every value, `undefined` returns values of unwritten variables."""

    def __init__(
        self,
        graph: Cdfg,
        data: DataSet,
        watch: Watch | None = None,
        undefined: Callable[[Block, Operation], int] = lambda _block, _operation: 0,
    ) -> None:
        self.graph, self.watch, self.undefined = graph, watch, undefined
        self.variables: dict[str, int] = {}
        self.memory: dict[str, list[int]] = {}
        for parameter in graph.function.parameters:
            if isinstance(parameter, Variable):
                self.variables[parameter.name] = bits_of(data[parameter.name], parameter.type)
        for array in graph.function.arrays:
            values = [0] * array.element_count
            if array.external:
                values = [bits_of(v, array.type) for v in np.asarray(data[array.name]).reshape(-1)]
            elif array.initial is not None:
                values[: len(array.initial)] = array.initial
            self.memory[array.name] = values

    def run(self, steps: int = 100_000) -> int | None:
        """Run to the end; returns the result."""
        index = 0
        for _ in range(steps):
            block = self.graph.blocks[index]
            values = self.run_block(block)
            match block.terminator:
                case Finish():
                    value = block.terminator.value
                    return None if value is None else values[value]
                case Jump():
                    index = block.terminator.target
                case Branch():
                    taken = values[block.terminator.condition] != 0
                    index = block.terminator.if_true if taken else block.terminator.if_false
        raise AssertionError("the graph does not end")

    def run_block(self, block: Block) -> list[int]:
        values: list[int] = []
        writes: dict[str, int] = {}
        for operation in block.operations:
            operands = [values[i] for i in operation.operands]
            if operation.opcode == "write":
                assert isinstance(operation.symbol, Variable)
                kind = operation.symbol.type
                writes[operation.name] = operands[0] if kind.floating else wrap(operands[0], kind)
                values.append(0)
                continue
            skipped = operation.predicate is not None and values[operation.predicate] == 0
            value = 0 if skipped else self.value(block, operation, operands)
            values.append(value)
            if self.watch is not None and operation.type is not None and not skipped:
                self.watch(block, operation, value)
        self.variables |= writes
        return values

    def value(self, block: Block, operation: Operation, operands: list[int]) -> int:
        kind = operation.type or ScalarType()
        match operation.opcode:
            case "const":
                return operation.value or 0
            case "read":
                if operation.name not in self.variables:
                    return self.undefined(block, operation)
                return self.variables[operation.name]
            case "load":
                return self.memory[operation.name][operands[0]]
            case "store":
                assert isinstance(operation.symbol, Array)
                stored = operation.symbol.type
                self.memory[operation.name][operands[0]] = (
                    operands[1] if stored.floating else wrap(operands[1], stored)
                )
                return 0
            case "select":
                chosen = operands[1] if operands[0] else operands[2]
                return chosen if kind.floating else wrap(chosen, kind)
            case _:
                return self.computed(block, operation, operands, kind)

    def computed(self, block: Block, operation: Operation, operands: list[int], kind: ScalarType) -> int:
        source = block.operations[operation.operands[0]].type or kind
        match operation.opcode:
            case "cast":
                return _cast(operands[0], source, kind)
            case "bits":
                return operands[0] % (1 << kind.width_bits) if kind.floating else wrap(operands[0], kind)
            case opcode if source.floating:
                return _floating(opcode, operands, source, kind)
            case "neg":
                return wrap(-operands[0], kind)
            case "not":
                return wrap(~operands[0], kind)
            case "divc":
                return evaluate("div", operands[0], operation.value or 1, kind) or 0
            case "shl" | "shr":
                amount = operands[1]
                if not 0 <= amount < 64:
                    return 0
                return wrap(
                    operands[0] << amount if operation.opcode == "shl" else operands[0] >> amount, kind
                )
            case opcode:
                assert opcode in BINARY_OPERATORS
                result = ScalarType(width_bits=1, signed=False) if opcode in COMPARISONS else kind
                return evaluate(opcode, operands[0], operands[1], result) or 0

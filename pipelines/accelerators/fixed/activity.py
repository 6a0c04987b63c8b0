"""Activity of a pipeline's stages, estimated by evaluating its operations on drawn inputs.

No gate takes part: operands arrive at an adder at different times, so that half of what its operands change
is taken to pass through it as hazards. An operation that reaches no changing output is apart, as synthesis
removes most of it. Counts of operations do not tell this: behind a ReLU that is rarely open nothing changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.accelerators.errors import AcceleratorError
from pipelines.base.summation import ordered_sum

_HAZARD_SHARE = 0.5
_ADDERS: Mapping[int, float] = {0: 1.0, 1: 1.0, 4: 1.0, 7: 8.0}
"""Codes of operations and how many additions they are; a product of 8 bits has a row per bit."""
_LEAVES = (-1, 5)
_SELECT = 6
Values = NDArray[np.float64]
Flags = NDArray[np.bool_]


def estimate_activity(pipeline: Any, inputs: Values) -> tuple[list[list[float]], Values]:
    """Return the values of `fixed.ACTIVITIES` of every stage per step, and the outputs.

    Args: inputs: (steps, numbers), one step after the other.
    """
    values, changes = inputs, list[NDArray[np.float64]]()
    for stage in pipeline.solutions:
        results, values = _evaluated(stage, values)
        changes.append(_changed_bits(stage, results))
    read = np.ones(values.shape[1], bool)
    activities: list[list[float]] = []
    for stage, changed in zip(reversed(pipeline.solutions), reversed(changes), strict=True):
        is_read, read = _read(stage, changed, read)
        activities.append(_activity(stage, changed, is_read))
    return activities[::-1], values


def _evaluated(stage: Any, inputs: Values) -> tuple[Values, Values]:
    """Return (steps, operations) results, and (steps, outputs)."""
    inputs = inputs * 2.0 ** np.array(stage.inp_shifts, float)
    results = np.zeros((len(inputs), len(stage.ops)))
    for place, operation in enumerate(stage.ops):
        results[:, place] = _result(stage, operation, inputs, results)
    places = np.array(stage.out_idxs, int)
    scale = 2.0 ** np.array(stage.out_shifts, float) * np.where(stage.out_negs, -1.0, 1.0)
    return results, np.where(places < 0, 0.0, results[:, places]) * scale


def _result(stage: Any, operation: Any, inputs: Values, results: Values) -> Values:
    """Return (steps,) results of an operation by da4ml's codes.

    Raises: AcceleratorError: a code that the layers here do not lead to.
    """
    code, data, interval = operation.opcode, operation.data, operation.qint
    if code == _LEAVES[0]:
        return inputs[:, operation.id0]
    if code == _LEAVES[1]:
        return np.full(len(inputs), data * interval.step)
    first, second = results[:, operation.id0], results[:, operation.id1]
    match code:
        case 0:
            return first + 2.0**data * second
        case 1:
            return first - 2.0**data * second
        case 2 | -2:
            return _wrapped(np.maximum(first if code > 0 else -first, 0.0), interval)
        case 3 | -3:
            return _wrapped(first if code > 0 else -first, interval)
        case 4:
            return first + data * interval.step
        case 6 | -6:
            return _selected(stage, operation, results)
        case 7:
            return first * second
        case _:
            raise AcceleratorError(f"operation of da4ml with code {code}; accepted: additions to products")


def _selected(stage: Any, operation: Any, results: Values) -> Values:
    """Return one of two operands, by the highest bit of a third."""
    place = operation.data & 0xFFFFFFFF
    shift = (operation.data >> 32) & 0xFFFFFFFF
    shift -= (shift >= 1 << 31) << 32
    sign = 1.0 if operation.opcode > 0 else -1.0
    chooser, interval = results[:, place], stage.ops[place].qint
    is_first = chooser < 0 if interval.min < 0 else chooser >= 2.0 ** (_integer_bits(interval) - 1)
    return np.where(is_first, results[:, operation.id0], sign * 2.0**shift * results[:, operation.id1])


def _wrapped(values: Values, interval: Any) -> Values:
    """Return the truncated to the steps of an interval, and wrapped to the bits that hold it."""
    step, span = interval.step, 2.0 ** _integer_bits(interval)
    lowest = -span if interval.min < 0 else 0.0
    return (np.floor(values / step) * step - lowest) % (span - lowest) + lowest


def _integer_bits(interval: Any) -> int:
    """Return the integer bits without the sign: the fewest that hold an interval."""
    above = (interval.max + interval.step, -interval.min)
    return max((ceil(log2(limit)) for limit in above if limit > 0), default=0)


def _changed_bits(stage: Any, results: Values) -> Values:
    """Return (operations,) bits of the result that change from one step to the next, in the mean."""
    steps = np.array([operation.qint.step for operation in stage.ops])
    numbers = np.round(results / steps).astype(np.int64)
    return np.bitwise_count((numbers[1:] ^ numbers[:-1]) & _masks(stage)).mean(axis=0)


def _masks(stage: Any) -> NDArray[np.int64]:
    """Return (operations,) ones for the bits that hold the operation's interval."""
    spans = [
        max(abs(operation.qint.min), abs(operation.qint.max)) / operation.qint.step for operation in stage.ops
    ]
    return np.array([(1 << (int(span).bit_length() + 1)) - 1 for span in spans], np.int64)


def _operands(operation: Any) -> list[int]:
    if operation.opcode in _LEAVES:
        return []
    places = [place for place in (operation.id0, operation.id1) if place >= 0]
    return [*places, operation.data & 0xFFFFFFFF] if abs(operation.opcode) == _SELECT else places


def _read(stage: Any, changed: Values, read: Flags) -> tuple[Flags, Flags]:
    """Find the operations, and the inputs, that reach an output that changes and is read."""
    is_read = np.zeros(len(stage.ops), bool)
    for place, is_needed in zip(stage.out_idxs, read, strict=True):
        if place >= 0 and is_needed:
            is_read[place] |= changed[place] > 0
    inputs = np.zeros(stage.shape[0], bool)
    for place in range(len(stage.ops) - 1, -1, -1):
        operation = stage.ops[place]
        if not is_read[place]:
            continue
        if operation.opcode == _LEAVES[0]:
            inputs[operation.id0] = True
        for operand in _operands(operation):
            is_read[operand] |= changed[operand] > 0
    return is_read, inputs


def _activity(stage: Any, changed: Values, is_read: Flags) -> list[float]:
    transitions: list[float] = []
    hazards, unread = 0.0, 0.0
    for place, operation in enumerate(stage.ops):
        operands: Sequence[int] = _operands(operation)
        if operation.opcode in _ADDERS:
            passed = _HAZARD_SHARE * ordered_sum(transitions[operand] for operand in operands)
            hazards += _ADDERS[operation.opcode] * passed * is_read[place]
            unread += _ADDERS[operation.opcode] * float(changed[place]) * (not is_read[place])
        else:
            passed = _HAZARD_SHARE * max((transitions[o] - changed[o] for o in operands), default=0.0)
        transitions.append(float(changed[place]) + passed)
    registers = float(ordered_sum(float(changed[place]) for place in stage.out_idxs if place >= 0))
    return [hazards, unread, registers]

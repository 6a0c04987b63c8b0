"""Low bits of values, variables and local arrays that outputs or control depend on.

High-level synthesis narrows values to the bits that their block uses. Logic synthesis also removes bits that
no later block uses, for example the high half of a sum of which only a low byte is stored. This analysis
follows the used bits through variables and local arrays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pipelines.c import cdfg
from pipelines.hls import (
    BlockWriter,
    BoundUnit,
    FunctionalUnit,
    ScheduledDesign,
    closing_values,
    unit_timing,
    used_bits,
)

_ALL = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Used low bits, at most the width: of values by (block, operation), of variables and of arrays."""

    values: Mapping[tuple[int, int], int]
    variables: Mapping[str, int]
    arrays: Mapping[str, int]

    def unit(self, bound: BoundUnit) -> FunctionalUnit:
        """Return the unit without the high bits of a product that no use needs."""
        unit = bound.unit
        if unit.module != "integer_multiply":
            return unit
        width = max(1, max(self.values[use.block, use.operation] for use in bound.uses))
        parameters = tuple((n, min(v, width) if n == "WIDTH" else v) for n, v in unit.parameters)
        return replace(unit, parameters=parameters)


def demand_of(design: ScheduledDesign) -> Demand:
    """Return the used bits of a design, as a least fixed point."""
    values: Counter[tuple[int, int]] = Counter()
    symbols: Counter[tuple[str, str]] = Counter()
    for array in design.graph.function.arrays:
        if array.external:
            symbols["store", array.name] = array.type.width_bits
    size = -1
    while size != sum(values.values()) + sum(symbols.values()):
        size = sum(values.values()) + sum(symbols.values())
        for block in reversed(design.graph.blocks):
            _demand_of_block(block, values, symbols)
    widths = {v.name: v.type.width_bits for v in design.graph.variables}
    return Demand(
        values=values,
        variables={n: min(symbols["write", n], width) for n, width in widths.items()},
        arrays={
            a.name: min(symbols["store", a.name], a.type.width_bits) for a in design.graph.function.arrays
        },
    )


def _demand_of_block(
    block: cdfg.Block, values: Counter[tuple[int, int]], symbols: Counter[tuple[str, str]]
) -> None:
    """Propagate used bits from the end of a block to its start."""

    def use(index: int, bits: int) -> None:
        kind = block.operations[index].type
        bits = min(bits, _ALL if kind is None else kind.width_bits)
        values[block.index, index] = max(values[block.index, index], bits)

    for index in closing_values(block):
        use(index, _ALL)
    for operation in reversed(block.operations):
        own = values[block.index, operation.index]
        match operation.opcode:
            case "read":
                symbols["write", operation.name] = max(symbols["write", operation.name], own)
            case "write":
                use(operation.operands[0], symbols["write", operation.name])
            case "load" | "store":
                if operation.opcode == "store" or own:
                    address, *_ = used_bits(operation, _ALL, block)
                    use(operation.operands[0], address)
                    if operation.predicate is not None:
                        use(operation.predicate, _ALL)
                if operation.opcode == "load":
                    symbols["store", operation.name] = max(symbols["store", operation.name], own)
                else:
                    use(operation.operands[1], symbols["store", operation.name])
            case _ if own:
                for index, bits in zip(operation.operands, used_bits(operation, own, block), strict=True):
                    use(index, bits)
            case _:
                pass


def unused_register_bits(design: ScheduledDesign, writers: list[BlockWriter], demand: Demand) -> int:
    """Return the register bits in the report of high-level synthesis that nothing depends on."""
    unused = sum(v.type.width_bits - demand.variables[v.name] for v in design.graph.variables)
    for writer in writers:
        for held in writer.holding.held.values():
            used = demand.values[writer.block.index, held.operation]
            unused += held.registers * max(0, held.width_bits - used)
    for array in design.graph.function.arrays:
        if not array.external and array.name in design.graph.loaded_arrays:
            bits = array.type.width_bits - demand.arrays[array.name]
            unused += bits * (1 + array.element_count * (array.name in design.graph.stored_arrays))
    library = design.model.library.liberty
    for bound in design.units:
        whole = unit_timing(bound.unit, library).flip_flop_count
        width, least = dict(bound.unit.parameters).get("WIDTH", 1), demand.unit(bound)
        unused += round(whole * (1 - dict(least.parameters).get("WIDTH", 1) / width))
    return unused

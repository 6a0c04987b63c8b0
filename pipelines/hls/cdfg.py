"""The control/data-flow graph: basic blocks of operations, joined by jumps and branches.

Inside a block a value is the index of the operation that makes it. Between blocks values travel in
variables: `read` gives a variable's value at the block's start, `write` sets it for the blocks after. A
block that branches to itself is one iteration of a loop and may be pipelined.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.hls.ir import Array, Function, NestLevel, Variable
from pipelines.interface import ScalarType

MEMORY_OPCODES = ("load", "store")
UNIT_OPCODES = ("mul", "div", "rem")
"""Operations done by functional units that are shared between states."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation of a block.

    Attributes:
        index: position in the block; operands have smaller indices.
        opcode: `const`, `read`, `write`, `load`, `store`, `select`, `neg`, `not`, `abs`, `sqrt`, `cast` (to
            `type`, by value), `bits` (to `type`, the bits stay), `divc` (integer division by a constant), or
            a binary operator of the IR.
        operands: indices of the operations whose values it takes. load: the address;
            store: address, value; write: value; select: condition, if true, if false.
        predicate: index of the value that must not be zero for a load or store to happen.
        type: type of the value; None for store and write. Before narrowing it is the C type and a
            comparison is an INT32; after narrowing an integer type is the smallest that holds every value
            the operation can give, so that the value as a number is the same; where nothing uses more than
            some low bits, it is an unsigned type of those.
        symbol: the variable of read and write, the array of load and store.
        value: the constant of const (bits when floating), the divisor of divc.
        subscripts: for load and store, the index value of each dimension.
        cut_from: the type that holds the value as a number, when `type` holds only those of its low bits
            that are used; subscripts are numbers.
        line: line in the C source.
    """

    index: int
    opcode: str
    operands: tuple[int, ...]
    type: ScalarType | None
    line: int
    predicate: int | None = None
    symbol: Variable | Array | None = None
    value: int | None = None
    subscripts: tuple[int, ...] = ()
    cut_from: ScalarType | None = None

    @property
    def inputs(self) -> tuple[int, ...]:
        """Every value the operation needs when it starts."""
        return self.operands if self.predicate is None else (*self.operands, self.predicate)

    @property
    def name(self) -> str:
        """Name of the variable or array, empty when there is none."""
        return self.symbol.name if self.symbol is not None else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Jump:
    """Go on with another block."""

    target: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """Go on with one of two blocks, by a value of this block."""

    condition: int
    if_true: int
    if_false: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """The function ends; `value` is the operation whose value it returns."""

    value: int | None


Terminator = Jump | Branch | Finish


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A basic block.

    Attributes:
        index: position in the graph; names: `b0`, `b1`, ….
        loop: name of the innermost loop around the block.
        interval: requested initiation interval when the block is a pipelined loop, else None.
        trip_count: iterations of a loop block when known.
        nest: the loops a flattened loop block stands for, outermost first; else empty.
    """

    index: int
    operations: tuple[Operation, ...]
    terminator: Terminator
    loop: str | None
    line: int
    interval: int | None = None
    trip_count: int | None = None
    nest: tuple[NestLevel, ...] = ()

    @property
    def name(self) -> str:
        """Name of the block in reports and Verilog."""
        return f"b{self.index}"

    @property
    def successors(self) -> tuple[int, ...]:
        """Indices of the blocks that may follow."""
        match self.terminator:
            case Jump():
                return (self.terminator.target,)
            case Branch():
                return (self.terminator.if_true, self.terminator.if_false)
            case Finish():
                return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cdfg:
    """A whole function; block 0 is where it starts."""

    function: Function
    blocks: tuple[Block, ...]

    @property
    def loaded_arrays(self) -> frozenset[str]:
        """Names of the arrays some operation loads."""
        return frozenset(o.name for b in self.blocks for o in b.operations if o.opcode == "load")

    @property
    def stored_arrays(self) -> frozenset[str]:
        """Names of the arrays some operation stores."""
        return frozenset(o.name for b in self.blocks for o in b.operations if o.opcode == "store")

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Variables that need a register, in order of first write."""
        found: dict[str, Variable] = {}
        for block in self.blocks:
            for operation in block.operations:
                if operation.opcode in ("read", "write") and isinstance(operation.symbol, Variable):
                    found.setdefault(operation.symbol.name, operation.symbol)
        return tuple(found.values())

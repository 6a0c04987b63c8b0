"""The builder of one operator: its tensors, constants, scalars and locals, and bodies operators share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from random import Random
from typing import Any

from pipelines.programs.dataflow.options import (
    ZERO,
    DataflowOptions,
    Element,
    Range,
    Unsuitable,
    require_int32,
    symmetric,
)
from pipelines.programs.dataflow.tree import Axis, Branch, Extent, Node, Style, loop, nest, statement

Specification = Mapping[str, Any]

SATURATE_SHARE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """An array of the graph.

    Attributes:
        name: in the graph function.
        shape: elements by dimension.
        type: "element", or "index" for int.
        values: range of its elements.
        data: input specification of an argument; None for an operator's result.
    """

    name: str
    shape: tuple[int, ...]
    type: str
    values: Range
    data: Specification | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """A run-time length: a scalar argument, its base value and the ends of its sweep."""

    name: str
    base: int
    low: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorBody:
    """Result of an operator's function: its body, and its result's shape and range."""

    body: tuple[Node, ...]
    shape: tuple[int, ...]
    values: Range


@dataclass(slots=True, kw_only=True)
class Pool:
    """The tensors and scalars of a graph so far.

    Attributes:
        unused: names of results that no operator has read.
        scalars: by the size they bound.
        local_bits: left for local arrays.
        dimension_scale: factor on the sizes of new tensors.
        tensor_count, externals: results and external tensors so far, for names.
    """

    element: Element
    options: DataflowOptions
    style: Style
    local_bits: int
    dimension_scale: float = 1.0
    tensors: list[Tensor] = field(default_factory=list[Tensor])
    unused: list[str] = field(default_factory=list[str])
    scalars: dict[int, Scalar] = field(default_factory=dict[int, Scalar])
    tensor_count: int = 0
    externals: int = 0


@dataclass(slots=True, kw_only=True)
class OperatorBuilder:
    """One operator under construction; the pool changes only when it is done.

    Attributes:
        name: of the operator's function.
        bindings: tensor of each input, by its role: the name of the function's parameter.
        parameters: parameters of its semantics, for the graph's JSON.
        constants: value of each size or tile constant, by macro name.
        locals: declarations of local arrays, bits of them.
        fresh: new external tensors.
        lengths: its scalars, by role.
        fresh_scalars: new ones among them, by the size they bound.
        helpers: names of the functions and macros its text calls.
    """

    pool: Pool
    random: Random
    name: str
    bindings: dict[str, Tensor] = field(default_factory=dict[str, Tensor])
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    constants: dict[str, int] = field(default_factory=dict[str, int])
    locals: list[str] = field(default_factory=list[str])
    local_bits: int = 0
    fresh: list[Tensor] = field(default_factory=list[Tensor])
    lengths: dict[str, Scalar] = field(default_factory=dict[str, Scalar])
    fresh_scalars: dict[int, Scalar] = field(default_factory=dict[int, Scalar])
    helpers: list[str] = field(default_factory=list[str])

    # ---- constants ----

    @property
    def element(self) -> Element:
        """The program's element type."""
        return self.pool.element

    @property
    def floating(self) -> bool:
        """Whether elements are floating numbers."""
        return self.pool.element.floating

    @property
    def sum_type(self) -> str:
        """C type of sums."""
        return "float" if self.floating else "int"

    def constant(self, role: str, value: int) -> str:
        """Return the text of a constant: a literal or a new macro."""
        if not self.pool.style.macros:
            return str(value)
        name = macro = f"{self.name}_{role}".upper()
        turn = 1
        while self.constants.get(macro, value) != value:
            turn += 1
            macro = f"{name}{turn}"
        self.constants[macro] = value
        return macro

    def size(self, role: str, value: int) -> Extent:
        """Return a size of the operator, by its role in the parameters."""
        return Extent(size=value, text=self.constant(role, value))

    def sizes(self, roles: str, shape: Sequence[int]) -> tuple[Extent, ...]:
        """Return the sizes of a shape, one role per dimension, as "M K"."""
        return tuple(self.size(role, value) for role, value in zip(roles.split(), shape, strict=True))

    def parameter(self, name: str, value: int | str | bool) -> None:
        """Register a parameter of the operator's semantics."""
        self.parameters[name] = value

    def flip(self, probability: float = 0.5) -> bool:
        """Return true with a probability."""
        return self.random.random() < probability

    def runtime(self, extent: Extent, role: str) -> Extent:
        """Return the extent, or a run-time length that is at most as large.

        The base value b leaves room for the sweep: b + b / 2 is at most the extent.
        """
        room = len(self.pool.scalars) < 3 or extent.size in self.pool.scalars
        if extent.size < 4 or not room or not self.flip(self.pool.options.runtime_share):
            return extent
        scalar = self.pool.scalars.get(extent.size) or self._new_scalar(extent.size, role)
        self.lengths[role] = scalar
        return Extent(size=scalar.high, text=role, runtime=True)

    def _new_scalar(self, size: int, role: str) -> Scalar:
        if size not in self.fresh_scalars:
            base = size * 2 // 3
            name = f"{role}{len(self.pool.scalars) + len(self.fresh_scalars)}"
            scalar = Scalar(name=name, base=base, low=-(-base // 2), high=base + base // 2)
            self.fresh_scalars[size] = scalar
        return self.fresh_scalars[size]

    # ---- tensors ----

    def input(
        self,
        role: str,
        *,
        rank: int | Sequence[int],
        accept: Callable[[tuple[int, ...]], bool] = lambda _: True,
    ) -> Tensor:
        """Return an input of the graph so far, or a new external one.

        Raises: Unsuitable: no fitting shape was found.
        """
        ranks = (rank,) if isinstance(rank, int) else tuple(rank)
        taken = [t.name for t in self.bindings.values()]
        tensors = [
            t
            for t in self.pool.tensors
            if t.type == "element" and len(t.shape) in ranks and accept(t.shape) and t.name not in taken
        ]
        waiting = [t for t in tensors if t.name in self.pool.unused]
        if waiting and self.flip(0.85):
            return self._bind(role, self.random.choice(waiting))
        if tensors and self.flip(0.6):
            return self._bind(role, self.random.choice(tensors))
        for _ in range(20):
            shape = self._new_shape(self.random.choice(ranks))
            if accept(shape):
                return self.external(role, shape, self.random.choice(self.element.inputs))
        raise Unsuitable(f"no shape suits {self.name}")

    def weight(self, role: str, shape: Sequence[int], *, sharing: float = 0.3) -> Tensor:
        """Return a tensor of a given shape: a result of the graph or a new external one."""
        taken = [t.name for t in self.bindings.values()]
        tensors = [
            t
            for t in self.pool.tensors
            if t.type == "element" and t.shape == tuple(shape) and t.name not in taken
        ]
        if tensors and self.flip(sharing):
            return self._bind(role, self.random.choice(tensors))
        return self.external(role, shape, self.random.choice(self.element.weights))

    def external(
        self,
        role: str,
        shape: Sequence[int],
        magnitude: float,
        *,
        low: float | None = None,
        index: bool = False,
        data: Specification | None = None,
    ) -> Tensor:
        """Return a new external tensor with values low .. magnitude, by default from -magnitude."""
        values = Range(-magnitude if low is None else low, magnitude)
        if data is None:
            ends = (float(values.low), float(values.high)) if self.floating and not index else None
            first, last = ends or (int(values.low), int(values.high) + 1)
            data = {"kind": "uniform", "low": first, "high": last}
        name = f"x{self.pool.externals + len(self.fresh)}_{role}"
        kind = "index" if index else "element"
        tensor = Tensor(name=name, shape=tuple(shape), type=kind, values=values, data=data)
        self.fresh.append(tensor)
        return self._bind(role, tensor)

    def _bind(self, role: str, tensor: Tensor) -> Tensor:
        self.bindings[role] = tensor
        return tensor

    def _new_shape(self, rank: int) -> tuple[int, ...]:
        pick = self._dimension
        if rank == 1:
            return (pick(6, 40),)
        if rank == 2:
            return (pick(3, 14), pick(3, 16))
        return (pick(2, 5), pick(4, 9), pick(4, 9))

    def _dimension(self, low: int, high: int) -> int:
        """Return a size: uniform, or log-uniform up to the scaled bound, so that small ones stay frequent."""
        scale = self.pool.dimension_scale
        if scale == 1.0:
            return self.random.randint(low, high)
        most = max(low, high * scale)
        return round(low * (most / low) ** self.random.random())

    def local(self, name: str, sizes: Sequence[Extent], c_type: str | None = None) -> str:
        """Declare a local array of sums, or of another C type of at most 32 bits.

        Raises: Unsuitable: local arrays would have too many bits.
        """
        self.require_room(prod(s.size for s in sizes))
        dimensions = "".join(f"[{s.text}]" for s in sizes)
        self.locals.append(f"{c_type or self.sum_type} {name}{dimensions};")
        self.local_bits += 32 * prod(s.size for s in sizes)
        return name

    def has_room(self, elements: int) -> bool:
        """Tell whether a local array of sums may be declared."""
        return self.local_bits + 32 * elements <= self.pool.local_bits

    def require_room(self, elements: int) -> None:
        """Refuse an operator whose local arrays are too large.

        Raises: Unsuitable: they exceed the limit.
        """
        if not self.has_room(elements):
            raise Unsuitable(f"{self.name} needs too large local arrays")

    # ---- results ----

    def use(self, helper: str) -> None:
        """Register a helper function or macro that the text calls."""
        if helper not in self.helpers:
            self.helpers.append(helper)

    def finish(self, text: str, values: Range) -> tuple[str, Range]:
        """Return an operator's result scaled to the element type, and its range.

        Integers are shifted right, either far enough for every value, or less and then saturated; floating
        numbers are multiplied by a power of two.

        Raises: Unsuitable: an integer result does not fit 32 bits.
        """
        limit = self.element.limit
        if not self.floating:
            require_int32(values)
        if values.magnitude <= limit:
            return text, values
        shift = 0
        while values.magnitude / 2**shift > limit:
            shift += 1
        if self.floating:
            self.parameter("shift", shift)
            return f"{_operand(text)} * {2.0**-shift!r}f", values * Range(2.0**-shift, 2.0**-shift)
        if shift > 1 and self.flip(SATURATE_SHARE):
            shift = self.random.randint(0, shift - 1)
            self.parameter("saturate", limit)
            self.use("clamp")
            inner = f"{_operand(text)} >> {shift}" if shift else text
            text, values = f"clamp({inner}, -{limit}, {limit})", symmetric(limit)
        else:
            text = f"{_operand(text)} >> {shift}"
            values = Range(int(values.low) >> shift, int(values.high) >> shift)
        self.parameter("shift", shift)
        return text, values

    def zero_fill(self, axes: Sequence[Axis]) -> tuple[Node, ...]:
        """Return the loops that set the whole result to zero, for operators with run-time lengths."""
        place = "out" + "".join(f"[{variable}]" for variable, _ in axes)
        return nest(axes, "parallel", statement(f"{place} = 0"))

    def number(self, value: float) -> str:
        """Return a literal of the element type."""
        return f"{float(value)!r}f" if self.floating else str(int(value))

    def accumulate(
        self,
        *,
        outer: Sequence[Axis],
        inner: Sequence[Axis],
        term: str,
        term_values: Range,
        first: str = "0",
        first_values: Range = ZERO,
        guard: str | None = None,
        after: Callable[[str, Range], tuple[str, Range]] = lambda text, values: (text, values),
    ) -> tuple[tuple[Node, ...], Range]:
        """Return out[outer] = after(first + sum over inner of term), in one of three forms.

        The sum is a scalar, an element of the result, or an element of a local buffer; in the last two
        forms first values, sums and final values are three nests, the second of which is permutable as a
        whole.

        Args:    guard: a condition of a term.
        Returns: the nodes and the range of the result.
        Raises:  Unsuitable: the sum does not fit 32 bits.
        """
        count = prod(extent.size for _, extent in inner)
        values = first_values + term_values.accumulated(count)
        if not self.floating:
            require_int32(values)
        shape = [extent for _, extent in outer]
        place = "".join(f"[{variable}]" for variable, _ in outer)
        name = self._sum_place(shape, values, after)
        total = f"{name}{place}" if name != "sum" else name
        add: Node = statement(f"{total} += {term}")
        if guard:
            add = Branch(condition=guard, body=(add,))
        result, values = self.finish(*after(total, values))
        store = statement(f"out{place} = {result}")
        if name == "sum":
            begin = statement(f"{self.sum_type} sum = {first}")
            return nest(outer, "parallel", begin, *nest(inner, "reduction", add), store), values
        nodes = nest(outer, "parallel", statement(f"{total} = {first}"))
        nodes += nest(outer, "parallel", *nest(inner, "reduction", add))
        if result != f"out{place}":
            nodes += nest(outer, "parallel", store)
        return nodes, values

    def _sum_place(
        self,
        shape: Sequence[Extent],
        values: Range,
        after: Callable[[str, Range], tuple[str, Range]],
    ) -> str:
        if not shape or self.flip(0.35):
            return "sum"
        fits = values.magnitude <= self.element.limit
        if not self.element.narrow and fits and after("x", values)[0] == "x":
            return "out"
        # If the types are equal, the result itself may hold the sums until they are scaled.
        if not self.element.narrow and self.flip():
            return "out"
        if self.has_room(prod(s.size for s in shape)):
            return self.local("acc", [Extent(size=s.size, text=_bound(s)) for s in shape])
        return "sum"


def _bound(extent: Extent) -> str:
    return str(extent.size) if extent.runtime else extent.text


def _operand(text: str) -> str:
    simple = text.replace("_", "").replace("[", "").replace("]", "").isalnum()
    return text if simple else f"({text})"


def largest(builder: OperatorBuilder, text: str, variable: str, extent: Extent) -> tuple[Node, ...]:
    """Return `best` as the maximum of a text whose @ is the variable."""
    value = text.replace("@", variable)
    pick = Branch(condition=f"{value} > best", body=(statement(f"best = {value}"),))
    return (
        statement(f"{builder.sum_type} best = {text.replace('@', '0')}"),
        loop(variable, extent, "reduction", pick),
    )


def exponential(builder: OperatorBuilder, value: str, place: str) -> tuple[Node, ...]:
    """Return place = e^(value - best); in integers 64 halved every eight units, 0 from 56 on."""
    if builder.floating:
        return (statement(f"{place} = expf({value} - best)"),)
    gap = f"best - {value}"
    return (statement(f"{place} = {gap} > 55 ? 0 : 64 >> (({gap}) >> 3)"),)

"""Random operator graphs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, prod
from random import Random

from pipelines.base.summation import ordered_sum
from pipelines.programs.dataflow.builder import OperatorBody, OperatorBuilder, Pool, Scalar, Tensor
from pipelines.programs.dataflow.mutation import Mutations, mutate
from pipelines.programs.dataflow.operators import CONTROL, FAMILY_WEIGHTS, OPERATORS, Operator
from pipelines.programs.dataflow.options import ELEMENTS, DataflowOptions, Element, Unsuitable
from pipelines.programs.dataflow.tree import Branch, Loop, Node, Statement, Style, walk

# Cycles at memory delay 2 and a period of 10 ns, fitted to counted programs without directives.
LOAD = 1.4
STORE = 0.7
LOOP = 1.0
INTEGER_PRODUCT = 1.0
INTEGER_QUOTIENT = 25
FLOAT_OPERATION = 2.2
FLOAT_QUOTIENT = 10
FUNCTIONS = {"expf": 28, "tanhf": 45, "erff": 45, "sqrtf": 10, "isqrt": 40}

# Standard cells (osu018), fitted to 33 synthesised programs: half of the estimates within 15 %.
CELLS_A_LOOP = 100
CELLS_A_LOCAL_BIT = 5.7
CELLS_A_PRODUCT = 64  # per bit of an element; combinational operators are not shared
CELLS_A_QUOTIENT = 1300
CELLS_OF_FLOAT_UNITS = 3000  # shared by all operators of a program
CELLS_A_FLOAT_PRODUCT = 2000
CELLS_OF_FUNCTION = 7700  # expf, tanhf, erff

_SUBSCRIPTS = re.compile(r"\w+(?:\[[^\[\]]*\])+")
_PRODUCT = re.compile(r"[\w)] \* [a-z(]")
_QUOTIENT = re.compile(r" /=? [a-z]")
_INSIDE = re.compile(r"\[[^\[\]]*\]")
_FUNCTION = re.compile(r"\b(" + "|".join(FUNCTIONS) + r")\(")


def estimated_cycles(nodes: Sequence[Node], *, floating: bool) -> float:
    """Return the maximum cycles of some nodes, memory delay 2, no directives."""
    return ordered_sum(_cost(node, floating) for node in nodes)


def estimated_cells(nodes: Sequence[Node], element: Element, *, local_bits: int) -> float:
    """Return standard cells of a program of some nodes without directives, its local arrays as flip-flops."""
    loops = 0
    texts: list[str] = []
    for node, _, _ in walk(nodes):
        if isinstance(node, Statement):
            texts.append(node.text)
        else:
            loops += not isinstance(node, Branch)
            texts.append("" if isinstance(node, Loop) else node.condition)
    text = "\n".join(_without_subscripts(t) for t in texts)
    products = len(_PRODUCT.findall(text))
    cells = CELLS_A_LOOP * loops + CELLS_A_LOCAL_BIT * local_bits
    cells += CELLS_OF_FUNCTION * sum(f"{name}(" in text for name in ("expf", "tanhf", "erff"))
    if element.floating:
        return cells + CELLS_OF_FLOAT_UNITS + CELLS_A_FLOAT_PRODUCT * products
    quotients = len(_QUOTIENT.findall(text))
    return cells + CELLS_A_PRODUCT * element.bits * products + CELLS_A_QUOTIENT * quotients


def _without_subscripts(text: str) -> str:
    while (shorter := _SUBSCRIPTS.sub("v", text)) != text:
        text = shorter
    return text


def _cost(node: Node, floating: bool) -> float:
    if isinstance(node, Statement):
        return _statement_cost(node.text, floating)
    if isinstance(node, Branch):
        sides = (estimated_cycles(s, floating=floating) for s in (node.body, node.otherwise))
        return 1 + _statement_cost(node.condition, floating) + max(sides)
    if isinstance(node, Loop):
        trips = node.trips / 2 if not node.exact and " + 1" in node.stop else node.trips
        return 1 + trips * (LOOP + estimated_cycles(node.body, floating=floating))
    inside = _statement_cost(node.condition, floating) + LOOP
    return node.trips * (inside + estimated_cycles(node.body, floating=floating))


def _statement_cost(text: str, floating: bool) -> float:
    accesses = 0
    plain = text
    while subscripts := _SUBSCRIPTS.findall(plain):
        accesses += len(subscripts)
        plain = _SUBSCRIPTS.sub("v", plain)
    plain = _INSIDE.sub("", plain)
    cost = 0.0
    if accesses:
        cost += LOAD + STORE + 0.7 * max(0, accesses - 2)
    cost += sum(FUNCTIONS[name] for name in _FUNCTION.findall(plain))
    products = plain.count("*")
    quotients = plain.count(" / ") + plain.count("/=")
    if floating:
        sums = plain.count(" + ") + plain.count(" - ") + plain.count("+=") + plain.count("-=")
        return cost + FLOAT_OPERATION * (products + sums) + FLOAT_QUOTIENT * quotients
    constant = len(re.findall(r"/=? \d", plain))
    return cost + INTEGER_PRODUCT * products + INTEGER_QUOTIENT * (quotients - constant) + 2 * constant


ATTEMPTS = 80
ATTEMPTS_PER_OPERATOR = 10
CONNECTED_SHARE = 0.92
SMALLEST_DIMENSION = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A node of a graph.

    Attributes:
        builder: builder of its operator.
        body: its loop tree in the program.
        plain: its loop tree before mutation.
        output: its result.
    """

    operator: Operator
    builder: OperatorBuilder
    body: tuple[Node, ...]
    plain: tuple[Node, ...]
    output: Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Operators in topological order, and their shared tensors and scalars."""

    pool: Pool
    nodes: tuple[Placed, ...]
    cycles: float

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        """Run-time lengths, in order of creation."""
        return tuple(self.pool.scalars.values())


def random_graph(
    generator: Random, options: DataflowOptions, *, operators: Sequence[Operator] = OPERATORS
) -> Graph:
    """Draw a graph.

    Args:    operators: to draw from.
    Returns: a graph within the budgets of cycles and cells, of at most maximum_operators; empty when none
             fits.
    """
    pool = new_pool(generator, options)
    count = generator.randint(options.minimum_operators, options.maximum_operators)
    nodes: list[Placed] = []
    cycles = 0.0
    for _ in range(max(ATTEMPTS, ATTEMPTS_PER_OPERATOR * count)):
        if len(nodes) == count:
            break
        # A share of the remaining budget, so that later operators fit too.
        room = (options.cycle_budget - cycles) / max(1.0, (count - len(nodes)) * 0.5)
        operator = _draw(generator, operators, options.control_weight)
        cell_room = _cell_room(pool, nodes, count)
        placed = _place(pool, nodes, operator, generator, room, cell_room)
        if placed:
            nodes.append(placed[0])
            cycles += placed[1]
    return Graph(pool=pool, nodes=tuple(nodes), cycles=cycles)


def graph_of(generator: Random, options: DataflowOptions, operators: Sequence[Operator]) -> Graph:
    """Return a graph of the given operators in order, without those that do not suit the element type."""
    pool = new_pool(generator, options)
    nodes: list[Placed] = []
    cycles = 0.0
    for operator in operators:
        room = options.cycle_budget - cycles
        tries = (_place(pool, nodes, operator, generator, room, inf) for _ in range(ATTEMPTS))
        if placed := next((node for node in tries if node), None):
            nodes.append(placed[0])
            cycles += placed[1]
    return Graph(pool=pool, nodes=tuple(nodes), cycles=cycles)


def new_pool(generator: Random, options: DataflowOptions) -> Pool:
    """Return an empty pool with a random element type and style."""
    element = ELEMENTS[generator.choice(options.data_types)]
    style = Style(
        macros=generator.random() < options.macro_share,
        braces=generator.random() < 0.5,
        spelling=generator.randrange(len(element.c_names)),
        tile_suffix=generator.choice(("_t", "_tile", "0", "_blk")),
    )
    low, high = options.dimension_scale
    scale = low if low == high else low * (high / low) ** generator.random()
    return Pool(
        element=element, options=options, style=style, local_bits=options.local_bits, dimension_scale=scale
    )


def _draw(generator: Random, operators: Sequence[Operator], control_weight: float) -> Operator:
    weights = {CONTROL: control_weight, **FAMILY_WEIGHTS}
    families = [f for f in dict.fromkeys(o.family for o in operators) if weights[f] > 0]
    family = generator.choices(families, [weights[f] for f in families])[0]
    return generator.choice([o for o in operators if o.family == family])


def _place(
    pool: Pool,
    nodes: Sequence[Placed],
    operator: Operator,
    generator: Random,
    room: float,
    cell_room: float,
) -> tuple[Placed, float] | None:
    """Append an operator to the nodes; returns it and its cycles, None when it does not fit.

    Args: room: cycles of the operator at most. cell_room: its cells at most, local arrays apart.
    """
    builder = OperatorBuilder(pool=pool, random=generator, name=f"{operator.name}_{pool.tensor_count}")
    try:
        operator_body = operator.build(builder)
    except Unsuitable:
        return None
    alone = all(t in builder.fresh for t in builder.bindings.values())
    if pool.tensors and alone and generator.random() < CONNECTED_SHARE:
        return None
    if not pool.element.floating and operator_body.values.magnitude >= 2 ** (pool.element.bits - 1):
        return None
    body = _mutated(builder, operator_body, generator)
    cycles = estimated_cycles(body, floating=pool.element.floating)
    if cycles > room or not operator_body.shape or min(operator_body.shape) < SMALLEST_DIMENSION:
        return None
    if _own_cells(pool, body) > cell_room or _cells(pool, nodes, builder, body) > pool.options.cell_budget:
        return None
    return _commit(pool, operator, builder, operator_body, body), cycles


EQUAL_SHARES = 3
"""With `even_cells` an operator may have this many equal shares of the remaining cells."""


def _cell_room(pool: Pool, nodes: Sequence[Placed], count: int) -> float:
    """Return the cells of the next of `count` operators at most, its local arrays apart."""
    left = count - len(nodes)
    if not pool.options.even_cells or left < EQUAL_SHARES:
        return inf
    every = [n for placed in nodes for n in placed.body]
    present = estimated_cells(every, pool.element, local_bits=pool.options.local_bits)
    return (pool.options.cell_budget - present) * EQUAL_SHARES / left


def _own_cells(pool: Pool, body: Sequence[Node]) -> float:
    empty = estimated_cells((), pool.element, local_bits=0)
    return estimated_cells(body, pool.element, local_bits=0) - empty


def _cells(pool: Pool, nodes: Sequence[Placed], builder: OperatorBuilder, body: tuple[Node, ...]) -> float:
    """Return the program's cells with one more operator, whose inputs are local arrays if there is room."""
    results = sum(prod(n.output.shape) for n in nodes) * pool.element.bits
    inside = pool.options.local_bits - pool.local_bits + builder.local_bits
    bits = inside if pool.options.buffers else min(pool.options.local_bits, inside + results)
    every = (*(n for placed in nodes for n in placed.body), *body)
    return estimated_cells(every, pool.element, local_bits=bits)


def _mutated(builder: OperatorBuilder, operator_body: OperatorBody, generator: Random) -> tuple[Node, ...]:
    options = builder.pool.options
    if generator.random() >= options.mutation_share:
        return operator_body.body
    mutations = Mutations(
        constant=builder.constant,
        keep_sums=builder.floating and not options.reorder_sums,
        tile_suffix=builder.pool.style.tile_suffix,
    )
    return mutate(operator_body.body, mutations, generator)


def _commit(
    pool: Pool,
    operator: Operator,
    builder: OperatorBuilder,
    operator_body: OperatorBody,
    body: tuple[Node, ...],
) -> Placed:
    output = Tensor(
        name=f"t{pool.tensor_count}", shape=operator_body.shape, type="element", values=operator_body.values
    )
    pool.tensor_count += 1
    pool.externals += len(builder.fresh)
    pool.tensors += [*builder.fresh, output]
    read = {t.name for t in builder.bindings.values()}
    pool.unused = [name for name in pool.unused if name not in read] + [output.name]
    pool.scalars.update(builder.fresh_scalars)
    pool.local_bits -= builder.local_bits
    return Placed(operator=operator, builder=builder, body=body, plain=operator_body.body, output=output)

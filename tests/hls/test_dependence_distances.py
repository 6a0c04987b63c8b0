"""Distances between accesses equal those from running every iteration; no ordering is lost."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from random import Random

import pytest
from schedule_blocks import A1, A2, LoopBuilder, lowered_loop

from pipelines.c.arithmetic import evaluate
from pipelines.c.cdfg import Block, Operation
from pipelines.c.ir import Array, NestLevel, Variable
from pipelines.c.signature import INT32, ScalarType
from pipelines.hls.dependence import AccessPairs, memory_dependences

PARAMETER = ScalarType(width_bits=2, signed=False)


def run_operations(block: Block, reads: dict[str, int]) -> list[int]:
    """Value of every operation in one iteration, written independently of the compiler's forms."""
    values: list[int] = []
    for operation in block.operations:
        operands = [values[i] for i in operation.operands]
        match operation.opcode:
            case "const":
                values.append(operation.value or 0)
            case "read":
                values.append(reads[operation.name])
            case "write" | "load" | "store":
                values.append(0)
            case _:
                result = evaluate(operation.opcode, operands[0], operands[1], INT32)
                assert result is not None
                values.append(result)
    return values


def touched(block: Block, values: list[int]) -> dict[int, tuple[int, ...]]:
    """The element that each executed access touches in one iteration."""
    return {
        o.index: tuple(values[i] for i in o.subscripts)
        for o in block.operations
        if o.opcode in ("load", "store") and (o.predicate is None or values[o.predicate])
    }


def distances_by_running(runs: list[list[dict[int, tuple[int, ...]]]]) -> dict[tuple[int, int], set[int]]:
    """Every distance at which two accesses meet, from the elements that each iteration touches."""
    distances: dict[tuple[int, int], set[int]] = {}
    for iterations in runs:
        for n, m in product(range(len(iterations)), repeat=2):
            for first, second in product(iterations[n], iterations[m]) if n <= m else ():
                if iterations[n][first] == iterations[m][second]:
                    distances.setdefault((first, second), set()).add(m - n)
    return distances


def random_accesses(builder: LoopBuilder, random: Random, leaves: list[int], predicates: list[int]) -> None:
    for _ in range(random.randint(2, 4)):
        array = random.choice((A1, A2))
        subscripts = tuple(
            builder.affine(
                {
                    leaf: random.choice((-2, -1, 1, 1, 2))
                    for leaf in random.sample(leaves, random.randint(0, 2))
                },
                random.randint(-2, 2),
            )
            for _ in array.shape
        )
        others = {"symbol": array, "subscripts": subscripts}
        if predicates and random.random() < 0.5:
            others["predicate"] = random.choice(predicates)
        if random.random() < 0.5:
            builder.add("load", subscripts[0], **others)
        else:
            builder.add("store", subscripts[0], subscripts[-1], **others)


def random_predicates(builder: LoopBuilder, random: Random, leaves: list[int]) -> list[int]:
    simple = [
        builder.add(random.choice(("lt", "eq", "ne", "ge")), leaf, builder.constant(random.randint(0, 2)))
        for leaf in leaves
    ]
    negated = [builder.add("eq", p, builder.constant(0)) for p in simple]
    pool = simple + negated
    joined = [builder.add(random.choice(("and", "or")), *random.sample(pool, 2)) for _ in range(2)]
    return [*pool, *joined]


@dataclass
class RandomLoop:
    """A loop block and the elements that its iterations touch per value of its parameter."""

    block: Block
    runs: list[list[dict[int, tuple[int, ...]]]]


def random_nest(seed: int) -> RandomLoop:
    """A flattened nest of up to three loops, with a parameter from 0 to 3."""
    random = Random(seed)
    names = ("i", "j", "k")[: random.randint(1, 3)]
    nest = tuple(
        NestLevel(
            variable=Variable(name=name),
            lower=random.randint(-1, 2),
            step=random.choice((1, 1, 2, -1)),
            trip_count=random.randint(1, 4),
        )
        for name in names
    )
    builder = LoopBuilder()
    leaves = [builder.add("read", symbol=level.variable) for level in nest]
    parameter = builder.add("read", symbol=Variable(name="n", type=PARAMETER), type=PARAMETER)
    predicates = random_predicates(builder, random, leaves)
    random_accesses(builder, random, [*leaves, parameter], predicates)
    trips = 1
    for level in nest:
        trips *= level.trip_count
    block = builder.block(builder.constant(1), nest=nest, trip_count=trips)
    odometer = list(product(*(range(level.trip_count) for level in nest)))
    runs = [
        [
            touched(
                block,
                run_operations(
                    block,
                    {lv.variable.name: lv.lower + lv.step * x for lv, x in zip(nest, turn, strict=True)}
                    | {"n": n},
                ),
            )
            for turn in odometer
        ]
        for n in range(4)
    ]
    return RandomLoop(block, runs)


def random_strided(seed: int) -> RandomLoop:
    """A plain loop whose variables change by constants from unknown initial values."""
    random = Random(seed)
    builder = LoopBuilder()
    wide = ScalarType(width_bits=5, signed=False)
    i, n = Variable(name="i", type=wide), Variable(name="n", type=PARAMETER)
    step, trips = random.choice((1, 1, 2, 3)), random.randint(1, 5)
    read = builder.add("read", symbol=i, type=wide)
    parameter = builder.add("read", symbol=n, type=PARAMETER)
    predicates = random_predicates(builder, random, [parameter])
    random_accesses(builder, random, [read, parameter], predicates)
    builder.add("write", builder.add("add", read, builder.constant(step)), symbol=i)
    block = builder.block(builder.constant(1), trip_count=trips)
    runs = [
        [touched(block, run_operations(block, {"i": first + step * t, "n": n})) for t in range(trips)]
        for first in range(32 - step * trips)
        for n in range(4)
    ]
    return RandomLoop(block, runs)


def random_loop(seed: int) -> RandomLoop:
    return random_nest(seed) if seed % 3 else random_strided(seed)


def store_pairs(block: Block) -> list[tuple[Operation, Operation]]:
    accesses = [o for o in block.operations if o.opcode in ("load", "store")]
    return [
        (a, b) for a, b in product(accesses, repeat=2) if a.name == b.name and "store" in (a.opcode, b.opcode)
    ]


@pytest.mark.parametrize("seed", range(90))
def test_distances_equal_those_of_running_every_iteration(seed: int) -> None:
    loop = random_loop(seed)
    pairs = AccessPairs(block=loop.block)
    met = distances_by_running(loop.runs)
    for first, second in store_pairs(loop.block):
        distances = met.get((first.index, second.index), set())
        later = min((d for d in distances if d > 0), default=None)
        assert pairs.distance(first.index, second.index) == later, (first, second)
        if first.index < second.index:
            assert pairs.same_iteration(first.index, second.index) == (0 in distances), (first, second)


WRITE_DELAY = 3


def latency(source: Operation, target: Operation) -> int:
    if source.opcode == "load":
        return 0
    return WRITE_DELAY if target.opcode == "load" else 1


def implied(block: Block, edges: list[tuple[int, int, int]], source: int, target: int, distance: int) -> bool:
    """Whether orderings together keep `target` of `distance` iterations later after `source`."""
    operations = block.operations
    best = {(source, 0): 0}
    queue = [(source, 0)]
    while queue:
        node, used = queue.pop()
        for first, second, more in edges:
            state = (second, used + more)
            if first != node or state[1] > distance:
                continue
            total = best[node, used] + latency(operations[first], operations[second])
            if total > best.get(state, -1) and total < 50:
                best[state] = total
                queue.append(state)
    needed = latency(operations[source], operations[target])
    return any(node == target and total >= needed for (node, _), total in best.items() if node != source or _)


@pytest.mark.parametrize("seed", range(90, 130))
def test_orderings_that_are_left_out_follow_from_others(seed: int) -> None:
    block = random_loop(seed).block
    edges = [(d.source, d.target, d.distance) for d in memory_dependences(block)]
    pairs = AccessPairs(block=block)
    for first, second in store_pairs(block):
        distance = pairs.distance(first.index, second.index)
        if distance is not None:
            assert implied(block, edges, first.index, second.index, distance)
        if first.index < second.index and pairs.same_iteration(first.index, second.index):
            assert implied(block, edges, first.index, second.index, 0)


def chain_block(count: int, *, unknown: bool) -> Block:
    """`count` loads and stores of A[i + c], or of A[x] with x loaded."""
    builder = LoopBuilder()
    read = builder.add("read", symbol=Variable(name="i"))
    index = Array(name="B", type=INT32, shape=(64,), external=True)
    for offset in range(count):
        place = builder.affine({read: 1}, offset)
        if unknown:
            place = builder.add("load", place, symbol=index, subscripts=(place,))
        value = builder.add("load", place, symbol=A1, subscripts=(place,))
        builder.add("store", place, value, symbol=A1, subscripts=(place,))
    builder.add("write", builder.affine({read: 1}, count), symbol=Variable(name="i"))
    return builder.block(builder.constant(1))


def test_orderings_of_an_unrolled_loop_grow_with_its_accesses_alone() -> None:
    assert len(memory_dependences(chain_block(400, unknown=False))) == 400


def test_ranges_keep_data_dependent_accesses_apart() -> None:
    builder = LoopBuilder()
    read = builder.add("read", symbol=Variable(name="i"))
    loaded = builder.add("load", read, symbol=A2, subscripts=(read, read))
    low = builder.add("and", loaded, builder.constant(7))
    moved = builder.add("add", low, builder.constant(8))
    for place in (low, moved):
        builder.add("store", place, read, symbol=A1, subscripts=(place,))
    block = builder.block(builder.constant(1))
    opcodes = [o.opcode for o in block.operations]
    stores = [k for k, opcode in enumerate(opcodes) if opcode == "store"]
    pairs = AccessPairs(block=block)
    assert not pairs.same_iteration(*stores)
    assert pairs.distance(*stores) is None
    assert pairs.distance(stores[0], stores[0]) == 1


def test_the_loop_condition_bounds_what_later_iterations_touch() -> None:
    """`do { A[j] = A[k]; k++; } while (k < j);` stores what no later iteration loads."""
    builder = LoopBuilder()
    j, k = (builder.add("read", symbol=Variable(name=n)) for n in "jk")
    load = builder.add("load", k, symbol=A1, subscripts=(k,))
    store = builder.add("store", j, load, symbol=A1, subscripts=(j,))
    update = builder.affine({k: 1}, 1)
    again = builder.add("lt", update, j)
    builder.add("write", update, symbol=Variable(name="k"))
    pairs = AccessPairs(block=builder.block(again))
    assert pairs.distance(store, load) is None
    assert pairs.same_iteration(load, store)
    backwards = AccessPairs(block=builder.block(builder.add("ge", update, j)))
    assert backwards.distance(store, load) == 1


@pytest.mark.parametrize(("opcode", "meets"), [("lt", False), ("le", True)])
def test_accesses_under_opposite_conditions_do_not_meet(opcode: str, meets: bool) -> None:
    builder = LoopBuilder()
    x, y = (builder.add("read", symbol=Variable(name=n)) for n in "xy")
    builder.add("write", builder.add("mul", x, y), symbol=Variable(name="x"))
    builder.add("write", builder.add("mul", y, y), symbol=Variable(name="y"))
    taken = builder.add(opcode, x, y)
    other = builder.add("ge", x, y)
    first = builder.add("store", x, y, symbol=A1, subscripts=(x,), predicate=taken)
    second = builder.add("load", x, symbol=A1, subscripts=(x,), predicate=other)
    pairs = AccessPairs(block=builder.block(builder.constant(1)))
    assert pairs.same_iteration(first, second) is meets
    assert pairs.distance(first, second) == 1


def test_a_flattened_accumulation_that_ends_with_its_store_carries_nothing() -> None:
    """C[i][j] is loaded at k = 0 and stored at k = 15: no later iteration meets the store."""
    nest = tuple(
        NestLevel(variable=Variable(name=n), lower=0, step=1, trip_count=16) for n in ("i", "j", "k")
    )
    builder = LoopBuilder()
    i, j, k = (builder.add("read", symbol=level.variable) for level in nest)
    first = builder.add("eq", k, builder.constant(0))
    last = builder.add(
        "eq", builder.add("lt", builder.affine({k: 1}, 1), builder.constant(16)), builder.constant(0)
    )
    load = builder.add("load", i, symbol=A2, subscripts=(i, j), predicate=first)
    store = builder.add("store", i, load, symbol=A2, subscripts=(i, j), predicate=last)
    block = builder.block(builder.constant(1), nest=nest, trip_count=4096)
    pairs = AccessPairs(block=block)
    assert pairs.distance(store, load) is None
    assert pairs.distance(load, store) == 15
    assert not pairs.same_iteration(load, store)
    assert memory_dependences(block)


@pytest.mark.parametrize(
    ("statement", "distances"),
    [
        ("A[i] = A[i] + 1;", set()),
        ("A[i + 1] = A[i];", {1}),
        ("A[i + 3] = A[i];", {3}),
        ("A[2 * i] = A[2 * i + 1];", set()),
        ("A[0] = A[0] + i;", {1}),
        ("A[B[i]] = A[i];", {1}),
        ("A[B[i] & 7] = A[(B[i] & 7) + 8];", set()),
        ("A[x % 4] = A[n % 4 + 4];", {1}),
        ("M[i][2] = M[i][3];", set()),
        ("M[i][n] = M[i + 1][n];", set()),
        ("M[i + 1][n] = M[i][n];", {1}),
        ("M[n][i + 2] = M[n][i];", {2}),
        ("M[i + 1][i + 2] = M[i][i];", set()),
        ("M[i][n] = M[n][i + 1];", set()),
        ("M[i][n] = M[n][i - 1];", {1}),
    ],
)
def test_distance_from_store_to_load(statement: str, distances: set[int]) -> None:
    block = lowered_loop(f"for (int i = 0; i < 20; i++) {statement}")
    opcodes = [o.opcode for o in block.operations]
    measured = {
        d.distance
        for d in memory_dependences(block)
        if (opcodes[d.source], opcodes[d.target]) == ("store", "load") and d.distance
    }
    assert measured == distances


def test_distance_beyond_the_last_iteration_is_no_dependence() -> None:
    block = lowered_loop("for (int i = 0; i < 3; i++) A[i + 3] = A[i];")
    assert not [d for d in memory_dependences(block) if d.distance]


def test_a_subscript_is_a_number_whatever_bits_of_it_are_kept() -> None:
    """`A[(n ? -1 : 5) + 1]` may be A[0], though -1 was cut to the 6 bits that its address needs."""
    builder = LoopBuilder()
    n = builder.read("n")
    small, cut = ScalarType(width_bits=4), ScalarType(width_bits=6, signed=False)
    values = (builder.constant(-1, small), builder.constant(5, small))
    chosen = builder.add("select", n, *values, type=cut, cut_from=small)
    moved = builder.add("add", chosen, builder.constant(1), type=cut, cut_from=small)
    zero = builder.constant(0)
    store, load = builder.store(A1, n, zero), builder.load(A1, moved)
    pairs = AccessPairs(block=builder.block(builder.constant(1)))
    assert pairs.same_iteration(store, load)
    assert pairs.distance(store, load) == 1

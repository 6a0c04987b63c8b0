"""Latency: what every place adds to the whole, and the longest path through them.

All is scaled by the loops above, so that a body's times add up without products: decision 012.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from pyscipopt import quicksum

from pipelines.pragmas.program.model import Figure, Program, log
from pipelines.pragmas.program.space import ABOVE, LEAVES, Option
from pipelines.pragmas.summary import ROOT


@dataclass(slots=True, kw_only=True)
class Latency:
    """Terms of the latency.

    Attributes:
        whole: of the program; leaves: by chain of loops, what the leaf in it adds.
    """

    whole: Any = 0.0
    leaves: dict[tuple[str, ...], Any] = field(default_factory=dict[tuple[str, ...], Any])


def add_latency(program: Program) -> Latency:
    """The latency of the computation, in the solver's unit."""
    latency = Latency()
    latency.whole = _body(program, latency, ROOT)
    return latency


def chain_of(program: Program, loop: str) -> tuple[str, ...]:
    """A loop and those inside it, as long as each is all that takes time in the body of the one before."""
    chain = [loop]
    while (body := program.space.bodies.get(chain[-1])) is not None and body.only_loop is not None:
        chain.append(body.only_loop)
    return tuple(chain)


def single(program: Program, loops: tuple[str, ...]) -> bool:
    """Whether loops can only be above with one factor each, so that their product is a constant."""
    return all(len(program.space.choices(loop, ABOVE)) <= 1 for loop in loops)


def scaled(program: Program, name: str, around: tuple[str, ...], place: str) -> Any:
    """Iterations of a place that is above, over all of the program; 0 when it is not above."""
    chain = (*around, place)
    on = program.state(place, ABOVE)
    if single(program, chain):
        return product(program, chain) * program.scale * on
    exponent = quicksum(program.total(loop, lambda o: log(o.factor), ABOVE) for loop in chain)
    most = most_log(program, around, lambda o: o.factor) + log(program.scale)
    return program.exponential(name, exponent + log(program.scale), on=on, most=most)


def product(program: Program, loops: tuple[str, ...]) -> float:
    """Product of the factors of loops that have one each."""
    return math.prod(option.factor for loop in loops for option in program.space.choices(loop, ABOVE)[:1])


def most_log(program: Program, loops: tuple[str, ...], figure: Figure) -> float:
    """The largest sum of logarithms that loops above can have."""
    found = 0.0
    for loop in loops:
        found += max((log(figure(option)) for option in program.space.choices(loop, ABOVE)), default=0.0)
    return found


def _body(program: Program, latency: Latency, place: str) -> Any:
    """Scaled end of a body: the longest path over its children (section 5.4)."""
    body = program.space.bodies[place]
    if body.only_loop is not None:
        return _loop(program, latency, body.only_loop)
    ends: list[Any] = []
    steps = _steps(program, place)
    for index, child in enumerate(body.children):
        taken = _loop(program, latency, child) if isinstance(child, str) else body.cycles[child] * steps
        before = [ends[first] for first, second in body.edges if second == index]
        ends.append(program.at_least(f"end {place} {index}", *([end + taken for end in before] or [taken])))
    last = set(range(len(ends))) - {first for first, _ in body.edges}
    return program.at_least(f"end {place}", *(ends[index] for index in sorted(last)))


def _steps(program: Program, place: str) -> Any:
    """What a statement's cycles are multiplied by, in the solver's unit."""
    if place == ROOT:
        return program.scale
    if not any(program.space.bodies[place].cycles.values()):
        return 0.0
    return scaled(program, f"steps {place}", program.space.loops_around(place), place)


def _loop(program: Program, latency: Latency, loop: str) -> Any:
    """What a loop adds: the leaf in its chain, or the body of the chain's last loop."""
    chain = chain_of(program, loop)
    for place in chain:
        if place in program.space.bodies:
            program.not_all_full(place)
    around = program.space.loops_around(loop)
    terms = [_steady(program, chain, around), *_fills(program, chain)]
    latency.leaves[chain] = quicksum(terms)
    if chain[-1] in program.space.bodies:
        return latency.leaves[chain] + _body(program, latency, chain[-1])
    return latency.leaves[chain]


def _steady(program: Program, chain: tuple[str, ...], around: tuple[str, ...]) -> Any:
    """Cycles that every execution of the leaf in a chain takes anew, over the program."""
    above = (*around, *chain[:-1])
    if single(program, above):
        return quicksum(_linear(program, loop, lambda o: o.factor, _above(program, loop)) for loop in chain)
    exponent = log(program.scale) + quicksum(
        [program.total(loop, lambda o: log(o.factor), ABOVE) for loop in around]
        + [program.total(loop, lambda o: log(o.factor), ABOVE, *LEAVES) for loop in chain]
    )
    has_body = chain[-1] in program.space.bodies
    if not around and not has_body:
        return program.exponential(f"steady {chain[0]}", exponent)
    off = (*around, *chain) if has_body else around
    most = most_log(program, off, lambda o: o.factor) + log(program.scale)
    on = quicksum(program.state(loop, *LEAVES) for loop in chain)
    return program.exponential(f"steady {chain[0]}", exponent, on=on, most=most)


def _above(program: Program, loop: str) -> tuple[str, ...]:
    return program.space.loops_around(loop)


def _linear(program: Program, loop: str, figure: Figure, taking: tuple[str, ...]) -> Any:
    """A figure of a leaf below loops of one factor each: a linear term."""
    times = product(program, taking) * program.scale
    return program.total(loop, lambda o: times * figure(o), *LEAVES)


def _fills(program: Program, chain: tuple[str, ...]) -> list[Any]:
    """Cycles that flattened nests in a chain take once an execution."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for loop in chain:
        if program.space.keeps_fill(loop) and any(o.fill > 0 for o in program.space.choices(loop, *LEAVES)):
            groups.setdefault(program.space.fill_loops(loop), []).append(loop)
    return [_fill(program, taking, loops) for taking, loops in groups.items()]


def _fill(program: Program, taking: tuple[str, ...], loops: list[str]) -> Any:
    if single(program, taking):
        return quicksum(_linear(program, loop, lambda o: o.fill, taking) for loop in loops)
    exponent = log(program.scale) + quicksum(
        [program.total(loop, lambda o: log(o.factor), ABOVE) for loop in taking]
        + [program.total(loop, _log_fill, *LEAVES) for loop in loops]
    )
    on = quicksum(program.total(loop, lambda o: float(o.fill > 0), *LEAVES) for loop in loops)
    most = most_log(program, taking, lambda o: o.factor) + log(program.scale)
    return program.exponential(f"fill {loops[0]}", exponent, on=on, most=most)


def _log_fill(option: Option) -> float:
    return log(option.fill) if option.fill > 0 else 0.0

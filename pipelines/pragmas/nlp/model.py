"""Variables of the convex program, the forms of its constraints, and its latency.

The latency is the longest path through what every place adds to the whole. All of it is scaled by the
iterations of the loops above, so that the times of a body add up without products: decision 012.

Source: NLP-DSE equations 1 to 6; the form and its proof are in docs/pragmas.md, 'Program'.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyscipopt import Model, exp, quicksum

from pipelines.pragmas.nlp.space import ABOVE, INSIDE, LEAVES, Option, Space
from pipelines.pragmas.summary import ROOT

GOAL = 1000.0
"""The least latency of any path in the solver's unit, so that its tolerances are relative."""

Figure = Callable[[Option], float]


class Program:
    """A space as a mixed-integer convex program.

    Attributes:
        scip: the model; chosen: by loop, one binary an option; cached: by (place, array), a binary.
        scale: from cycles to the solver's unit; goal: the objective.
    """

    def __init__(self, space: Space, least_cycles: float) -> None:
        """Create the binaries and equations 3, 5 and 6.

        Args: least_cycles: a lower bound on every design of the space.
        """
        self.space, self.least_cycles = space, least_cycles
        self.scale = GOAL / max(1.0, least_cycles)
        self.scip: Any = Model("directives")
        self.scip.hideOutput()
        self.chosen = {loop: self._binaries(loop, options) for loop, options in space.options.items()}
        self.cached: dict[tuple[str, str], Any] = {}
        self.goal: Any = 0.0
        self._follows: list[tuple[Any, tuple[Any, ...]]] = []
        for loop in space.options:
            self._choose_one(loop)

    def state(self, loop: str, *states: str) -> Any:
        """Return 1 when a loop is in one of the states."""
        return self.total(loop, lambda _: 1.0, *states)

    def total(self, loop: str, figure: Figure, *states: str) -> Any:
        """Return a figure of the chosen option of a loop, 0 in other states."""
        pairs = zip(self.chosen[loop], self.space.options[loop], strict=True)
        return quicksum(figure(option) * chosen for chosen, option in pairs if option.state in states)

    def require(self, constraint: Any, name: str) -> None:
        """Add a constraint."""
        self.scip.addCons(constraint, name=name)

    def at_least(self, name: str, *terms: Any, lowest: float | None = 0.0) -> Any:
        """Return a variable that is not below any of the terms, and in a start exactly the largest one."""
        variable = self.scip.addVar(name, lb=lowest)
        for index, term in enumerate(terms):
            self.require(variable >= term, f"{name}.{index}")
        self.follows(variable, terms)
        return variable

    def follows(self, variable: Any, terms: Sequence[Any]) -> None:
        """Define the value of a variable in a start: the largest of the terms."""
        self._follows.append((variable, tuple(terms)))

    def exponential(self, name: str, exponent: Any, *, on: Any = None, most: float = 0.0) -> Any:
        """Return a variable that is at least the exponential of a linear term, or at least 0 when it is off.

        Args: on: a linear term that is 0 or 1, None for always; most: the largest exponent when it is off.
        """
        if on is None:
            power = self.at_least(f"log {name}", exponent, lowest=None)
            return self._above_curve(name, exp(power))
        power = self.at_least(f"log {name}", exponent - max(0.0, most) * (1 - on), lowest=None)
        return self._above_curve(name, exp(power) - (1 - on))

    def minimise(self, goal: Any) -> None:
        """Set the objective."""
        self.goal = 1.0 * goal
        self.scip.setObjective(self.goal, sense="minimize")

    def start(self, options: Mapping[str, int], cached: Iterable[tuple[str, str]]) -> None:
        """Give the solver a solution: the index of each loop's option, and what is cached where."""
        solution = self.scip.createSol()
        for loop, index in options.items():
            for position, variable in enumerate(self.chosen[loop]):
                solution[variable] = 1.0 if position == index else 0.0
        kept = set(cached)
        for key, variable in self.cached.items():
            solution[variable] = 1.0 if key in kept else 0.0
        for variable, terms in self._follows:
            solution[variable] = max(self._value(solution, term) for term in terms)
        self.scip.addSol(solution)

    def options(self) -> dict[str, int]:
        """Return the index of each loop's option in the best solution."""
        best = self.scip.getBestSol()
        return {
            loop: max(range(len(row)), key=lambda index: self.scip.getSolVal(best, row[index]))
            for loop, row in self.chosen.items()
        }

    def caches(self) -> tuple[tuple[str, str], ...]:
        """Return the pairs (array, place) cached in the best solution."""
        best = self.scip.getBestSol()
        return tuple(
            key for key, variable in self.cached.items() if self.scip.getSolVal(best, variable) > 0.5
        )

    def _value(self, solution: Any, term: Any) -> float:
        return float(term if isinstance(term, int | float) else self.scip.getSolVal(solution, term))

    def _above_curve(self, name: str, curve: Any) -> Any:
        variable = self.scip.addVar(name, lb=0.0)
        self.require(curve <= variable, f"curve {name}")
        self.follows(variable, [curve])
        return variable

    def _binaries(self, loop: str, options: tuple[Option, ...]) -> list[Any]:
        names = [f"{loop} {option.state} {option.unroll} {option.asked}" for option in options]
        return [self.scip.addVar(name, vtype="B") for name in names]

    def _choose_one(self, loop: str) -> None:
        """Choose one option per loop; inside if its parent is a leaf or inside (equations 3, 5, 6, 12)."""
        self.require(quicksum(self.chosen[loop]) == 1, f"one of {loop}")
        parent = self.space.parents[loop]
        if parent == ROOT:
            return
        self.require(self.state(loop, INSIDE) == self.state(parent, *LEAVES, INSIDE), f"inside {loop}")

    def not_all_full(self, place: str) -> None:
        """Require that a loop above others keeps one that iterates, so that the tool does not pipeline it."""
        loops = self.space.bodies[place].loops
        full = quicksum(
            chosen
            for loop in loops
            for chosen, option in zip(self.chosen[loop], self.space.options[loop], strict=True)
            if option.full and option.state in LEAVES
        )
        self.require(full <= len(loops) - self.state(place, ABOVE), f"left of {place}")


def log(figure: float) -> float:
    """Return the logarithm of a positive figure; one that is nearly zero counts as 1e-12."""
    return math.log(max(figure, 1e-12))


@dataclass(slots=True, kw_only=True)
class Latency:
    """Terms of the latency.

    Attributes:
        whole: of the program; leaves: latency of the leaf, by chain of loops.
    """

    whole: Any = 0.0
    leaves: dict[tuple[str, ...], Any] = field(default_factory=dict[tuple[str, ...], Any])


def add_latency(program: Program) -> Latency:
    """Return the latency of the computation, in the solver's unit."""
    latency = Latency()
    latency.whole = _body(program, latency, ROOT)
    return latency


def chain_of(program: Program, loop: str) -> tuple[str, ...]:
    """Return a loop and those inside it, as long as each is all that takes time in its parent's body."""
    chain = [loop]
    while (body := program.space.bodies.get(chain[-1])) is not None and body.only_loop is not None:
        chain.append(body.only_loop)
    return tuple(chain)


def single(program: Program, loops: tuple[str, ...]) -> bool:
    """Tell whether loops can only be above with one factor each, so that their product is a constant."""
    return all(len(program.space.choices(loop, ABOVE)) <= 1 for loop in loops)


def scaled(program: Program, name: str, around: tuple[str, ...], place: str) -> Any:
    """Return the iterations of a place that is above, over all of the program; 0 when it is not above."""
    chain = (*around, place)
    on = program.state(place, ABOVE)
    if single(program, chain):
        return product(program, chain) * program.scale * on
    exponent = quicksum(program.total(loop, lambda o: log(o.factor), ABOVE) for loop in chain)
    most = most_log(program, around, lambda o: o.factor) + log(program.scale)
    return program.exponential(name, exponent + log(program.scale), on=on, most=most)


def product(program: Program, loops: tuple[str, ...]) -> float:
    """Return the product of the factors of loops that have one each."""
    return math.prod(option.factor for loop in loops for option in program.space.choices(loop, ABOVE)[:1])


def most_log(program: Program, loops: tuple[str, ...], figure: Figure) -> float:
    """Return the largest sum of logarithms that loops above can have."""
    total = 0.0
    for loop in loops:
        total += max((log(figure(option)) for option in program.space.choices(loop, ABOVE)), default=0.0)
    return total


def _body(program: Program, latency: Latency, place: str) -> Any:
    """Return the scaled end of a body: the longest path over its children (section 5.4)."""
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
    """Return the iterations of a statement of a place, in the solver's unit."""
    if place == ROOT:
        return program.scale
    if not any(program.space.bodies[place].cycles.values()):
        return 0.0
    return scaled(program, f"steps {place}", program.space.loops_around(place), place)


def _loop(program: Program, latency: Latency, loop: str) -> Any:
    """Return the latency of a loop: of the leaf in its chain, or of the body of the chain's last loop."""
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
    """Return the cycles of all executions of the leaf in a chain, without fills."""
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
    """Return a figure of a leaf below loops of one factor each: a linear term."""
    times = product(program, taking) * program.scale
    return program.total(loop, lambda o: times * figure(o), *LEAVES)


def _fills(program: Program, chain: tuple[str, ...]) -> list[Any]:
    """Return the cycles that flattened nests in a chain take once per execution."""
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

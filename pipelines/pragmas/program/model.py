"""Variables of the convex program, and the forms that its constraints are made of.

Source: NLP-DSE equations 1 to 6; the form and its proof are in docs/pragmas.md, 'Program'.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pyscipopt import Model, exp, quicksum

from pipelines.pragmas.program.space import ABOVE, INSIDE, LEAVES, Option, Space
from pipelines.pragmas.summary import ROOT

GOAL = 1000.0
"""What the solver sees as the least latency that a way alone allows, so that its tolerances are relative."""

Figure = Callable[[Option], float]


class Program:
    """A space as a mixed-integer convex program.

    Attributes:
        scip: the model; chosen: by loop, one binary an option; cached: by (place, array), a binary.
        scale: from cycles to the solver's unit; goal: what is to be least.
    """

    def __init__(self, space: Space, least_cycles: float) -> None:
        """Make the binaries and equations 3, 5 and 6.

        Args: least_cycles: that every design of the space takes.
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
        """1 when a loop is in one of the states."""
        return self.total(loop, lambda _: 1.0, *states)

    def total(self, loop: str, figure: Figure, *states: str) -> Any:
        """A figure of the option that is chosen for a loop, 0 in other states."""
        pairs = zip(self.chosen[loop], self.space.options[loop], strict=True)
        return quicksum(figure(option) * chosen for chosen, option in pairs if option.state in states)

    def require(self, constraint: Any, name: str) -> None:
        """Add a constraint."""
        self.scip.addCons(constraint, name=name)

    def at_least(self, name: str, *terms: Any, lowest: float | None = 0.0) -> Any:
        """A variable that is not below any of the terms, and in a start exactly the largest of them."""
        made = self.scip.addVar(name, lb=lowest)
        for index, term in enumerate(terms):
            self.require(made >= term, f"{name}.{index}")
        self.follows(made, terms)
        return made

    def follows(self, variable: Any, terms: Sequence[Any]) -> None:
        """Say what a variable is in a start: the largest of the terms."""
        self._follows.append((variable, tuple(terms)))

    def exponential(self, name: str, exponent: Any, *, on: Any = None, most: float = 0.0) -> Any:
        """A variable that is at least the exponential of a linear term, or at least 0 when it is off.

        Args: on: a linear term that is 0 or 1, None for always; most: the largest exponent when it is off.
        """
        if on is None:
            power = self.at_least(f"log {name}", exponent, lowest=None)
            return self._above_curve(name, exp(power))
        power = self.at_least(f"log {name}", exponent - max(0.0, most) * (1 - on), lowest=None)
        return self._above_curve(name, exp(power) - (1 - on))

    def minimise(self, goal: Any) -> None:
        """Set what is to be least."""
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
        """The index of each loop's option in the best solution."""
        best = self.scip.getBestSol()
        return {
            loop: max(range(len(row)), key=lambda index: self.scip.getSolVal(best, row[index]))
            for loop, row in self.chosen.items()
        }

    def caches(self) -> tuple[tuple[str, str], ...]:
        """What is cached where in the best solution."""
        best = self.scip.getBestSol()
        return tuple(
            key for key, variable in self.cached.items() if self.scip.getSolVal(best, variable) > 0.5
        )

    def _value(self, solution: Any, term: Any) -> float:
        return float(term if isinstance(term, int | float) else self.scip.getSolVal(solution, term))

    def _above_curve(self, name: str, curve: Any) -> Any:
        made = self.scip.addVar(name, lb=0.0)
        self.require(curve <= made, f"curve {name}")
        self.follows(made, [curve])
        return made

    def _binaries(self, loop: str, options: tuple[Option, ...]) -> list[Any]:
        names = [f"{loop} {option.state} {option.unroll} {option.asked}" for option in options]
        return [self.scip.addVar(name, vtype="B") for name in names]

    def _choose_one(self, loop: str) -> None:
        """One option a loop; it is inside when its parent is a leaf or inside (equations 3, 5, 6, 12)."""
        self.require(quicksum(self.chosen[loop]) == 1, f"one of {loop}")
        parent = self.space.parents[loop]
        if parent == ROOT:
            return
        self.require(self.state(loop, INSIDE) == self.state(parent, *LEAVES, INSIDE), f"inside {loop}")

    def not_all_full(self, place: str) -> None:
        """A loop above others has one that is left to iterate; the tool would pipeline it otherwise."""
        loops = self.space.bodies[place].loops
        full = quicksum(
            chosen
            for loop in loops
            for chosen, option in zip(self.chosen[loop], self.space.options[loop], strict=True)
            if option.full and option.state in LEAVES
        )
        self.require(full <= len(loops) - self.state(place, ABOVE), f"left of {place}")


def log(figure: float) -> float:
    """Logarithm of a positive figure; a figure that is as good as zero is very small."""
    return math.log(max(figure, 1e-12))

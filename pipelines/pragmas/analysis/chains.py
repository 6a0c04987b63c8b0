"""Dependences that repeat through a whole loop, so that their links form one chain.

A dependence is a set of links between executions of two statements. A bound may multiply a delay by the trip
count of a loop only where the links follow one another through all its iterations. `x[36 - i] = f(x[i])` has
links of many distances, none of which begins where another ends; in `x[i + 1][j] = f(x[i][j + 1])` each chain
has one link per iteration of the shorter loop.

The proof goes backwards: where each execution of a statement takes a value of so many iterations before, the
last iteration has one, its source has one, and so on. In a sum over inner loops one term, or the first value,
from there is enough: the result contains it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy

from pipelines.pragmas.analysis.domains import condition_texts, constraints, path_levels
from pipelines.pragmas.analysis.forms import Condition
from pipelines.pragmas.analysis.nest import Nest

_SINK, _SOURCE, _SET = islpy.dim_type.out, islpy.dim_type.in_, islpy.dim_type.set


def at_level(relation: islpy.Map, level: int | None, shared: int) -> islpy.Map:
    """Return the links of a relation that one level of the shared loops carries; None: that none carries."""
    for outer in range(shared if level is None else level):
        relation = relation.equate(_SOURCE, outer, _SINK, outer)
    return relation if level is None else relation.order_lt(_SOURCE, level, _SINK, level)


@dataclass(frozen=True, kw_only=True)
class Links:
    """Links between executions of two statements that one loop carries, or none.

    Attributes:
        relation: from the counters around the source to those around the target.
        source, target: loops around each; shared: number of loops around both.
        level: of the loop that carries the links among these, None for none.
        distance: the smallest one, in iterations of that loop.
    """

    relation: islpy.Map
    source: tuple[str, ...]
    target: tuple[str, ...]
    shared: int
    level: int | None
    distance: int

    def repeats(self, nest: Nest, summed: frozenset[str], conditions: Sequence[Condition] = ()) -> bool:
        """Tell whether each execution of the target has a link of the smallest distance, as far as the loop
        has an iteration so many before, from the same iteration of the other shared loops.

        Args: summed: loops over which the target is a sum; one link into each sum is enough.
              conditions: affine ones under which the target is executed; without them it always is.
        """
        inner = self.shared if self.level is None else self.level + 1
        free = [k for k, loop in enumerate(self.target) if k >= inner and loop in summed]
        links = self._straight(free if self.source == self.target else [])
        expected = self._expected(nest, conditions)
        for k in reversed(free):
            links, expected = links.project_out(_SET, k, 1), expected.project_out(_SET, k, 1)
        return expected.is_subset(links)

    def _straight(self, free: Sequence[int]) -> islpy.Set:
        """Return the executions of the target that have a link of the smallest distance.

        Args: free: levels at which the source may be in another iteration.
        """
        links = self.relation.reset_tuple_id(_SOURCE).reset_tuple_id(_SINK)
        for k in range(self.shared):
            if k not in free:
                links = links.intersect(self._apart(k))
        return links.range()

    def _apart(self, level: int) -> islpy.Map:
        """Return all links of the smallest distance at the level that carries, and of none at another one."""
        sources = ", ".join(f"a{k}" for k in range(len(self.source)))
        targets = ", ".join(f"b{k}" for k in range(len(self.target)))
        distance = self.distance if level == self.level else 0
        return islpy.Map(f"{{ [{sources}] -> [{targets}] : b{level} = a{level} + {distance} }}")

    def _expected(self, nest: Nest, conditions: Sequence[Condition]) -> islpy.Set:
        """Return the executions of the target whose loop has an iteration of the smallest distance before, in
        which it is executed too where it has conditions.
        """
        names = {loop: f"x{k}" for k, loop in enumerate(self.target)}
        inside = constraints(path_levels(nest, self.target), names) + condition_texts(conditions, names)
        if self.level is not None:
            loop = self.target[self.level]
            inside.append(f"{names[loop]} >= {self.distance}")
            before = names | {loop: f"({names[loop]} - {self.distance})"}
            inside += condition_texts(conditions, before)
        return islpy.Set(f"{{ [{', '.join(names.values())}] : {' and '.join(['0 = 0', *inside])} }}")

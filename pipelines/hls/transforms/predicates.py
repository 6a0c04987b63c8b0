"""What the predicates of a straight-line body imply."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from pipelines.hls import ir
from pipelines.hls.transforms.copying import Body
from pipelines.hls.transforms.folding import Interval, is_bit
from pipelines.interface import INT32

Literal = tuple[str, bool]
"""A variable, and whether it must be other than zero."""

Literals = frozenset[Literal]


@dataclass(frozen=True, slots=True)
class Predicate:
    """What a predicate implies; `exact` when it also holds whenever all of that does."""

    literals: Literals = frozenset()
    exact: bool = True


_UNKNOWN = Predicate(exact=False)


@dataclass(slots=True, kw_only=True)
class Predicates:
    """Knowledge that grows with the statements of a body, to be told of each in order.

    Attributes:
        assigned: how often the body assigns each variable.
        known: what a variable that is assigned once implies.
        bits: ranges of the variables that are 0 or 1.
        places: where a variable with exactly these literals was first assigned, and which.
    """

    assigned: Counter[str]
    known: dict[str, Predicate] = field(default_factory=dict[str, Predicate])
    bits: dict[str, Interval] = field(default_factory=dict[str, Interval])
    places: dict[Literals, tuple[int, ir.Variable]] = field(
        default_factory=dict[Literals, tuple[int, ir.Variable]]
    )

    def implied(self, predicate: ir.Expression | None) -> Predicate:
        """What a predicate implies, nothing for one that always holds."""
        match predicate:
            case None:
                return Predicate()
            case ir.Read(variable=variable):
                if self.assigned[variable.name] == 0:
                    return Predicate(frozenset(((variable.name, True),)))
                return self.known.get(variable.name, _UNKNOWN)
            case ir.Binary(operator="and", left=left, right=right):
                first, second = self.implied(left), self.implied(right)
                exact = first.exact and second.exact and is_bit(left, self.bits) and is_bit(right, self.bits)
                return Predicate(first.literals | second.literals, exact)
            case _:
                return _UNKNOWN

    def learn(self, statement: ir.Assign, position: int) -> None:
        """Know what a variable implies from now on, if it keeps its value."""
        name, value = statement.variable.name, statement.value
        if self.assigned[name] != 1 or statement.variable.type != INT32:
            return
        if is_bit(value, self.bits):
            self.bits[name] = (0, 1)
        meaning = _UNKNOWN
        zero_test = isinstance(value, ir.Binary) and value.right == ir.Constant(value=0)
        if isinstance(value, ir.Binary) and zero_test and value.operator in ("eq", "ne"):
            meaning = self._opposite(value.left) if value.operator == "eq" else self.implied(value.left)
        elif isinstance(value, ir.Read | ir.Binary):
            meaning = self.implied(value)
        self.known[name] = meaning if meaning.exact else Predicate(frozenset(((name, True),)))
        self.places.setdefault(self.known[name].literals, (position, statement.variable))

    def _opposite(self, value: ir.Expression) -> Predicate:
        """What it implies that a value is zero."""
        meaning = self.implied(value)
        if not isinstance(value, ir.Read) or not meaning.exact or len(meaning.literals) != 1:
            return _UNKNOWN
        ((name, holds),) = meaning.literals
        return Predicate(frozenset(((name, not holds),)))

    def condition(self, literals: Literals, position: int) -> ir.Read | None:
        """A variable that holds exactly these literals, at least one, and is assigned before a place."""
        place = self.places.get(literals)
        return None if place is None or place[0] >= position else ir.Read(variable=place[1])


def knowledge_of(body: Body) -> Predicates:
    """What is known before the first statement of a body."""
    return Predicates(assigned=Counter(s.variable.name for s in body if isinstance(s, ir.Assign)))


def split_by_opposite(first: Literals, second: Predicate) -> tuple[Literals, Literal] | None:
    """What two predicates share and the one literal of the first that is the opposite in the second.

    Returns: None when they differ in anything else; whenever what they share holds, so does one of them.
    """
    different = first - second.literals
    if len(different) != 1 or not second.exact:
        return None
    ((name, holds),) = different
    common = first - different
    return (common, (name, holds)) if second.literals == common | {(name, not holds)} else None


def exclude_each_other(first: Literals, second: Literals) -> bool:
    """Whether two sets of literals cannot hold at once."""
    return any((name, not holds) in second for name, holds in first)

"""The exact distance between two accesses of a block, by integer sets.

Conditions that are not affine are left out, so a distance is never larger than the true one.

Source: Verdoolaege 2010, "isl: an integer set library for the polyhedral model".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import islpy

from pipelines.c.cdfg import Branch, Operation
from pipelines.c.ir import COMPARISONS
from pipelines.hls.subscripts import BlockForms, Form

OPERATION_LIMIT = 200_000
"""Steps of isl per question (some hundredths of a second); beyond them the conservative answer is used. A
count, not a time, so that results are the same on every machine."""

FORMULA_LIMIT = 30
"""Operations per predicate that are written; the rest counts as any value."""

ANYTHING = "0 = 0"
NOTHING = "0 = 1"

_SYMBOLS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "=", "ne": "!="}
_OPPOSITES = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}

SOURCE, TARGET, LAST = "source", "target", "last"
"""The iterations a value may belong to: the earlier access's, the later one's, and the one before that."""


@lru_cache(maxsize=1 << 16)
def smallest(text: str) -> int | None:
    """Return the smallest d of an integer set `{ [d] : … }`.

    Returns: None when the set is empty; 0 when isl gave up within its limit, or the set has no smallest d.
    """
    context = islpy.Context()
    context.set_max_operations(OPERATION_LIMIT)
    try:
        value = islpy.Set.read_from_str(context, text).dim_min_val(0)
    except islpy.Error:
        return 0
    if value.is_nan():
        return None
    return value.to_python() if value.is_int() else 0


@dataclass(slots=True)
class _Writer:
    """Writes one set; leaves are named in order of appearance, so that equal questions have equal texts."""

    forms: BlockForms
    later: bool
    names: dict[tuple[int, str], str] = field(default_factory=dict[tuple[int, str], str])
    domain: list[str] = field(default_factory=list[str])
    budget: int = FORMULA_LIMIT

    # ---- values -----------------------------------------------------------------------------------

    def leaf(self, leaf: int, when: str) -> str:
        """Return the text of a leaf's value in one iteration."""
        if leaf in self.forms.levels:
            number = self.forms.levels[leaf]
            level = self.forms.level(number)
            letter = "y" if self.later and when == TARGET else "x"
            return f"({level.lower} + {level.step}*{letter}{number})"
        if leaf not in self.forms.strides:
            return self.name(leaf, when if self.later else SOURCE)
        name, stride = self.name(leaf, SOURCE), self.forms.strides[leaf]
        if not stride or not self.later or when == SOURCE:
            return name
        return f"({name} + {stride}*d)" if when == TARGET else f"({name} + {stride}*d - {stride})"

    def name(self, leaf: int, when: str) -> str:
        """Return the isl variable of a leaf that is no loop variable of the nest."""
        if (leaf, when) not in self.names:
            self.names[leaf, when] = name = f"v{len(self.names)}"
            low, high = self.forms.bounds(leaf)
            self.domain.append(f"{low} <= {name} <= {high}")
            if self.later and self.forms.strides.get(leaf):
                self.domain.append(f"{low} <= {self.leaf(leaf, TARGET)} <= {high}")
        return self.names[leaf, when]

    def value(self, form: Form, when: str) -> str:
        """Return the text of an affine form in one iteration."""
        terms = [f"{coefficient}*{self.leaf(leaf, when)}" for leaf, coefficient in form.terms]
        return " + ".join([*terms, str(form.constant)])

    # ---- conditions -------------------------------------------------------------------------------

    def truth(self, index: int, positive: bool, when: str) -> str:
        """Return a condition that holds whenever a value is not zero (or zero, when not positive)."""
        self.budget -= 1
        operation = self.forms.block.operations[index]
        if self.budget < 0 or operation.type is None or operation.type.floating:
            return ANYTHING
        if operation.opcode in COMPARISONS:
            return self.comparison(operation, positive, when)
        match operation.opcode:
            case "const":
                return ANYTHING if bool(operation.value) == positive else NOTHING
            case "and":
                return self.conjunction(operation, positive, when)
            case "or":
                parts = [self.truth(i, positive, when) for i in operation.operands]
                return f"({(' or ' if positive else ' and ').join(parts)})"
            case "cast" if self.forms.form(index) == self.forms.form(operation.operands[0]):
                return self.truth(operation.operands[0], positive, when)
            case "select":
                condition, *branches = operation.operands
                cases = [
                    f"({self.truth(condition, taken, when)} and {self.truth(branch, positive, when)})"
                    for taken, branch in zip((True, False), branches, strict=True)
                ]
                return f"({' or '.join(cases)})"
            case _:
                return self.nonzero(index, positive, when)

    def is_integer(self, index: int) -> bool:
        kind = self.forms.block.operations[index].type
        return kind is not None and not kind.floating

    def conjunction(self, operation: Operation, positive: bool, when: str) -> str:
        """Return bitwise and: it is non-zero only if both operands are; the converse holds for 0 and 1."""
        boolean = all(self.forms.bounds(i) in ((0, 1), (0, 0), (1, 1)) for i in operation.operands)
        if not positive and not boolean:
            return ANYTHING
        parts = [self.truth(i, positive, when) for i in operation.operands]
        return f"({(' and ' if positive else ' or ').join(parts)})"

    def nonzero(self, index: int, positive: bool, when: str) -> str:
        form = self.forms.form(index)
        if not form.exact:
            return ANYTHING
        text = self.value(form, when)
        return f"({text} < 0 or {text} > 0)" if positive else f"{text} = 0"

    def comparison(self, operation: Operation, positive: bool, when: str) -> str:
        left, right = operation.operands
        opcode = operation.opcode if positive else _OPPOSITES[operation.opcode]
        inverted = self.tested_value(operation)
        if inverted is not None:
            return self.truth(inverted, opcode == "ne", when)
        if not (self.is_integer(left) and self.is_integer(right)):
            return self.opaque(operation.index, positive, when)
        forms = self.forms.form(left), self.forms.form(right)
        if not (forms[0].exact and forms[1].exact):
            return self.opaque(operation.index, positive, when)
        texts = [self.value(f, when) for f in forms]
        if opcode == "ne":
            return f"({texts[0]} < {texts[1]} or {texts[0]} > {texts[1]})"
        return f"{texts[0]} {_SYMBOLS[opcode]} {texts[1]}"

    def opaque(self, index: int, positive: bool, when: str) -> str:
        """Return a comparison that is not affine: an unknown 0 or 1, the same one at each use."""
        return f"{self.leaf(index, when)} = {int(positive)}"

    def tested_value(self, operation: Operation) -> int | None:
        """Return the truth value that `== 0` or `!= 0` tests, None for any other comparison."""
        left, right = operation.operands
        if operation.opcode not in ("eq", "ne") or self.forms.form(right) != Form((), 0):
            return None
        tested = self.forms.block.operations[left]
        return left if tested.opcode in (*COMPARISONS, "and", "or", "select") else None

    # ---- the whole --------------------------------------------------------------------------------

    def meeting(self, first: Operation, second: Operation) -> str:
        """Return the set of distances at which two accesses meet."""
        parts: list[str] = []
        for left, right in zip(first.subscripts, second.subscripts, strict=True):
            forms = self.forms.form(left), self.forms.form(right)
            if forms[0].exact and forms[1].exact:
                parts.append(f"{self.value(forms[0], SOURCE)} = {self.value(forms[1], TARGET)}")
        for operation, when in ((first, SOURCE), (second, TARGET)):
            if operation.predicate is not None:
                parts.append(self.truth(operation.predicate, True, when))
        parts += self.distance_constraints()
        levels = range(len(self.forms.block.nest))
        hidden = [f"{letter}{k}" for k in levels for letter in ("xy" if self.later else "x")]
        hidden += self.names.values()
        body = " and ".join([*self.domain, *parts])
        return f"{{ [d] : exists ({', '.join(hidden)} : {body}) }}" if hidden else f"{{ [d] : {body} }}"

    def distance_constraints(self) -> list[str]:
        """Return the constraints of the iteration domain on d."""
        block = self.forms.block
        constraints: list[str] = []
        for number, level in enumerate(block.nest):
            letters = "xy" if self.later else "x"
            constraints += [f"0 <= {letter}{number} < {level.trip_count}" for letter in letters]
        if not self.later:
            return [*constraints, "d = 0"]
        constraints.append("d >= 1")
        if block.nest:
            weight, terms = 1, list[str]()
            for number, level in reversed(list(enumerate(block.nest))):
                terms.append(f"{weight}*y{number} - {weight}*x{number}")
                weight *= level.trip_count
            return [*constraints, f"d = {' + '.join(terms)}"]
        if block.trip_count is not None:
            constraints.append(f"d < {block.trip_count}")
        return constraints + [self.continues(when) for when in (SOURCE, LAST)]

    def continues(self, when: str) -> str:
        """Return the condition that the loop continues after an iteration."""
        block = self.forms.block
        if not isinstance(block.terminator, Branch):
            return ANYTHING
        again = block.terminator.if_true == block.index
        if again == (block.terminator.if_false == block.index):
            return ANYTHING
        return self.truth(block.terminator.condition, again, when)


def question(forms: BlockForms, first: Operation, second: Operation, *, later: bool) -> str:
    """Return the set of distances, in iterations, at which `second` touches what `first` touched.

    Args:    later: `second` belongs to a later iteration; otherwise to the same one (distance 0).
    Returns: text of a set for `smallest`.
    """
    return _Writer(forms=forms, later=later).meeting(first, second)

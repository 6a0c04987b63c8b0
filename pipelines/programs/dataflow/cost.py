"""How many cycles and cells a loop tree takes, roughly, before anything is compiled."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipelines.programs.dataflow.tree import Branch, Loop, Node, Statement, walk
from pipelines.programs.dataflow.values import Element

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
CELLS_A_PRODUCT = 64  # and bit of an element; combinational operators are not shared
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
    """Cycles of some nodes at most, memory delay 2, no directives."""
    return sum(_cost(node, floating) for node in nodes)


def estimated_cells(nodes: Sequence[Node], element: Element, *, local_bits: int) -> float:
    """Standard cells of a program of some nodes without directives, its local arrays as flip-flops."""
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
    while found := _SUBSCRIPTS.findall(plain):
        accesses += len(found)
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

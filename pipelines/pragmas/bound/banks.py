"""Loads of a pipelined loop whose bank nobody knows beforehand, and what they ask of its interval.

An access `y[k - i - 1]` in copies for `i` goes to a bank that depends on `k`: every copy takes the read port
of every bank, so that a factor of u needs u cycles for it however many banks there are. `y[i]` in u copies
takes one port of each of u banks.
"""

from __future__ import annotations

from math import lcm

from pipelines.pragmas.bound.target import Target
from pipelines.pragmas.summary import READ, WRITE, Access, Summary


def bank_interval(summary: Summary, loop: str, unroll: int, target: Target) -> tuple[int, str]:
    """Least cycles between steps of a pipelined loop for the loads of one array, and these.

    Args: unroll: 1, or a factor of an innermost loop of no constant trip count that a search may ask for.
    """
    if not target.banked_reads or unroll not in (1, *target.varying_factors) or summary.loops[loop].constant:
        return 0, ""
    found = (0, "")
    inside = [s for s in summary.statements if s.loops and s.loops[-1] == loop]
    changed = {a.array for s in inside for a in s.accesses if a.kind == WRITE}
    for array in sorted(surely_banked(summary, target) - changed):
        forms = {_form(a): a for s in inside if s.always for a in s.accesses if _moves(a, array, loop)}
        count = sum(unroll if _unknown(summary, a, loop) else 1 for a in forms.values())
        found = max(found, (count, f"{count} loads of {array} from each bank"))
    return found


def surely_banked(summary: Summary, target: Target) -> frozenset[str]:
    """External arrays of which no dimension can be partitioned completely: all loops that index them have no
    factor, or one of `varying_factors`."""
    most = lcm(1, *target.varying_factors)
    large = {
        a.name for a in summary.arrays.values() if a.external and a.shape and all(n > most for n in a.shape)
    }
    free = {name for name in summary.loops if _may_have_any_factor(summary, name)}
    indexed = {
        a.array
        for s in summary.statements
        for a in s.accesses
        if any(not d.exact or any(name in free for name, _ in d.terms) for d in a.subscripts)
    }
    return frozenset(large - indexed)


def _may_have_any_factor(summary: Summary, name: str) -> bool:
    """Whether a loop may have copies, or be unrolled with a pipeline: all but sequential loops around loops
    of no constant trip count, and these."""
    loop = summary.loops[name]
    varying = any(not summary.loops[i].constant for i in summary.loops_inside(name))
    return loop.constant and (loop.parallel or not varying)


def _moves(access: Access, array: str, loop: str) -> bool:
    named = (name for d in access.subscripts for name, factor in d.terms if factor)
    return access.array == array and access.kind == READ and loop in named


def _form(access: Access) -> tuple[tuple[tuple[str, int], ...], ...]:
    """An access without its constants: shifted ones may share loads."""
    return tuple(tuple(sorted(d.terms)) for d in access.subscripts)


def _unknown(summary: Summary, access: Access, loop: str) -> bool:
    """Whether copies of a loop go to banks that a sequential loop around it decides."""
    along = [dict(d.terms) for d in access.subscripts if any(name == loop for name, _ in d.terms)]
    if len(along) != 1 or abs(along[0][loop]) != 1:
        return False
    others = {name: factor for name, factor in along[0].items() if name != loop}
    return any(abs(factor) == 1 and not summary.loops[name].parallel for name, factor in others.items())

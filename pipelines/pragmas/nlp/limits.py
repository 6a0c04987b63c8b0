"""Constraints of the convex program: partitions, DSPs, size, memory, exclusions and valid inequalities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pyscipopt import quicksum

from pipelines.pragmas.nlp.model import Latency, Program, log, most_log
from pipelines.pragmas.nlp.paths import LoopPath
from pipelines.pragmas.nlp.space import ABOVE, INSIDE, LEAVES, Design, Dimension, Units
from pipelines.pragmas.summary import ROOT

Kind = tuple[str, str]

DSP_GOAL = 1000.0
"""All available DSPs in the solver's unit."""


def add_partitions(
    program: Program, shared: Mapping[Dimension, tuple[int, ...]]
) -> dict[Dimension, list[Any]]:
    """Add equations 9 to 11: a sum of logarithms per array.

    Returns: by dimension that several loops index, a binary for each number of partitions it may have.
    """
    if program.space.most_partitions is None:
        return {}
    picked = {dimension: _shared(program, dimension, factors) for dimension, factors in shared.items()}
    limit = math.log(program.space.most_partitions + 0.5)
    for dimensions in _different(program):
        terms = [_logarithm(program, shared, picked, dimension) for dimension in dimensions]
        program.require(quicksum(terms) <= limit, f"partitions {len(picked)}")
    return picked


def _different(program: Program) -> list[tuple[Dimension, ...]]:
    """Return the dimensions of arrays, equal rows once."""
    rows = {tuple(sorted(d for d in row if d.loops)) for row in program.space.dimensions.values()}
    return sorted(row for row in rows if row)


def _shared(program: Program, dimension: Dimension, factors: tuple[int, ...]) -> list[Any]:
    """Return one binary per number of partitions, which serves the loops' factors (equation 10)."""
    name = f"{' '.join(dimension.loops)} of {dimension.extent}"
    variables = [program.scip.addVar(f"{name} by {factor}", vtype="B") for factor in factors]
    program.require(quicksum(variables) == 1, f"one of {name}")
    for loop in dimension.loops:
        for unroll in sorted({option.unroll for option in program.space.options[loop]} - {1}):
            serving = quicksum(
                v for v, f in zip(variables, factors, strict=True) if dimension.serves(f, unroll)
            )
            pairs = zip(program.chosen[loop], program.space.options[loop], strict=True)
            chosen = quicksum(v for v, option in pairs if option.unroll == unroll)
            program.require(chosen <= serving, f"{name} serves {loop} {unroll}")
    return variables


def _logarithm(
    program: Program,
    shared: Mapping[Dimension, tuple[int, ...]],
    picked: Mapping[Dimension, list[Any]],
    dimension: Dimension,
) -> Any:
    """Return the logarithm of the partitions of a dimension."""
    if dimension in picked:
        pairs = zip(picked[dimension], shared[dimension], strict=True)
        return quicksum(math.log(factor) * v for v, factor in pairs)
    (loop,) = dimension.loops
    return program.total(loop, lambda o: math.log(min(o.unroll, dimension.extent)), ABOVE, *LEAVES, INSIDE)


# ---- DSPs ------------------------------------------------------------------------------------------


def add_dsps(program: Program, latency: Latency) -> Any | None:
    """Add equation 15: units of each kind are at least any leaf's with all its copies.

    Returns: the sum of units, where `DSP_GOAL` is all available ones; None without a limit.
    """
    if program.space.dsp_available is None:
        return None
    available = max(1, program.space.dsp_available)
    most = {kind: program.scip.addVar(f"dsps {' '.join(kind)}", lb=0.0) for kind in sorted(program.space.dsp)}
    lower: dict[Kind, list[Any]] = {kind: [] for kind in most}
    for chain in latency.leaves:
        _leaf_dsps(program, chain, available, lower)
    for place in program.space.bodies:
        _statement_dsps(program, place, available, lower)
    for kind, terms in lower.items():
        for index, term in enumerate(terms):
            program.require(most[kind] >= term, f"dsps {' '.join(kind)} {index}")
        program.follows(most[kind], terms or [0.0])
    limit = DSP_GOAL * program.space.dsp_available / available
    total = quicksum(most.values())
    program.require(total <= limit * (1 + 1e-9), "dsps")
    return total


def _leaf_dsps(
    program: Program, chain: tuple[str, ...], available: int, lower: dict[Kind, list[Any]]
) -> None:
    """Bound the DSPs of the leaf in a chain by kind; kinds of one fixed ratio share an exponential."""
    profiles: dict[tuple[float, ...], tuple[float, Any]] = {}
    leaves = [option for loop in chain for option in program.space.choices(loop, *LEAVES)]
    for kind, count in program.space.dsp.items():
        used = [option.units.get(kind, 0.0) * count for option in leaves]
        most = max(used, default=0.0)
        if most > 0:
            profile = tuple(round(figure / most, 12) for figure in used)
            if profile not in profiles:
                profiles[profile] = most, _copied(program, chain, kind, count * DSP_GOAL / available)
            first, variable = profiles[profile]
            lower[kind].append(variable * (most / first))


def _copied(program: Program, chain: tuple[str, ...], kind: Kind, each: float) -> Any:
    """Return the DSPs of a kind of the leaf in a chain with all copies.

    Args: each: of one unit, in the solver's unit: the variable is then about as large as the limit that it
        is held to, so that tolerances are relative.
    """
    around = program.space.loops_around(chain[0])
    above = (*around, *chain[:-1])
    if all(option.copies == 1 for loop in above for option in program.space.choices(loop, ABOVE)):
        return quicksum(program.total(loop, lambda o: o.units.get(kind, 0) * each, *LEAVES) for loop in chain)
    exponent = quicksum(
        [program.total(loop, lambda o: log(o.copies), ABOVE) for loop in (*around, *chain)]
        + [program.total(loop, lambda o: log(o.units.get(kind, 0) * each), *LEAVES) for loop in chain]
    )
    on = quicksum(program.state(loop, *LEAVES) for loop in chain)
    reach = most_log(program, (*around, *chain), lambda o: o.copies)
    name = f"dsps {' '.join(kind)} {chain[0]}"
    return program.exponential(name, exponent, on=on, most=reach)


def _statement_dsps(program: Program, place: str, available: int, lower: dict[Kind, list[Any]]) -> None:
    """Bound the DSPs of statements that are children of a place."""
    units = _most_units(list(program.space.bodies[place].units.values()))
    kinds = [kind for kind in program.space.dsp if units.get(kind, 0) > 0]
    if not kinds:
        return
    copies = _copies_of(program, place)
    for kind in kinds:
        lower[kind].append(copies * (program.space.dsp[kind] * units[kind] * DSP_GOAL / available))


def _most_units(parts: Sequence[Units]) -> dict[Kind, float]:
    most: dict[Kind, float] = {}
    for part in parts:
        for kind, count in part.items():
            most[kind] = max(most.get(kind, 0.0), count)
    return most


def _copies_of(program: Program, place: str) -> Any:
    """Return the copies of a place that is above; 0 when it is not above."""
    if place == ROOT:
        return 1.0
    chain = (*program.space.loops_around(place), place)
    on = program.state(place, ABOVE)
    if all(option.copies == 1 for loop in chain for option in program.space.choices(loop, ABOVE)):
        return on
    exponent = quicksum(program.total(loop, lambda o: log(o.copies), ABOVE) for loop in chain)
    reach = most_log(program, chain[:-1], lambda o: o.copies)
    return program.exponential(f"copies {place}", exponent, on=on, most=reach)


# ---- size ------------------------------------------------------------------------------------------

SIZE_GOAL = 1000.0
"""The largest size in the solver's unit."""


def add_size(program: Program, dsps: Any | None) -> None:
    """Limit the copies of all operations and accesses, and the DSPs that they take.

    Args: dsps: the sum of units, from `add_dsps`.
    """
    space = program.space
    most, available = space.most_copies, float(max(1, space.dsp_available or 1))
    shared = dsps is not None and space.copy_dsps > 0
    largest = [float(max(1, most))] if most is not None else []
    largest += [max(1.0, available / space.copy_dsps)] if shared else []
    if not largest:
        return
    each = SIZE_GOAL / min(largest)
    total = _size(program, each)
    if most is not None:
        program.require(total <= max(1, most) * each * (1 + 1e-9), "size")
    if shared:
        of_copies = total * (space.copy_dsps * DSP_GOAL / (available * each))
        program.require(dsps + of_copies <= DSP_GOAL * (1 + 1e-9), "dsps and copies")


def _size(program: Program, each: float) -> Any:
    """Return the copies of operations and accesses times `each`: one exponential per loop with statements."""
    terms: list[Any] = []
    for place, size in program.space.sizes.items():
        chain = () if place == ROOT else (*program.space.loops_around(place), place)
        exponent = quicksum(
            program.total(loop, lambda o: log(o.unroll), ABOVE, *LEAVES, INSIDE) for loop in chain
        )
        constant = not chain or not size
        terms.append(
            size * each if constant else program.exponential(f"size {place}", exponent + log(size * each))
        )
    return quicksum(terms)


# ---- memory and exclusion --------------------------------------------------------------------------


def add_memory(program: Program) -> None:
    """Add equations 4, 7 and 16: each array is cached above the leaves that use it, and all caches fit."""
    if program.space.onchip_bits is None or not program.space.transfers:
        return
    used: list[Any] = []
    limit = max(1, program.space.onchip_bits)
    for transfer in program.space.transfers:
        array = transfer.array
        for place, bits in transfer.bits.items():
            variable = program.scip.addVar(f"cache {place or 'all'} {array}", vtype="B")
            program.cached[place, array] = variable
            used.append(bits / limit * variable)
            if place != ROOT:
                program.require(variable <= program.state(place, ABOVE), f"cache above {place} {array}")
        for path in sorted(transfer.places):
            held = quicksum(program.cached[place, array] for place in path)
            program.require(held >= 1, f"cached {array} {' '.join(path)}")
    program.require(quicksum(used) <= program.space.onchip_bits / limit + 1e-9, "memory")


def add_swaps(program: Program) -> None:
    """Require that a loop that tools swap with its inner one has copies exactly when that has a factor."""
    for loop, inside in program.space.swapped.items():
        both = program.total(inside, lambda o: float(o.unroll > 1), ABOVE, *LEAVES)
        copied = program.total(loop, lambda o: float(o.copies > 1), ABOVE)
        ignored = program.total(loop, lambda o: float(o.unroll > o.copies), ABOVE)
        program.require(copied <= both, f"swapped {loop}")
        program.require(ignored <= 1 - both, f"not swapped {loop}")


def add_plain(program: Program) -> None:
    """Require that at most one loop of each pair in `plain` has a factor."""
    for outer, inside in program.space.plain:
        copied = program.total(outer, lambda o: float(o.unroll > 1), ABOVE)
        program.require(
            copied + program.total(inside, lambda o: float(o.unroll > 1), *LEAVES) <= 1,
            f"plain {outer} {inside}",
        )


def exclude(program: Program, design: Design) -> None:
    """Exclude a design: some loop has another state or other copies."""
    taken = quicksum(
        chosen
        for loop, key in design.items()
        for chosen, option in zip(program.chosen[loop], program.space.options[loop], strict=True)
        if option.key == key
    )
    program.require(taken <= len(design) - 1, "excluded")


def add_inequalities(
    program: Program, latency: Latency, paths: Sequence[LoopPath], picked: Mapping[Dimension, list[Any]]
) -> None:
    """Require that each path's leaf takes at least the least latency of each choice on the path."""
    for path in paths:
        leaf = quicksum(term for chain, term in latency.leaves.items() if set(chain) <= set(path.loops))
        for loop, least in path.least.items():
            _least_of(program, leaf, program.chosen[loop], least, f"least {path.loops[-1]} {loop}")
        for dimension, least in path.shared.items():
            if dimension in picked:
                name = f"least {path.loops[-1]} {' '.join(dimension.loops)} of {dimension.extent}"
                _least_of(program, leaf, picked[dimension], least, name)


def _least_of(program: Program, leaf: Any, chosen: Sequence[Any], least: Sequence[float], name: str) -> None:
    """Require at least the choice's least latency of the leaf; remove choices without a design."""
    pairs = list(zip(chosen, least, strict=True))
    for variable, cycles in pairs:
        if math.isinf(cycles):
            program.scip.chgVarUb(variable, 0.0)
    bound = quicksum(program.scale * cycles * v for v, cycles in pairs if not math.isinf(cycles))
    program.require(leaf >= bound, name)

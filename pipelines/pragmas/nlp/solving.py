"""The best configuration of a sub-problem, by SCIP."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pipelines.pragmas.bound import Target, bound
from pipelines.pragmas.configuration import Configuration
from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.nlp.constants import (
    DSPS,
    EXCLUDED,
    INCUMBENT,
    INFEASIBLE,
    MEMORY,
    OPTIMAL,
    PARTITIONS,
    SIZE,
    UNKNOWN,
    SearchOptions,
    Solution,
    build_space,
    partitions,
    unrolled_size,
)
from pipelines.pragmas.nlp.limits import (
    add_dsps,
    add_inequalities,
    add_memory,
    add_partitions,
    add_plain,
    add_size,
    add_swaps,
    exclude,
)
from pipelines.pragmas.nlp.model import Program, add_latency
from pipelines.pragmas.nlp.paths import LoopPath, list_path, shared_factors
from pipelines.pragmas.nlp.space import Design, Space, decode, design_of, encode
from pipelines.pragmas.summary import Summary

TOLERANCE = 1e-6
"""Relative: a design whose exact bound is within it of the solver's bound is the best one."""

SETTINGS: Mapping[str, Any] = {
    "limits/gap": 1e-9,
    "numerics/feastol": 1e-7,
    "heuristics/mpec/freq": -1,
    "heuristics/nlpdiving/freq": -1,
    "heuristics/subnlp/freq": -1,
    "separating/aggregation/freq": -1,
    "separating/gomory/freq": -1,
    "separating/maxroundsroot": 3,
}
"""Settings of SCIP. Programs are small and their continuous part follows from the binaries, so continuous
sub-problems and long separation at the root do not pay."""

FORMATS = (".cip", ".nl")

Designs = Sequence[Design]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A sub-problem: its space, and the excluded designs."""

    space: Space
    excluded: Designs = ()


def solve(summary: Summary, target: Target, options: SearchOptions | None = None) -> Solution:
    """Return the configuration with the least bound of a sub-problem.

    Returns: OPTIMAL: no configuration of equations 1 to 16 has a bound that is lower (but for the tolerance).
    Raises:  PragmaError: an option below its least value, or an excluded or start configuration that names a
             loop the program has not.
    Source:  NLP-DSE section 5; docs/pragmas.md, 'Program'.
    """
    options = options or SearchOptions()
    _check(options)
    space = build_space(summary, target, options)
    problem = Problem(space=space, excluded=_excluded(summary, target, options))
    while True:
        program = build_program(problem)
        if program is None:
            return _infeasible(problem)
        _begin(program, summary, target, options)
        _run(program.scip, options)
        if program.scip.getNSols() == 0:
            if program.scip.getStatus() == "infeasible":
                return _infeasible(problem)
            return _from_start(summary, target, program, options, problem)
        chosen = program.options()
        caches = program.caches() if space.transfers else None
        configuration = decode(space, chosen, caches)
        if _keeps(summary, target, options, configuration):
            return _solution(summary, target, program, configuration)
        design = design_of(summary, configuration, target)
        problem = replace(problem, excluded=[*problem.excluded, design])
        if options.time_limit_s is not None:
            left = options.time_limit_s - float(program.scip.getSolvingTime())
            options = replace(options, time_limit_s=max(left, 1e-3))


def solve_limited(summary: Summary, target: Target, options: SearchOptions) -> Solution:
    """Return `solve`, with a lower bound that holds for every design within the limit on partitions.

    The program gives an array the partitions of each factor (equations 9 to 11), so its limit on them removes
    factors. A design with such a factor and fewer banks waits for ports, but it keeps to the limit and may be
    faster than what the limit leaves. So the bound is that of any number of partitions.

    Returns: OPTIMAL only where the configuration reaches that bound, too.
    """
    limited = solve(summary, target, options)
    if options.most_partitions is None or limited.latency_cycles is None:
        return limited
    least = solve(summary, target, replace(options, most_partitions=None)).lower_bound
    reached = limited.latency_cycles <= least * (1 + TOLERANCE)
    return replace(
        limited,
        status=limited.status if reached else INCUMBENT,
        lower_bound=least,
        gap=limited.latency_cycles / least - 1 if least > 0 else None,
    )


def export(summary: Summary, target: Target, options: SearchOptions | None, path: Path) -> None:
    """Write a sub-problem's program for other solvers.

    Args:   path: `.cip`, which SCIP reads back, or `.nl`, which solvers of AMPL read.
    Raises: PragmaError: another ending, or a sub-problem that no configuration solves.
    """
    if path.suffix not in FORMATS:
        raise PragmaError(f"unknown ending: {path.suffix} ({path}); accepted: {', '.join(FORMATS)}")
    options = options or SearchOptions()
    space = build_space(summary, target, options)
    program = build_program(Problem(space=space, excluded=_excluded(summary, target, options)))
    if program is None:
        raise PragmaError(f"no program to write: the sub-problem of {summary.top} has no solution")
    program.scip.writeProblem(str(path), verbose=False)


def _excluded(summary: Summary, target: Target, options: SearchOptions) -> list[Design]:
    """Return the excluded designs; of those whose part alone is excluded, that part."""
    whole = [design_of(summary, configuration, target) for configuration in options.excluded]
    parts = [
        (design_of(summary, configuration, target), loops) for configuration, loops in options.excluded_parts
    ]
    return whole + [{name: key for name, key in design.items() if name in loops} for design, loops in parts]


def build_program(problem: Problem) -> Program | None:
    """Build the program of a sub-problem; None where a path alone breaks the limits."""
    space = problem.space
    shared = shared_factors(space)
    paths = [list_path(space, loops, shared) for loops in space.paths()]
    if any(math.isinf(path.cycles) for path in paths):
        return None
    program = Program(space, least_cycles=max((path.cycles for path in paths), default=0.0))
    _constrain(program, problem, paths, shared)
    return program


def _constrain(program: Program, problem: Problem, paths: list[LoopPath], shared: Any) -> None:
    latency = add_latency(program)
    picked = add_partitions(program, shared)
    dsps = add_dsps(program, latency)
    add_memory(program)
    add_size(program, dsps)
    add_swaps(program)
    add_plain(program)
    for design in problem.excluded:
        exclude(program, design)
    add_inequalities(program, latency, paths, picked)
    program.minimise(latency.whole)


def _check(options: SearchOptions) -> None:
    partitions, copies, time_s = options.most_partitions, options.most_copies, options.time_limit_s
    rules = (
        ("most_partitions", "1 or more, None", partitions is None or partitions >= 1),
        ("most_copies", "1 or more, None", copies is None or copies >= 1),
        ("copy_dsps", "0 or more", 0 <= options.copy_dsps < math.inf),
        ("gap", "0 or more", options.gap >= 0),
        ("time_limit_s", "more than 0, None", time_s is None or time_s > 0),
    )
    for name, accepted, holds in rules:
        if not holds:
            raise PragmaError(f"{name} is {getattr(options, name)}; accepted: {accepted}")


def _begin(program: Program, summary: Summary, target: Target, options: SearchOptions) -> None:
    """Give the solver the start and the known bound."""
    if options.start is not None:
        options_of_start = encode(program.space, design_of(summary, options.start, target), options.start)
        if options_of_start is not None:
            program.start(options_of_start, options.start.caches or ())
    known = options.at_least_cycles - program.space.transfer_cycles
    if known > 0:
        program.require(program.goal >= known * program.scale * (1 - TOLERANCE), "known bound")


def _run(scip: Any, options: SearchOptions) -> None:
    for name, value in SETTINGS.items():
        scip.setParam(name, value)
    if options.gap > 0:
        scip.setParam("limits/gap", options.gap)
    if options.time_limit_s is not None:
        scip.setParam("limits/time", options.time_limit_s)
    if options.most_nodes is not None:
        scip.setParam("limits/totalnodes", options.most_nodes)
    scip.optimize()


def _keeps(summary: Summary, target: Target, options: SearchOptions, configuration: Configuration) -> bool:
    """Tell whether a design keeps to the limits exactly, not only within the solver's tolerance."""
    exact = bound(summary, configuration, target)
    most = max(partitions(summary, configuration).values(), default=1)
    size = unrolled_size(summary, configuration)
    dsps = exact.dsp_count + options.copy_dsps * size
    return (
        (options.most_partitions is None or most <= options.most_partitions)
        and (options.most_copies is None or size <= options.most_copies)
        and (target.dsp_available is None or dsps <= target.dsp_available * (1 + 1e-9))
        and (target.onchip_bits is None or exact.onchip_bits <= target.onchip_bits)
    )


def _solution(summary: Summary, target: Target, program: Program, configuration: Configuration) -> Solution:
    cycles = bound(summary, configuration, target).latency_cycles
    lower = min(_lower_bound(program), cycles)
    proven = cycles - lower <= TOLERANCE * max(1.0, cycles)
    return Solution(
        status=OPTIMAL if proven else INCUMBENT,
        configuration=configuration,
        latency_cycles=cycles,
        lower_bound=lower,
        gap=(cycles - lower) / lower if lower > 0 else (0.0 if proven else math.inf),
        nodes=int(program.scip.getNNodes()),
    )


def _lower_bound(program: Program) -> float:
    """Return the bound that the solver, or the paths alone, prove."""
    proven = max(program.least_cycles, float(program.scip.getDualbound()) / program.scale)
    return proven + program.space.transfer_cycles


def _from_start(
    summary: Summary, target: Target, program: Program, options: SearchOptions, problem: Problem
) -> Solution:
    """Return the solution when the solver has none in time: the start, where it keeps to the limits."""
    start = options.start
    if start is not None:
        design = design_of(summary, start, target)
        admitted = encode(program.space, design, start) is not None and design not in problem.excluded
        if admitted and _keeps(summary, target, options, start):
            return _solution(summary, target, program, start)
    lower = _lower_bound(program)
    nodes = int(program.scip.getNNodes())
    return Solution(
        status=UNKNOWN, configuration=None, latency_cycles=None, lower_bound=lower, gap=None, nodes=nodes
    )


# ---- sub-problems without a solution ---------------------------------------------------------------


def _infeasible(problem: Problem) -> Solution:
    return Solution(
        status=INFEASIBLE,
        configuration=None,
        latency_cycles=None,
        lower_bound=math.inf,
        gap=None,
        nodes=0,
        clashing=clashing_groups(problem),
    )


def clashing_groups(problem: Problem) -> tuple[str, ...]:
    """Return a minimal set of groups of constraints that cannot hold together: each group without which there
    is still no design is left out, one after the other.
    """
    kept = [group for group in (PARTITIONS, DSPS, MEMORY, SIZE, EXCLUDED) if _present(problem, group)]
    for group in tuple(kept):
        fewer = [other for other in kept if other != group]
        if not _feasible(_with(problem, fewer)):
            kept = fewer
    return tuple(kept)


def _present(problem: Problem, group: str) -> bool:
    space = problem.space
    present = {
        PARTITIONS: space.most_partitions is not None,
        DSPS: space.dsp_available is not None,
        MEMORY: bool(space.transfers),
        SIZE: space.most_copies is not None,
        EXCLUDED: bool(problem.excluded),
    }
    return present[group]


def _with(problem: Problem, groups: list[str]) -> Problem:
    """Return the sub-problem with some groups of constraints only."""
    space = problem.space
    left = replace(
        space,
        most_partitions=space.most_partitions if PARTITIONS in groups else None,
        dsp_available=space.dsp_available if DSPS in groups else None,
        transfers=space.transfers if MEMORY in groups else (),
        most_copies=space.most_copies if SIZE in groups else None,
    )
    return Problem(space=left, excluded=problem.excluded if EXCLUDED in groups else ())


def _feasible(problem: Problem) -> bool:
    program = build_program(problem)
    if program is None:
        return False
    program.minimise(0.0)
    program.scip.setParam("limits/solutions", 1)
    program.scip.optimize()
    return program.scip.getNSols() > 0

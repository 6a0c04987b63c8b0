"""A sub-problem's options and its solution."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.pragmas.configuration import Configuration

OPTIMAL, INCUMBENT, INFEASIBLE, UNKNOWN = "optimal", "incumbent", "infeasible", "unknown"
"""End of a search: proven best; best within the time; no configuration keeps to the limits; none within the
time."""

PARTITIONS, DSPS, MEMORY, SIZE, EXCLUDED = "partitions", "dsps", "memory", "size", "excluded"
"""Groups of constraints that can clash: equation 9; equation 15; equations 4, 7 and 16; the size of the
unrolled program; what was excluded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """A sub-problem of Algorithm 1.

    Attributes:
        most_partitions: of an array (equation 9, the ladder's rung), None = unlimited.
        fine_only: no copies of loops above the pipelined ones (equation 14).
        most_copies: of operations and accesses in the unrolled program (`unrolled_size`), which a tool has to
            process; None = unlimited.
        copy_dsps: DSP blocks that each of these takes beside equation 15's units, as measured: where a limit
            stands for area, registers and multiplexers take some of it.
        plain_copies: loops with copies have no loop inside with a factor and without a constant trip count.
            Such a loop becomes two loops, over its groups and over the rest, which run one after the other.
        time_limit_s, most_nodes: of the solver, None = unlimited; nodes are the same on every machine.
        gap: relative gap to the proven bound at which the solver may end; 0 for the best configuration.
        excluded: configurations that are left out, compared as tools complete them.
        excluded_parts: likewise, with all that make the same choices of the named loops.
        start: a configuration to begin from; it is ignored where it breaks a limit.
        at_least_cycles: a known lower bound, such as the optimum of a higher rung.
    """

    most_partitions: int | None = None
    fine_only: bool = False
    most_copies: int | None = None
    copy_dsps: float = 0.0
    plain_copies: bool = False
    time_limit_s: float | None = None
    most_nodes: int | None = None
    gap: float = 0.0
    excluded: tuple[Configuration, ...] = ()
    excluded_parts: tuple[tuple[Configuration, frozenset[str]], ...] = ()
    start: Configuration | None = None
    at_least_cycles: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The answer of the program.

    Attributes:
        status: OPTIMAL, INCUMBENT, INFEASIBLE or UNKNOWN; configuration: the best one found.
        latency_cycles: its bound; lower_bound: no configuration of the sub-problem has less.
        gap: latency over lower bound, less 1; nodes: of the solver's tree.
        clashing: when infeasible, groups of constraints that cannot hold together; all but any one can.
    """

    status: str
    configuration: Configuration | None
    latency_cycles: float | None
    lower_bound: float
    gap: float | None
    nodes: int
    clashing: tuple[str, ...] = ()

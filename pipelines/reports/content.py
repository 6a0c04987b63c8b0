"""Everything the page says, as figures."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.reports.checks import Check, read_checks
from pipelines.reports.correlations import Correlations, correlate
from pipelines.reports.coverage import Coverage, measure_coverage
from pipelines.reports.distributions import (
    Distribution,
    EstimateComparison,
    compare_estimates,
    label_distributions,
)
from pipelines.reports.generation import Generation, read_generation
from pipelines.reports.inventory import Inventory, take_inventory
from pipelines.reports.networks import Networks, read_networks
from pipelines.reports.results import Entry, read_leaderboard
from pipelines.reports.samples import sample_designs, sample_programs
from pipelines.reports.tables import TableSet
from pipelines.reports.timing import Timing, measure_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The figures of one folder of tables; what the tables do not hold is None or empty."""

    name: str
    fingerprint: str
    problems: tuple[str, ...]
    inventory: Inventory
    distributions: tuple[Distribution, ...]
    estimates: tuple[EstimateComparison, ...]
    correlations: Correlations | None
    generation: Generation | None
    coverage: Coverage | None
    checks: tuple[Check, ...]
    networks: Networks | None
    timing: Timing | None
    leaderboard: tuple[Entry, ...]


def summarise(tables: TableSet) -> Report:
    """Compute every figure of the page. The same tables give the same figures."""
    programs = sample_programs(tables)
    designs = sample_designs(tables, programs)
    return Report(
        name=tables.name,
        fingerprint=tables.fingerprint,
        problems=tables.problems,
        inventory=take_inventory(tables, programs, designs),
        distributions=tuple(label_distributions(designs)),
        estimates=tuple(compare_estimates(designs)),
        correlations=correlate(designs),
        generation=read_generation(tables),
        coverage=measure_coverage(programs, designs, tables.text_by("designs", "design_id", "program_id")),
        checks=tuple(read_checks(tables)),
        networks=read_networks(tables),
        timing=measure_time(tables, designs),
        leaderboard=tuple(read_leaderboard(tables)),
    )

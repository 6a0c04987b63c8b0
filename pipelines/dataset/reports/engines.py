"""Sections on accelerators, place and route, RTL simulation and TCP, each declared once."""

from __future__ import annotations

import polars as pl

from pipelines.dataset.reports.grouped import (
    COEFFICIENT,
    COUNT,
    DEVIATION,
    SHARE,
    GroupedSection,
    GroupedTable,
    Measure,
    RangeChart,
    Rows,
    spread_measures,
)
from pipelines.dataset.reports.networks import ARRIVAL_TITLES, ARRIVALS
from pipelines.dataset.reports.statistics import spearman
from pipelines.dataset.reports.tables import TableSet
from pipelines.schemas import OK, TableSpec

_OK = pl.col("status") == OK


def _attempts(rows: str, ok: pl.Expr = _OK) -> list[Measure]:
    """Return the number of rows of a group, and of those that are ok."""
    return [
        Measure(title=rows, value=pl.len(), kind=COUNT),
        Measure(title="Ok", value=ok.sum(), kind=COUNT),
    ]


def _median(title: str, value: pl.Expr, kind: str = "figure") -> Measure:
    return Measure(title=title, value=value.median(), kind=kind)


# ---- accelerators ----------------------------------------------------------------------------------


_LABELS = ("latency_cycles", "power_mw", "energy_nj", "core_energy_nj", "memory_energy_nj")


def _compiled(tables: TableSet) -> pl.LazyFrame:
    """Return networks compiled for accelerators, beside their labels."""
    texts = ("compiled_id", "family", "dataflow", "status")
    numbers = ("parameter_count", "multiplications", "estimated_cycles")
    networks = tables.scan("compiled_networks", texts=texts, numbers=numbers).drop("row")
    labels = tables.scan(
        "accelerator_labels", texts=("compiled_id", "status"), numbers=_LABELS, flags=("outputs_equal",)
    )
    own = labels.drop("row").rename({"status": "label_status"})
    joined = networks.join(own, on="compiled_id", how="full", coalesce=True)
    return joined.with_columns(pl.col("family").fill_null("unknown"))


def _labelled(tables: TableSet) -> pl.LazyFrame:
    return _compiled(tables).filter(pl.col("label_status") == OK)


def _fixed(tables: TableSet) -> pl.LazyFrame:
    """Return fixed-point pipelines."""
    numbers = ("parameter_count", "latency_cycles", "power_mw", "energy_nj", "area_um2", "delay_ns")
    texts = ("family", "status")
    return tables.scan("fixed_networks", texts=texts, numbers=numbers, flags=("outputs_equal",))


def _networks(tables: TableSet) -> pl.LazyFrame:
    """Return networks of both kinds."""
    return pl.concat([_compiled(tables).select("family"), _fixed(tables).select("family")])


_DEVIATION = pl.col("estimated_cycles") / pl.col("latency_cycles") - 1
_FAMILY = {"family": "Family"}

ACCELERATORS = GroupedSection(
    name="accelerators",
    title="Accelerators",
    counted=_networks,
    tile="networks on accelerators",
    words=(
        "Networks compiled for systolic accelerators, and networks as fixed-point pipelines. Power is "
        "that of the netlist on the network's data. The compiler's cycles are a closed form; their "
        "deviation is over the cycles of the simulated design, less one. Thin lines run from the 5th to "
        "the 95th percentile, bars over the middle half, the dot is the median."
    ),
    charts=(
        RangeChart(
            title="Power on accelerators",
            unit="mW",
            rows=_labelled,
            key="family",
            value=pl.col("power_mw"),
        ),
        RangeChart(
            title="Cycles on accelerators",
            unit="",
            rows=_labelled,
            key="family",
            value=pl.col("latency_cycles"),
        ),
        RangeChart(
            title="Energy on accelerators",
            unit="nJ",
            rows=_labelled,
            key="family",
            value=pl.col("energy_nj"),
        ),
        RangeChart(
            title="Power of pipelines", unit="mW", rows=_fixed, key="family", value=pl.col("power_mw")
        ),
        RangeChart(
            title="Area of pipelines", unit="µm²", rows=_fixed, key="family", value=pl.col("area_um2")
        ),
        RangeChart(
            title="Longest path of pipelines", unit="ns", rows=_fixed, key="family", value=pl.col("delay_ns")
        ),
    ),
    tables=(
        GroupedTable(
            caption="Networks compiled for accelerators, by family",
            rows=_compiled,
            keys=_FAMILY,
            measures=(
                *_attempts("Networks"),
                Measure(
                    title="Labelled",
                    value=(pl.col("label_status") == OK).sum(),
                    kind=COUNT,
                ),
                Measure(
                    title="Labels failed",
                    value=(pl.col("label_status") != OK).sum(),
                    kind=COUNT,
                ),
                _median("Weights", pl.col("parameter_count")),
                _median("Multiplications", pl.col("multiplications")),
                Measure(
                    title="Weight stationary",
                    value=(pl.col("dataflow") == "weight").filter(pl.col("dataflow") != "").mean(),
                    kind=SHARE,
                ),
            ),
        ),
        GroupedTable(
            caption="Labels of networks on accelerators, by family",
            rows=_labelled,
            keys=_FAMILY,
            measures=(
                Measure(title="Outputs equal", value=pl.col("outputs_equal").mean(), kind=SHARE),
                _median("Cycles", pl.col("latency_cycles")),
                *spread_measures("Compiler's cycles", _DEVIATION, DEVIATION),
                _median("Power (mW)", pl.col("power_mw")),
                _median("Energy (nJ)", pl.col("energy_nj")),
                _median("In memories", pl.col("memory_energy_nj") / pl.col("energy_nj"), SHARE),
            ),
        ),
        GroupedTable(
            caption="Networks as fixed-point pipelines, by family",
            rows=_fixed,
            keys=_FAMILY,
            measures=(
                *_attempts("Networks"),
                Measure(title="Labelled", value=pl.col("power_mw").count(), kind=COUNT),
                Measure(title="Outputs equal", value=pl.col("outputs_equal").mean(), kind=SHARE),
                _median("Weights", pl.col("parameter_count")),
                _median("Cycles", pl.col("latency_cycles")),
                _median("Power (mW)", pl.col("power_mw")),
                _median("Energy (nJ)", pl.col("energy_nj")),
                _median("Area (µm²)", pl.col("area_um2")),
                _median("Path (ns)", pl.col("delay_ns")),
            ),
        ),
    ),
)


# ---- place and route -------------------------------------------------------------------------------


_PLACED = ("moves", "overuse", "throughput", "heuristic_throughput")


def _placements(tables: TableSet) -> pl.LazyFrame:
    """Return placements beside their graphs, with how they came about."""
    own = tables.scan("placements", texts=("graph_id", "status"), numbers=_PLACED).drop("row")
    graphs = _graphs(tables).select("graph_id", "fabric", "family").unique("graph_id", keep="last")
    return own.join(graphs, on="graph_id", how="left").with_columns(
        pl.col("fabric", "family").fill_null("unknown"),
        way=pl.when(pl.col("moves") > 0).then(pl.lit("annealed")).otherwise(pl.lit("random")),
    )


def _graphs(tables: TableSet) -> pl.LazyFrame:
    """Return dataflow graphs."""
    numbers = ("node_count", "edge_count", "stage_count", "slowest_cycles")
    return tables.scan(
        "fabric_graphs", texts=("graph_id", "fabric", "family", "status"), numbers=numbers
    ).drop("row")


def _placed_graphs(tables: TableSet) -> pl.LazyFrame:
    """Return one row per graph with figures over its placements that are ok."""
    simulated, heuristic = pl.col("throughput"), pl.col("heuristic_throughput")
    own = _placements(tables).filter(_OK & simulated.is_not_null())
    return own.group_by("graph_id", "fabric", "family").agg(
        median=simulated.median(),
        best=simulated.max(),
        chosen=simulated.filter(heuristic == heuristic.max()).mean(),
        correlation=spearman(heuristic, simulated),
    )


_PLACES = {"fabric": "Fabric", "family": "Family"}

FABRIC = GroupedSection(
    name="fabric",
    title="Place and route",
    counted=lambda tables: pl.concat(
        [_placements(tables).select("family"), _graphs(tables).select("family")]
    ),
    tile="graphs and placements",
    words=(
        "Throughput is that of the simulated fabric over that of the slowest operation, 0 to 1; the "
        "heuristic estimates the same before simulation. Best and chosen are means over graphs: of the best "
        "placement, and of the one that the heuristic ranks first. The rank correlation is Spearman's over "
        "the placements of one graph. Overused placements load a link beyond the router's limit."
    ),
    charts=(
        RangeChart(
            title="Simulated throughput",
            unit="",
            rows=_placements,
            key="family",
            value=pl.col("throughput"),
            is_share=True,
        ),
        RangeChart(
            title="Heuristic's throughput",
            unit="",
            rows=_placements,
            key="family",
            value=pl.col("heuristic_throughput"),
            is_share=True,
        ),
        RangeChart(
            title="Simulated, by origin",
            unit="",
            rows=_placements,
            key="way",
            value=pl.col("throughput"),
            is_share=True,
        ),
    ),
    tables=(
        GroupedTable(
            caption="Graphs by fabric and family",
            rows=_graphs,
            keys=_PLACES,
            measures=(
                *_attempts("Graphs"),
                _median("Operations", pl.col("node_count")),
                _median("Edges", pl.col("edge_count")),
                _median("Stages", pl.col("stage_count")),
                _median("Slowest operation (cycles)", pl.col("slowest_cycles")),
            ),
        ),
        GroupedTable(
            caption="Placements by fabric and family",
            rows=_placements,
            keys=_PLACES,
            measures=(
                *_attempts("Placements"),
                *spread_measures("Throughput", pl.col("throughput"), SHARE),
                _median("Heuristic", pl.col("heuristic_throughput"), SHARE),
                Measure(title="Overused", value=(pl.col("overuse") > 0).mean(), kind=SHARE),
            ),
        ),
        GroupedTable(
            caption="Throughput over the placements of each graph",
            rows=_placed_graphs,
            keys=_PLACES,
            measures=(
                Measure(title="Graphs", value=pl.len(), kind=COUNT),
                Measure(title="Mean of medians", value=pl.col("median").sort().mean(), kind=SHARE),
                Measure(title="Chosen", value=pl.col("chosen").sort().mean(), kind=SHARE),
                Measure(title="Best", value=pl.col("best").sort().mean(), kind=SHARE),
                Measure(
                    title="Rank correlation", value=pl.col("correlation").sort().mean(), kind=COEFFICIENT
                ),
            ),
        ),
    ),
)


# ---- RTL simulation --------------------------------------------------------------------------------


REFERENCE = "verilator"
"""Engine that times of others are divided by."""


def _engine_names() -> tuple[str, ...]:
    columns = {column.name: column for column in TableSpec.registry["simulations"].columns}
    return columns["engine"].choices


_RUN = ("design", "cycles", "stimuli", "seed")


def _simulations(tables: TableSet) -> pl.LazyFrame:
    """Return simulations with their time over that of the reference on the same machine, and agreement.

    A run is one design with its inputs; engines agree when all of two or more have the same outputs.
    """
    texts = ("design", "family", "engine", "status", "digest", "machine")
    numbers = ("cycles", "stimuli", "seed", "register_bits", "instance_nodes")
    times = ("cycle_cpu_ns", "build_wall_s", "program_bytes")
    rows = tables.scan("simulations", texts=texts, numbers=(*numbers, *times)).drop("row")
    is_known = _OK & (pl.col("digest") != "")
    time_ns, place = pl.col("cycle_cpu_ns"), (*_RUN, "machine")
    reference = time_ns.filter(_OK & (pl.col("engine") == REFERENCE)).min()
    engines = pl.col("engine").filter(is_known).n_unique().over(_RUN)
    return rows.with_columns(
        ratio=pl.when(_OK).then(time_ns / reference.over(place)),
        is_fastest=_OK & (time_ns == time_ns.filter(_OK).min().over(place)),
        is_compared=engines > 1,
        is_equal=(engines > 1) & (pl.col("digest").filter(is_known).n_unique().over(_RUN) == 1),
        is_first=pl.int_range(pl.len()).over(_RUN) == 0,
    )


_FIRST = pl.col("is_first")


def _of_engine(engine: str) -> Measure:
    return _median(engine, pl.col("ratio").filter(pl.col("engine") == engine))


SIMULATION = GroupedSection(
    name="simulation",
    title="RTL simulation",
    counted=_simulations,
    tile="RTL simulations",
    words=(
        "Designs with random inputs, by several engines. Time is processor time of one clock cycle of all "
        f"stimuli; ratios are over {REFERENCE.capitalize()}'s on the same design and machine, smaller is "
        "faster. Outputs are compared over all cycles."
    ),
    charts=(
        RangeChart(
            title="Time of a cycle", unit="ns", rows=_simulations, key="engine", value=pl.col("cycle_cpu_ns")
        ),
        RangeChart(
            title=f"Over {REFERENCE.capitalize()}",
            unit="",
            rows=_simulations,
            key="engine",
            value=pl.col("ratio"),
        ),
        RangeChart(
            title="Time of the build", unit="s", rows=_simulations, key="engine", value=pl.col("build_wall_s")
        ),
    ),
    tables=(
        GroupedTable(
            caption="Simulations by engine",
            rows=_simulations,
            keys={"engine": "Engine"},
            measures=(
                *_attempts("Simulations"),
                Measure(title="Fastest of", value=pl.col("is_fastest").sum(), kind=COUNT),
                _median("Cycle (ns)", pl.col("cycle_cpu_ns")),
                *spread_measures("Ratio", pl.col("ratio")),
                _median("Build (s)", pl.col("build_wall_s")),
                _median("Program (bytes)", pl.col("program_bytes")),
            ),
        ),
        GroupedTable(
            caption=f"Families of designs; by engine, median of time over {REFERENCE.capitalize()}'s",
            rows=_simulations,
            keys=_FAMILY,
            measures=(
                Measure(title="Designs", value=pl.col("design").n_unique(), kind=COUNT),
                Measure(title="Register bits, most", value=pl.col("register_bits").max()),
                Measure(title="Operations, most", value=pl.col("instance_nodes").max()),
                *(_of_engine(engine) for engine in _engine_names() if engine != REFERENCE),
                Measure(title="Compared", value=(_FIRST & pl.col("is_compared")).sum(), kind=COUNT),
                Measure(title="Outputs equal", value=(_FIRST & pl.col("is_equal")).sum(), kind=COUNT),
            ),
        ),
    ),
)


# ---- TCP -------------------------------------------------------------------------------------------


_SCENARIO = ("network", "pattern", "arrivals", "load")
TCP, UDP = "tcp", "udp"


def _matched_runs(tables: TableSet) -> pl.LazyFrame:
    """Return acknowledged runs of the scenarios that were simulated under TCP."""
    texts = ("run_id", "network", "pattern", "arrivals", "protocol", "status")
    numbers = ("load", "packet_count", "drop_count", "rtt_mean_ns", "rtt_p99_ns", "busiest_utilisation")
    rows = tables.scan("network_runs", texts=texts, numbers=numbers, flags=("is_acknowledged",)).drop("row")
    rows = rows.filter((pl.col("protocol") == TCP) | pl.col("is_acknowledged").fill_null(True))
    scenarios = rows.filter(pl.col("protocol") == TCP).select(_SCENARIO).unique()
    shown = pl.format("{} %", (pl.col("load") * 100).round(1).cast(pl.String).str.strip_suffix(".0"))
    matched = rows.join(scenarios, on=_SCENARIO, how="semi", nulls_equal=True)
    return matched.with_columns(shown_load=shown.fill_null("no load"))


def _flows_by(arrivals: str) -> Rows:
    """Return the function that reads flows of the matched ok runs; `key` names protocol and load."""

    def read(tables: TableSet) -> pl.LazyFrame:
        runs = _matched_runs(tables).filter(_OK & (pl.col("arrivals") == arrivals))
        key = pl.format("{} {}", pl.col("protocol").str.to_uppercase(), "shown_load")
        flows = tables.scan("network_flows", texts=("run_id",), numbers=("rtt_mean_ns",)).drop("row")
        return flows.join(runs.select("run_id", key=key), on="run_id", how="inner")

    return read


def _of_protocol(title: str, value: pl.Expr, kind: str = "figure") -> list[Measure]:
    """Return the mean of a value over ok runs, under UDP and under TCP."""
    return [
        Measure(
            title=f"{title} {protocol.upper()}",
            value=value.filter(_OK & (pl.col("protocol") == protocol)).sort().mean(),
            kind=kind,
        )
        for protocol in (UDP, TCP)
    ]


def _runs_of(protocol: str) -> Measure:
    is_own = _OK & (pl.col("protocol") == protocol)
    return Measure(title=f"Runs {protocol.upper()}", value=is_own.sum(), kind=COUNT)


_MEAN_US = _of_protocol("Mean (µs)", pl.col("rtt_mean_ns") / 1000)

PROTOCOLS = GroupedSection(
    name="protocols",
    title="Networks under TCP",
    counted=lambda tables: _matched_runs(tables).filter(pl.col("protocol") == TCP),
    tile="network runs under TCP",
    words=(
        "Runs under TCP beside acknowledged runs under UDP of the same network, pattern, arrivals and load. "
        "Times are round trips, means over runs; TCP resends lost packets and waits for its window, which "
        "is part of its times. A dash stands where no run under UDP has the scenario."
    ),
    charts=tuple(
        RangeChart(
            title=f"Round trips of flows, {ARRIVAL_TITLES[arrivals]}",
            unit="µs",
            rows=_flows_by(arrivals),
            key="key",
            value=pl.col("rtt_mean_ns") / 1000,
        )
        for arrivals in ARRIVALS
    ),
    tables=(
        GroupedTable(
            caption="TCP beside UDP, by scenario; failed runs are in Networks",
            rows=_matched_runs,
            keys={
                "network": "Network",
                "pattern": "Pattern",
                "arrivals": "Arrivals",
                "shown_load": "Load",
            },
            measures=(
                _runs_of(UDP),
                _runs_of(TCP),
                *_MEAN_US,
                Measure(
                    title="TCP over UDP", value=_MEAN_US[1].value / _MEAN_US[0].value - 1, kind=DEVIATION
                ),
                *_of_protocol("99 % (µs)", pl.col("rtt_p99_ns") / 1000),
                *_of_protocol("Lost", pl.col("drop_count") / pl.col("packet_count"), SHARE),
                *_of_protocol("Busiest queue", pl.col("busiest_utilisation"), SHARE),
            ),
        ),
    ),
)

SECTIONS = (ACCELERATORS, FABRIC, SIMULATION, PROTOCOLS)
"""In the order of the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from report_examples import example_rows
from test_report_browser import _measured
from test_report_page import (
    test_drawings_say_what_they_show,
    test_every_element_is_closed_and_every_id_is_unique,
    test_labels_of_an_axis_do_not_overlap,
    test_marks_and_texts_are_inside_their_drawing,
    test_nothing_outside_is_referred_to,
    test_tables_have_captions_and_headers,
)

from pipelines.dataset.reports import draw_page, read_report
from pipelines.dataset.reports.networks import Networks, curve_of

Write = Callable[[Path, Any], Path]
Rows = dict[str, list[dict[str, Any]]]


def _run(run_id: str, **changes: Any) -> dict[str, Any]:
    row = {"run_id": run_id, "network": "fat-tree-16", "hosts": 16, "pattern": "all_to_all", "load": 0.5}
    row |= {"arrivals": "poisson", "is_acknowledged": True, "status": "ok", "reason": None}
    row |= {"flow_count": 2, "packet_count": 1000, "drop_count": 5, "offered_utilisation": 0.5}
    return row | {"tool": "network-simulator", "tool_version": "1"} | changes


def _flow(run_id: str, flow: int, rtt_us: float | None, delay_us: float = 1.0) -> dict[str, Any]:
    rtt_ns = None if rtt_us is None else rtt_us * 1000
    row = {"run_id": run_id, "flow": flow, "delay_mean_ns": delay_us * 1000, "rtt_mean_ns": rtt_ns}
    return row | {"entropy_ns": 30_000 + flow, "tree_ns": 20_000 + flow}


def _hop(run_id: str, flow: int, queue: int, queue_type: str, utilisation: float) -> dict[str, Any]:
    row = {"run_id": run_id, "flow": flow, "hop": 0, "queue": queue}
    return row | {"queue_type": queue_type, "utilisation": utilisation}


def _network_rows() -> Rows:
    """A run of two flows that share one queue of a host, and two runs that failed."""
    failed = {"network": "rack", "hosts": 4, "status": "infeasible", "packet_count": None, "drop_count": None}
    return {
        "network_runs": [
            _run("a"),
            _run("b", **failed, reason="a queue must be below 1, got 1.25"),
            _run("c", **failed, reason="a queue must be below 1, got 1.75"),
        ],
        "network_flows": [_flow("a", 0, 25.0), _flow("a", 1, 40.0)],
        "network_hops": [
            _hop("a", 0, 0, "host_up", 0.6),
            _hop("a", 1, 0, "host_up", 0.6),
            _hop("a", 1, 3, "host_up", 0.2),
            _hop("a", 0, 7, "edge_down", 0.5),
            _hop("a", 1, 7, "edge_down", 0.5),
        ],
    }


@pytest.fixture
def networks_of(tmp_path: Path, write_rows: Write) -> Callable[[Rows], Networks]:
    def read(rows: Rows) -> Networks:
        found = read_report(write_rows(tmp_path, rows), name="x").networks
        assert found is not None
        return found

    return read


Read = Callable[[Rows], Networks]


def test_runs_are_counted_by_network_and_status(networks_of: Read) -> None:
    found = networks_of(_network_rows())
    assert [(r.network, r.status, r.runs, r.flows, r.packets, r.drops) for r in found.runs] == [
        ("rack", "infeasible", 2, 4, 0, 0),
        ("fat-tree-16", "ok", 1, 2, 1000, 5),
    ]


def test_runs_that_failed_are_counted_by_reason(networks_of: Read) -> None:
    rows = _network_rows()
    rows["network_runs"].append(_run("d", status="timeout", reason=None))
    assert [(f.network, f.status, f.reason, f.runs) for f in networks_of(rows).failures] == [
        ("rack", "infeasible", "a queue must be below 1, got 1.25", 2),
        ("fat-tree-16", "timeout", "no reason was given", 1),
    ]


def test_a_queue_of_many_flows_counts_once(networks_of: Read) -> None:
    (found,) = networks_of(_network_rows()).utilisations
    assert found.queue_types == ("host_up", "edge_down")
    (row,) = found.rows
    assert (row.pattern, row.loads, row.runs) == ("all_to_all", (0.5, 0.5), 1)
    assert row.values == {"host_up": pytest.approx(0.4), "edge_down": pytest.approx(0.5)}


def test_the_same_queue_of_two_runs_counts_twice(networks_of: Read) -> None:
    rows = _network_rows()
    rows["network_runs"].append(_run("d"))
    rows["network_hops"].append(_hop("d", 0, 0, "host_up", 0.1))
    (found,) = networks_of(rows).utilisations
    assert found.rows[0].runs == 2
    assert found.rows[0].values["host_up"] == pytest.approx(0.3)


def _loads_shown(networks_of: Read, loads: Sequence[float | None]) -> list[tuple[float, float] | None]:
    rows = {
        "network_runs": [_run(f"r{k}", load=load) for k, load in enumerate(loads)],
        "network_hops": [_hop(f"r{k}", 0, 0, "host_up", 0.1) for k in range(len(loads))],
    }
    return [row.loads for row in networks_of(rows).utilisations[0].rows]


def test_few_loads_are_rows_and_many_are_bands(networks_of: Read) -> None:
    assert _loads_shown(networks_of, [0.75, 0.25, None, 0.25]) == [(0.25, 0.25), (0.75, 0.75), None]
    assert _loads_shown(networks_of, [0.1, 0.2, 0.25, 0.75, 0.9]) == [(0.0, 0.25), (0.5, 0.75), (0.75, 1.0)]


def test_distributions_are_of_the_same_flows_in_microseconds(networks_of: Read) -> None:
    rows = _network_rows()
    rows["network_flows"].append(_flow("a", 2, None))
    (times,) = networks_of(rows).times
    assert (times.run_id, times.flows, times.is_round_trip) == ("a", 2, True)
    assert [(c.name, c.values) for c in times.curves] == [
        ("Simulated", (25.0, 40.0)),
        ("Maximum entropy", (30.0, 30.001)),
        ("Estimate for trees", (20.0, 20.001)),
    ]
    assert [c.shares for c in times.curves] == [(0.5, 1.0)] * 3


def test_without_acknowledgements_times_are_delays(networks_of: Read) -> None:
    rows = _network_rows()
    rows["network_runs"][0]["is_acknowledged"] = False
    rows["network_flows"] = [_flow("a", 0, None, delay_us=7.0)]
    (times,) = networks_of(rows).times
    assert not times.is_round_trip
    assert times.curves[0].values == (7.0,)


@pytest.mark.parametrize("flows", [1, 2, 99, 100, 101, 250, 1000])
def test_a_distribution_rises_to_one_and_equals_the_empirical_one(flows: int) -> None:
    values = np.random.default_rng(flows).integers(1, 60, flows).astype(np.float64)
    curve = curve_of("x", pl.Series(values))
    assert len(curve.values) <= 101
    assert np.all(np.diff(curve.values) >= 0)
    assert np.all(np.diff(curve.shares) > 0)
    assert curve.shares[-1] == 1.0
    assert (curve.values[0], curve.values[-1]) == (values.min(), values.max())
    for value, share in zip(curve.values, curve.shares, strict=True):
        assert (values < value).mean() < share <= (values <= value).mean()


def test_six_runs_below_saturation_are_drawn_every_network_first(networks_of: Read) -> None:
    runs = [
        _run(f"{n}{a}{load}", network=f"n{n}", hosts=n, arrivals=a, load=load, offered_utilisation=load + 0.1)
        for n in range(4)
        for a in ("poisson", "ge")
        for load in (0.5, 0.8, 0.9)
    ]
    runs.append(_run("incast", network="n0", hosts=0, pattern="incast", load=0.94))
    flows = [_flow(run["run_id"], 0, 25.0) for run in runs]
    found = networks_of({"network_runs": runs, "network_flows": flows}).times
    assert [(t.network, t.arrivals, t.load) for t in found] == [
        ("n0", "poisson", 0.8),
        ("n0", "ge", 0.8),
        ("n1", "poisson", 0.8),
        ("n1", "ge", 0.8),
        ("n2", "poisson", 0.8),
        ("n3", "ge", 0.8),
    ]


def test_hops_in_several_files_are_one_table(tmp_path: Path, write_rows: Write) -> None:
    rows = _network_rows()
    rows["network_runs"].append(_run("d"))
    folder = write_rows(tmp_path, rows)
    other = write_rows(tmp_path / "other", {"network_hops": [_hop("d", 0, 9, "core_down", 0.3)]})
    (other / "network_hops/all.parquet").rename(folder / "network_hops/more.parquet")
    other.joinpath("network_hops").rmdir()
    other.rmdir()
    found = read_report(folder, name="x")
    assert found.problems == ()
    assert found.networks is not None
    values = found.networks.utilisations[0].rows[0].values
    assert values == {
        k: pytest.approx(v) for k, v in (("host_up", 0.4), ("core_down", 0.3), ("edge_down", 0.5))
    }


def test_columns_of_other_types_give_no_charts(networks_of: Read) -> None:
    rows = _network_rows()
    for table in ("network_flows", "network_hops"):
        rows[table] = [row | {"run_id": 1, "utilisation": "high"} for row in rows[table]]
    found = networks_of(rows)
    assert (found.utilisations, found.times) == ((), ())


def test_runs_alone_are_a_section_without_charts(tmp_path: Path, write_rows: Write) -> None:
    folder = write_rows(tmp_path, {"network_runs": [_run("a")]})
    page = draw_page(read_report(folder, name="x"))
    assert '<section id="networks">' in page
    assert "network runs" in page
    assert 'class="panels two links"' not in page


def test_a_page_without_networks_has_nothing_of_them(example: Path) -> None:
    page = draw_page(read_report(example, name="x"))
    assert "etwork" not in page
    assert "path.curve" not in page


@pytest.fixture
def page(tmp_path: Path, write_rows: Write) -> str:
    rows = example_rows() | _network_rows()
    hostile = '"><img src=x onerror=alert(1)>'
    rows["network_runs"].append(_run("h", network=hostile, pattern=hostile, arrivals=hostile))
    rows["network_flows"] += [_flow("h", k, 20.0 + k) for k in range(300)]
    rows["network_hops"] += [
        _hop("h", 0, k, name, 0.123)
        for k, name in enumerate(("edge_up", "aggregation_up", "aggregation_down"))
    ]
    return draw_page(read_report(write_rows(tmp_path / "all", rows), name="x"))


def test_the_section_is_like_the_rest_of_the_page(page: str) -> None:
    assert "<img" not in page
    assert page.count('class="curve curve-simulated"') == 2
    test_every_element_is_closed_and_every_id_is_unique(page)
    test_nothing_outside_is_referred_to(page)
    test_tables_have_captions_and_headers(page)
    test_drawings_say_what_they_show(page)
    test_marks_and_texts_are_inside_their_drawing(page)
    test_labels_of_an_axis_do_not_overlap(page)


def test_curves_differ_in_more_than_colour(page: str) -> None:
    assert "path.curve-maximum-entropy { stroke-width: 2; stroke-dasharray: 7 4; }" in page
    for name in ("simulated", "maximum-entropy", "estimate-for-trees"):
        assert f'<span class="key curve-{name}" aria-hidden="true"></span>' in page


def test_the_section_fits_the_screen_of_a_telephone(page: str, tmp_path: Path) -> None:
    found = _measured(page, tmp_path, 390, 844)
    assert found["page"] <= 390
    assert found["wide"] == []
    assert found["clipped"] == []

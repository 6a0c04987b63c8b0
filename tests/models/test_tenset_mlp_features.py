"""Features of Tenset-MLP: what they count, and what they refuse."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from labelled_nests import NESTS, Nest

from models.base import PredictorError
from models.labelled import Query
from models.tenset_mlp.features import COMPACT, ProgramFacts, features_of
from models.tenset_mlp.features import facts_of as program_facts

NEST = Nest(depth=2, statements=1, bound=9)
PIPELINE = '[{"kind": "pipeline", "loop": "L1"}]'


def query_of(nest: Nest, directives: str = "[]", delay: int = 2) -> Query:
    return Query(
        source=nest.source,
        top="top",
        memory_read_delay_cycles=delay,
        memory_write_delay_cycles=delay,
        clock_period_ns=10.0,
        directives=directives,
    )


def facts_of(nest: Nest) -> ProgramFacts:
    return program_facts(nest.source, "top", nest.loops())


def test_features_count_loops_work_and_arguments() -> None:
    found = features_of(facts_of(NEST), query_of(NEST, PIPELINE))
    assert found["loop_count"] == found["loop_depth"] == 2
    assert found["log2_loop_bound_0"] == found["log2_loop_bound_1"] == math.log2(1 + 9)
    assert found["log2_innermost_iterations"] == math.log2(1 + 81)
    assert found["log2_load_work"] == math.log2(1 + 3 * 81)
    assert found["log2_pipelined_iterations"] == math.log2(1 + 81)
    assert (found["array_count"], found["written_array_count"], found["scalar_count"]) == (3, 1, 0)
    assert found["log2_array_elements"] == math.log2(1 + 27)
    assert (found["pipelined_loop_count"], found["pipelined_share"]) == (1, 1)


def test_features_have_the_same_names_for_every_program_and_are_finite() -> None:
    rows = [features_of(facts_of(n), query_of(n)) for n in NESTS]
    assert len({tuple(row) for row in rows}) == 1
    assert all(math.isfinite(value) for row in rows for value in row.values())


def test_features_of_a_program_without_loops() -> None:
    facts = replace(facts_of(NEST), loops=())
    assert features_of(facts, query_of(NEST))["log2_estimated_cycles"] == 0


def test_estimated_cycles_grow_with_delay_and_shrink_in_a_pipeline() -> None:
    def cycles(directives: str, delay: int) -> float:
        query = query_of(NEST, directives, delay)
        return features_of(facts_of(NEST), query)["log2_estimated_cycles"]

    assert cycles("[]", 10) > cycles("[]", 2) > cycles(PIPELINE, 2)


def test_features_count_copies_banks_and_other_directives() -> None:
    array = facts_of(NEST).interface.arrays[0]
    directives = [
        {"kind": "unroll", "loop": "L1", "value": 4},
        {"kind": "parallel", "loop": "L0", "value": 3},
        {"kind": "flatten", "loop": "L0"},
        {"kind": "partition", "variable": array.name, "style": "cyclic", "value": 2, "dimension": 1},
        {"kind": "partition", "variable": array.name, "style": "complete", "dimension": 1},
    ]
    found = features_of(facts_of(NEST), query_of(NEST, json.dumps(directives)))
    assert (found["log2_unroll_product"], found["log2_parallel_product"]) == (2, math.log2(3))
    assert found["log2_bank_product"] == math.log2(2 * array.shape[0])
    assert (found["flatten_count"], found["tile_count"]) == (1, 0)


@pytest.mark.parametrize("dimension", [0, 1, 2])
def test_a_complete_partition_of_an_array_inside_counts_once(dimension: int) -> None:
    directive = {"kind": "partition", "variable": "inner", "style": "complete", "dimension": dimension}
    found = features_of(facts_of(NEST), query_of(NEST, json.dumps([directive])))
    assert found["log2_bank_product"] == 0


def test_an_unknown_inner_bound_counts_half_the_enclosing_one() -> None:
    outer, inner = NEST.loops()
    facts = replace(facts_of(NEST), loops=(outer, replace(inner, trip_count=None)))
    found = features_of(facts, query_of(NEST))
    assert found["unknown_bound_count"] == 1
    assert found["log2_innermost_iterations"] == math.log2(1 + 9 * 4.5)


@pytest.mark.parametrize(
    ("directives", "message"),
    [
        ("{", "directives must be a JSON list, got '{'"),
        ("{}", "directives must be a JSON list of objects, got '{}'"),
        (
            '[{"kind": "inline"}]',
            "unknown kind of directive: 'inline'; accepted: pipeline, unroll, parallel, flatten, tile, "
            "reduction, cache, partition",
        ),
        (
            '[{"kind": "pipeline", "loop": "L7"}]',
            "unknown loop of a directive: 'L7'; accepted: L0, L1",
        ),
        (
            '[{"kind": "unroll", "loop": "L0", "value": 0}]',
            "value of a directive must be a positive integer, got 0",
        ),
        (
            '[{"kind": "partition", "variable": "A", "style": "complete", "dimension": 7}]',
            "dimension of a partition must be one of the array's, got 7",
        ),
    ],
)
def test_features_rejects_directives(directives: str, message: str) -> None:
    with pytest.raises(PredictorError, match=f"^{message.replace('[', '.')}"):
        features_of(facts_of(NEST), query_of(NEST, directives))


def test_facts_count_operators_variables_and_local_arrays() -> None:
    source = """
    void top(int n, int A[8]) {
        int local[2][4];
        for (int i = 0; i < 8; i++) {
            if (A[i] > n) { local[i / 4][i % 4] = A[i] * A[i] - n; }
            for (int j = 0; j < 8; j++) { A[j] = (A[j] * n) << 1; }
        }
    }
    """
    facts = program_facts(source, "top")
    assert facts.operators == {"multiply": 2, "divide": 2, "add": 1, "compare": 1, "bitwise": 1}
    assert facts.widest == {"multiply": 1, "divide": 2, "add": 1, "compare": 1, "bitwise": 1}
    assert facts.local_bits == 8 * 32
    assert facts.variable_count == 2
    assert [loop.trip_count for loop in facts.loops] == [8, 8]


def test_compact_features_are_some_of_all() -> None:
    assert set(COMPACT) < set(features_of(facts_of(NEST), query_of(NEST)))


@pytest.mark.parametrize("nest", NESTS[::5], ids=lambda n: n.name)
def test_the_front_end_reads_what_the_tables_hold(nest: Nest) -> None:
    found = program_facts(nest.source, "top")
    assert features_of(found, query_of(nest)) == features_of(facts_of(nest), query_of(nest))

"""What benchmarks share: rows that are kept, tables, times."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.harness import KeptRows, Row, repeated, table_text, timed


def test_kept_rows_are_measured_once(tmp_path: Path) -> None:
    path, measured = tmp_path / "rows.jsonl", list[int]()

    def measure(seed: int) -> Row:
        measured.append(seed)
        return {"seed": seed, "figure": 2 * seed}

    def figures() -> list[int]:
        kept = KeptRows(path, lambda row: row["seed"])
        return [kept.measured(seed, lambda s=seed: measure(s))["figure"] for seed in (1, 2)]

    assert figures() == figures() == [2, 4]
    assert measured == [1, 2]
    KeptRows(path, lambda row: row["seed"]).add({"seed": 1, "figure": 7})
    assert figures() == [7, 4]


def test_rows_without_a_file_are_kept_in_memory() -> None:
    kept = KeptRows(None, lambda row: row["seed"])
    assert kept.add({"seed": 3}) == kept.measured(3, dict)


def test_a_table_has_a_line_below_every_column() -> None:
    assert table_text(["a | b", "c"], [(1, 2, "")]) == "| a | b | c |\n| --- | --- | --- |\n| 1 | 2 |  |\n"


def test_times_come_with_the_result() -> None:
    (result, spent), (last, least) = timed(lambda: 5), repeated(lambda: 6, 3)
    assert (result, last) == (5, 6)
    assert min(spent.wall_s, spent.processor_s, least.wall_s, least.processor_s) >= 0

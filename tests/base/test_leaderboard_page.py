"""The leaderboard page: rows of releases and entries, and entries that are none of the release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assets.errors import FoundryError
from assets.leaderboard_page import PAGE, RELEASES_FOLDER, leaderboard_page, read_entries
from models.catalogue import predictors
from models.scoring.entries import Coverage, Entry, Failure
from pipelines.dataset.releases import Baseline, read_baselines, read_manifest, tables_hash

RELEASE = RELEASES_FOLDER / "v2"
MANIFEST = read_manifest(RELEASE)


def entry(**changes: Any) -> Entry:
    """An entry of a predictor with one target on part test of release v2."""
    error = Baseline(
        predictor="mine",
        target="area_um2",
        split="by_kernel_v2",
        part="test",
        metric="mape",
        value=0.123,
        interval_low=0.1,
        interval_high=0.2,
        row_count=89,
    )
    fields = {
        "predictor": "mine",
        "version": "1",
        "description": "Mine.",
        "origin": "file",
        "sha256": "0" * 64,
        "level": "text",
        "release": "v2",
        "tables": tables_hash(MANIFEST.files),
        "split": "by_kernel_v2",
        "parts": ("test",),
        "settings": {},
        "seed": 0,
        "designs": {"test": 1216},
        "failures": (Failure(part="test", reason="no time", row_count=3),),
        "errors": (error, error.model_copy(update={"metric": "median_ape", "value": 0.05})),
        "coverage": (Coverage(target="area_um2", part="test", share=0.9, row_count=89),),
        "training_s": 12.34,
        "answer_s": 0.05,
    }
    return Entry(**{**fields, **changes})


def write(folder: Path, *entries: Entry) -> Path:
    for number, one in enumerate(entries):
        (folder / f"{number}.json").write_text(one.model_dump_json())
    return folder


def rows_of(page: str, predictor: str) -> list[list[str]]:
    lines = (line.strip("|").split("|") for line in page.splitlines() if f" `{predictor}` " in line)
    return [[cell.strip() for cell in line] for line in lines]


def test_the_committed_page_is_the_printed_one() -> None:
    printed = leaderboard_page()
    assert PAGE.read_text(encoding="utf-8") == printed, "run `make docs` and commit docs/leaderboard.md"


def test_every_baseline_of_every_release_has_its_row(tmp_path: Path) -> None:
    page = leaderboard_page(entries=tmp_path)
    for predictor in {row.predictor for row in read_baselines(RELEASE, MANIFEST)}:
        assert [row[-1] for row in rows_of(page, predictor)] == ["baselines.json"] * 2
    [first, _] = rows_of(page, "lightgbm-hls")
    assert first[:4] == ["hls", "lightgbm-hls".join("``"), "1,216", "12.1 / 7.7"]


def test_an_entry_is_a_row_with_shares_costs_and_failures(tmp_path: Path) -> None:
    folder = tmp_path / "leaderboard"
    folder.mkdir()
    page = leaderboard_page(entries=write(folder, entry()))
    [row] = rows_of(page, "mine")
    assert row[:4] == ["text", "`mine`", "89", "12.3 / 5.0"]
    assert row[-5:] == ["90 to 90", "12.3", "0.05", "3", "[file](leaderboard/0.json)"]


def test_an_entry_replaces_the_baseline_of_its_predictor_on_its_parts(tmp_path: Path) -> None:
    page = leaderboard_page(entries=write(tmp_path, entry(predictor="lightgbm-hls", level="hls")))
    test, evaluation = rows_of(page, "lightgbm-hls")
    assert (test[3], test[-1].startswith("[file]")) == ("12.3 / 5.0", True)
    assert (evaluation[3], evaluation[-1]) == ("10.5 / 10.6", "baselines.json")


def test_an_entry_of_two_levels_has_two_rows(tmp_path: Path) -> None:
    page = leaderboard_page(entries=write(tmp_path, entry(), entry(level="hls")))
    assert [row[0] for row in rows_of(page, "mine")] == ["text", "hls"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tables": "1" * 64}, r"^entry of other tables than release v2 has: .*0\.json; score it again$"),
        ({"release": "v9"}, r"^no release v9 \(.*0\.json\); accepted: .*, v1, v2"),
    ],
)
def test_the_page_rejects_an_entry_of_other_tables(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    write(tmp_path, entry(**changes))
    with pytest.raises(FoundryError, match=message):
        leaderboard_page(entries=tmp_path)


def test_reading_rejects_two_entries_of_one_predictor(tmp_path: Path) -> None:
    write(tmp_path, entry(), entry(seed=1))
    with pytest.raises(FoundryError, match=r"^two entries of mine, level text: .*0\.json, .*1\.json$"):
        read_entries(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"seed":0', '"seed":0,"more":1', r"^no entry: more: Extra inputs are not permitted \(.*0\.json\)$"),
        ('"level":"text"', '"level":"deep"', r"^no entry: level: Input should be 'text', 'static', 'hls'"),
        ('"predictor":"mine"', '"predictor":"[x](y)"', r"^no entry: predictor: String should match pattern"),
        ('"share":0.9', '"share":1.5', r"^no entry: coverage\.0\.share: Input should be less than"),
        ("{", "", r"^no entry: : Invalid JSON"),
    ],
)
def test_reading_rejects_what_is_no_entry(old: str, new: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, entry()) / "0.json"
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(FoundryError, match=message):
        read_entries(tmp_path)


def test_an_entry_of_an_earlier_version_of_a_predictor_says_so(tmp_path: Path) -> None:
    earlier = entry(predictor="lightgbm-text", version="0", origin="registered", sha256=None)
    page = leaderboard_page(entries=write(tmp_path, earlier))
    current = next(spec.version for spec in predictors() if spec.name == "lightgbm-text")
    said = f"to be scored again (version 0, now {current})"
    assert [row[-1].partition(", ")[2] for row in rows_of(page, "lightgbm-text")] == [said, ""]

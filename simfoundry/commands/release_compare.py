"""`simfoundry release check` and `simfoundry release diff`: releases by name or folder."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from assets.deployments import find_deployment
from assets.errors import FoundryError
from models.catalogue import predictor_named
from pipelines.base.cache import ContentCache
from pipelines.dataset.releases import (
    FAIL,
    MANIFEST_FILE,
    Floors,
    ReleaseTables,
    check_release,
    load_release,
)
from pipelines.dataset.reports.difference import (
    PredictorError,
    compare_releases,
    difference_lines,
    draw_difference,
)
from pipelines.programs import cached_ast_hash
from pipelines.schemas import write_bytes_atomically
from simfoundry.commands.aligned import aligned_lines


def find_release(name: str) -> Path:
    """Find the folder of a release by its name in the project, or as given.

    Raises: FoundryError: there is none.
    """
    folders = (find_deployment().project / "releases" / name, Path(name))
    for folder in folders:
        if (folder / MANIFEST_FILE).is_file():
            return folder
    raise FoundryError(f"no such release: {name}; accepted: a folder in {folders[0].parent}, or a path")


def check_named(name: str, floors: Sequence[str]) -> dict[str, Any]:
    """Check a release: its files against their hashes, then every line of `check_release`.

    Args:   floors: limits as NAME=NUMBER in place of the defaults.
    Raises: FoundryError: no such release or limit. ReleaseError: a file is not what the manifest says.
    """
    tables = load_release(find_release(name), verify=True)
    cache = ContentCache(folder=find_deployment().cache_dir)
    lines = check_release(tables, _floors(floors), hash_of=partial(cached_ast_hash, cache=cache))
    return {
        "release": tables.manifest.name,
        "passed": not any(line.status == FAIL for line in lines),
        "lines": [line.as_json() for line in lines],
    }


def _floors(settings: Sequence[str]) -> Floors:
    accepted = [f.name for f in fields(Floors)]
    values: dict[str, Any] = {}
    for setting in settings:
        name, _, number = setting.partition("=")
        try:
            values[name] = float(number)
        except ValueError as error:
            raise FoundryError(f"no number: {setting}; accepted: NAME=NUMBER") from error
        if name not in accepted:
            raise FoundryError(f"unknown limit: {name}; accepted: {', '.join(accepted)}")
    return Floors(**values)


def check_text(answer: Mapping[str, Any]) -> str:
    """Return the answer of `check_named` as text."""
    head = ("", "group", "check", "figure", "limit")
    rows = [(x["status"], x["group"], x["name"], x["figure"], x["limit"]) for x in answer["lines"]]
    states = [line["status"] for line in answer["lines"]]
    counts = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
    return "\n".join([*aligned_lines([head, *rows]), f"{answer['release']}: {counts}"])


def compare_named(one: str, other: str, *, trained: Sequence[str], out: Path | None) -> dict[str, Any]:
    """Compare two releases, and write the page.

    Args:   trained: predictors that are trained on each; out: file of the page, None for none.
    Raises: FoundryError: no such release, or the page cannot be written. ReleaseError: one is damaged.
            DatasetError: a predictor cannot be trained on one of them.
    """
    both = load_release(find_release(one)), load_release(find_release(other))
    errors = _errors(both[0], trained), _errors(both[1], trained)
    difference = compare_releases(*both, errors)
    if out is not None:
        try:
            write_bytes_atomically(out, draw_difference(difference).encode())
        except OSError as error:
            raise FoundryError(f"cannot write the page {out}: {error.strerror}") from error
    answer = difference.as_json()
    return answer | {"out": None if out is None else str(out), "lines": difference_lines(difference)}


def compare_text(answer: Mapping[str, Any]) -> str:
    """Return the answer of `compare_named` as text."""
    return "\n".join([*aligned_lines(answer["lines"]), *([answer["out"]] if answer["out"] else [])])


def _errors(tables: ReleaseTables, trained: Sequence[str]) -> list[PredictorError]:
    """Return the errors of predictors trained on a release, in a folder that is removed afterwards."""
    if not trained:
        return []
    split = tables["splits"].select("split").unique().sort("split").collect()["split"].to_list()[-1]
    errors: list[PredictorError] = []
    for name in trained:
        spec = predictor_named(name)
        with tempfile.TemporaryDirectory(prefix="simfoundry-diff-") as folder:
            outcome = spec.train(tables.folder, spec.options(split=split), folder=Path(folder) / "model")
        errors += [
            PredictorError(predictor=row.predictor, target=row.target, part=row.part, value=row.value)
            for row in outcome.leaderboard
            if row.metric == "mape" and row.value is not None
        ]
    return errors

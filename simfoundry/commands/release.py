"""`simfoundry release`, `release make` and `import`: what is asked, and the answers as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from assets.deployments import Deployment, find_deployment
from assets.errors import FoundryError
from assets.imported_programs import import_programs
from assets.labelled_tables import import_labelled_table
from assets.own_suites import TEST, TRAINING, ImportedSuite
from assets.progress import shown_progress
from assets.releases.importing import ImportedRelease, import_release, is_release
from assets.releases.reports import import_reports
from assets.releases.writing import release_tables
from pipelines.base.files import plain_json, read_bounded
from pipelines.base.identity import canonical_json
from pipelines.base.limited import reading
from pipelines.dataset.vendor import VendorReport, is_labelled_table, read_csynth, read_merlin
from simfoundry.commands.aligned import aligned_lines
from simfoundry.questions import ImportQuestion

REPORT_NAME = "csynth.xml"
DIRECTIVES_LIMIT_BYTES = 1 << 20
DIFFERENCES_SHOWN = 5
REASONS_SHOWN = 20
MEBIBYTE = 1 << 20


def release_project(
    name: str, *, source: Path | None, size_limit_mib: float, tables: Sequence[str] = ()
) -> dict[str, Any]:
    """Write a release of a project into its folder `releases`.

    Args:   source: folder of the project; None for the one of the working directory; tables: that it has,
            all for none.
    Raises: ReleaseError, FoundryError, SchemaError: see `release_tables`.
    """
    deployment = find_deployment(start=source)
    if source is not None and deployment.project != source.resolve():
        raise FoundryError(
            f"no project folder: {source} (--from); accepted: a folder with dvc.yaml and workspace.yaml"
        )
    written = release_tables(
        deployment,
        name,
        releases=find_deployment().project / "releases",
        tables=tables,
        size_limit_bytes=round(size_limit_mib * MEBIBYTE),
    )
    return {
        "release": name,
        "folder": str(written.folder),
        "bytes": written.bytes,
        "rows": dict(written.manifest.rows),
        "left_out": dict(written.manifest.left_out),
    }


def release_text(answer: Mapping[str, Any]) -> str:
    """Return the answer of `release_project` as text."""
    rows = [("table", "rows"), *((t, str(n)) for t, n in answer["rows"].items())]
    left = [f"{table} is left out: {why}" for table, why in answer["left_out"].items()]
    size = f"{answer['bytes'] / MEBIBYTE:.2f} MiB in {answer['folder']}"
    return "\n".join([*aligned_lines(rows), *left, size])


def make_text(answer: Mapping[str, Any]) -> str:
    """Return the answer of `make_release` or `make_derived` for a person."""
    lines = [f"made: {batch}" for batch in answer["made"]]
    if answer["pending"]:
        lines.append(f"pending: {', '.join(answer['pending'])}; the same command goes on with them")
    else:
        lines.append(f"{answer['release']} is complete: {answer['folder']}")
    return "\n".join([*lines, *answer["notes"]])


# ---- import ----------------------------------------------------------------------------------------


def import_path(path: Path, question: ImportQuestion) -> dict[str, Any]:
    """Import a release, labelled sources, results of other tools, or a collection of programs.

    Args:    path: folder of a release, a table, a report, or a folder with reports or programs below.
    Returns: what was imported.
    Raises:  FoundryError: it is none of these. ReleaseError, VendorError: it is not what it should be.
    """
    deployment = find_deployment()
    if not path.exists():
        raise FoundryError(f"no such file: {path}")
    if is_release(path):
        _refuse_options(question, path, "a release")
        return _release_answer(import_release(deployment, path))
    if is_labelled_table(path):
        _refuse_options(replace(question, suite=None), path, "a table of labelled sources")
        return suite_answer(
            import_labelled_table(deployment, path, path.stem if question.suite is None else question.suite)
        )
    if _has_programs(path, question):
        _refuse_options(replace(question, suite=None, list=None), path, "programs")
        with shown_progress() as progress:
            suite = path.resolve().name if question.suite is None else question.suite
            return suite_answer(
                import_programs(deployment, path, suite, listed=question.list, progress=progress)
            )
    _refuse_options(replace(question, kernels=None, kernel=None, directives=None), path, "reports")
    with reading(f"the reports {path}"):
        reports = _reports(path, question)
    return _reports_answer(deployment, reports, path)


def _has_programs(path: Path, question: ImportQuestion) -> bool:
    """Tell whether a folder is one of programs: it has no reports, or programs are asked for."""
    if not path.is_dir():
        return False
    if question.suite is not None or question.list is not None:
        return True
    return next(path.rglob(REPORT_NAME), None) is None and question.kernel is None


def _refuse_options(question: ImportQuestion, path: Path, what: str) -> None:
    options = [name for name, value in asdict(question).items() if value is not None]
    if options:
        raise FoundryError(f"option without effect for {what}: --{options[0]} ({path})")


def suite_answer(imported: ImportedSuite) -> dict[str, Any]:
    """Return what an import of labels or programs wrote; many reasons are cut to the first."""
    reasons = list(imported.reasons.items())
    what = "" if imported.programs else " labels"
    notes = [f"{count}{what}: {reason}" if what or count > 1 else reason for reason, count in reasons]
    if len(notes) > REASONS_SHOWN and imported.programs:
        query = f'simfoundry sql --suite {imported.suite} "FROM failures"'
        notes[REASONS_SHOWN:] = [f"and {len(notes) - REASONS_SHOWN} more: {query}"]
    return {
        "suite": imported.suite,
        "folder": str(imported.folder),
        "rows": dict(imported.rows),
        "statuses": dict(imported.statuses),
        "parts": dict(imported.parts),
        **({"programs": dict(imported.programs)} if imported.programs else {}),
        "notes": notes,
    }


def _reports(path: Path, question: ImportQuestion) -> list[VendorReport]:
    directives = None if question.directives is None else _directives(question.directives)
    if path.suffix == ".parquet" and path.is_file():
        return [read_merlin(path, kernels=question.kernels or _kernels_beside(path))]
    if path.is_dir():
        report_files = sorted(path.rglob(REPORT_NAME))
        if report_files:
            return [read_csynth(file, kernel=question.kernel, directives=directives) for file in report_files]
    elif path.suffix == ".xml":
        return [read_csynth(path, kernel=question.kernel, directives=directives)]
    raise FoundryError(
        "what is imported must be the folder of a release (with manifest.json), a .parquet database, a .xml "
        f"report, a folder with {REPORT_NAME} or C files below, or a .csv or .parquet table of labelled "
        f"sources, got {path}"
    )


def _kernels_beside(path: Path) -> Path | None:
    """Return the kernels' file beside a database: `x_designs.parquet` and `x_kernels.json`."""
    beside = path.with_name(f"{path.stem.removesuffix('_designs')}_kernels.json")
    return beside if beside.is_file() else None


def _directives(path: Path) -> str:
    content = read_bounded(path, what="directives", most_bytes=DIRECTIVES_LIMIT_BYTES, error=FoundryError)
    try:
        return canonical_json(plain_json(content.decode("utf-8")))
    except (ValueError, RecursionError) as error:
        raise FoundryError(f"directives must be JSON, got {error} ({path})") from error


def _release_answer(imported: ImportedRelease) -> dict[str, Any]:
    entries = imported.remembered
    notes = list(imported.notes)
    notes += [f"{count} {why}: not in the cache" for why, count in sorted(entries.other.items())]
    if entries.different:
        shown = "; ".join(entries.different[:DIFFERENCES_SHOWN])
        notes.append(
            f"{len(entries.different)} entries of the cache say something else than the release and were "
            f"left alone: {shown}"
        )
    return {
        "release": imported.name,
        "rows": imported.rows,
        "cache": {
            "stored": dict(sorted(entries.stored.items())),
            "present": dict(sorted(entries.present.items())),
        },
        "notes": notes,
    }


def _reports_answer(deployment: Deployment, reports: list[VendorReport], path: Path) -> dict[str, Any]:
    imported = import_reports(deployment, reports)
    replaced = {table: count for table, count in imported.replaced.items() if count}
    return {
        "source": str(path),
        "rows": dict(imported.rows),
        "statuses": dict(imported.statuses),
        "total": dict(imported.total),
        "notes": [f"{count} earlier rows of {table} were replaced" for table, count in replaced.items()],
    }


def import_text(answer: Mapping[str, Any]) -> str:
    """Return the answer of `import_path` as text."""
    lines = aligned_lines([("table", "rows"), *((t, str(n)) for t, n in answer["rows"].items())])
    for what, counts in answer.get("cache", {}).items():
        lines += [f"cache entries {what}: {', '.join(f'{n} {kind}' for kind, n in counts.items()) or 'none'}"]
    if "programs" in answer:
        lines.append("programs: " + ", ".join(f"{n} {status}" for status, n in answer["programs"].items()))
    if "statuses" in answer:
        what = "designs: " if "programs" in answer else ""
        counts = ", ".join(f"{n} {status}" for status, n in answer["statuses"].items())
        lines.append(what + counts if counts else "no designs")
    if "suite" in answer:
        parts = ", ".join(f"{n} {part}" for part, n in answer["parts"].items())
        lines.append(f"programs by part: {parts or 'none'}")
        if TRAINING in answer["parts"] and TEST in answer["parts"]:
            lines.append(f"train on it: simfoundry train tenset-mlp --suite {answer['suite']}")
    return "\n".join([*lines, *answer["notes"]])

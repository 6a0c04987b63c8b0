"""dvc.yaml, derived from the steps: `python -m assets.dvc_stages dvc.yaml`."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from assets.dvc_figures import FIGURES
from assets.engines import TOOLS_FILE
from assets.step import Step
from assets.steps import STEPS
from pipelines.schemas import table_spec, write_bytes_atomically

_HEADER = """\
# One stage per dataset, derived from assets/steps/ by `make docs`; edit the steps, not this file. A stage
# runs the functions behind Dagster assets, under params.yaml of `simfoundry run`. It depends on the version
# constants of its engines, not on their code. Trained figures differ between machines and have no hash in
# dvc.lock.
"""
_LABELLED = "programs"
"""Predictors that read this table are in the stage `models`; others have a stage of their dataset."""


def dvc_stages() -> dict[str, tuple[Step, ...]]:
    """Return the steps of every DVC stage, by its name."""
    stages: defaultdict[str, list[Step]] = defaultdict(list)
    for step in STEPS:
        if step.is_recorded:
            stages[_stage_of(step)].append(step)
    return {name: tuple(steps) for name, steps in stages.items()}


def _stage_of(step: Step) -> str:
    if step.is_locked or _LABELLED in step.reads:
        return step.stage
    return f"{table_spec(step.reads[0]).stage}_{step.stage}"


def dvc_yaml() -> str:
    """Return the text of dvc.yaml: the stages, and the figures that have no hash."""
    stages = dvc_stages()
    figures = [FIGURES[name] for name, steps in stages.items() if name in FIGURES and not _tables(steps)]
    content = {
        "stages": {name: _stage(name, steps) for name, steps in stages.items()},
        "metrics": [path for one in figures for path in one.metrics],
        "plots": [{path: dict(settings)} for one in figures for path, settings in one.plots.items()],
    }
    return _HEADER + yaml.safe_dump(content, sort_keys=False, width=110)


def _stage(name: str, steps: Sequence[Step]) -> dict[str, Any]:
    tables, persistent = _tables(steps), {table for step in steps for table in step.persist}
    named = name == steps[0].stage
    content: dict[str, Any] = {
        "cmd": f"simfoundry stage {name}" if named else [f"simfoundry stage {step.name}" for step in steps],
        "deps": [*_paths(_sources(steps)), *sorted({path for step in steps for path in step.files})],
        "params": [*dict.fromkeys(key for step in steps for key in step.parameters), *_versions(steps)],
    }
    if tables:
        paths = zip(tables, _paths(tables), strict=True)
        content["outs"] = [{path: {"persist": True}} if t in persistent else path for t, path in paths]
        content |= _figures(name)
    return content


def _tables(steps: Sequence[Step]) -> list[str]:
    """Return the tables that DVC records."""
    return list(dict.fromkeys(table for step in steps for table in step.recorded))


def _sources(steps: Sequence[Step]) -> list[str]:
    """Return the tables that steps read and do not write, without those that follow from another one."""
    own = {table for step in steps for table in step.tables}
    read = dict.fromkeys(table for step in steps for table in step.reads if table not in own)
    implied = {table_spec(table).hashes for table in read}
    return [table for table in read if table not in implied]


def _paths(tables: Sequence[str]) -> list[str]:
    return [f"data/tables/{table}" for table in tables]


def _versions(steps: Sequence[Step]) -> list[Mapping[str, list[str]]]:
    """Return the parameters from other files than params.yaml: version constants by module, and tools."""
    names: defaultdict[str, list[str]] = defaultdict(list)
    for constant in sorted({constant for step in steps for constant in step.constants}):
        names[constant.file].append(constant.name)
    tools = sorted({tool for step in steps for tool in step.tools})
    return [*({file: of} for file, of in names.items()), {TOOLS_FILE: tools}]


def _figures(stage: str) -> dict[str, Any]:
    figures = FIGURES.get(stage)
    if figures is None:
        return {}
    return {
        "metrics": list(figures.metrics),
        "plots": [{path: dict(settings)} for path, settings in figures.plots.items()],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the stages of dvc.yaml.")
    parser.add_argument("file", type=Path)
    write_bytes_atomically(parser.parse_args().file, dvc_yaml().encode())

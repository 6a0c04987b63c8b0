"""dvc.yaml, derived from the steps: `python -m assets.dvc_stages dvc.yaml`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import yaml

from assets.dvc_figures import FIGURES
from assets.steps import STAGES, steps_of

_HEADER = """\
# One stage per dataset, derived from assets/steps/ by `make docs`; edit the steps, not this file. A stage
# runs the function behind the Dagster assets of the same group, under params.yaml of `simfoundry run`.
"""


def dvc_yaml() -> str:
    """The text of dvc.yaml: a stage for every stage of steps whose tables DVC records."""
    stages = {name: stage for name in STAGES if (stage := _stage(name))}
    return _HEADER + yaml.safe_dump({"stages": stages}, sort_keys=False, width=110)


def _stage(name: str) -> dict[str, Any] | None:
    steps = [step for step in steps_of(name) if step.recorded]
    if not steps:
        return None
    outputs = list(dict.fromkeys(table for step in steps for table in step.recorded))
    inputs = dict.fromkeys(table for step in steps for table in step.reads if table not in outputs)
    persistent = {table for step in steps for table in step.persist}
    paths = {table: f"data/tables/{table}" for table in (*inputs, *outputs)}
    return {
        "cmd": f"simfoundry stage {name}",
        "deps": [
            *(paths[table] for table in inputs),
            *sorted({folder for step in steps for folder in step.code}),
        ],
        "params": list(dict.fromkeys(key for step in steps for key in step.parameters)),
        "outs": [{paths[t]: {"persist": True}} if t in persistent else paths[t] for t in outputs],
        **_figures(name),
    }


def _figures(name: str) -> dict[str, Any]:
    figures = FIGURES.get(name)
    if figures is None:
        return {}
    return {
        "metrics": list(figures.metrics),
        "plots": [{path: dict(settings)} for path, settings in figures.plots.items()],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the stages of dvc.yaml.")
    parser.add_argument("file", type=Path)
    parser.parse_args().file.write_text(dvc_yaml(), encoding="utf-8")

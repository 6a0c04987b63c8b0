"""Time of a refresh that finds nothing new, as the nightly job does it.

    .venv/bin/python -m tests.benchmarks.nightly_refresh [OVERRIDES]...

The function of the job runs twice in a project with an empty cache: first everything is new, then nothing.
Without overrides the configuration is that of scale smoke, with a sample that is made again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.screenshots import small_project

SCRIPT = """
import sys
from assets.configuration import compose_configuration
from assets.deployments import find_deployment
from assets.instance import open_instance
from assets.materialise import run_everything
from assets.refresh import read_refreshes
from assets.resources import ProgressResource
from pipelines.reports.refresh import summary

def main():
    deployment = find_deployment()
    with open_instance(deployment) as instance:
        report = run_everything(
            compose_configuration(sys.argv[1:]), deployment, instance=instance, progress=ProgressResource()
        )
    print("; ".join([summary(read_refreshes(deployment)[-1]), *report.problems, *report.notes]))

if __name__ == "__main__":  # workers import this file
    main()
"""


def main() -> None:
    """Print the time of both runs, start of Python included."""
    overrides = sys.argv[1:] or ["scale=smoke", "run.remade_fraction=0.01"]
    with small_project() as project, tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "job.py"
        script.write_text(SCRIPT)
        print("| run | elapsed, s | processor, s | what it did |\n| --- | --- | --- | --- |")
        for name in ("first", "nothing new"):
            before, started_s = os.times(), time.perf_counter()
            command = [sys.executable, str(script), *overrides]
            done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=True)
            elapsed_s, after = time.perf_counter() - started_s, os.times()
            used_s = sum(getattr(after, n) - getattr(before, n) for n in ("children_user", "children_system"))
            print(f"| {name} | {elapsed_s:.0f} | {used_s:.0f} | {done.stdout.splitlines()[-1]} |", flush=True)


if __name__ == "__main__":
    main()

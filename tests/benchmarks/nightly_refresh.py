"""Time of a refresh that finds nothing new, as the nightly job does it.

    .venv/bin/python -m tests.benchmarks.nightly_refresh [OVERRIDES]...

The function of the job runs three times in a clone with an empty cache: first everything is new, then
twice nothing is. Do not edit code meanwhile: a sample follows its changes.
Without overrides the configuration is that of scale smoke, with a sample that is made again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.harness import clone_project, print_header, print_row, timed

SCRIPT = """
import sys
from assets.configuration import compose_configuration
from assets.deployments import find_deployment
from assets.instance import open_instance
from assets.materialise import run_everything
from assets.refresh import read_refreshes
from assets.resources import ProgressResource
from pipelines.dataset.reports.refresh import summary

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
    """Print the time of the runs, start of Python included."""
    overrides = sys.argv[1:] or ["scale=smoke", "run.remade_fraction=0.01"]
    with tempfile.TemporaryDirectory() as folder:
        project, script = clone_project(Path(folder) / "project"), Path(folder) / "job.py"
        os.environ["SIMFOUNDRY_PROJECT"] = str(project)
        script.write_text(SCRIPT)
        print_header("run | elapsed, s | processor, s | what it did")
        for name in ("first", "second", "nothing new"):
            command = [sys.executable, str(script), *overrides]
            done, spent = timed(
                lambda argv=command: subprocess.run(
                    argv, cwd=project, capture_output=True, text=True, check=True
                )
            )
            print_row(name, f"{spent.wall_s:.0f}", f"{spent.processor_s:.0f}", done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()

"""Make the features of a finished release again, after a change of an estimate; its labels stay.

    python -m tests.benchmarks.release_features v2

Tables `features`, `loop_profiles` and `run_features` of every partition, some 0.5 s per design. What is done
stays in the cache of the project, so a call that was ended goes on. The release loses `baselines.json`:
publish them again.
"""

from __future__ import annotations

import argparse
import sys

from assets.configuration import read_parameters_file
from assets.deployments import find_deployment, writing_to
from assets.progress import shown_progress
from assets.releases.contents import ReleaseContents
from assets.releases.making import NO_LIMITS, ReleaseMaking
from assets.settings import Settings
from pipelines.dataset.releases import PARAMETERS_FILE, open_release
from pipelines.schemas import table_spec, write_arrow

TABLES = ("features", "loop_profiles", "run_features")


def main() -> None:
    """Make the tables and write the release."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("name")
    name = parser.parse_args().name
    deployment = find_deployment()
    folder = deployment.project / "releases" / name
    release, parameters = open_release(folder), folder / PARAMETERS_FILE
    settings = Settings(configuration=read_parameters_file(parameters), deployment=deployment)
    with writing_to(deployment.data_dir), shown_progress() as progress:
        making = ReleaseMaking(
            folder=folder,
            contents=ReleaseContents(settings=settings),
            parameters=parameters.read_bytes(),
            options=NO_LIMITS,
            progress=progress,
        )
        for table in release.tables():  # no import: the cache of labels is not needed
            spec = table_spec(table)
            for partition in release.partitions(table):
                if spec.has_measured:
                    times = release.times(table, partition)
                    write_arrow(deployment.data_dir, spec, times, partition, measured=True)
                write_arrow(deployment.data_dir, spec, release.arrow(table, partition), partition)
        making.restore()
        for table in TABLES:
            del making.contents.finished[table]
        making.run()
    sys.stdout.write("".join(f"{line}\n" for line in [*making.made, *making.notes, *making.problems]))
    raise SystemExit(bool(making.problems or making.contents.pending))


if __name__ == "__main__":
    main()

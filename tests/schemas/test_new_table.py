"""A releasable table with its step costs two files, which are found by themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from scratch_tree import copy_tree, run_script

ADDED = {
    "pipelines/schemas/meters.py": '''\
"""Table of readings of meters."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.schemas.columns import column, table


@table("meter_readings", stage="meters", checked_by={})
@dataclass(frozen=True, slots=True, kw_only=True)
class MeterReadingRow:
    """One reading of a meter."""

    meter: str = column("Name of the meter.", key=True)
    power_mw: float = column("Mean power.", unit="mW")
''',
    "assets/steps/meters.py": '''\
"""Step of the readings of meters."""

from __future__ import annotations

from assets.settings import Listener, Settings
from assets.step import Output, Step
from pipelines.schemas.meters import MeterReadingRow


def _read(settings: Settings, partition: str, listen: Listener) -> Output:
    return Output(rows={"meter_readings": [MeterReadingRow(meter="a", power_mw=2.5)]})


STEP = Step(name="meters", description="Read the meters.", run=_read, tables=("meter_readings",))
''',
}

USE = """\
import sys
from pathlib import Path

from assets.configuration import compose_configuration, write_parameters
from assets.deployments import local_deployment
from assets.dvc_stages import dvc_yaml
from assets.releases.writing import release_tables
from assets.settings import Settings
from assets.steps import step_named
from pipelines.schemas.documentation import tables_page
from simfoundry.commands.sql import run_query

deployment = local_deployment(Path(sys.argv[1]))
configuration = compose_configuration(())
write_parameters(deployment.project, configuration)
step_named("meters").make(Settings(configuration=configuration, deployment=deployment), "all")
print(run_query(deployment.data_dir, "SELECT meter, power_mw FROM meter_readings").rows)
release = release_tables(
    deployment, "meters", releases=deployment.project / "releases", tables=("meter_readings",)
)
print(dict(release.manifest.rows))
print("meters:" in dvc_yaml(), "## meter_readings" in tables_page())
"""


@pytest.mark.slow
def test_a_table_and_its_step_are_seen_by_sql_releases_dvc_and_docs(tmp_path: Path) -> None:
    tree, project = tmp_path / "tree", tmp_path / "project"
    copy_tree(tree, ADDED)
    project.mkdir()
    assert run_script(tree, USE, str(project)) == ["(('a', 2.5),)", "{'meter_readings': 1}", "True True"]
    assert (project / "releases/meters/tables/meter_readings/all-0000.parquet").is_file()

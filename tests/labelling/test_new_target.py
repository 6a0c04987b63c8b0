"""A target of labelling costs one file and one line of the registry."""

from __future__ import annotations

from pathlib import Path

import pytest
from scratch_tree import copy_tree, run_script

REGISTRY = "pipelines/dataset/labelling/registry.py"
LINE = "    PlacementTarget,\n"
IMPORT = "from pipelines.dataset.labelling.line_count import LineTarget\n"
ADDED = {
    "pipelines/dataset/labelling/line_count.py": '''\
"""Labels of the size of Verilog: a row of their own in table `labels`, of tool `line-count`."""

from __future__ import annotations

from collections.abc import Callable

from pipelines.base.identity import content_hash
from pipelines.dataset.labelling.options import LabelContext
from pipelines.dataset.labelling.synthesis import HasVerilog, LabelFigures
from pipelines.dataset.labelling.targets import SecondTarget
from pipelines.schemas import OK, DesignRow

_VERSION = 1


class LineTarget(SecondTarget):
    """Count of lines."""

    name = "line-count"
    constants = ("pipelines/dataset/labelling/line_count.py:_VERSION",)
    kind = "line_count"
    title = "line count"
    library = "text"

    def version(self) -> str:
        return str(_VERSION)

    def key(self, design: DesignRow, context: LabelContext) -> str:
        return content_hash(design.rtl_sha256, _VERSION)

    def make(self, design: DesignRow, rtl: Callable[[], HasVerilog], context: LabelContext) -> LabelFigures:
        return LabelFigures(status=OK, reason=None, cell_count=len(rtl().verilog.splitlines()))
''',
}
USE = """\
import sys
from pathlib import Path

from assets.configuration import compose_configuration, write_parameters
from assets.deployments import local_deployment
from assets.label_settings import label_options
from assets.settings import Settings
from assets.step import read_rows
from assets.steps import step_named
from pipelines.dataset.labelling import LabelTables, label_targets, target_versions
from simfoundry.commands.sql import run_query

deployment = local_deployment(Path(sys.argv[1]))
few = ("programs.suites=[ast]", "ast.count=1", "hls.memory_delay=[2]", "hls.pipeline=[false]")
fast = ("synthesis.fraction=0", "labelling.audit_fraction=0", "run.workers=1")
configuration = compose_configuration((*few, *fast, "synthesis.tools=[pyosys,line-count]"))
write_parameters(deployment.project, configuration)
settings = Settings(configuration=configuration, deployment=deployment)
for name in ("programs", "designs", "labels"):
    step_named(name).make(settings, "ast")
query = "SELECT tool, status, cell_count > 9 FROM labels ORDER BY tool"
print(run_query(deployment.data_dir, query).rows)
designs, labels = (read_rows(settings, table, "ast") for table in ("designs", "labels"))
options = label_options(settings)
for present in (labels, [row for row in labels if row.tool != "line-count"]):
    tables = LabelTables(labels=present)
    print([t.name for t in label_targets(options) if t.lacking(designs, tables, options)])
print(target_versions(options)["line-count"])
print([c.name for c in step_named("labels").constants if c.file.endswith("line_count.py")])
print([f.name for f in (deployment.cache_dir / "line_count").iterdir()] != [])
"""


@pytest.mark.slow
def test_a_target_is_labelled_missed_versioned_and_seen_by_sql(tmp_path: Path) -> None:
    tree, project = tmp_path / "tree", tmp_path / "project"
    copy_tree(tree, ADDED)
    registry = (tree / REGISTRY).read_text()
    assert LINE in registry
    text = registry.replace(LINE, f"{LINE}    LineTarget,\n")
    (tree / REGISTRY).write_text(
        text.replace(
            "from pipelines.dataset.labelling.options", f"{IMPORT}from pipelines.dataset.labelling.options", 1
        )
    )
    project.mkdir()
    assert run_script(tree, USE, str(project)) == [
        "(('line-count', 'ok', True), ('pyosys', 'ok', None))",
        "[]",
        "['line-count']",
        "1",
        "['_VERSION']",
        "True",
    ]

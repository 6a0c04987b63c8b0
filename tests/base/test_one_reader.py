"""Every file that a person names is opened by `pipelines.base.files`; a table here has other openings."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("pipelines", "assets", "models", "simfoundry")
READER = "pipelines/base/files.py"

OPENING = {"open", "read_text", "read_bytes", "ParquetFile", "read_table", "read_metadata", "read_schema"}
LIBRARIES = {"pl": ("read_", "scan_"), "onnx": ("load",), "yaml": ("load", "safe_load", "full_load")}
"""Functions of a library that read a file, or make a value of a foreign text, by their first letters."""
OURS = {"files", "schemas", "programs"}
"""Names before the dot that lead to the reader or to checked tables."""
REASONS = {
    "a file of the project or of an installed package": """
        assets/composition.py default_content
        assets/configuration.py configuration_model
        assets/engines.py Constant.read training_engine
        assets/figures.py read_figures
        assets/front_page.py main
        assets/language_models.py read_prompt
        assets/mlflow_app.py first_page
        models/queue_correction/wait_law.py _tables
        pipelines/accelerators/dataset.py exported_hash
        pipelines/accelerators/fixed/tracing.py _Library.__init__
        pipelines/accelerators/networks.py exported_network
        pipelines/accelerators/systolic/verilog.py _library
        pipelines/base/compiling.py compiled_program
        pipelines/cyclemodel/program.py _prelude
        pipelines/dataset/features/activity.py toggle_energies
        pipelines/dataset/features/assumed.py toggle_densities
        pipelines/c/text/headers.py _own_pattern library_functions
        pipelines/hls/operators.py _delays_text
        pipelines/c/text/preprocess.py library_definitions
        pipelines/hls/units/catalogue.py _module_text
        pipelines/hls/units/timing.py _table
        pipelines/native/runner.py _Session._library
        pipelines/network/compiled.py kernels
        pipelines/network/simulation/ns3.py _build_id _debian
        pipelines/pragmas/bound/target.py _text
        simfoundry/site/notebooks.py write_notebook
        simfoundry/site/pages.py _title _write_page navigation
        pipelines/programs/evaluation/programs.py frozen_hashes modern_program modern_workloads
        pipelines/programs/evaluation/programs.py stationary_program
        pipelines/programs/machsuite_catalogue.py _text
        pipelines/programs/polybench_catalogue.py _inlined
        pipelines/programs/rows.py _kernel_text
        pipelines/dataset/reports/difference.py _drawing_file
        pipelines/dataset/reports/refresh.py _drawing_file
        pipelines/dataset/reports/report.py _file
        pipelines/rtl/reuse/building.py headers
        pipelines/rtl/reuse/designs.py _template
        pipelines/silicon/synthesis/design.py _files
        pipelines/silicon/synthesis/recount.py cell_models recount_cells
        pipelines/silicon/synthesis/yosys.py constant_multiply_map
    """,
    "a table, cache entry or model that the project writes; hash or schema is checked": """
        assets/configuration.py write_parameters
        assets/dagster_assets.py _counted_rows
        assets/replaced_tables.py _rows keep_tables
        assets/engines.py recorded_tools write_tools
        assets/materialise.py row_counts
        assets/overview.py survey
        assets/growth.py _read_counts
        assets/refresh.py read_refreshes state_hash
        assets/catalogue.py Catalogue._put
        assets/iceberg_tables.py data_file_of
        assets/shared_tables.py scan_shared
        assets/step.py unchanged_rows
        assets/versions.py _hash _load_yaml
        models/conformance.py check_costs check_repetition
        models/local_registry.py registry_state
        models/model_files.py read_outcome
        models/program_lm/training.py trained_model
        models/tasks.py hash_tables
        pipelines/dataset/records/records.py cached_records
        pipelines/dataset/releases/baselines.py read_valid_baselines
        pipelines/dataset/releases/loading.py ReleaseTables._rows _schema
        pipelines/dataset/releases/reading.py _check_size
        pipelines/dataset/releases/writing.py _Shelf._reusable_bytes
        pipelines/dataset/reports/refresh.py _same compare_tables
        pipelines/dataset/reports/tables.py _fingerprint _read_shard
        pipelines/schemas/storage.py read_arrow
        pipelines/base/identity.py file_sha256
        pipelines/base/sealing.py build_once read_sealed
        assets/releases/batches.py read_configuration
        assets/releases/contents.py digest_of
        simfoundry/commands/sql.py _damage
        simfoundry/commands/score.py ModelContent.of
        simfoundry/commands/score_release.py _subject
        models/scoring/worker.py answer main
        assets/steps/predictors.py _trained_files
        simfoundry/commands/team_servers.py Secrets.of
    """,
    "the kernel's own file": """
        assets/deployments.py _locks
        assets/instance.py _boot _start_time
        pipelines/base/parquet_worker.py decode
        pipelines/base/sandbox/guardian.py end_marked
        pipelines/base/processes.py _children _process_bytes _process_ticks
        pipelines/rtl/reuse/dataset.py machine
        pipelines/base/sandbox/confinement.py is_real_root
        simfoundry/commands/doctor.py _available_gib
    """,
    "written, not read": """
        assets/notices.py _post
        pipelines/network/traffic/traces.py write_trace
        pipelines/rtl/reuse/waveform.py write_vcd
        pipelines/base/sandbox/confinement.py _pipe
        simfoundry/cli/options.py explained.run
        simfoundry/commands/node.py serve_node _wait_ready
        simfoundry/commands/supervision.py Server.start Servers.polls
    """,
    "bytes or an open file that the reader gave": """
        pipelines/onnx_models/reading.py _parsed
        pipelines/base/parquet_files.py open_parquet
        pipelines/base/sandbox/limits.py read_output
    """,
    "output of a confined tool or of a program that the project built, in a folder of its own": """
        pipelines/bambu/runner.py run_bambu
        pipelines/circt/compilation.py Session.stage
        pipelines/circt/worker.py -
        pipelines/cyclemodel/control.py _run
        pipelines/cyclemodel/runner.py run_model
        pipelines/fabric/simulation.py simulate
        pipelines/network/simulation/engine.py run_program
        pipelines/power/estimate.py run_engine
        pipelines/power/opensta.py _run
        pipelines/rtl/reuse/arc_engine.py build_arc
        pipelines/rtl/reuse/arc_worker.py -
        pipelines/rtl/reuse/auditing.py simulate_by
        pipelines/rtl/simulation/icarus.py simulate_with_icarus
        pipelines/rtl/simulation/verilator.py simulate_design
        pipelines/silicon/siliconcompiler/runner.py _outcome
        pipelines/silicon/synthesis/worker.py - run_commands
    """,
    "no file: a method of this name": """
        pipelines/c/analysis/simplify.py _Forward.branch _Forward.conditional
    """,
}
"""Functions that open files without the reader, by file, under the reason. `-` is a module's own body."""


def _opens(node: ast.Call) -> bool:
    function = node.func
    if isinstance(function, ast.Name):
        return function.id in {"open", "ParquetFile"}
    if not isinstance(function, ast.Attribute):
        return False
    before = function.value.id if isinstance(function.value, ast.Name) else ""
    if before in LIBRARIES:
        return function.attr.startswith(LIBRARIES[before])
    return function.attr in OPENING and before not in OURS


def _calls(path: Path) -> Iterator[str]:
    """Names of the functions, with their classes, whose bodies open a file."""
    scope: list[str] = []

    def walk(node: ast.AST) -> Iterator[str]:
        is_scope = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        if is_scope:
            scope.append(node.name)
        if isinstance(node, ast.Call) and _opens(node):
            yield ".".join(scope)
        for child in ast.iter_child_nodes(node):
            yield from walk(child)
        if is_scope:
            scope.pop()

    yield from walk(ast.parse(path.read_text("utf-8")))


def test_other_openings_of_files_stand_in_the_table() -> None:
    paths = (path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")))
    names = {str(path.relative_to(ROOT)): {name or "-" for name in _calls(path)} for path in paths}
    lines = (line.split() for text in REASONS.values() for line in text.strip().splitlines())
    accepted = {(file, name) for file, *functions in lines for name in functions}
    opening = {(file, name) for file, functions in names.items() if file != READER for name in functions}
    assert sorted(opening - accepted) == [], "open these by pipelines.base.files, or give a reason in REASONS"
    assert sorted(accepted - opening) == [], "these open no file any more"


def test_an_opening_is_seen_whatever_it_is_called(tmp_path: Path) -> None:
    calls = (
        "open(p)",
        "p.open()",
        "p.read_text()",
        "os.open(p, 0)",
        "pl.read_csv(p)",
        "pl.scan_parquet(p)",
        "pq.read_table(p)",
        "onnx.load(p)",
        "yaml.safe_load(t)",
        "pq.ParquetFile(p)",
    )
    for number, call in enumerate(calls):
        (tmp_path / f"{number}.py").write_text(f"def f{number}():\n    {call}\n")
        assert list(_calls(tmp_path / f"{number}.py")) == [f"f{number}"]

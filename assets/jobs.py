"""Asset jobs: the tables of one suite, the split and the report over all suites, the tables of one group of
networks, their correction in the registry, searches for directives, the predictors, and the page of it all.
"""

from __future__ import annotations

import dagster as dg

from assets.partitions import BY_GROUP, BY_SUITE
from assets.stages import STEPS, step_named

suite_tables = dg.define_asset_job(
    "suite_tables",
    selection=dg.AssetSelection.assets(*[t for s in STEPS if s.partitioned == BY_SUITE for t in s.tables]),
    description="Programs, designs, labels and features of one suite.",
)

split_table = dg.define_asset_job(
    "split_table",
    selection=dg.AssetSelection.assets(*step_named("splits").tables),
    description="The frozen split over the programs of all suites.",
)

report_table = dg.define_asset_job(
    "report_table",
    selection=dg.AssetSelection.assets(*step_named("stage_reports").tables),
    description="What each stage of generation gave, over the programs of all suites.",
)

record_table = dg.define_asset_job(
    "record_table",
    selection=dg.AssetSelection.assets(*step_named("records").tables),
    description="Labelled designs of all suites as text for language models.",
)

network_tables = dg.define_asset_job(
    "network_tables",
    selection=dg.AssetSelection.assets(*[t for s in STEPS if s.partitioned == BY_GROUP for t in s.tables]),
    description="Runs, flows and hops of one group of simulated networks.",
)

network_model = dg.define_asset_job(
    "network_model",
    selection=dg.AssetSelection.assets("queue_correction"),
    description="The correction of networks' latencies in the model registry.",
)

pragma_table = dg.define_asset_job(
    "pragma_table",
    selection=dg.AssetSelection.assets(*step_named("pragmas").tables),
    description="Searches for directives: each design that was tried.",
)

predictors = dg.define_asset_job(
    "predictors",
    selection=dg.AssetSelection.assets(*step_named("models").tables),
    description="Predictors trained on the tables of all suites, and the leaderboard.",
)

report_page = dg.define_asset_job(
    "report_page",
    selection=dg.AssetSelection.assets("report"),
    description="The page of all tables.",
)

ASSET_JOBS = [
    suite_tables,
    split_table,
    report_table,
    record_table,
    network_tables,
    network_model,
    pragma_table,
    predictors,
    report_page,
]

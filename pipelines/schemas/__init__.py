"""Every table of the foundry, one module per stage, found automatically: a new module needs no edit here.

Belongs here: row classes, their units and descriptions, and what derives from them. Does not: the
engines that fill them.
"""

import pkgutil
from importlib import import_module

from pipelines.schemas.accelerators import (
    AcceleratorLabelRow,
    AcceleratorRow,
    CompiledNetworkRow,
    FixedNetworkRow,
)
from pipelines.schemas.columns import (
    INFEASIBLE,
    LEVELS,
    OK,
    REJECTED,
    STATUSES,
    TIMEOUT,
    TOOL_ERROR,
    ColumnSpec,
    Reference,
    SchemaError,
    TableSpec,
    is_lasting,
    table_spec,
    tables_of_role,
    unknown_table,
)
from pipelines.schemas.designs import CdfgEdgeRow, CdfgNodeRow, DesignRow, DirectiveOutcomeRow, LoopRow
from pipelines.schemas.fabric import FabricEdgeRow, FabricGraphRow, FabricNodeRow, PlacementRow
from pipelines.schemas.features import BOUNDS, FeatureRow, LoopProfileRow, RunFeatureRow
from pipelines.schemas.labels import (
    CROSS_CHECKS,
    DATA_KINDS,
    DRAWN,
    CrossCheckRow,
    InputRow,
    LabelRow,
    LoopRunRow,
    RunRow,
)
from pipelines.schemas.leaderboard import (
    LEADERBOARD_METRICS,
    LeaderboardRow,
    PredictorCostRow,
    PromotionRow,
    WorkloadErrorRow,
)
from pipelines.schemas.network import NetworkFlowRow, NetworkHopRow, NetworkRunRow
from pipelines.schemas.pragmas import PragmaDesignRow
from pipelines.schemas.programs import ProgramFactsRow, ProgramRow, SplitRow, StageReportRow
from pipelines.schemas.records import FORMATS, RecordRow
from pipelines.schemas.simulations import SimulationRow
from pipelines.schemas.storage import (
    conform,
    fill_columns,
    from_frame,
    is_readable,
    read_arrow,
    read_table,
    scan_table,
    table_path,
    to_frame,
    write_arrow,
    write_bytes_atomically,
    write_table,
)
from pipelines.schemas.vendor import VendorDesignRow, VendorLoopRow

__all__ = [
    "BOUNDS",
    "CROSS_CHECKS",
    "DATA_KINDS",
    "DRAWN",
    "FORMATS",
    "INFEASIBLE",
    "LEADERBOARD_METRICS",
    "LEVELS",
    "OK",
    "REJECTED",
    "STATUSES",
    "TIMEOUT",
    "TOOL_ERROR",
    "AcceleratorLabelRow",
    "AcceleratorRow",
    "CdfgEdgeRow",
    "CdfgNodeRow",
    "ColumnSpec",
    "CompiledNetworkRow",
    "CrossCheckRow",
    "DesignRow",
    "DirectiveOutcomeRow",
    "FabricEdgeRow",
    "FabricGraphRow",
    "FabricNodeRow",
    "FeatureRow",
    "FixedNetworkRow",
    "InputRow",
    "LabelRow",
    "LeaderboardRow",
    "LoopProfileRow",
    "LoopRow",
    "LoopRunRow",
    "NetworkFlowRow",
    "NetworkHopRow",
    "NetworkRunRow",
    "PlacementRow",
    "PragmaDesignRow",
    "PredictorCostRow",
    "ProgramFactsRow",
    "ProgramRow",
    "PromotionRow",
    "RecordRow",
    "Reference",
    "RunFeatureRow",
    "RunRow",
    "SchemaError",
    "SimulationRow",
    "SplitRow",
    "StageReportRow",
    "TableSpec",
    "VendorDesignRow",
    "VendorLoopRow",
    "WorkloadErrorRow",
    "conform",
    "fill_columns",
    "from_frame",
    "is_lasting",
    "is_readable",
    "read_arrow",
    "read_table",
    "scan_table",
    "table_path",
    "table_spec",
    "tables_of_role",
    "to_frame",
    "unknown_table",
    "write_arrow",
    "write_bytes_atomically",
    "write_table",
]

for _module in pkgutil.iter_modules(__path__):
    if _module.name != "documentation":  # reads this package, and is a program
        import_module(f"{__name__}.{_module.name}")

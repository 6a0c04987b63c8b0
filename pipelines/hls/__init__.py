"""High-level synthesis: structured IR to scheduled hardware in Verilog.

Transformations, list and modulo scheduling, binding, Verilog. C is read by `pipelines.c`. Outside this
package only the names below are used.
"""

from pipelines.c.engine import TOOL, tool_version
from pipelines.hls.compiler import (
    CompiledDesign,
    HlsOptions,
    check_program,
    compile_program,
    innermost_loops,
)
from pipelines.hls.design import BoundUnit, ScheduledDesign, symbol_places, units_by_operation
from pipelines.hls.lowering import store_initial_values
from pipelines.hls.mapping_space import ArraySpace, LoopSpace, MappingSpace, mapping_space
from pipelines.hls.narrowing import used_bits
from pipelines.hls.operators import (
    CLASS_WIDTHS_BITS,
    LIMITED_CLASSES,
    constant_factor,
    delay_library,
    later_delays,
    measured_files,
    measured_libraries,
    signed_digit_count,
)
from pipelines.hls.plan import TransformOptions, transform
from pipelines.hls.report import area_parts
from pipelines.hls.rows import design_id, design_row, options_of, outcome_rows, program_rules
from pipelines.hls.rules import later_rules
from pipelines.hls.schedule import BlockSchedule, closing_values
from pipelines.hls.units.catalogue import FunctionalUnit
from pipelines.hls.units.timing import family, unit_timing
from pipelines.hls.verilog import block_writers
from pipelines.hls.verilog_values import BlockWriter

__all__ = [
    "CLASS_WIDTHS_BITS",
    "LIMITED_CLASSES",
    "TOOL",
    "ArraySpace",
    "BlockSchedule",
    "BlockWriter",
    "BoundUnit",
    "CompiledDesign",
    "FunctionalUnit",
    "HlsOptions",
    "LoopSpace",
    "MappingSpace",
    "ScheduledDesign",
    "TransformOptions",
    "area_parts",
    "block_writers",
    "check_program",
    "closing_values",
    "compile_program",
    "constant_factor",
    "delay_library",
    "design_id",
    "design_row",
    "family",
    "innermost_loops",
    "later_delays",
    "later_rules",
    "mapping_space",
    "measured_files",
    "measured_libraries",
    "options_of",
    "outcome_rows",
    "program_rules",
    "signed_digit_count",
    "store_initial_values",
    "symbol_places",
    "tool_version",
    "transform",
    "unit_timing",
    "units_by_operation",
    "used_bits",
]

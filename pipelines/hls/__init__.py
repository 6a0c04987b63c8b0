"""High-level synthesis: C to scheduled hardware in Verilog.

C front end, structured IR, control/data-flow graph, list and modulo scheduling, binding, Verilog. Outside
this package only the names below are used.
"""

from pipelines.hls import cdfg, ir
from pipelines.hls.argument_sizes import derive_sizes, read_with_sizes, sizes_text
from pipelines.hls.arithmetic import make_binary, truth_value
from pipelines.hls.compiler import (
    TOOL,
    CompiledDesign,
    HlsOptions,
    check_program,
    compile_program,
    innermost_loops,
    read_program,
    tool_version,
)
from pipelines.hls.design import BoundUnit, ScheduledDesign, symbol_places, units_by_operation
from pipelines.hls.directives import directive_json, directives_json, parse_directives, pragma_of
from pipelines.hls.errors import HlsError, UnsizedArgument
from pipelines.hls.frontend import (
    interface_of,
    read_function,
    read_interface,
    require_outputs,
    require_result,
)
from pipelines.hls.ir import Directive, Function
from pipelines.hls.linking import function_files, object_files, skipped_files
from pipelines.hls.lowering import store_initial_values
from pipelines.hls.mapping_space import ArraySpace, LoopSpace, MappingSpace, mapping_space
from pipelines.hls.narrowing import used_bits
from pipelines.hls.number_lists import parse_text
from pipelines.hls.operators import constant_factor, delay_library, signed_digit_count
from pipelines.hls.plain_arguments import with_plain_arguments
from pipelines.hls.plan import TransformOptions, tidy, transform
from pipelines.hls.preprocess import (
    BYTE_ORDER_MARK,
    SOURCE_LIMIT_BYTES,
    bundle_source,
    default_top,
    is_own_header,
)
from pipelines.hls.preprocess import preprocess as preprocess_source
from pipelines.hls.rows import design_id, design_row, options_of, outcome_rows, program_rules
from pipelines.hls.rules import later_rules
from pipelines.hls.schedule import BlockSchedule, closing_values
from pipelines.hls.transforms.copying import FreshNames, fresh_names, leaves_outward
from pipelines.hls.transforms.liveness import Liveness, live_after
from pipelines.hls.units.catalogue import FunctionalUnit
from pipelines.hls.units.timing import family, unit_timing
from pipelines.hls.verilog import block_writers
from pipelines.hls.verilog_values import BlockWriter

__all__ = [
    "BYTE_ORDER_MARK",
    "SOURCE_LIMIT_BYTES",
    "TOOL",
    "ArraySpace",
    "BlockSchedule",
    "BlockWriter",
    "BoundUnit",
    "CompiledDesign",
    "Directive",
    "FreshNames",
    "Function",
    "FunctionalUnit",
    "HlsError",
    "HlsOptions",
    "Liveness",
    "LoopSpace",
    "MappingSpace",
    "ScheduledDesign",
    "TransformOptions",
    "UnsizedArgument",
    "block_writers",
    "bundle_source",
    "cdfg",
    "check_program",
    "closing_values",
    "compile_program",
    "constant_factor",
    "default_top",
    "delay_library",
    "derive_sizes",
    "design_id",
    "design_row",
    "directive_json",
    "directives_json",
    "family",
    "fresh_names",
    "function_files",
    "innermost_loops",
    "interface_of",
    "ir",
    "is_own_header",
    "later_rules",
    "leaves_outward",
    "live_after",
    "make_binary",
    "mapping_space",
    "object_files",
    "options_of",
    "outcome_rows",
    "parse_directives",
    "parse_text",
    "pragma_of",
    "preprocess_source",
    "program_rules",
    "read_function",
    "read_interface",
    "read_program",
    "read_with_sizes",
    "require_outputs",
    "require_result",
    "signed_digit_count",
    "sizes_text",
    "skipped_files",
    "store_initial_values",
    "symbol_places",
    "tidy",
    "tool_version",
    "transform",
    "truth_value",
    "unit_timing",
    "units_by_operation",
    "used_bits",
    "with_plain_arguments",
]

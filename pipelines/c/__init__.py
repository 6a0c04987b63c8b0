"""C programs: their text, the structured IR that it is read to, and analyses of the IR.

Preprocessing and linking (`text`), reading (`reading`, `frontend`), the IR and the control/data-flow graph,
affine forms, intervals, trip counts and liveness (`analysis`). Nothing here compiles.
"""

from pipelines.c import cdfg, ir
from pipelines.c.analysis.copying import FreshNames, fresh_names, leaves_outward
from pipelines.c.analysis.liveness import Liveness, live_after
from pipelines.c.analysis.simplify import tidy
from pipelines.c.argument_sizes import derive_sizes, read_with_sizes, sizes_text
from pipelines.c.arithmetic import make_binary, truth_value
from pipelines.c.directives import directive_json, directives_json, parse_directives, pragma_of
from pipelines.c.engine import TOOL, check_timing, tool_version
from pipelines.c.errors import HlsError, UnsizedArgument
from pipelines.c.frontend import interface_of, read_function, read_interface, require_outputs, require_result
from pipelines.c.ir import Directive, Function
from pipelines.c.plain_arguments import with_plain_arguments
from pipelines.c.text.linking import function_files, object_files, skipped_files
from pipelines.c.text.number_lists import parse_text
from pipelines.c.text.preprocess import (
    BYTE_ORDER_MARK,
    SOURCE_LIMIT_BYTES,
    bundle_source,
    default_top,
    is_own_header,
)
from pipelines.c.text.preprocess import preprocess as preprocess_source

__all__ = [
    "BYTE_ORDER_MARK",
    "SOURCE_LIMIT_BYTES",
    "TOOL",
    "Directive",
    "FreshNames",
    "Function",
    "HlsError",
    "Liveness",
    "UnsizedArgument",
    "bundle_source",
    "cdfg",
    "check_timing",
    "default_top",
    "derive_sizes",
    "directive_json",
    "directives_json",
    "fresh_names",
    "function_files",
    "interface_of",
    "ir",
    "is_own_header",
    "leaves_outward",
    "live_after",
    "make_binary",
    "object_files",
    "parse_directives",
    "parse_text",
    "pragma_of",
    "preprocess_source",
    "read_function",
    "read_interface",
    "read_with_sizes",
    "require_outputs",
    "require_result",
    "sizes_text",
    "skipped_files",
    "tidy",
    "tool_version",
    "truth_value",
    "with_plain_arguments",
]

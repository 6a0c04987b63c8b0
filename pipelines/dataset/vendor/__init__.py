"""Results of vendors' tools, read from files that others made.

Belongs here: one module a format, each from a file to rows of `vendor_designs` and `vendor_loops`. Does not:
running a vendor's tool, or where rows are kept. Outside this package only the names below are used.
"""

from pipelines.dataset.vendor.csynth import VendorReport, read_csynth
from pipelines.dataset.vendor.errors import VendorError
from pipelines.dataset.vendor.labelled import LabelledSource, is_labelled_table, read_labelled_table
from pipelines.dataset.vendor.merging import merge_rows
from pipelines.dataset.vendor.merlin import read_merlin

__all__ = [
    "LabelledSource",
    "VendorError",
    "VendorReport",
    "is_labelled_table",
    "merge_rows",
    "read_csynth",
    "read_labelled_table",
    "read_merlin",
]

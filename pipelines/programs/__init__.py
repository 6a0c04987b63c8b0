"""Programs: C source with its top function and the specification of its input data.

Belongs here: the kernels, user programs, and the data they are run on. Does not: reading C (the
HLS front end does), or running it.
"""

from pipelines.programs.catalogue import SIZES, SUITES
from pipelines.programs.data import data_id, draw_data, load_data
from pipelines.programs.errors import ProgramError
from pipelines.programs.rows import kernel_programs, program_from_file

__all__ = [
    "SIZES",
    "SUITES",
    "ProgramError",
    "data_id",
    "draw_data",
    "kernel_programs",
    "load_data",
    "program_from_file",
]

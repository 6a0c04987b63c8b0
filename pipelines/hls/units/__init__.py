"""Functional units of generated hardware: their Verilog and what a scheduler must know of them.

Belongs here: the text of each unit type (`*.v`), its ports and latency (`catalogue.py`). Does not: which
operation uses which instance, and when.
"""

from pipelines.hls.units.int32 import (
    constant_divider_instance as constant_divider_instance,
)
from pipelines.hls.units.int32 import (
    division_constants as division_constants,
)
from pipelines.hls.units.int32 import (
    unit_modules as unit_modules,
)

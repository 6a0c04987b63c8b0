"""When two values of a data set are the same.

Floating values are compared as bits: 0.0 and -0.0 differ. But IEEE 754 leaves the sign and the payload of a
result that is not a number open, and a C compiler may swap the operands that decide them. So all such values
count as one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def canonical_values(values: NDArray[Any]) -> NDArray[Any]:
    """The values, with each one that is not a number replaced by the positive quiet NaN without payload."""
    if values.dtype.kind != "f" or not np.isnan(values).any():
        return values
    return np.where(np.isnan(values), np.array(np.nan, values.dtype), values)


def same_values(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Whether two arrays have the same type, shape and values, as bits but for what is not a number."""
    return (
        first.dtype == second.dtype
        and first.shape == second.shape
        and canonical_values(first).tobytes() == canonical_values(second).tobytes()
    )

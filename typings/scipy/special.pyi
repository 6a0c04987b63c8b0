# The part of scipy.special that the project calls.

import numpy as np
from numpy.typing import NDArray

def gammaincinv(a: NDArray[np.float64], y: float | NDArray[np.float64]) -> NDArray[np.float64]: ...

"""The exception of this package."""


class AcceleratorError(ValueError):
    """A hardware configuration, a network or an operator is not accepted."""

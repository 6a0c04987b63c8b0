# The library has no types: whatever comes from it is Any. Strict checking applies to our own code.
from typing import Any

def __getattr__(name: str) -> Any: ...

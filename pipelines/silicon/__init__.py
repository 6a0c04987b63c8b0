"""Logic synthesis to standard cells and FPGAs, and placed cells."""

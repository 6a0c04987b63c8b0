"""Power of a mapped netlist on given data: switching activity, and energies by the liberty tables."""

"""More than one machine: Ray works on the items of steps; an object store and a catalogue hold tables.

Nothing under `pipelines/` imports this package. Its libraries come with the extra `cluster`.
"""

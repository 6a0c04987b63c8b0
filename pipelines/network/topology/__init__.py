"""Networks as queues: fat-trees of three and two tiers, and any graph from a file.

Belongs here: which nodes and links there are. Does not: which way a flow takes (`routing`), what it
carries (`traffic`).
"""

from pipelines.network.topology.drawn import FAMILIES, DrawnNetwork, drawn_network
from pipelines.network.topology.fat_tree import FatTree, TwoTierTree, fat_tree, two_tier_tree
from pipelines.network.topology.files import read_topology
from pipelines.network.topology.graph import Link, Topology, topology_of_links

__all__ = [
    "FAMILIES",
    "DrawnNetwork",
    "FatTree",
    "Link",
    "Topology",
    "TwoTierTree",
    "drawn_network",
    "fat_tree",
    "read_topology",
    "topology_of_links",
    "two_tier_tree",
]

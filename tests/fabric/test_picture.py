"""The picture of a placed graph: valid XML, names as text, and classes by load."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import pytest
from defusedxml.ElementTree import fromstring

from pipelines.fabric import Edge, Fabric, Graph, Node, OperationRate
from pipelines.fabric.picture import LOAD_COLOURS, load_class, placement_picture

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</text><script>alert('x')</script> & \"quoted\" \x01\x0b"
FABRIC = Fabric(
    name="one row",
    rows=1,
    columns=3,
    pattern=("MCM",),
    link_words=4,
    port_words=8,
    memory_slots=4,
    operations={
        "gemm": OperationRate(unit="compute", rate=64),
        "buffer": OperationRate(unit="memory", rate=16),
    },
)


def graph(first: str = "x") -> Graph:
    nodes = [Node(name=first, kind="buffer", stage=0, work=64), Node(name="y", kind="gemm", stage=1, work=64)]
    return Graph(name="two", nodes=tuple(nodes), edges=(Edge(source=first, target="y", words=64),))


def draw(graph: Graph, loads: dict[int, float]) -> Element:
    links = {ends: link for link, ends in enumerate(FABRIC.links.ends) if ends[0] != ends[1]}
    all_loads = [loads.get(link, 0.0) for link in range(len(FABRIC.links.ends))]
    units = [0] * (len(graph.nodes) - 1) + [1]
    return fromstring(placement_picture(graph, FABRIC, units, [(0, links[0, 1], 3)], all_loads))


def titles(root: Element) -> dict[str, str]:
    """Class by tooltip."""
    return {
        str(shape.findtext(f"{SVG}title")): shape.attrib["class"]
        for shape in root.iter()
        if shape.find(f"{SVG}title") is not None
    }


def test_tiles_are_classed_by_type_and_use() -> None:
    found = titles(draw(graph(), {}))
    assert found["memory unit 0, row 0, column 0\nx (buffer)"] == "unit memory used"
    assert found["compute unit 1, row 0, column 1\ny (gemm)"] == "unit compute used"
    assert found["memory unit 2, row 0, column 2"] == "unit memory"


def test_links_are_classed_by_load() -> None:
    links = {ends: link for link, ends in enumerate(FABRIC.links.ends) if ends[0] != ends[1]}
    found = titles(draw(graph(), {links[0, 1]: 0.97, links[1, 0]: 0.3, 0: 0.1}))
    assert found["link from tile 0 to tile 1: load 97%\nx to y"] == "load5"
    assert found["link from tile 1 to tile 0: load 30%"] == "load2"
    assert found["port of unit 0 to its switch: load 10%\nx to y"] == "load1"
    assert found["port of unit 1 from its switch: load 0%\nx to y"] == "load0"


@pytest.mark.parametrize(("load", "number"), [(0, 0), (0.01, 1), (0.25, 1), (0.26, 2), (0.951, 5), (1, 5)])
def test_the_class_of_a_load_has_a_colour(load: float, number: int) -> None:
    assert load_class(load) == f"load{number}"
    assert number < len(LOAD_COLOURS)


def test_names_are_text_and_never_markup() -> None:
    root = draw(graph(HOSTILE), {})
    assert not list(root.iter(f"{SVG}script"))
    assert any(title.endswith('"quoted" \ufffd\ufffd (buffer)') for title in titles(root))


def test_units_of_many_operations_show_how_many() -> None:
    names = [f"operation{number}" for number in range(4)]
    nodes = [Node(name=name, kind="buffer", stage=0, work=64) for name in names]
    nodes.append(Node(name="y", kind="gemm", stage=1, work=64))
    full = Graph(name="five", nodes=tuple(nodes), edges=(Edge(source=names[0], target="y", words=64),))
    texts = [str(text.text) for text in draw(full, {}).iter(f"{SVG}text")]
    assert "operation0" in texts
    assert "(gemm)" in texts
    assert "+2 more" in texts

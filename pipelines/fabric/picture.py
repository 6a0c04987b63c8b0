"""A placed and routed graph as an SVG picture: tiles with their operations, links coloured by load."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from pipelines.fabric.graphs import Graph
from pipelines.fabric.machine import Fabric
from pipelines.fabric.routing import Route

TILE, UNIT_WIDTH, UNIT_HEIGHT, SWITCH = 120, 84, 52, 12
"""Pixels: of a tile's side, of its unit, of its switch."""
MARGIN, HEAD, LEGEND = 20, 40, 70
LETTERS = 12
"""That fit into a unit."""
LOADS = (0.0, 0.25, 0.5, 0.75, 0.95)
"""A link of a load above number k, and not above the next, has class load{k + 1}; an unused one has load0."""
LOAD_COLOURS = ("#dddddd", "#9ecae1", "#4292c6", "#fdae61", "#f46d43", "#a50026")
UNIT_COLOURS: Mapping[str, str] = {
    "compute used": "#fdd49e",
    "compute": "#fff7ec",
    "memory used": "#b2df8a",
    "memory": "#f1f8e9",
}
_STYLE = "\n".join(
    [
        "text { font: 11px sans-serif; fill: #222222; }",
        ".title { font-size: 15px; font-weight: bold; }",
        ".unit { stroke: #888888; }",
        ".switch { fill: #666666; }",
        "line { stroke-width: 3; }",
        *(f".{name.replace(' ', '.')} {{ fill: {colour}; }}" for name, colour in UNIT_COLOURS.items()),
        *(f".load{number} {{ stroke: {colour}; }}" for number, colour in enumerate(LOAD_COLOURS)),
    ]
)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def placement_picture(
    graph: Graph, fabric: Fabric, units: Sequence[int], routes: Sequence[Route], loads: Sequence[float]
) -> str:
    """Return the picture as SVG text. Names stand in full in the tooltips.

    Args:
        units: of every operation. routes: links of every edge.
        loads: of every link, share of the time in which it sends.
    """
    width, height = fabric.columns * TILE + 2 * MARGIN, fabric.rows * TILE + 2 * MARGIN + HEAD + LEGEND
    root = Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}")
    root.set("width", str(width))
    root.set("height", str(height))
    SubElement(root, "style").text = _STYLE
    _text(root, MARGIN, MARGIN + 14, f"{graph.name} on {fabric.name}", "title")
    carried = _carried(graph, routes)
    for link in range(len(fabric.links.ends)):
        _link(root, fabric, link, loads[link], carried.get(link, []))
    held: dict[int, list[str]] = {}
    for node, unit in zip(graph.nodes, units, strict=True):
        held.setdefault(unit, []).append(f"{node.name} ({node.kind})")
    for unit in range(len(fabric.unit_types)):
        _tile(root, fabric, unit, held.get(unit, []))
    _legend(root, height - LEGEND + 10)
    indent(root)
    return tostring(root, encoding="unicode") + "\n"


def load_class(load: float) -> str:
    """Return the class of a link, by the share of the time in which it sends."""
    return f"load{bisect_left(LOADS, load)}"


def _carried(graph: Graph, routes: Sequence[Route]) -> dict[int, list[str]]:
    carried: dict[int, list[str]] = {}
    for edge, links in zip(graph.edges, routes, strict=True):
        for link in links:
            carried.setdefault(link, []).append(f"{edge.source} to {edge.target}")
    return carried


def _corner(fabric: Fabric, unit: int) -> tuple[float, float]:
    row, column = divmod(unit, fabric.columns)
    return MARGIN + column * TILE, MARGIN + HEAD + row * TILE


def _centre(fabric: Fabric, switch: int) -> tuple[float, float]:
    x, y = _corner(fabric, switch)
    return x + TILE - SWITCH - 8, y + SWITCH + 8


def _link(root: Element, fabric: Fabric, link: int, load: float, edges: Sequence[str]) -> None:
    """Draw a line: links on the right of their direction, ports between unit and switch."""
    source, target = fabric.links.ends[link]
    x1, y1 = _centre(fabric, source)
    x2, y2 = _centre(fabric, target)
    if fabric.links.is_port(link):
        shift = 6 if link % 2 else 0
        x2, y2, x1 = x1 - 14 - shift, y1 + 22, x1 - shift
        name = f"port of unit {source} {'from' if link % 2 else 'to'} its switch"
    else:
        length = abs(x2 - x1) + abs(y2 - y1)
        across, down = (x2 - x1) / length, (y2 - y1) / length
        x1, x2 = (x - 4 * down + SWITCH * side * across for x, side in ((x1, 0.5), (x2, -0.5)))
        y1, y2 = (y + 4 * across + SWITCH * side * down for y, side in ((y1, 0.5), (y2, -0.5)))
        name = f"link from tile {source} to tile {target}"
    line = _shape(root, "line", load_class(load), x1=x1, y1=y1, x2=x2, y2=y2)
    _title(line, "\n".join([f"{name}: load {load:.0%}", *edges]))


def _tile(root: Element, fabric: Fabric, unit: int, names: Sequence[str]) -> None:
    x, y = _corner(fabric, unit)
    kind = f"unit {fabric.unit_types[unit]}" + (" used" if names else "")
    top = y + TILE - UNIT_HEIGHT - 20
    box = _shape(root, "rect", kind, x=x + 8, y=top, width=UNIT_WIDTH, height=UNIT_HEIGHT, rx=4)
    row, column = divmod(unit, fabric.columns)
    _title(box, "\n".join([f"{fabric.unit_types[unit]} unit {unit}, row {row}, column {column}", *names]))
    centre_x, centre_y = _centre(fabric, unit)
    half = SWITCH / 2
    _shape(root, "rect", "switch", x=centre_x - half, y=centre_y - half, width=SWITCH, height=SWITCH)
    words = names[0].rsplit(" ", 1) if len(names) == 1 else [name.rsplit(" ", 1)[0] for name in names[:3]]
    shown = [word if len(word) <= LETTERS else f"{word[: LETTERS - 1]}…" for word in words]
    if len(names) > 3:
        shown[2] = f"+{len(names) - 2} more"
    for number, name in enumerate(shown):
        _text(root, x + 12, top + 15 + 15 * number, name)


def _legend(root: Element, top: float) -> None:
    for number, kind in enumerate(UNIT_COLOURS):
        x = MARGIN + 150 * number
        _shape(root, "rect", f"unit {kind}", x=x, y=top, width=16, height=12)
        _text(root, x + 22, top + 10, kind if kind.endswith("used") else f"{kind} unused")
    limits = [*(f"above {low:.0%}" for low in LOADS)]
    for number, name in enumerate(["unused link", *limits]):
        x = MARGIN + 110 * number
        _shape(root, "line", f"load{number}", x1=x, y1=top + 34, x2=x + 16, y2=top + 34)
        _text(root, x + 22, top + 38, name)


def _shape(root: Element, tag: str, kind: str, **places: float) -> Element:
    return SubElement(root, tag, {"class": kind, **{name: f"{place:g}" for name, place in places.items()}})


def _text(root: Element, x: float, y: float, content: str, kind: str = "name") -> None:
    SubElement(root, "text", {"class": kind, "x": f"{x:g}", "y": f"{y:g}"}).text = _valid(content)


def _title(shape: Element, content: str) -> None:
    SubElement(shape, "title").text = _valid(content)


def _valid(content: str) -> str:
    """Return text without the characters that XML has not."""
    return _NOT_XML.sub("\ufffd", content)

"""Small XML files as trees that know their lines; nothing is declared in them, so nothing expands."""

from dataclasses import dataclass, field
from xml.parsers import expat


class BrokenXmlError(Exception):
    """What is wrong with an XML text, and in which line."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


@dataclass
class Node:
    """An element: its tag and line, its text, the elements in it, and its attributes."""

    tag: str
    line: int
    text: str = ""
    children: list["Node"] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)

    def all(self, tag: str) -> list["Node"]:
        """The elements of a tag right inside."""
        return [child for child in self.children if child.tag == tag]

    def told(self, *tags: str) -> str | None:
        """The text of the first element at this path of tags, None where there is none."""
        nodes = [self]
        for tag in tags:
            nodes = [child for node in nodes for child in node.all(tag)]
        return nodes[0].text.strip() if nodes else None


def read_xml(text: str) -> Node:
    """The root of an XML text; one that declares a document type, and so perhaps entities, is refused."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    top = Node("", 0)
    open_nodes = [top]

    def start(tag: str, attributes: dict[str, str]) -> None:
        node = Node(tag, parser.CurrentLineNumber, attributes=attributes)
        open_nodes[-1].children.append(node)
        open_nodes.append(node)

    def end(_: str) -> None:
        open_nodes.pop()

    def data(some: str) -> None:
        open_nodes[-1].text += some

    def declared(*_: object) -> None:
        raise BrokenXmlError(
            parser.CurrentLineNumber, "it declares a document type, which may expand without end"
        )

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = data, declared
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise BrokenXmlError(error.lineno, expat.ErrorString(error.code)) from error
    return top.children[0]

"""Small XML files: the tree with its lines, and what is refused before it costs anything."""

import pytest

from polymodal.data.formats.xml_tree import BrokenXmlError, read_xml


def test_a_tree_knows_texts_and_lines() -> None:
    root = read_xml(
        '<?xml version="1.0" encoding="latin1"?>\n<a><b> é </b>\n<c><d/><d>&lt;</d></c></a>'
    )
    assert (root.tag, root.line) == ("a", 2)
    assert root.told("b") == "é"
    assert root.told("c", "d") == ""
    assert [(node.text, node.line) for node in root.all("c")[0].all("d")] == [("", 3), ("<", 3)]
    assert root.told("c", "e") is None


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "no element found"),
        ("<a>\n<b></a>", 2, "mismatched tag"),
        ("<a>\n\n", 3, "no element found"),
        ("<a/><b/>", 1, "junk after document element"),
        ("<a>&b;</a>", 1, "undefined entity"),
        ('\n<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', 2, "declares a document type"),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', 1, "declares a document type"),
        ("<a\x00/>", 1, "not well-formed"),
    ],
)
def test_what_is_broken_or_declares_anything_is_refused(text: str, line: int, reason: str) -> None:
    with pytest.raises(BrokenXmlError, match=reason) as caught:
        read_xml(text)
    assert caught.value.line == line

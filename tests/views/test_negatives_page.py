"""The page of negative captions: what was kept and rejected, and text from outside as nothing but text."""

from polymodal.runs.negative_examples import NegativeExample, Substitute
from polymodal.views.negatives_page import write_negatives


def test_words_with_their_ratio_kept_first_and_escaped(tmp_path):
    best = Substitute("<b>", p=0.2, q=0.0004, kept=True, itself=False)
    never = Substitute("cat", p=0.1, q=0.0, kept=True, itself=False)
    own = Substitute("dog", p=0.5, q=0.9, kept=False, itself=True)
    text = "a <i>dog</i> & a cat"
    example = NegativeExample(text, 5, 8, (best, never, own))
    write_negatives(tmp_path / "page.html", [example], "by <script>")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "<script>" not in page
    marked = '<h3>a &lt;i&gt;<mark class="c-cyan">dog</mark>&lt;/i&gt; &amp; a cat</h3>'
    assert marked in page
    kept = "<b>&lt;b&gt;</b>&nbsp;<small>500.0</small>, <b>cat</b>&nbsp;<small>–</small>"
    assert f"<div><dt>kept</dt><dd>{kept}</dd></div>" in page
    assert "<dt>rejected</dt><dd><b>dog</b>&nbsp;<small>0.56</small></dd>" in page
    row = "<tr><th>dog</th><td>0.5</td><td>0.9</td><td>0.56</td><td>the noun itself</td></tr>"
    assert row in page


def test_nothing_rejected(tmp_path):
    kept = Substitute("cat", p=0.2, q=0.1, kept=True, itself=False)
    write_negatives(tmp_path / "page.html", [NegativeExample("a dog", 2, 5, (kept,))], "x")
    assert "<dt>rejected</dt><dd>–</dd>" in (tmp_path / "page.html").read_text("utf-8")

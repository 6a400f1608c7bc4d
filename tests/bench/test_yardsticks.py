"""Tests of yardsticks.py: `python3 -m unittest tests/bench/test_yardsticks.py`."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import yardsticks  # noqa: E402

PASSAGE = "## 2 Model\n\nThe model has 12 layers . It was trained on 8 cards for two days (Table 1)."


def answer(outcome, text):
    return {"outcome": outcome, "answer": text, "citations": []}


class QuotedText(unittest.TestCase):
    def test_headings_markers_notes_and_escapes_are_left_out(self):
        data = answer("answered", "#### 2 Model\n\nSee [x](/docs/x) \\[1\\], a &lt;b>. [1]\n\n*Continues on the page.* [2]")
        self.assertEqual(yardsticks.quoted_text(data, False), "See [x [1], a <b>.")

    def test_an_uncertain_answer_is_a_quote_without_its_first_sentence_or_a_refusal(self):
        data = answer("uncertain", "I am not sure.\n\nA quote. [1]")
        self.assertEqual((yardsticks.quoted_text(data, False), yardsticks.quoted_text(data, True)), ("A quote.", ""))
        self.assertEqual(yardsticks.quoted_text(answer("not_covered", "Not in this book."), False), "")


class Spans(unittest.TestCase):
    def test_words_of_a_quote_are_found_in_its_passage(self):
        self.assertEqual(yardsticks.quoted_words(PASSAGE, "It was trained on 8 cards\n\nthe model **has** 12"), {3, 4, 5, 6, 9, 10, 11, 12, 13, 14})

    def test_words_that_agree_by_chance_are_not_quoted(self):
        self.assertEqual(yardsticks.quoted_words(PASSAGE, "The cards are two or more"), set())

    def test_a_gold_span_covers_each_word_that_it_overlaps(self):
        self.assertEqual(yardsticks.gold_words(PASSAGE, ["MODEL\n\nthe model", "cards for", "not there"]), {2, 3, 4, 14, 15})

    def test_words_of_all_pairs_are_counted_together(self):
        pairs = [{"chunk": PASSAGE, "gold_extraction": ["The model has 12 layers ."]}, {"chunk": PASSAGE, "gold_extraction": []}]
        answers = [answer("answered", "The model has 12 layers. [1]"), answer("uncertain", "?\n\nIt was trained on 8 cards. [1]")]
        self.assertEqual([round(value, 3) for value in yardsticks.span_scores(pairs, answers, False)], [0.455, 0.833, 0.588])
        self.assertEqual([round(value, 3) for value in yardsticks.span_scores(pairs, answers, True)], [1.0, 0.833, 0.909])


class Scores(unittest.TestCase):
    def test_rouge_counts_words_in_order_and_without(self):
        self.assertAlmostEqual(yardsticks.rouge_l("the cat, sat here", "the dog sat"), 4 / 7)
        self.assertAlmostEqual(yardsticks.rouge_1_recall("sat the", "the dog sat the"), 2 / 4)
        self.assertEqual(yardsticks.rouge_l("", "the dog"), 0)

    def test_rankings(self):
        self.assertEqual(yardsticks.ranking_scores(["a", "b"], {"a", "b"}), [1, 1, 1, 1])
        late = yardsticks.ranking_scores([*"uvwxyz", "a"], {"a"})
        self.assertEqual((late[0], late[1], late[2], round(late[3], 3)), (0, 1, 0, 0.333))

    def test_bm25_prefers_the_page_with_the_rare_word(self):
        pages = [yardsticks.Page(str(number), "", text) for number, text in enumerate(["a common word", "a rare term", "a common term"])]
        self.assertEqual(yardsticks.bm25(pages)("the rare term"), ["1", "2", "0"])

    def test_a_refusal_counts_as_an_empty_answer(self):
        asked = [{"answerable": kind, "passages": [{"text": "one two three"}], "output": [{"answer": "one two"}]} for kind in (True, True, False, False)]
        answers = [answer("answered", "one two [1]"), answer("not_covered", ""), answer("not_covered", ""), answer("uncertain", "?\n\none [1]")]
        shown = yardsticks.answer_scores(asked, answers, False)
        self.assertEqual([round(value, 3) for value in shown], [0.5, 0.5, 0.4, 3.5, 0.5, 0.5, 0.5, 0.5])
        self.assertEqual(yardsticks.answer_scores(asked, answers, True)[4:7], [1, 0.5, 0.75])

    def test_links_are_scored_among_three(self):
        self.assertEqual(yardsticks.link_scores(["x", "a", "y"], {"a", "b"}), [1 / 2, 1 / 3, 1 / 2])
        self.assertEqual(yardsticks.link_scores(["x"], {"a"}), [0, 0, 0])
        self.assertEqual(yardsticks.link_scores([], {"a"}), [0, 0, 0])

    def test_differences_are_paired_by_question(self):
        self.assertEqual(yardsticks.paired([[1, 0.5], [0, 0]], [[0, 0.5], [0, 1]]), [[1, 0], [0, -1]])
        self.assertEqual(yardsticks.intervals([[1, 0.5], [1, 0.5]]), [1, 1, 1, 0.5, 0.5, 0.5])


class Sections(unittest.TestCase):
    CHUNKS = [
        {"chunk_link": "https://example.org/en/docs/tool-use#pricing", "chunk_heading": "Pricing & costs", "text": "Pricing & costs\n\n\nOne # <b>cent</b>"},
        {"chunk_link": "https://example.org/en/api/#keys", "chunk_heading": "Keys", "text": "Keys\n"},
        {"chunk_link": "https://example.org/en/docs/tool-use#next", "chunk_heading": "Next", "text": "Next steps"},
    ]

    def test_sections_of_a_path_are_a_page(self):
        pages, links = yardsticks.section_pages(self.CHUNKS)
        self.assertEqual([(source, page.title) for source, page in pages.items()], [("docs/docs/tool-use.md", "tool use"), ("docs/api/index.md", "api")])
        text = "## Pricing \\& costs {#pricing}\n\n\n\nOne \\# \\<b\\>cent\\<\\/b\\>\n\n## Next {#next}\n\nNext steps"
        self.assertEqual(pages["docs/docs/tool-use.md"].text, text)
        self.assertEqual(links["docs/api/index.md", "keys"], "https://example.org/en/api/#keys")

    def test_each_section_is_retrieved_once(self):
        _, links = yardsticks.section_pages(self.CHUNKS)
        anchors = ["next", "pricing", "next", "other", "pricing"]
        results = [{"source": "docs/docs/tool-use.md", "url": f"/docs/docs/tool-use#{anchor}"} for anchor in anchors]
        page = "https://example.org/en/docs/tool-use"
        self.assertEqual(yardsticks.first_links(results, links), [f"{page}#next", f"{page}#pricing", "/docs/docs/tool-use#other"])


if __name__ == "__main__":
    unittest.main()

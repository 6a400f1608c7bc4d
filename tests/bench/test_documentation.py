"""Tests of documentation.py, with samples written for them: `python3 -m unittest tests/bench/test_documentation.py`."""

import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent))
import documentation  # noqa: E402

RAY = '{"question": "How do I pin a kettle?", "source": "https://docs.ray.io/en/master/kettles/index.html#pinning"}\n'
RAY += '{"question": "What is a kettle?", "source": "https://docs.ray.io/en/master/kettles/basics.html"}\n'
PAGE = "# Kettles\n\nA kettle boils.\n\n## Pinning\n\nPin it twice.\n"
FRESHSTACK = (
    '{"query_id": 7, "query_title": "Kettle", "query_text": "<p>How to <b>pin</b>?</p>", "nuggets": ['
    '{"relevant_corpus_ids": ["docs/kettles.md_28_52", "framework/src/kettle.php_0_9"]}, {"relevant_corpus_ids": ["docs/CHANGELOG.txt_0_4"]}]}\n'
    '{"query_id": 8, "query_title": "Code", "query_text": "", "nuggets": [{"relevant_corpus_ids": ["framework/src/kettle.php_0_9"]}]}\n'
)


class FakeBook:
    """Finds the pinning section, then the page's beginning."""

    asked = []

    def __init__(self, bookrag, site):
        self.site = site

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def results(self, query):
        self.asked.append(query)
        pinning = {"source": "kettles.md", "start_line": 5, "end_line": 7, "url": "/kettles/#pinning"}
        return [pinning, {"source": "kettles.md", "start_line": 1, "end_line": 3, "url": "/kettles/basics.html#kettles"}]


class Sets(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.enterContext(mock.patch.object(documentation, "Book", FakeBook))
        FakeBook.asked = []

    def run_set(self, name, text):
        (self.folder / "datasets").mkdir()
        (self.folder / "datasets/questions.jsonl").write_text(text)
        (self.folder / "kettles.md").write_text(PAGE)
        arguments = SimpleNamespace(questions=self.folder / "datasets/questions.jsonl", site=self.folder, bookrag="bookrag", limit=None, root="docs")
        return getattr(documentation, name)(arguments)

    def test_pages_and_sections_of_ray_are_found_by_address(self):
        columns, scores = self.run_set("ray", RAY)
        self.assertEqual(len(columns.split()), 6)
        self.assertEqual(scores["How do I pin a kettle?"], [True, True, True, True, True, True])
        self.assertEqual(scores["What is a kettle?"], [False, True, True, True, None, None])
        self.assertEqual(documentation.rows_of(scores.values())[0:15:3], [0.5, 1, 1, 1, 1])

    def test_questions_of_freshstack_are_those_with_a_label_in_the_documentation(self):
        columns, scores = self.run_set("freshstack", FRESHSTACK)
        self.assertEqual((columns, scores), ("a-nDCG@10 C@20 R@20", {"7": [1, 1, 1]}))
        self.assertEqual(FakeBook.asked, ["Kettle How to pin ?"])


class Places(unittest.TestCase):
    def test_addresses_of_a_page_are_one(self):
        for address in ("https://docs.ray.io/en/master/a/index.html", "/a/", "/a/index", "/a"):
            self.assertEqual(documentation.place(address), ("a", ""))
        self.assertEqual(documentation.place("/a/b%20c.html#d"), ("a/b c", "d"))

    def test_a_chunk_has_its_lines(self):
        self.assertEqual(documentation.span("docs/a/b_c.md_10_20", "docs"), ("a/b_c.md", 10, 20))
        self.assertIsNone(documentation.span("docs/a.php_10_20", "docs"))
        self.assertEqual(documentation.lines_of("a\nb\nc\n", 2, 4), (2, 2))
        self.assertEqual(documentation.lines_of("a\nb\nc\n", 0, 6), (1, 3))


class Scores(unittest.TestCase):
    LINES = {"x": ("a.md", 1, 4), "y": ("a.md", 5, 9)}

    def result(self, first, last, source="a.md"):
        return {"source": source, "start_line": first, "end_line": last}

    def test_a_chunk_is_retrieved_once(self):
        results = [self.result(1, 2), self.result(3, 4), self.result(1, 9, "b.md"), self.result(4, 5)]
        self.assertEqual(documentation.retrieved(results, self.LINES), [{"x"}, set(), {"y"}])

    def test_a_nugget_is_worth_less_the_second_time(self):
        self.assertEqual(documentation.alpha_ndcg([{1}, {2}], [{1}, {2}]), 1)
        self.assertAlmostEqual(documentation.alpha_ndcg([{1}, {1}, {2}], [{1}, {1}, {2}]), 0.965, 3)
        self.assertAlmostEqual(documentation.alpha_ndcg([set(), {1}], [{1}]), 0.631, 3)

    def test_nuggets_are_covered_and_chunks_recalled(self):
        scores = documentation.freshstack_scores([{"x", "y"}, {"y"}, {"z"}], [set(), {"x"}])
        self.assertEqual([round(score, 3) for score in scores[1:]], [0.333, 0.333])

    def test_differences_are_of_questions_that_both_have(self):
        self.assertEqual(documentation.differences({"a": [1, None], "b": [0, 1]}, {"a": [0.5, 1], "c": [1, 1]}), [[0.5, None]])


if __name__ == "__main__":
    unittest.main()

"""What the scripts read and label."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from data import Lexical, sections, training_question, windows  # noqa: E402
from labels import needed_lines, right  # noqa: E402
from labels import windows as parts  # noqa: E402

PAGE = """---
title: Wheels
---
import Tabs from './tabs';

Intro with a [link](./axle.md).

## Torque {#torque}

Tighten to **2 N·m**.

```sh
# not a heading
```
"""


class Data(unittest.TestCase):
    def test_a_page_is_read_as_sections(self):
        self.assertEqual([(s["path"], s["text"]) for s in sections(PAGE)], [
            (["Wheels"], "Intro with a link."),
            (["Wheels", "Torque"], "Tighten to 2 N·m.\n\n```sh\n# not a heading\n```"),
        ])

    def test_windows_lose_nothing(self):
        text = "\n\n".join("word " * 60 for _ in range(12))
        self.assertEqual(" ".join(windows(text)).split(), text.split())
        self.assertEqual("".join(part for _, part in parts(text)), text)

    def test_a_written_question_has_its_passage_and_the_nearest_others(self):
        passages = [{"path": [n], "text": f"{n} is tightened with the blue wrench"} for n in ("Bolt", "Screw", "Wheel", "Axle", "Nut", "Pin")]
        index = Lexical([p["text"] for p in passages])
        row = {"repository": "a/b", "path": ["Wheel"], "begins": "Wheel is", "question": "tighten the wheel", "keep": ["blue wrench"]}
        made = training_question(row, passages, index)
        self.assertEqual((made["right"], made["keep"]), (2, [[28, 39]]))
        self.assertNotIn(2, made["wrong"])
        unanswered = training_question({**row, "keep": None}, passages, index)
        self.assertEqual((unanswered["right"], unanswered["wrong"][0]), (None, 2))


class Labels(unittest.TestCase):
    def test_a_section_is_right_by_its_lines_or_heading(self):
        question = {"source": "docs/a.md", "headings": ["`Torque`"], "spans": [{"source": "docs/a.md", "start_line": 5, "end_line": 7}], "also": ["docs/b.md"]}
        passage = {"source": "site/docs/a.md", "start_line": 7, "end_line": 9, "section": "Wheels"}
        self.assertEqual(right(question, passage), (True, True))
        self.assertEqual(right(question, {**passage, "start_line": 8}), (True, False))
        self.assertEqual(right(question, {**passage, "start_line": 8, "section": "torque"}), (True, True))
        self.assertEqual(right(question, {**passage, "source": "docs/b.md"}), (True, False))
        self.assertEqual(right(question, {**passage, "source": "docs/c.md"}), (False, False))

    def test_needed_lines_are_found_as_readers_see_them(self):
        self.assertEqual(needed_lines({"needs": ["2 n·m|3 N·m"]}, "One.\nTighten to `2 N·m`.\nTwo."), [[5, 24]])


if __name__ == "__main__":
    unittest.main()

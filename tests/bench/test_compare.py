"""Tests of compare.py: `python3 -m unittest tests/bench/test_compare.py`."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import compare  # noqa: E402


def result(**sites):
    """A result whose questions have these values of `page@1`."""
    questions = [
        {"corpus": site, "id": str(number), "query": "q", "metrics": {"page@1": value}}
        for site, values in sites.items() for number, value in enumerate(values)
    ]
    return {"questions": questions}


class Compare(unittest.TestCase):
    def test_a_result_does_not_differ_from_itself(self):
        same = result(jest=[0, 1, 1], babel=[1, 0])
        rows = compare.rows_of(compare.pairs_of(same, same))
        self.assertEqual([rows[name][0] for name in ("babel", "jest", "MEAN")], [(0, 0, 0)] * 3)
        self.assertEqual(rows["MEAN"][1:], [None] * (len(compare.METRICS) - 1))

    def test_the_mean_is_over_sites_and_an_equal_gain_is_certain(self):
        rows = compare.rows_of(compare.pairs_of(result(jest=[0] * 9, babel=[0]), result(jest=[0] * 9, babel=[1])))
        self.assertEqual(rows["babel"][0], (1, 1, 1))
        self.assertEqual(rows["MEAN"][0], (0.5, 0.5, 0.5))

    def test_an_interval_holds_the_difference_and_repeats(self):
        pairs = compare.pairs_of(result(jest=[0, 0, 0, 1]), result(jest=[1, 1, 0, 0]))
        gain, low, high = compare.rows_of(pairs)["jest"][0]
        self.assertEqual(gain, 0.25)
        self.assertTrue(low < 0 < gain < high)
        self.assertEqual(compare.rows_of(pairs)["jest"][0], (gain, low, high))

    def test_other_questions_and_metrics_are_refused(self):
        with self.assertRaisesRegex(ValueError, "1 questions are in one result only, such as .'jest', '1'"):
            compare.pairs_of(result(jest=[0, 1]), result(jest=[0]))
        other = result(jest=[0])
        other["questions"][0]["metrics"] = {"needs": 1}
        with self.assertRaisesRegex(ValueError, "has other metrics"):
            compare.pairs_of(result(jest=[0]), other)


if __name__ == "__main__":
    unittest.main()

import unittest

from written import KINDS, chosen, markdown, table


def question(site, number, answerable=True, kind=None):
    needs = {"needs": ["a"]} if answerable else {}
    return {"id": f"{site}-{number}-{kind}", "corpus": site, "answerable": answerable, "kind": kind, **needs}


class Written(unittest.TestCase):
    def test_the_forty_are_the_same_in_any_order_and_of_all_sites(self):
        sites = ["one", "two", "three"]
        questions = [question(site, number) for site in sites for number in range(20)]
        questions += [question(site, number, False, kind) for site in sites for number in range(9) for kind in ("near", "off-topic")]
        forty = chosen(questions)
        self.assertEqual(len(forty), sum(KINDS.values()))
        self.assertEqual(forty, chosen(questions[::-1]))
        counts = [sum(one["corpus"] == site and one["answerable"] for one in forty) for site in sites]
        self.assertEqual(sorted(counts), [6, 7, 7])

    def test_the_table_counts_verdicts_by_kind(self):
        record = {"page": True, "outcome": "answered", "unsupported": 1, "needs": 0.5, "seconds": 2.4}
        records = [{"id": str(at), "kind": "answered by the site", **record} for at in range(2)]
        rows = table(records, {"0": "right", "1": "wrong", "2": "right"})
        self.assertEqual(rows[1], ["answered by the site (2)", "1", "0", "1", "0", "0.50", "2", "0", "2", "2"])
        self.assertEqual(rows[2][0], "near misses (0)")
        self.assertTrue(markdown(rows).startswith("|  | right | partly |"))


if __name__ == "__main__":
    unittest.main()

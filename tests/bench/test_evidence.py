import unittest

from evidence import held, passages

PROMPT = """data-1 begin: passage [1], from: Robots
Set `speed` to 3.
data-1 begin: passage [2], from: Robots > Topics
Nodes talk.
data-1 end

data-1 begin: the reader's question
What is torque?
data-1 end
"""


class Evidence(unittest.TestCase):
    def test_only_passages_count_and_not_the_question(self):
        text, count = passages(PROMPT)
        self.assertEqual(count, 2)
        self.assertEqual(held(["torque"], text), 0)

    def test_marks_are_ignored_and_one_alternative_is_enough(self):
        self.assertEqual(held(["set speed to 3", "services|nodes talk", "topics of services"], passages(PROMPT)[0]), 2 / 3)


if __name__ == "__main__":
    unittest.main()

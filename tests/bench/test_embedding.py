import unittest

from embedding import LONGEST, SHORTEST, chunks, cosine, questions, summary


class Embedding(unittest.TestCase):
    def test_chunks_are_of_the_wanted_length(self):
        count_words = lambda text: len(text.split())
        texts = chunks(count_words)
        self.assertGreater(len(texts), 5)
        self.assertTrue(all(SHORTEST <= count_words(text) <= LONGEST for text in texts))
        self.assertEqual(len(set(questions())), 10)

    def test_the_ratio_is_the_median_of_the_rounds(self):
        rounds = [[3.0, 1.5], [20.0, 10.0], [3.0, 3.0]]
        self.assertEqual(summary(rounds), "bookrag 3.00 ms, ONNX Runtime 3.00 ms, ratio 2.00")

    def test_a_vector_is_like_its_multiples(self):
        self.assertAlmostEqual(cosine([1, 2], [2, 4]), 1)
        self.assertAlmostEqual(cosine([1, 0], [0, 3]), 0)


if __name__ == "__main__":
    unittest.main()

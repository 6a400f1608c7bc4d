import json
import tempfile
import threading
import unittest
import urllib.error
import urllib.request
from http.server import ThreadingHTTPServer
from pathlib import Path

from recorded import Model, choose, digest, events, record, streamed, whole


def post(server, body):
    url = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    return urllib.request.urlopen(request, timeout=10)


def question(number, answerable=True, kind=None):
    return {"id": f"one-{number}-{kind}", "corpus": "one", "query": "?", "answerable": answerable, "kind": kind, "needs": ["a"]}


class Recorded(unittest.TestCase):
    def test_the_fence_and_ids_of_calls_do_not_count(self):
        def said(fence, call):
            return [{"role": "user", "content": f"data-{fence} begin: a"}, {"role": "tool", "tool_call_id": f"call_{call}"}]

        self.assertEqual(digest(said("0123456789ab", "a1")), digest(said("ba9876543210", "b2")))
        self.assertNotEqual(digest([{"role": "user", "content": "a"}]), digest([{"role": "user", "content": "b"}]))

    def test_the_choice_is_the_same_in_any_order_and_says_nothing_of_the_answer(self):
        questions = [question(number) for number in range(9)] + [question(number, False, kind) for number in range(5) for kind in ("near-miss", "off-topic")]
        chosen = choose(questions, ["one"], 4, 1, 7, ["one-3-None"])
        self.assertEqual(chosen, choose(questions[::-1], ["one"], 4, 1, 7, ["one-3-None"]))
        self.assertEqual([one["id"].endswith("near-miss") for one in chosen], [False] * 4 + [True])
        self.assertEqual(set(chosen[0]), {"id", "corpus", "query"})
        self.assertNotIn("one-3-None", [one["id"] for one in choose(questions, ["one"], 9, 0, 7, ["one-3-None"])])

    def test_an_answer_is_streamed_without_loss(self):
        text = "1. Mow [1].\n\n```sh\n  mow  --all\n```\n"
        read = list(events(streamed({"content": text}).replace("data: [DONE]\n\n", "").splitlines()))
        pieces = [choice["delta"].get("content", "") for _, chunk in read for choice in chunk["choices"]]
        self.assertEqual("".join(pieces), text)
        self.assertEqual(json.loads(whole({"content": text}))["choices"][0]["message"]["content"], text)

    def test_calls_are_sent_as_calls(self):
        answer = {"calls": [{"name": "search", "arguments": {"query": "mow"}}]}
        choice = json.loads(whole(answer))["choices"][0]
        self.assertEqual(choice["finish_reason"], "tool_calls")
        self.assertEqual(json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"]), {"query": "mow"})
        self.assertIn('"tool_calls"', streamed(answer))

    def test_a_prompt_without_an_answer_is_written_and_one_with_an_answer_is_answered(self):
        with tempfile.TemporaryDirectory() as folder:
            Model.folder = Path(folder)
            server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            messages = [{"role": "user", "content": "data-0123456789ab begin: a"}]
            with self.assertRaises(urllib.error.HTTPError) as refused:
                post(server, {"messages": messages, "stream": True})
            self.assertEqual(refused.exception.code, 503)
            refused.exception.close()
            name = digest(messages)
            self.assertEqual(json.loads((Model.folder / f"{name}.prompt.json").read_text())["messages"], messages)
            (Model.folder / f"{name}.answer.json").write_text('{"content": "Mow [1]."}')
            with post(server, {"messages": messages}) as response:
                self.assertEqual(json.load(response)["choices"][0]["message"]["content"], "Mow [1].")
            server.shutdown()
            server.server_close()

    def test_a_line_has_what_the_reader_got(self):
        stream = (
            'event: progress\ndata: {"stage": "looking_up", "subject": "compost"}\n\nevent: token\ndata: {"token": "Mow"}\n\n: still here\n\n'
            'event: token\ndata: {"token": " it."}\n\nevent: done\ndata: {"outcome": "answered", "unsupported": ["Mow it."], "citations": []}\n\n'
        )
        line = record({"id": "a", "corpus": "one", "query": "?"}, events(stream.splitlines()))
        self.assertEqual((line["answer"], line["outcome"], line["looked_up"]), ("Mow it.", "answered", ["compost"]))
        self.assertEqual(line["unsupported"], ["Mow it."])


if __name__ == "__main__":
    unittest.main()

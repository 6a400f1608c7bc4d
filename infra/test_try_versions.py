"""What infra/try_versions tells CloudFormation of versions that answer, fail, or cannot be asked yet."""

import base64
import io
import json
import sys
import unittest
from pathlib import Path

# Bytecode in the folder would be deployed with it.
sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent / "try_versions"))
import try_versions
from try_versions import answer, event, status, try_all

VERSIONS = {"Query": "query:7", "Search": "search:7", "Health": "health:7"}


class Refused(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.response = {"Error": {"Code": code}}


def response(code, body='{"success":true}'):
    return {"Payload": io.BytesIO(json.dumps({"statusCode": code, "headers": {}, "body": body}).encode())}


class Client:
    """Lambda, with scripted answers by version; an exception is raised, the last one is given again and again."""

    def __init__(self, **answers):
        self.answers = {name: list(them) for name, them in answers.items()}
        self.asked = []

    def invoke(self, FunctionName, Payload, LogType):
        name = FunctionName.split(":")[0]
        self.asked.append((FunctionName, json.loads(Payload)["path"]))
        answers = self.answers.get(name) or [response(200)]
        given = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(given, Exception):
            raise given
        return given


class Tries(unittest.TestCase):
    def failure(self, **answers):
        """The reason why a deployment with these answers fails; `None` if it does not."""
        self.client = Client(**answers)
        try_versions.RETRY_SECONDS = 0
        try:
            try_all(self.client, Refused, VERSIONS)
        except ValueError as error:
            return str(error)

    def test_each_version_is_asked_by_its_own_path(self):
        self.assertIsNone(self.failure())
        asked = [("health:7", "/api/v1/health"), ("search:7", "/api/v1/search"), ("query:7", "/api/v1/chat")]
        self.assertEqual(self.client.asked, asked)

    def test_a_version_that_does_not_start_fails_with_the_end_of_its_log(self):
        log = base64.b64encode(b"the configuration is not valid: BOOKRAG_RERANKER").decode()
        crash = {"FunctionError": "Unhandled", "Payload": io.BytesIO(b'{"errorType":"Runtime.ExitError"}'), "LogResult": log}
        found = self.failure(query=[crash])
        for part in ("query", "Runtime.ExitError", "BOOKRAG_RERANKER"):
            self.assertIn(part, found)

    def test_500_fails_and_what_is_no_fault_of_the_version_passes(self):
        for code, fails in ((500, True), (502, True), (503, False), (429, False), (401, False), (200, False)):
            self.assertEqual(self.failure(search=[response(code)]) is not None, fails, code)

    def test_a_streamed_answer_has_its_status_before_eight_nuls(self):
        self.assertEqual(status(b'{"statusCode":500,"headers":{}}' + b"\0" * 8 + b'{"success":false}'), 500)
        self.assertIsNone(status(b"data: no status"))

    def test_a_policy_that_is_not_known_yet_is_waited_for_and_other_refusals_are_not(self):
        self.assertIsNone(self.failure(health=[Refused("AccessDeniedException"), response(200)]))
        with self.assertRaises(Refused):
            self.failure(health=[Refused("ResourceNotFoundException"), response(200)])

    def test_patience_ends(self):
        clock = iter(range(0, 1000, 20))
        def refuse():
            raise Refused("AccessDeniedException")
        with self.assertRaises(Refused):
            try_versions.patiently(refuse, Refused, sleep=lambda _: None, now=lambda: next(clock))

    def test_the_answer_to_cloudformation_keeps_the_id_and_fits(self):
        request = {"StackId": "s", "RequestId": "r", "LogicalResourceId": "Tried", "PhysicalResourceId": "before"}
        self.assertEqual(answer(request, None)["Status"], "SUCCESS")
        told = answer(request, "x" * 10_000)
        self.assertEqual((told["Status"], told["PhysicalResourceId"]), ("FAILED", "before"))
        self.assertLess(len(json.dumps(told)), 4_096)

    def test_a_body_is_text_as_api_gateway_sends_it(self):
        self.assertEqual(json.loads(event("POST", "/api/v1/chat", {"query": "a"})["body"]), {"query": "a"})


if __name__ == "__main__":
    unittest.main()

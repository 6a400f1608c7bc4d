"""A session of each revision of the Model Context Protocol with `bookrag mcp`: stdio.py BOOKRAG SITE

Standard output holds nothing but the protocol, each request has its answer, and the command ends with 0 when standard input does.
"""

import json
import subprocess
import sys

FORMER, MODERN = "2025-11-25", "2026-07-28"
CLIENT = {"name": "tests", "version": "1"}
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": CLIENT,
}
CALL = {"name": "search", "arguments": {"query": "How do I install the wheels?"}}

SESSIONS = {
    FORMER: [
        ("initialize", {"protocolVersion": FORMER, "capabilities": {}, "clientInfo": CLIENT}),
        ("notifications/initialized", {}),
        ("tools/list", {}),
        ("tools/call", CALL),
    ],
    MODERN: [
        ("server/discover", {"_meta": META}),
        ("tools/list", {"_meta": META}),
        ("tools/call", {**CALL, "_meta": META}),
    ],
}


def main(bookrag, site):
    for revision, messages in SESSIONS.items():
        process = subprocess.Popen([bookrag, "mcp", site], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        answers = []
        for number, (method, params) in enumerate(messages):
            message = {"jsonrpc": "2.0", "method": method, "params": params}
            is_request = not method.startswith("notifications/")
            if is_request:
                message["id"] = number
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            if is_request:
                answer = json.loads(process.stdout.readline())
                assert answer["id"] == number and "error" not in answer, answer
                answers.append(answer["result"])
        process.stdin.close()
        rest = process.stdout.read()
        assert rest == "", rest
        assert process.wait(timeout=20) == 0, process.returncode
        assert [tool["name"] for tool in answers[1]["tools"]] == ["search", "fetch", "ask", "outline", "report"], answers[1]
        assert answers[2]["structuredContent"]["results"], answers[2]
        print(f"{revision} over standard input and output: passed")


if __name__ == "__main__":
    main(*sys.argv[1:])

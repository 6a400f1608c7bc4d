#!/usr/bin/env python3
"""Asks a command's search the questions of measured sites and keeps the first twenty chunks of each, with their texts.

    candidates.py BOOKRAG QUESTIONS.jsonl SITES.json FOLDER OUT_FOLDER [site...]

QUESTIONS has an object a line: {"id", "corpus", "query", ...}; SITES gives for each corpus the paths below FOLDER of the copies of its site, of which
the first one that can be read is used. OUT_FOLDER receives SITE.jsonl, each line {"question": the object, "passages": [{"path", "text", "score", ...}]}.
"""
import json, os, subprocess, sys, tempfile, time, urllib.request

COUNT = 20


def chunks(command, path):
    listed = subprocess.run([command, "chunks", path, "--jsonl"], capture_output=True, text=True)
    return {(row["source"], row["start_line"], row["end_line"]): row for row in map(json.loads, filter(None, listed.stdout.split("\n")))}


def search(address, query):
    body = json.dumps({"query": query, "top_k": COUNT}).encode()
    request = urllib.request.Request(f"http://{address}/api/v1/search", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as response:
        return json.load(response)["data"]["results"]


def ask(command, paths, questions, data, port, out):
    """Serves the first of the paths that holds a site and asks it the questions."""
    for path in paths:
        known = chunks(command, path)
        if len(known) >= 20:
            break
    address = f"127.0.0.1:{port}"
    env = {**os.environ, "BOOKRAG_DATA": data, "BOOKRAG_SEARCH_PER_MINUTE": "1000000"}
    with tempfile.TemporaryFile("w+") as log:
        server = subprocess.Popen([command, "serve", path, "--listen", address], stdout=log, stderr=subprocess.STDOUT, env=env)
        try:
            while "ask at" not in os.pread(log.fileno(), 1 << 20, 0).decode():
                if server.poll() is not None:
                    sys.exit(f"{path}: {os.pread(log.fileno(), 1 << 20, 0).decode()}")
                time.sleep(0.2)
            with open(out, "w") as to:
                for question in questions:
                    passages = []
                    for found in search(address, question["query"]):
                        chunk = known[found["source"], found["start_line"], found["end_line"]]
                        kept = {name: found[name] for name in ("score", "source", "start_line", "end_line", "section", "title")}
                        passages.append({**kept, "path": chunk["heading_path"], "text": chunk["text"]})
                    to.write(json.dumps({"question": question, "passages": passages}) + "\n")
        finally:
            server.terminate()
            server.wait()


def main():
    command, questions, sites, folder, out, *only = sys.argv[1:]
    asked = {}
    for question in map(json.loads, open(questions)):
        asked.setdefault(question["corpus"], []).append(question)
    sites = json.load(open(sites))
    os.makedirs(out, exist_ok=True)
    for n, corpus in enumerate(sorted(only or asked)):
        paths = [os.path.join(folder, path) for path in sites.get(corpus, [corpus])]
        ask(command, paths, asked[corpus], os.environ.get("BOOKRAG_DATA", out) + f"/data-{corpus}", 19500 + n, f"{out}/{corpus}.jsonl")
        print(corpus, len(asked[corpus]), flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Asks generated questions of the longest length, and checks that the time that the server computes, and its memory, stay bounded.

    hostile_questions.py ADDRESS PID

ADDRESS is that of `bookrag serve`, PID its process. The bounds are far above what a linear path needs: they find one that multiplies.
"""
import json
import os
import random
import sys
import urllib.request

CHARACTERS = 2000
QUESTIONS = 40
SEED = 7
MOST_SECONDS = 10
MOST_GROWTH_MIB = 300

SCRIPTS = ["az", "АЯ", "αω", "את", "ءي", "कह", "กฮ", "ぁん", "ァヶ", "一龥", "가힣", "\u0300\u036f", "\U0001f300\U0001f64f", "\u200b\u200f", "!/", "09"]
PARTS = ["module", "chapter", "lesson", "part", "version", "and", "to", "or", "vs", "the", "why", "not", "what is", "compare", "error:"]
MARKS = ["(", ")", "[", "]", "{", "}", "<", ">", "`", "```", "**", "_", "$", "$$", "|", "\\", "/", ".", "-", ":", "::", "#", "'", '"', "\n", "\t", "\r\n"]


def word(dice):
    first, last = map(ord, dice.choice(SCRIPTS))
    return "".join(chr(dice.randint(first, last)) for _ in range(dice.randint(1, 12)))


def question(dice):
    """Returns a question of a few repeated pieces, so that each kind of piece also occurs alone and in masses."""
    kinds = [
        lambda: dice.choice(PARTS) + " ",
        lambda: f"{dice.randint(0, 300)} ",
        lambda: ".".join(str(dice.randint(0, 9)) for _ in range(dice.randint(1, 5))) + dice.choice([" ", "-", ", ", "/"]),
        lambda: dice.choice(MARKS) * dice.randint(1, 40),
        lambda: word(dice) + dice.choice(["", " ", "/", ".", "_", "-", "("]),
        lambda: f"<{word(dice)} a={word(dice)}>",
        lambda: f"[{word(dice)}](https://example.com/{word(dice)}) ",
        lambda: f"    at {word(dice)}.{word(dice)} ({word(dice)}.js:{dice.randint(1, 999)}:{dice.randint(1, 99)})\n",
    ]
    chosen = dice.sample(kinds, dice.randint(1, 3))
    text = ""
    while len(text) < CHARACTERS:
        text += dice.choice(chosen)()
    return "why " + text[: CHARACTERS - 4]


def peak_mib(pid):
    status = open(f"/proc/{pid}/status").read()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def computed_seconds(pid):
    """Returns the processor time that a process has used."""
    fields = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
    user, system = fields[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def ask(address, pid, route, query):
    body = json.dumps({"query": query, "history": [{"role": "user", "content": query}, {"role": "assistant", "content": "Yes."}]})
    if route == "search":
        body = json.dumps({"query": query})
    request = urllib.request.Request(f"{address}/api/v1/{route}", body.encode(), {"Content-Type": "application/json"})
    started = computed_seconds(pid)
    urllib.request.urlopen(request, timeout=60).read()
    return computed_seconds(pid) - started


def main():
    address, pid = sys.argv[1:]
    dice = random.Random(SEED)
    # The first long question makes the buffers of the embedding model.
    ask(address, pid, "chat", "wheels " * (CHARACTERS // 7))
    before = peak_mib(pid)
    # Thousands of combinations, if each module had each chapter, and each chapter each lesson.
    combined = "".join(f"{part} " + " ".join(map(str, range(170))) + " " for part in ("modules", "chapters", "lessons"))
    slowest = (0.0, "")
    for query in [combined[:CHARACTERS], *(question(dice) for _ in range(QUESTIONS))]:
        for route in ("search", "chat"):
            slowest = max(slowest, (ask(address, pid, route, query), query))
    growth = peak_mib(pid) - before
    print(f"{QUESTIONS + 1} questions of {CHARACTERS} characters: at most {slowest[0]:.2f} s, {growth:.0f} MiB more than {before:.0f} MiB")
    if slowest[0] > MOST_SECONDS or growth > MOST_GROWTH_MIB:
        sys.exit(f"too much time or memory; the slowest question: {slowest[1]!r}")


main()

#!/usr/bin/env python3
"""Prints what bookrag costs, as Markdown: a thousand questions, and a month of a small and of a large book.

What models cost is read from shared/models/src/prices.rs, the functions' memory from template.yaml, what is watched from both templates; all
else that is not measured is a flag.
infra/costs.md is what this prints without flags: `--write` writes it, `--check` fails when it is not that.
"""

import argparse
import math
import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "infra/costs.md"
TEMPLATES = [ROOT / "template.yaml", ROOT / "infra/monitoring.yaml"]

HOURS = 730  # of a month
GB = 1e9


@dataclass(frozen=True)
class Book:
    name: str
    pages: int
    chunks: int


BOOKS = [Book("small", 63, 645), Book("large", 2_000, 20_000)]

# Public list prices of 2026 in US dollars: AWS in US East (N. Virginia), on arm64. Name: (price, of what, where it is listed).
LIST_PRICES = {
    "lambda_gb_second": (0.0000133334, "a GB-second of Lambda on arm64", "aws.amazon.com/lambda/pricing"),
    "lambda_request": (0.20e-6, "an invocation", "aws.amazon.com/lambda/pricing"),
    "rest_request": (3.50e-6, "a call of a REST API", "aws.amazon.com/api-gateway/pricing"),
    "data_out_gb": (0.09, "a GB out of AWS", "aws.amazon.com/ec2/pricing/on-demand"),
    "log_gb": (0.50, "a GB of logs taken in", "aws.amazon.com/cloudwatch/pricing"),
    "metric": (0.30, "a custom metric a month", "aws.amazon.com/cloudwatch/pricing"),
    "alarm_metric": (0.10, "a metric of an alarm a month", "aws.amazon.com/cloudwatch/pricing"),
    "dashboard": (3.00, "a dashboard a month", "aws.amazon.com/cloudwatch/pricing"),
    "secret": (0.40, "a secret in Secrets Manager a month", "aws.amazon.com/secrets-manager/pricing"),
    "key": (1.00, "a key of KMS a month", "aws.amazon.com/kms/pricing"),
    "trace": (5.00e-6, "a trace of X-Ray", "aws.amazon.com/xray/pricing"),
    "s3_put": (5.00e-6, "a PUT or LIST of S3", "aws.amazon.com/s3/pricing"),
    "s3_get": (0.40e-6, "a GET of S3", "aws.amazon.com/s3/pricing"),
    "sqs_request": (0.40e-6, "a request of a standard queue", "aws.amazon.com/sqs/pricing"),
    "neon_cu_hour": (0.106, "an hour of a compute unit of Neon, plan Launch", "neon.com/docs/introduction/plans"),
    "neon_gb": (0.35, "a GB in Neon a month", "neon.com/docs/introduction/plans"),
}

# Lambda polls a queue with five connections, 20 s per request.
QUEUE_POLLS = HOURS * 3600 / 20 * 5
# A message is sent alone, but received and deleted in batches of ten.
REQUESTS_OF_A_MESSAGE = 1.2
# The schedule in template.yaml.
SWEEP_MINUTES = 60
SWEEPS = HOURS * 60 / SWEEP_MINUTES
# Neon's smallest compute, which sleeps after five minutes without a statement.
NEON_AWAKE_MINUTES = 5
NEON_UNITS = 0.25
# What Neon's Free plan has a month, by neon.com/docs/introduction/plans, and Qdrant Cloud's free cluster, by qdrant.tech/documentation/cloud.
FREE_UNIT_HOURS, FREE_DATABASE_GB = 100, 0.5
FREE_MEMORY_GB, FREE_DISK_GB = 1, 4
# `BOOKRAG_PASSAGE_TOKENS` and the rules of the prompt, read three times by a model that looks something up twice, which adds a quarter each.
MOST_TOKENS_READ = 8_000 + 9_500 + 11_000

# Estimates of minor quantities.
QUESTION_TOKENS = 20
STATUS_SECONDS_OF_A_PAGE = 0.005
SWEEP_SECONDS = 0.5
CHECK_SECONDS = 2
EVENT_LOG_BYTES = 1_000
CATALOG_BYTES_OF_A_CHUNK = 15_000
# A run reads files shared by pages once; an event reads them for itself.
GETS_OF_A_LOOK, GETS_OF_AN_EVENT = 2, 7
VECTORS_OF_A_CHUNK = 1.5
# Of a local model, in float16, on disk (docs/decisions/0003-one-chunk-one-vector.md); twice while a reindex fills a second index.
TOKEN_BYTES_OF_A_CHUNK = 20_000
TEXT_BYTES_OF_A_CHUNK = 4_000


# They run in the functions, so they only cost Lambda's time.
LOCAL_EMBEDDERS = {"bge-small", "minilm"}
LOCAL_DIMENSIONS, HOSTED_DIMENSIONS = 384, 1536


def model_prices():
    """Name of a model: dollars for a million tokens read and written. From the one table there is."""
    text = (ROOT / "shared/models/src/prices.rs").read_text()
    rows = re.findall(r'^\s*\("([^"]+)", "([^"]+)", ([\d.]+), ([\d.]+)\),$', text, re.M)
    count = re.search(r"const PRICES: \[[^\]]*; (\d+)\]", text)
    if not count or len(rows) != int(count[1]):
        sys.exit("error: the table of shared/models/src/prices.rs cannot be read")
    return {model: (float(read), float(written)) for _, model, read, written in rows} | {model: (0.0, 0.0) for model in LOCAL_EMBEDDERS}


def memory_gb(o):
    """Each function's memory in GB: of `!If [UsesLocalModels, A, B]` A for an embedder in the functions, B for a hosted one."""
    found = {}
    for name in ("Query", "Search", "Health", "Ingest"):
        size = re.search(rf"^  {name}:\n(?:    .*\n)*?      MemorySize: !If \[UsesLocalModels, (\d+), (\d+)\]$", TEMPLATES[0].read_text(), re.M)
        if not size:
            sys.exit(f"error: template.yaml does not say the memory of {name}")
        found[name] = int(size[1 if o.embedder in LOCAL_EMBEDDERS else 2]) / 1024
    return found


def metric_series():
    """How many metrics the functions write, each of a function's, and how many of them CloudWatch keeps by default."""
    text = (ROOT / "shared/src/metrics/list.rs").read_text()
    functions = {name: value.count('"') // 2 for name, value in re.findall(r"^const (\w+): &\[&str\] = &\[(.*)\];$", text, re.M)}
    rows = re.findall(r'^    \w+ = "\w+", \w+, (\w+);$', text, re.M)
    watched = re.search(r"fn is_watched.*?\n    }\n", text, re.S)
    if not rows or not watched:
        sys.exit("error: shared/src/metrics/list.rs cannot be read")
    return sum(functions[row] for row in rows), watched[0].count("Self::")


def check_minutes():
    """How often the stack checks its components by default."""
    found = re.search(r"^  HealthCheckMinutes:\n(?:    .*\n)*?    Default: (\d+)$", TEMPLATES[0].read_text(), re.M)
    return float(found[1]) if found else sys.exit("error: template.yaml does not say HealthCheckMinutes")


def alarm_metrics():
    """How many alarms there are by default, and how many metrics they, the essential and the detailed ones look at: what an alarm is charged by."""
    text = "".join(template.read_text() for template in TEMPLATES)
    alarms = [part.split("    Type: AWS::")[0] for part in re.split(r"Type: AWS::CloudWatch::Alarm\n", text)[1:]]
    # `full` includes those of deployments, and those that need an access log or a domain.
    detailed = [alarm for alarm in alarms if alarm.startswith("    Condition: Detailed\n")]
    full = [alarm for alarm in alarms if alarm not in detailed]
    essential = [alarm for alarm in full if not alarm.startswith("    Condition: Full")]
    return len(full), metrics(full), metrics(essential), metrics(detailed)


def metrics(alarms):
    return sum(max(1, alarm.count("MetricStat:")) for alarm in alarms)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--questions", type=float, default=5_000, help="chat questions a month")
    add("--searches", type=float, default=5_000, help="searches a month")
    add("--chat-model", default="gpt-4.1-mini", help="the model of the monthly table; `extractive` for none")
    add("--embedder", default="bge-small", help="the model that embeds")
    add("--tokens-read", type=float, default=7_000, help="tokens of an answer's prompt")
    add("--tokens-written", type=float, default=250, help="tokens of an answer")
    add("--most-tokens-written", type=float, default=800, help="BOOKRAG_ANSWER_TOKENS")
    add("--tokens-embedded", type=float, default=350, help="tokens of a chunk with its headings")
    add("--answer-seconds", type=float, default=4, help="a streamed answer, its models' time included")
    add("--search-seconds", type=float, default=0.35, help="a search, the embedder's time included")
    add("--event-seconds", type=float, default=0.15, help="ingest of an event whose page is unchanged")
    add("--chunk-seconds", type=float, default=0.2, help="ingest of a changed chunk, the embedder's time included")
    add("--calls-of-a-question", type=float, default=2, help="the question, and the browser's preflight")
    add("--log-bytes", type=float, default=3_000, help="logs of a request, the function's and API Gateway's")
    add("--out-bytes", type=float, default=30_000, help="bytes of a question that leave AWS, to the reader and to the models and stores")
    add("--metrics", type=float, default=metric_series()[1], help="custom metrics; an hour in which one is not written is not charged")
    add("--pushes", type=float, default=20, help="uploads of the book a month")
    add("--pages-of-a-push", type=float, default=10, help="pages that differ and so are uploaded")
    add("--changed", type=float, default=0.05, help="share of the chunks that change in a month")
    add("--status-looks", type=float, default=10, help="status calls while a push is waited for")
    add("--check-minutes", type=float, default=check_minutes(), help="how often the stores and models are checked, HealthCheckMinutes; 0 for never")
    add("--qdrant", type=float, default=0, help="dollars a month; 0 for the free cluster")
    for name, (price, what, _) in LIST_PRICES.items():
        add(f"--price-{name.replace('_', '-')}", dest=name, type=float, default=price, help=f"dollars for {what}")
    add("--check", action="store_true", help="fail when costs.md is not what this prints")
    add("--write", action="store_true", help="write costs.md")
    return parser.parse_args()


def per_question(o):
    """What a question costs in AWS: name, dollars."""
    gb_seconds = o.answer_seconds * memory_gb(o)["Query"]
    return {
        "API Gateway": o.calls_of_a_question * o.rest_request,
        "Lambda": o.lambda_request + gb_seconds * o.lambda_gb_second,
        "Logs and traces": o.log_bytes / GB * o.log_gb + o.trace,
        "Data out": o.out_bytes / GB * o.data_out_gb,
    }


def per_search(o):
    compute = o.lambda_request + o.search_seconds * memory_gb(o)["Search"] * o.lambda_gb_second
    return o.calls_of_a_question * o.rest_request + compute + o.log_bytes / GB * o.log_gb + o.trace + o.out_bytes / GB * o.data_out_gb


def neon_hours(o):
    """Hours a month that the database is awake: after each sweep and each check, and after each request in between, evenly spread."""
    per_minute = (o.questions + o.searches) / (HOURS * 60)
    return HOURS * (1 - math.exp(-per_minute * NEON_AWAKE_MINUTES) * unasked(o))


def unasked(o):
    """The share of the time in which the database would sleep without readers."""
    asleep = 1 - NEON_AWAKE_MINUTES / SWEEP_MINUTES
    if o.check_minutes:
        asleep *= 1 - min(1, NEON_AWAKE_MINUTES / o.check_minutes)
    return asleep


def free_plan(o):
    """What Neon's Free plan carries: questions and searches a month, 0 if it does not carry the checks alone; and chunks."""
    awake = FREE_UNIT_HOURS / NEON_UNITS / HOURS
    share = unasked(o) / (1 - awake)
    requests = math.log(share) / NEON_AWAKE_MINUTES * HOURS * 60 if share > 1 else 0
    return requests, FREE_DATABASE_GB * GB / CATALOG_BYTES_OF_A_CHUNK


def checks(o):
    """What a month of scheduled checks costs in AWS."""
    calls = HOURS * 60 / o.check_minutes if o.check_minutes else 0
    compute = o.lambda_request + CHECK_SECONDS * memory_gb(o)["Health"] * o.lambda_gb_second
    return calls * (compute + EVENT_LOG_BYTES / GB * o.log_gb)


def month(o, book, models):
    """What a month costs: name, dollars."""
    chat = models.get(o.chat_model, (0, 0))
    embedded = book.chunks * o.changed * o.tokens_embedded + (o.questions + o.searches) * QUESTION_TOKENS
    events = o.pushes * o.pages_of_a_push
    looks = HOURS / 24 + o.pushes * o.status_looks
    ingest_seconds = events * o.event_seconds + book.chunks * o.changed * o.chunk_seconds
    ingest_seconds += looks * book.pages * STATUS_SECONDS_OF_A_PAGE + SWEEPS * SWEEP_SECONDS
    _, alarmed, _, _ = alarm_metrics()
    return {
        "Answers of the chat model": o.questions * answer(o, chat),
        "Embedding of questions and changed chunks": embedded * models[o.embedder][0] / 1e6,
        "Questions in AWS": o.questions * sum(per_question(o).values()),
        "Searches in AWS": o.searches * per_search(o),
        "Checks of the components": checks(o),
        "Ingest: Lambda": ingest_seconds * memory_gb(o)["Ingest"] * o.lambda_gb_second + (events + SWEEPS) * o.lambda_request,
        "Ingest: S3": events * o.s3_put + (looks * book.pages * GETS_OF_A_LOOK + events * GETS_OF_AN_EVENT) * o.s3_get,
        "Ingest: queue": (QUEUE_POLLS + events * REQUESTS_OF_A_MESSAGE) * o.sqs_request,
        "Ingest: logs": (events + SWEEPS) * EVENT_LOG_BYTES / GB * o.log_gb,
        "Custom metrics": o.metrics * o.metric,
        "Alarms and dashboard": alarmed * o.alarm_metric + o.dashboard,
        "The secret, and the key of the alarms' topics": o.secret + o.key,
        "Neon": neon_hours(o) * NEON_UNITS * o.neon_cu_hour + book.chunks * CATALOG_BYTES_OF_A_CHUNK / GB * o.neon_gb,
        "Qdrant Cloud": o.qdrant,
    }


def answer(o, price, read=None, written=None):
    return ((read or o.tokens_read) * price[0] + (written or o.tokens_written) * price[1]) / 1e6


def usd(amount, digits=2):
    least = 10**-digits
    return "0" if amount == 0 else f"< {least:.{digits}f}" if amount < least else f"{amount:,.{digits}f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def wrapped(markdown):
    """Markdown with its paragraphs and items on lines of 140 characters."""

    def fill(text, indent=""):
        return textwrap.fill(" ".join(text.split()), 140, subsequent_indent=indent, break_on_hyphens=False)

    def block(text):
        if text.startswith(("|", "#")):
            return text
        if text.startswith("- "):
            return "\n".join(fill(item, "  ") for item in re.split(r"\n(?=- )", text))
        return fill(text)

    return "\n\n".join(map(block, markdown.strip().split("\n\n"))) + "\n"


def page(o):
    models = model_prices()
    if o.embedder not in models or (o.chat_model not in models and o.chat_model != "extractive"):
        sys.exit("error: the model has no price in shared/models/src/prices.rs")
    chats = sorted((answer(o, price), model) for model, price in models.items() if price[1] > 0)
    thousand = [["the book's own sentences (`extractive`)", "0", "0"]]
    for cost, model in chats:
        most = answer(o, models[model], MOST_TOKENS_READ, o.most_tokens_written)
        thousand.append([model, usd(1000 * cost), usd(1000 * most)])
    aws = per_question(o)
    serving = [[name, usd(1000 * cost, 3)] for name, cost in aws.items()] + [["**together**", f"**{usd(1000 * sum(aws.values()), 3)}**"]]
    months = [month(o, book, models) for book in BOOKS]
    rows = [[name, *(usd(costs[name]) for costs in months)] for name in months[0]]
    rows.append(["**together**", *(f"**{usd(sum(costs.values()))}**" for costs in months)])
    silent = argparse.Namespace(**{**vars(o), "questions": 0, "searches": 0})
    unread = [usd(sum(month(silent, book, models).values())) for book in BOOKS]
    embedders = sorted((price[0], model) for model, price in models.items() if price[1] == 0 < price[0])
    whole = [[model, *(usd(book.chunks * o.tokens_embedded * price / 1e6, 3) for book in BOOKS)] for price, model in embedders]
    alarms, alarmed, essential, detailed = alarm_metrics()
    every_metric, kept_metrics = metric_series()
    dimensions = LOCAL_DIMENSIONS if o.embedder in LOCAL_EMBEDDERS else HOSTED_DIMENSIONS
    vectors = [book.chunks * VECTORS_OF_A_CHUNK * dimensions * 4 / 1e6 for book in BOOKS]
    tokens = [book.chunks * TOKEN_BYTES_OF_A_CHUNK / 1e6 if o.embedder in LOCAL_EMBEDDERS else 0 for book in BOOKS]
    # Beside the vectors Qdrant keeps the text with its fields, about as large as in the catalog without its indexes, and graphs.
    free_chunks = FREE_DISK_GB * GB / (2 * (TOKEN_BYTES_OF_A_CHUNK * (o.embedder in LOCAL_EMBEDDERS) + VECTORS_OF_A_CHUNK * dimensions * 4 + TEXT_BYTES_OF_A_CHUNK))
    unit_hours = neon_hours(o) * NEON_UNITS
    free_requests, free_rows = free_plan(o)
    verdict = f"exceeds the Free plan's {FREE_UNIT_HOURS}" if unit_hours > FREE_UNIT_HOURS else f"fits into the Free plan's {FREE_UNIT_HOURS}"
    names = [f"{book.name}: {book.pages:,} pages, {book.chunks:,} chunks" for book in BOOKS]
    details = (every_metric - kept_metrics) * o.metric + detailed * o.alarm_metric
    quiet = (alarmed - essential) * o.alarm_metric + o.dashboard
    unchecked = neon_hours(argparse.Namespace(**{**vars(o), "check_minutes": 0})) * NEON_UNITS * o.neon_cu_hour
    often = neon_hours(argparse.Namespace(**{**vars(silent), "check_minutes": 10})) * NEON_UNITS
    prices = [[what, f"{getattr(o, name):.10f}".rstrip("0").rstrip("."), source] for name, (_, what, source) in LIST_PRICES.items()]
    return wrapped(f"""# What it costs

Made by `infra/costs.py`; each number that is not in the code is a flag of it (`--help`). US dollars without taxes, at public list prices of
2026, AWS's of US East; its free tiers are not counted. These are estimates: no bill has been compared with them.

## A thousand questions

What the chat model asks for, at {o.tokens_read:,.0f} tokens read and {o.tokens_written:,.0f} written an answer; and with as many
as passages may have ({MOST_TOKENS_READ:,} with the rules and two look-ups) and {o.most_tokens_written:,.0f} written. The conversation before a question adds to both, and a
model that reasons writes more than its answer.

{table(["model", "1,000 answers", "at most"], thousand)}

What AWS asks for beside it:

{table(["", "1,000 questions"], serving)}

## A month

{o.questions:,.0f} questions answered by {o.chat_model}, {o.searches:,.0f} searches, and {o.pushes:,.0f} pushes that change {o.pages_of_a_push:,.0f} pages each;
{o.changed:.0%} of its chunks are new, embedded by {o.embedder}.

{table(["", *names], rows)}

Without a reader it would be {unread[0]} and {unread[1]} at most. What changes it: the chat model (`BOOKRAG_DAILY_BUDGET_USD` bounds what
that costs), the metrics and alarms (`MonitoringSize=essential` takes {usd(quiet)} off, `detailed` with all {every_metric} metrics adds {usd(details)}), where questions are embedded (`--embedder
text-embedding-3-small`), and how often something keeps Neon awake.

To embed the whole book with a hosted model, once, and after each change of the model or of the chunk policy:

{table(["model", *names], whole)}

## What is measured, and what is assumed

- Measured: 7,000 tokens read, of which 6,600 are passages with their headings (the mean of 60 questions about two sites, 4 characters a token); 303 tokens a chunk before its headings are added; 1.5 vectors a chunk; 46 ms from the question to the model (`docs/decisions/0006-answers.md`, "Speed", without the
  cross-encoder).
- Assumed: {o.tokens_written:,.0f} tokens written; {o.answer_seconds:g} s an answer and {o.search_seconds:g} s a search with the providers'
  time; bytes of logs and bytes out; all times of ingest and checks in Lambda; 15 KB of Postgres a chunk; that Lambda polls an idle
  queue with five connections; that requests are spread evenly, which keeps Neon awake longest.
- Custom metrics: {o.metrics:g}, as if each were written in every hour. Alarms: {alarms}, which look at {alarmed} metrics.
- Neon: {NEON_UNITS} compute units in the {neon_hours(o):.0f} of {HOURS} hours in which something asks: {unit_hours:.0f} unit-hours, which
  {verdict}. A check every {o.check_minutes:g} minutes (`HealthCheckMinutes`) is a part of that; without it, it would be {usd(unchecked)}, and a monitor that asks each
  minute for `health?deep=true` keeps it awake for {usd(HOURS * NEON_UNITS * o.neon_cu_hour)}.
- Neon's Free plan ({FREE_UNIT_HOURS} unit-hours and {FREE_DATABASE_GB} GB a month) carries some {math.floor(free_requests / 100) * 100:,} questions and
  searches a month, and {math.floor(free_rows / 1000) * 1000:,} chunks, or {math.floor(free_rows / 2000) * 1000:,} if a reindex is to fill a second index. Checks every 10 minutes take {often:.0f} unit-hours without a
  single reader. When the hours are used up, Neon suspends the database until the next month: pages are not indexed, a chat model is not asked, since its budget cannot be
  read, and each instance counts limits alone. The alarm ComponentsDown tells.
- Qdrant: by size both books fit into the free cluster ({FREE_MEMORY_GB} GB of memory, {FREE_DISK_GB} GB of disk, one node, no uptime promised): {vectors[0]:.0f} and {vectors[1]:.0f}
  MB of vectors with {dimensions:,} dimensions in memory, {tokens[0]:.0f} and {tokens[1]:.0f} MB of token vectors on disk, all twice during a reindex. It has room for some {math.floor(free_chunks / 1000) * 1000:,} chunks. What
  another cluster costs, Qdrant's calculator alone says; give it with `--qdrant`.
- A check of the chat model lists its provider's models, which costs nothing and notices a revoked key, but not an unpaid bill (the alarm AnswersMostlyDegraded
  does). A check of a hosted embedder embeds one word: even every 5 minutes less than a cent a month.
- Not counted: what leaves Neon and Qdrant to the functions (40 to 80 chunks of 1 to 4 KB a search), Cohere's reranker, questions put to a model to let them stand alone, a domain, the firewall (some 8 dollars), support plans,
  GitHub's minutes.

## Prices

Models: `shared/models/src/prices.rs`. The others:

{table(["of", "dollars", "listed at"], prices)}
""")


def main():
    options = parse()
    text = page(options)
    if options.write:
        PAGE.write_text(text)
    elif options.check:
        if not PAGE.is_file() or PAGE.read_text() != text:
            sys.exit("error: infra/costs.md is not what infra/costs.py prints; run it with --write")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()

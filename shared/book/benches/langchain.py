"""Splits Markdown files as LangChain does: langchain.py TOKENS OVERLAP FILE…

By headers, then recursively to a size in cl100k tokens. A line on standard input asks for a round over all files; the answer is
the number of chunks and the seconds it took.
"""

import sys
import time

from langchain_text_splitters import MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter

tokens, overlap, files = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
texts = [open(file, encoding="utf-8").read() for file in files]
headers = MarkdownHeaderTextSplitter([("#", "h1"), ("##", "h2"), ("###", "h3")], strip_headers=False)
sizes = RecursiveCharacterTextSplitter.from_tiktoken_encoder(
    encoding_name="cl100k_base", chunk_size=tokens, chunk_overlap=overlap, disallowed_special=()
)
for _ in sys.stdin:
    started = time.perf_counter()
    chunks = sum(len(sizes.split_documents(headers.split_text(text))) for text in texts)
    print(chunks, time.perf_counter() - started, flush=True)

"""Ingests a book as a LangChain user would: langchain_index.py SITE DATA full|unchanged|one_page [PAGES]

LangChain's indexing API, its SQLite record manager, its splitters, all-MiniLM-L6-v2 int8 in ONNX Runtime. PAGES is a file that
names the pages, a path below SITE each line; without it they are the Markdown files below `docs` whose path has no `_` name.
Each step is a process of its own: `full` wants DATA empty, the others what the step before left there. Prints one line of JSON;
its seconds begin after the imports.

Texts are embedded 32 at a time, the default of sentence-transformers, and sorted by length as there, so that little is padded.
BOOKRAG_BENCH_BATCH=1 is less work: the small book took 5.3 CPU-seconds where 32 took 7.8.

What else there was a choice of is chosen for speed:

- Qdrant's embedded engine behind a vector store of our own. LangChain's with Qdrant's client (`path=`) commits each point alone:
  3.8 s for 1,500 points where the engine takes 0.3 s, and 0.8 s more to import.
- `cleanup="full"`, which like `bookrag sync` also deletes pages that are gone. "incremental" deletes and embeds again what an
  unchanged page has in the next batch.
"""

import json
import os
import sys
import time
import warnings
from pathlib import Path

import numpy
from langchain_classic.indexes import SQLRecordManager
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.indexing import index
from langchain_core.vectorstores import VectorStore
from langchain_text_splitters import MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter
from onnxruntime import InferenceSession, SessionOptions
from qdrant_edge import CountRequest, Distance, EdgeConfig, EdgeShard, EdgeVectorParams, Point, Query, QueryRequest, UpdateOperation
from tokenizers import Tokenizer

# What `ChunkPolicy::ADAPTIVE` aims at, in cl100k tokens.
CHUNK_TOKENS, OVERLAP_TOKENS = 450, 100
# The input the model was trained on, in its own tokens.
MODEL_TOKENS, DIMENSIONS = 256, 384
EMBEDDING_BATCH = int(os.environ.get("BOOKRAG_BENCH_BATCH") or 32)


def model_folder():
    """Where bookrag keeps the model's files."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    models = os.environ.get("BOOKRAG_MODELS") or Path(cache, "bookrag", "models")
    return Path(models, "all-MiniLM-L6-v2-int8-8199be6f")


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


class MiniLm(Embeddings):
    """all-MiniLM-L6-v2: the mean over the tokens, at length 1."""

    def __init__(self, folder):
        options = SessionOptions()
        # Its default is one thread for each physical core.
        options.intra_op_num_threads = cores()
        self.session = InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        # The file says 128 for both, and to pad up to that.
        self.tokenizer.enable_truncation(MODEL_TOKENS)
        self.tokenizer.enable_padding()
        self.embedded, self.seconds = 0, 0.0

    def embed_documents(self, texts):
        started = time.perf_counter()
        vectors = [None] * len(texts)
        by_length = sorted(range(len(texts)), key=lambda i: len(texts[i]), reverse=True)
        for start in range(0, len(texts), EMBEDDING_BATCH):
            batch = by_length[start : start + EMBEDDING_BATCH]
            for i, vector in zip(batch, self.embed_batch([texts[i] for i in batch]), strict=True):
                vectors[i] = vector
        self.embedded += len(texts)
        self.seconds += time.perf_counter() - started
        return vectors

    def embed_batch(self, texts):
        encodings = self.tokenizer.encode_batch(texts)
        ids = numpy.array([encoding.ids for encoding in encodings], dtype=numpy.int64)
        mask = numpy.array([encoding.attention_mask for encoding in encodings], dtype=numpy.int64)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
        [states] = self.session.run(None, inputs)
        weights = mask[:, :, None].astype(numpy.float32)
        means = (states * weights).sum(axis=1) / weights.sum(axis=1)
        return (means / numpy.linalg.norm(means, axis=1, keepdims=True)).tolist()

    def embed_query(self, text):
        return self.embed_documents([text])[0]


class EdgeVectorStore(VectorStore):
    """Qdrant's embedded engine as a vector store, with the payload of LangChain's own one."""

    def __init__(self, folder, embeddings):
        self.embedder = embeddings
        if folder.exists():
            self.shard = EdgeShard.load(str(folder))
        else:
            vectors = EdgeVectorParams(size=DIMENSIONS, distance=Distance.Cosine)
            self.shard = EdgeShard.create(str(folder), EdgeConfig(vectors=vectors))

    @property
    def embeddings(self):
        return self.embedder

    def add_texts(self, texts, metadatas=None, *, ids, **_):
        texts = list(texts)
        vectors = self.embedder.embed_documents(texts)
        metadatas = metadatas or [{} for _ in texts]
        points = [
            Point(id=id, vector=vector, payload={"page_content": text, "metadata": metadata})
            for id, vector, text, metadata in zip(ids, vectors, texts, metadatas, strict=True)
        ]
        self.shard.update(UpdateOperation.upsert_points(points))
        return ids

    def delete(self, ids=None, **_):
        self.shard.update(UpdateOperation.delete_points(list(ids)))
        return True

    def similarity_search(self, query, k=4, **_):
        nearest = Query.Nearest(self.embedder.embed_query(query))
        found = self.shard.query(QueryRequest(limit=k, query=nearest, with_payload=True))
        return [
            Document(id=str(point.id), page_content=point.payload["page_content"], metadata=point.payload["metadata"])
            for point in found
        ]

    @classmethod
    def from_texts(cls, texts, embedding, metadatas=None, *, ids, folder, **_):
        store = cls(folder, embedding)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    def __len__(self):
        return self.shard.count(CountRequest())

    def close(self):
        self.shard.flush()
        self.shard.close()


def list_pages(site):
    docs = site / "docs" if (site / "docs").is_dir() else site
    pages = (path.relative_to(site) for path in docs.rglob("*") if path.suffix in (".md", ".mdx"))
    return sorted(str(page) for page in pages if not any(part.startswith("_") for part in page.parts))


def split(site, pages):
    """The chunks of all pages, read and cut as they are asked for."""
    headers = MarkdownHeaderTextSplitter([("#", "h1"), ("##", "h2"), ("###", "h3")], strip_headers=False)
    sizes = RecursiveCharacterTextSplitter.from_tiktoken_encoder(
        encoding_name="cl100k_base", chunk_size=CHUNK_TOKENS, chunk_overlap=OVERLAP_TOKENS, disallowed_special=()
    )
    for page in pages:
        for chunk in sizes.split_documents(headers.split_text((site / page).read_text(encoding="utf-8"))):
            chunk.metadata["source"] = page
            yield chunk


def ingest(site, data, pages):
    embeddings = MiniLm(model_folder())
    store = EdgeVectorStore(data / "vectors", embeddings)
    records = SQLRecordManager("qdrant/book", db_url=f"sqlite:///{data / 'records.sqlite'}")
    records.create_schema()
    # The other hashes are longer than the ids that Qdrant takes.
    warnings.filterwarnings("ignore", message="Using SHA-1")
    result = index(split(site, pages), records, store, cleanup="full", source_id_key="source", key_encoder="sha1")
    report = {
        "chunks": len(store),
        "embedded": embeddings.embedded,
        "deleted": result["num_deleted"],
        "embedding_seconds": embeddings.seconds,
        "pages": len(pages),
    }
    store.close()
    return report


def main():
    if len(sys.argv) not in (4, 5) or sys.argv[3] not in ("full", "unchanged", "one_page"):
        sys.exit(__doc__.splitlines()[0])
    site, data, step = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    data.mkdir(parents=True, exist_ok=True)
    if (data / "vectors").exists() == (step == "full"):
        sys.exit(f"error: {data} is {'not empty' if step == 'full' else 'empty'}")
    pages = Path(sys.argv[4]).read_text(encoding="utf-8").splitlines() if len(sys.argv) == 5 else list_pages(site)
    started = time.perf_counter()
    report = ingest(site, data, pages)
    print(json.dumps({"what": step, "seconds": time.perf_counter() - started, **report}))


if __name__ == "__main__":
    main()

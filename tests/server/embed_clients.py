"""Vectors over HTTP as openai-python and ollama's package ask, with all-MiniLM-L6-v2's real weights."""
import math

import ollama
import openai

MODEL = "minilm"  # a folder of the weights
TEXTS = ["A man is eating food.", "Somebody eats a meal.", "The stock market fell today."]


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b)) / math.hypot(*a) / math.hypot(*b)


class EmbedChecks:
    def __init__(self, address, key):
        self.client = openai.OpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0, timeout=60)
        self.stranger = openai.OpenAI(base_url=f"{address}/v1", api_key="nobody", max_retries=0, timeout=60)
        self.ollama = ollama.Client(address, headers={"Authorization": f"Bearer {key}"})

    def ask(self, texts, **fields):
        return self.client.embeddings.create(**{"model": "text-embedding-3-small", "input": texts} | fields)

    def check_meaning(self):
        told = self.ask(TEXTS)  # openai-python asks for base64 and decodes it
        a, b, c = (one.embedding for one in told.data)
        assert len(a) == 384 and abs(math.hypot(*a) - 1) < 1e-5, len(a)
        assert cosine(a, b) > 0.5 > 0.2 > cosine(a, c), (cosine(a, b), cosine(a, c))
        assert told.usage.prompt_tokens == told.usage.total_tokens == 23, told.usage
        assert [one.index for one in told.data] == [0, 1, 2] and told.model == MODEL

    def check_floats_are_those_of_base64(self):
        plain = self.ask(TEXTS[0], encoding_format="float").data[0].embedding
        assert max(abs(x - y) for x, y in zip(plain, self.ask(TEXTS[0]).data[0].embedding)) < 1e-7
        assert len(self.ask(TEXTS[0], dimensions=64).data[0].embedding) == 64

    def check_what_is_cut_is_told(self):
        told = self.ask(["word " * 500, "a"])
        assert told.data[0].model_extra == {"left_out": 246}, told.data[0].model_extra
        assert told.usage.prompt_tokens == 256 + 3 and not told.data[1].model_extra
        try:
            self.ask("word " * 500, extra_body={"truncate": False})
            raise AssertionError("wanted an error")
        except openai.BadRequestError as error:
            assert error.param == "input" and "wanted 256 tokens at most" in str(error), error

    def check_tokens(self):
        """What LangChain sends, of this model's own vocabulary; other numbers are refused."""
        assert cosine(self.ask([[101, 7592, 102]]).data[0].embedding, self.ask("hello").data[0].embedding) > 0.999999
        try:
            self.ask([[100000]])
            raise AssertionError("wanted an error")
        except openai.BadRequestError as error:
            assert "wanted tokens of this model" in str(error), error

    def check_strangers(self):
        try:
            self.stranger.embeddings.create(model=MODEL, input="a")
            raise AssertionError("wanted an error")
        except openai.AuthenticationError:
            pass

    def check_ollama(self):
        told = self.ollama.embed(MODEL, TEXTS, truncate=True, options={"num_ctx": 256}, keep_alive="1m")
        assert len(told.embeddings) == 3 and told.prompt_eval_count == 23 and told.total_duration >= told.load_duration >= 0, told
        wanted = self.ask(TEXTS).data
        assert all(cosine(one, other.embedding) > 0.999999 for one, other in zip(told.embeddings, wanted))
        old = self.ollama.embeddings(MODEL, TEXTS[0])
        assert cosine(old.embedding, wanted[0].embedding) > 0.999999
        assert self.ollama.show(MODEL).capabilities == ["embedding"]
        assert f"{MODEL}:latest" in [model.model for model in self.ollama.list().models]

#!/usr/bin/env python3
"""Writes the fuzz corpora of the readers of text: tests/fuzz/corpus/{vocabulary,text}.

  python tools/make_text_corpus.py tests/fuzz/corpus
"""
import base64
import json
import pathlib
import sys

VOCABULARY = {
    "good-vocab-json": '{"a":0,"\u0120b":1,"\u00c3":2}',
    "good-list": '["a","\u0120b","<|en|>"]',
    "good-lines": "a\n\u0120b\r\n<|en|>",
    "good-tiktoken": "".join(f"{base64.b64encode(token).decode()} {rank}\n" for rank, token in enumerate([b"a", b" b", b"\xff"])) + "= 3\n",
    "good-tokenizer-json": json.dumps({"model": {"vocab": {"a": 0, "b": 1}}, "added_tokens": [{"id": 2, "content": "<|x|>"}]}),
    "bad-cut": '{"model":{"vocab":{"a":0',
    "bad-id-huge": '{"a":18446744073709551615}',
    "bad-id-negative": '{"a":-1}',
    "bad-id-float": '{"a":1e9}',
    "bad-nesting": "[" * 2000,
    "bad-added": '{"model":{"vocab":{}},"added_tokens":{"a":1}}',
    "bad-added-entry": '{"model":{"vocab":{"a":0}},"added_tokens":[7]}',
    "bad-model": '{"model":7}',
    "bad-list-entry": '["a",{"b":[]}]',
    "bad-rank": "YQ== 0\nYg== 99999999999999999999\n",
    "bad-base64": "YQ== 0\n?? 1\n",
    "bad-blank": " \n\t",
}
TEXT = {
    "plain": "Hello, world! It's 5 o'clock and we've $3.50.",
    "numbers": "two and a half million dollars and ten cents, twenty twenty one, double oh seven point five per cent",
    "scripts": "Привет 今日は 안녕 नमस्ते ΣΑΣ İ ﬁ ٣٫٥ e\u0301\u0302\u0323",
    "emoji": "👩\u200d👩\u200d👧 🇫🇷 ♪♪♪",
    "broken": b"a\xff\xc3(\xe4\xb8 \xf0\x9f\x98 \xed\xa0\x80 z",
    "brackets": "[a <b] (c) ( ) ) > %% .. $ ¢",
    "spaces": " \t\n  x \u00a0\u3000 y  ",
    "marks": "a" + "\u0301\u0323" * 200,
    "run": "aeio" * 300,
    "commas": "1,2,3,4.5.6,,7 1 st 2 nd 1s $0.05 $2 and ¢7",
}


def main():
    for name, cases in (("vocabulary", VOCABULARY), ("text", TEXT)):
        folder = pathlib.Path(sys.argv[1]) / name
        folder.mkdir(parents=True, exist_ok=True)
        for case, content in cases.items():
            (folder / case).write_bytes(content if isinstance(content, bytes) else content.encode())


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes tests/text/data/whisper_tokens.json: what the reference tokenizers do with many texts.

English token ids come from Hugging Face tokenizers and tiny.en's tokenizer.json; multilingual ids,
special tokens, word splits and decoded text from openai/whisper's tokenizer.py as the wheel
mlx-whisper 0.4.3 carries it, over tiktoken.

  python tools/tokenizer_vectors.py --tokenizer-json tiny.en/tokenizer.json \
      --whisper-package mlx_whisper --out tests/text/data/whisper_tokens.json
"""
import argparse
import importlib.util
import json
import pathlib
import random

import tiktoken
import tokenizers

SEED = 20240521

# Where tokenizers go wrong: contractions, runs of space, numbers, symbols, scripts, emoji.
FIXED = [
    " Hello world.", "Hello world", "", " ", "  ", "   x", "a  b", "a \n b", "\t\ttabs\t", "end   ",
    " I'm, you're, he's, we've, they'll, she'd, don't, it's 'quoted' 'twas O'Brien's",
    "'S 'T 'RE", "''s '''re", "x's's", "'", "' ", " '", "rock'n'roll", "\u2019s don\u2019t",
    "1234567890 3.14 1,000,000 2\u00bd \u00b2 \u2160\u2161 \u0663\u0664 5th 90s $12.50 50%",
    "foo\u00a0bar\u2003baz\u3000qux\u2028line\u200bzero", "\u0085next \u001c fs",
    "na\u00efve caf\u00e9 \u00dcber stra\u00dfe \u0153uvre", "nai\u0308ve cafe\u0301",
    "Privet \u041f\u0440\u0438\u0432\u0435\u0442, \u043a\u0430\u043a \u0434\u0435\u043b\u0430?",
    "\u4eca\u65e5\u306f\u826f\u3044\u5929\u6c17\u3067\u3059\u306d\u3002", "\u4f60\u597d\uff0c\u4e16\u754c\uff01",
    "\uc548\ub155\ud558\uc138\uc694 \uc138\uacc4", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645", "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e",
    "\U0001f600 \U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f1eb\U0001f1f7 \u266a la la \u266a\u266b", "\ufffd \ufeff",
    "(laughs) [MUSIC] {x} <tag> -- --- ... !!! ??? #1 @you a_b c^d ~ `code` \\ | / *",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "=" * 70, "ab" * 40,
    "https://example.org/a?b=c&d=e#f", "CamelCaseWords andsnake_case_words",
    "Antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
    "And so my fellow Americans, ask not what your country can do for you.",
]
ALPHABETS = [
    "abcdefghijklmnopqrstuvwxyz", "ABCXYZ", "0123456789", "     \t\n", ".,!?'\"-()$%&*", "\u00e9\u00e8\u00fc\u00f1\u00df\u00f8\u00e5",
    "\u3042\u3044\u3046\u6f22\u5b57\u4eee\u540d", "\u0431\u0432\u0433\u0434\u0451", "\u05d0\u05d1\u05d2", "\u0905\u093e\u094d", "\U0001f600\U0001f680\u2665\u266a",
    "\u00bc\u2155\u0665\u06f5\u2167", "\u00a0\u2009\u3000\u2029", "'s 't 're 've 'm 'll 'd ",
]
WORDS = ("the of and to in that it is was speech whisper recording morning voice we're can't isn't "
         "twenty-one Mr. Dr. 42nd 1999 e.g. U.S. state-of-the-art").split()


def random_texts(rng, count):
    for _ in range(count):
        parts = []
        for _ in range(rng.randrange(2, 14)):
            if rng.random() < 0.4:
                parts.append(rng.choice([" ", "", "  "]) + rng.choice(WORDS))
            else:
                alphabet = rng.choice(ALPHABETS)
                parts.append("".join(rng.choice(alphabet) for _ in range(rng.randrange(1, 7))))
        yield "".join(parts)


def reference_tokenizer(package):
    spec = importlib.util.spec_from_file_location("tokenizer", pathlib.Path(package) / "tokenizer.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def special(reference, tokenizer):
    return {name: getattr(tokenizer, name) for name in
            ("eot", "sot", "translate", "transcribe", "sot_lm", "sot_prev", "no_speech",
             "no_timestamps", "timestamp_begin")} | {
                "languages": list(reference.LANGUAGES)[:tokenizer.num_languages],
                "first_language": tokenizer.special_tokens["<|en|>"],
                "non_speech": list(tokenizer.non_speech_tokens)}


def words_of(reference, rng, texts):
    cases = []
    for i, text in enumerate(texts):
        for multilingual in (False, True):
            language = rng.choice(["en", "ja", "zh", "de"]) if multilingual else "en"
            tokenizer = reference.get_tokenizer(multilingual, language=language if multilingual else None)
            ids = tokenizer.encode(text)
            if i % 3 == 0:  # as the decoder makes them: timestamps around, maybe cut in a code point
                ids = [tokenizer.timestamp_begin + 7] + ids + [tokenizer.timestamp_begin + 99]
            if i % 4 == 1:
                ids = ids[:-1]
            ids = ids + [tokenizer.eot]
            try:
                words, tokens = tokenizer.split_to_word_tokens(ids)
            except IndexError:  # the reference reads past the text where the tokens end broken
                continue
            cases.append({"multilingual": multilingual, "language": language, "ids": ids,
                          "words": words, "tokens": tokens})
    return cases


def decoded(reference, rng, count):
    cases = []
    for i in range(count):
        multilingual = i % 2 == 1
        tokenizer = reference.get_tokenizer(multilingual)
        ids = [rng.randrange(0, tokenizer.eot) if rng.random() < 0.7 else rng.randrange(128, 256)
               for _ in range(rng.randrange(1, 12))]
        if multilingual:
            ids = [i for i in ids if i != 50256]
        if i % 5 == 0:
            ids.insert(rng.randrange(len(ids)), rng.randrange(tokenizer.eot, tokenizer.timestamp_begin + 1501))
        cases.append({"multilingual": multilingual, "ids": ids,
                      "text": tokenizer.encoding.decode([t for t in ids if t < tokenizer.eot]),
                      "with_timestamps": tokenizer.decode_with_timestamps(ids)})
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tokenizer-json", required=True)
    parser.add_argument("--whisper-package", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()

    rng = random.Random(SEED)
    english = tokenizers.Tokenizer.from_file(options.tokenizer_json)
    reference = reference_tokenizer(options.whisper_package)
    multilingual = reference.get_tokenizer(True)
    texts = FIXED + list(random_texts(rng, 160))
    result = {
        "versions": {"tokenizers": tokenizers.__version__, "tiktoken": tiktoken.__version__,
                     "mlx-whisper": "0.4.3", "seed": SEED},
        "encode": [{"text": text,
                    "english": english.encode(text, add_special_tokens=False).ids,
                    "multilingual": multilingual.encode(text)} for text in texts],
        "decode": decoded(reference, rng, 120),
        "words": words_of(reference, rng, [t for t in texts if t.strip()][:70]),
        "special": {"51864": special(reference, reference.get_tokenizer(False)),
                    "51865": special(reference, multilingual),
                    "51866": special(reference, reference.get_tokenizer(True, num_languages=100))},
    }
    rows = ",\n".join(f'"{key}": ' + (json.dumps(value, ensure_ascii=True) if isinstance(value, dict)
                     else "[\n" + ",\n".join(json.dumps(row) for row in value) + "]")
                     for key, value in result.items())
    pathlib.Path(options.out).write_text("{" + rows + "}\n")


if __name__ == "__main__":
    main()

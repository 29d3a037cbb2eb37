#!/usr/bin/env python3
"""Writes lines and what the package whisper-normalizer makes of them, as tab-separated text.

Generated lines (numbers, money, abbreviations, contractions, spellings, other scripts) with both
normalisers go to tests/text/data/normalized.tsv; with --transcripts, the English lines of a table
of transcripts too, so that tests can compare those in place: only their normalised form is kept.

  python tools/normalizer_vectors.py --count 404 > tests/text/data/normalized.tsv
  python tools/normalizer_vectors.py --transcripts transcripts.tsv \
      > tests/text/data/normalized_transcripts.tsv
"""
import argparse
import csv
import importlib.metadata
import json
import random
from importlib.resources import files

from whisper_normalizer.basic import BasicTextNormalizer
from whisper_normalizer.english import EnglishTextNormalizer

SEED = 77
NUMBERS = ("one two three four five six seven eight nine ten eleven twelve thirteen fifteen nineteen "
           "twenty thirty forty fifty ninety hundred thousand million billion decillion oh o zero "
           "first second third fourth fifth ninth nineth twelfth twentieth hundredth ones sixes "
           "twenties hundreds millions point double triple and minus negative plus positive per "
           "percent cent cents dollar dollars pounds euros zeroth 7 12 3.5 0.25 2.0 1,000 12,345,678 "
           "$5 £2.50 €10 ¢7 $0.07 5% 1960s 42nd 3rd 21st 100 007 1 10 20 0").split()
WORDS = ("the a we he she it said Mr. Mrs. Dr. St. Prof. Jr. Capt. Gen. Sen. Rev. Lt. Col. Esq. etc "
         "won't can't let's ain't y'all wanna gonna gotta kinda dunno 'cause i'ma ma'am don't they're "
         "he's she'd we'll I've I'm it's been gone got done he'd isn't colour theatre organise "
         "grey travelling neighbours cheque uh um hmm mhm mmm [laughs] (sighs) <music> U.S. e.g. "
         "café naïve Ærø Øre straße Þór ½ ² ① ... -- ! ? , ; : ' \" & # @ and a half half "
         "rock'n'roll O'Brien word's A1 b2b 4th 5 s x'").split()
SCRIPTS = ["Привет, МИР!", "今日は、良い天気。", "你好（世界）", "안녕 하세요?", "नमस्ते दुनिया", "ΟΔΥΣΣΕΥΣ ΣΑΣ Σ", "İstanbul IŞIK",
           "ﬁnance ﬂow", "Ｆｕｌｌ １２３", "٣٤ ١٢", "שלום עולם", "สวัสดี", "🎵 la 👩‍👧 🇫🇷", "e\u0301a\u0308", "a\u00a0b\u3000c\u2028d"]


def line(rng):
    parts = []
    for _ in range(rng.randrange(1, 12)):
        kind = rng.random()
        if kind < 0.55:
            parts.append(rng.choice(NUMBERS))
        elif kind < 0.93:
            parts.append(rng.choice(WORDS))
        else:
            parts.append(rng.choice(SCRIPTS))
        if rng.random() < 0.1:
            parts[-1] += rng.choice(",.!?;:%-'$")
        if rng.random() < 0.1:
            parts[-1] = parts[-1].capitalize()
    return rng.choice(["", "", " "]) + "".join(part + rng.choice([" ", " ", " ", "  ", "-"]) for part in parts).rstrip(" -")


def written(text):
    return json.dumps(text, ensure_ascii=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=404)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--transcripts")
    options = parser.parse_args()
    english, basic = EnglishTextNormalizer(), BasicTextNormalizer()
    plain = BasicTextNormalizer(remove_diacritics=True)
    letters = BasicTextNormalizer(split_letters=True)
    print(f"# whisper-normalizer {importlib.metadata.version('whisper_normalizer')}, seed {options.seed}; JSON strings")
    if options.transcripts:
        print("# clip, English")
        for row in csv.DictReader(open(options.transcripts, encoding="utf-8"), delimiter="\t"):
            if row["lang"] == "en":
                print(row["clip"], written(english(row["text"])), sep="\t")
        return
    print("# text, English, basic, basic without diacritics, basic by letters")
    rng = random.Random(options.seed)
    spellings = json.load(open(files("whisper_normalizer").joinpath("normalizers/english.json")))
    fixed = ["", " ", "[x", "(", "()", "a ( ) b", "<a] b", "one and a half", "and a half", "cats and a half",
             "two and a half and a half", "$2 and ¢7", "two dollars and seven cents", "$0.07", "..", "...", "1.", "a.b. c.",
             "1,2,3,4", "%%", "a%% b", "$$a", "ten thousand dollars", "twenty twenty one", "nineteen ninety nine",
             "one oh one", "double seven", "triple oh five", "point five", "minus", "minus five", "five per cent", "five per",
             "one point two point three", "three point", "zero hundred", "0 hundred", "2.5 million", "2.55 hundreds",
             "one hundred and one thousand and two", "twelve hundred", "five s", "5 th", "1s 1st 1.5 a1"]
    for text in fixed + [" ".join(rng.sample(list(spellings), 6)) for _ in range(20)] + [line(rng) for _ in range(options.count - len(fixed) - 20)]:
        try:
            print(written(text), written(english(text)), written(basic(text)), written(plain(text)), written(letters(text)), sep="\t")
        except Exception as error:  # the reference fails on some; there is nothing to compare then
            print(f"# {written(text)}: {type(error).__name__}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""How pyopenjtalk and misaki read Japanese, for tests/text/japanese_test.cpp.

  OPEN_JTALK_DICT_DIR=/var/lib/mecab/dic/open-jtalk/naist-jdic japanese_oracle.py SENTENCES FOLDER

SENTENCES: one a line; lines that begin with "# " are left out. Wants pyopenjtalk 0.4.1 and misaki[ja] 0.9.4; the
dictionary is Debian's (open-jtalk-mecab-naist-jdic), since pyopenjtalk would load another of its own. FOLDER gets
  japanese.tsv   each sentence and its phonemes (pyopenjtalk.g2p)
  kana.tsv       pronunciations in katakana and misaki's phonemes of them (cutlet.py): those of the sentences' words,
                 and every large sign alone and with every small one behind it (but ヸ, which no word has)
"""
import argparse
import pathlib

import jaconv
import pyopenjtalk
from misaki.cutlet import HEPBURN, Cutlet

SIGNS = [chr(code) for code in range(0x30A1, 0x30FB)] + ["ー"]
SMALL = "ァィゥェォャュョ"


def phonemes(kana):
    """Of one word, as Cutlet._romaji_word has them."""
    cutlet = object.__new__(Cutlet)  # its tagger is not asked
    cutlet.table = dict(HEPBURN)
    signs = jaconv.kata2hira(kana)
    return "".join(cutlet._get_single_mapping(signs[i - 1] if i else None, sign, signs[i + 1] if i + 1 < len(signs) else None)
                   for i, sign in enumerate(signs))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentences", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    lines = [line for line in options.sentences.read_text(encoding="utf-8").splitlines() if not line.startswith("# ")]
    options.folder.mkdir(parents=True, exist_ok=True)
    table = "".join(f"{line}\t{pyopenjtalk.g2p(line)}\n" for line in lines)
    (options.folder / "japanese.tsv").write_text(table, encoding="utf-8")
    words = {word["pron"].replace("’", "") for line in lines for word in pyopenjtalk.run_frontend(line) if word["mora_size"]}
    pairs = {first + small for first in SIGNS if first not in "ッンーヸ" and first not in SMALL for small in SMALL}
    table = "".join(f"{kana}\t{phonemes(kana)}\n" for kana in sorted(words | set(SIGNS) - set(SMALL) | pairs))
    (options.folder / "kana.tsv").write_text(table, encoding="utf-8")


if __name__ == "__main__":
    main()

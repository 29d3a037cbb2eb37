#!/usr/bin/env python3
"""How the G2P of the hibari-tts wheel 0.2.1 (misaki's rules) reads English, for tests of src/text/phonemes and
src/models/unknown_words.

  g2p_oracle.py SENTENCES FOLDER     SENTENCES: one a line; lines that begin with "# " are left out

For both accents (us, gb) FOLDER gets
  us.txt          the phonemes of each sentence, a line each; hibari's normalisation is off
  us_asked.tsv    word and phonemes of what its network for unknown words was asked on the way
  us_unknown.tsv  the same for 2,000 words: those, then lexicon words at equal distances with capitals and endings on some
"""
import argparse
import pathlib
import sys

from hibari.g2p import G2P

WORDS = 2000


class Remembering:
    """The network, each word asked once."""

    def __init__(self, network):
        self.network, self.answers = network, {}

    def __call__(self, word):
        if word not in self.answers:
            self.answers[word] = self.network(word) or ""
        return self.answers[word] or None


def more_words(g2p):
    """Words as readers of the network's letters may meet them."""
    known = sorted(word for word in g2p.lexicon.silvers.d if word.isalpha())
    shapes = [str, str.capitalize, str.upper, lambda word: word + "'s", lambda word: word[:-1],
              lambda word: word[::-1], lambda word: word + word[:7]]
    for i, word in enumerate(known[:: len(known) // WORDS]):
        yield shapes[i % len(shapes)](word)


def write_table(path, pairs):
    path.write_text("".join(f"{word}\t{phonemes}\n" for word, phonemes in pairs), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentences", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    sentences = [line for line in options.sentences.read_text(encoding="utf-8").splitlines() if not line.startswith("# ")]
    options.folder.mkdir(parents=True)
    for accent in ("us", "gb"):
        g2p = G2P(british=accent == "gb")
        network = Remembering(g2p.oov)
        g2p._oov = network
        lines = [g2p(sentence, normalize_text=False) for sentence in sentences]
        (options.folder / f"{accent}.txt").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        write_table(options.folder / f"{accent}_asked.tsv", network.answers.items())
        for word in more_words(g2p):
            if len(network.answers) == WORDS:
                break
            network(word)
        write_table(options.folder / f"{accent}_unknown.tsv", network.answers.items())


if __name__ == "__main__":
    sys.exit(main())

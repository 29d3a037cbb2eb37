#!/usr/bin/env python3
"""Writes pairs of word lists and jiwer's counts for them: tests/text/data/word_errors.tsv.

  python tools/word_error_vectors.py > tests/text/data/word_errors.tsv
"""
import importlib.metadata
import random

import jiwer

rng = random.Random(11)
print(f"# jiwer {importlib.metadata.version('jiwer')}, seed 11")
print("# reference, hypothesis, hits, substitutions, deletions, insertions")
for n in range(240):
    words = "abcdefgh"[:rng.randrange(2, 9)]
    reference = [rng.choice(words) for _ in range(rng.randrange(1, 30))]
    hypothesis = []
    for word in reference if n % 3 else []:
        chance = rng.random()
        if chance < 0.12:
            continue
        hypothesis.append(word if chance < 0.75 else rng.choice(words))
        if rng.random() < 0.12:
            hypothesis.append(rng.choice(words))
    if n % 3 == 0:  # nothing in common but the alphabet: many alignments are equally cheap
        hypothesis = [rng.choice(words) for _ in range(rng.randrange(0, 30))]
    result = jiwer.process_words(" ".join(reference), " ".join(hypothesis))
    print(" ".join(reference), " ".join(hypothesis), result.hits, result.substitutions,
          result.deletions, result.insertions, sep="\t")

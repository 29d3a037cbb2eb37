"""Which headers of libraries to read once for many of ours, so that each of ours is still compiled with nothing but its own.

What one of ours includes, itself or by another, may be read before it: nothing reaches it that would not without. Many share
most of theirs, so a few sets that are subsets of many (precompiled) take most of what compiling hundreds of headers costs.
"""
import collections
import functools
import itertools
import os
import subprocess

SETS = 24  # more save less than they take to compile


def files_of(names, command):
    """name -> the files that it reads."""
    files = {}
    for name in names:
        told = subprocess.run([*command, "-M", "-x", "c++", "-"], input=f"#include <{name}>\n", capture_output=True, text=True)
        if told.returncode == 0:
            files[name] = frozenset(told.stdout.replace("\\\n", " ").split()[2:])
    return files


def choose(sets, files):
    """At most SETS sets: each time the one that saves most bytes, were it read once and not by each that includes all of it."""
    number = {name: 1 << i for i, name in enumerate(files)}
    masks = collections.Counter(sum(number[name] for name in names if name in files) for names in sets)
    candidates = set(masks) | {one & other for one, other in itertools.combinations(masks, 2)}

    size = functools.lru_cache(None)(os.path.getsize)

    @functools.lru_cache(None)
    def bytes_of(mask):
        read = set().union(*(files[name] for name, bit in number.items() if mask & bit))
        return sum(map(size, read))

    users = {mask: [theirs for theirs in masks if mask & ~theirs == 0] for mask in candidates}
    saved, chosen = dict.fromkeys(masks, 0), []
    for _ in range(SETS):
        gains = {mask: sum(max(0, bytes_of(mask) - saved[theirs]) * masks[theirs] for theirs in users[mask]) - 2 * bytes_of(mask)
                 for mask in candidates}
        best = max(gains, key=lambda mask: (gains[mask], mask))
        if gains[best] <= 0:
            break
        for theirs in users[best]:
            saved[theirs] = max(saved[theirs], bytes_of(best))
        chosen.append(best)
    return [[name for name, bit in number.items() if mask & bit] for mask in sorted(chosen, key=bytes_of, reverse=True)]

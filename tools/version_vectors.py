#!/usr/bin/env python3
"""Writes versions, pairs of them and specifiers with what packaging says: tests/doctor/data/versions.tsv.

  python tools/version_vectors.py > tests/doctor/data/versions.tsv
"""
import importlib.metadata
import random

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

rng = random.Random(7)

SPELLINGS = """1 1.0 v1.0 1.0.0.0 0!1.0 2!1.0 1.0a1 1.0.Alpha-2 1.0_beta3 1.0c4 1.0-rc 1.0pre2 1.0.preview.3 1.0.post 1.0-1
1.0.post2 1.0-rev3 1.0.r4 1.0.dev 1.0-DEV5 1.0a1.post2.dev3 1.0+cu126 1.0+CU-126_x.7 1.0+007 2.7.1+cu126 2.7.0a0+git1a2b
20250131 1.0.dev20250131+cpu 01.02 1.0+abc.1.2 1.0.post0.dev0 1.0rc1-2
1. .1 1.0+ 1.0+a..b 1..0 1.0aa1 1.0post1a2 one 1.0-alpha-beta 1.0! !1.0 1!!2 1.0.* 1.0+a+b 1,0 1.0dev1a1 --1 1.0-1-2 1.0+é""".split()
SETS = """==1.0 ==1.0.* ==1.* !=1.0.* ~=1.0 ~=1.4.5 ~=1.0.post1 ~=1.0rc1 ~=2!1.0 >=1.0 >=1.0rc1 <=1.0 <=1.0.post1 >1.0 >1.0.post1
<1.0 <1.0rc1 <1.0.dev1 ===1.0 ===1.0+cu126 ==1.0+cu126 !=1.0+cu126 >=1.0,<2 >=1.0,!=1.0.1,<1.1a1 >1.0,==1.0.* ==1!1.0 <2,
~=1 ~=1.0.* >=1.0.* >=1.0+cu126 ==1.0rc1.* =1.0 1.0 ==1.0.*.* > ==1.0;x =>1.0 ~=1.0+cu126""".split()


def number():
    return rng.choice([0, 0, 1, 1, 2, 3, 10, 126])


def version():
    text = rng.choice(["", "", "", "", "1!"]) + ".".join(str(number()) for _ in range(rng.randrange(1, 4)))
    if rng.random() < 0.3:
        text += rng.choice(["a", "b", "rc"]) + str(number())
    if rng.random() < 0.25:
        text += f".post{number()}"
    if rng.random() < 0.25:
        text += f".dev{number()}"
    if rng.random() < 0.25:
        text += "+" + ".".join(rng.choice(["cu126", "cpu", "1", "12", "x"]) for _ in range(rng.randrange(1, 3)))
    return text


def near(text):
    """A version that has something in common with `text`."""
    parsed = Version(text)
    return rng.choice([version(), parsed.base_version, parsed.public, f"{parsed.public}+cu126", f"{parsed.base_version}.0",
                       f"{parsed.base_version}.post1", f"{parsed.base_version}rc1", f"{parsed.base_version}.dev1"])


def specifier():
    sign = rng.choice(["==", "!=", "~=", ">=", "<=", ">", "<", "==="])
    text = version()
    if sign not in ("==", "!=", "==="):
        text = Version(text).public
    if sign in ("==", "!=") and rng.random() < 0.4:
        text = Version(text).base_version + ".*"
    if sign == "~=" and "." not in Version(text).base_version:
        text = "1.0"
    return sign + text


def row(*cells):
    print(*cells, sep="\t")


print(f"# packaging {importlib.metadata.version('packaging')}, seed 7")
print("# version TEXT NORMALISED | order A B SIGN | match SET VERSION 0/1; - where packaging refuses the text")
for text in SPELLINGS + [version() for _ in range(40)]:
    try:
        row("version", text, Version(text))
    except InvalidVersion:
        row("version", text, "-")
for _ in range(250):
    a = version()
    b = near(a)
    row("order", a, b, "<" if Version(a) < Version(b) else ">" if Version(a) > Version(b) else "=")
for text in SETS + [specifier() for _ in range(200)]:
    try:
        found = SpecifierSet(text)
    except InvalidSpecifier:
        row("match", text, "1.0", "-")
        continue
    tried = {"1.0", "1.0.post1", "1.0rc1", "1.0+cu126"} if text in SETS else set()
    try:
        tried |= {near(text.lstrip("=!~<>").removesuffix(".*")) for _ in range(2)}
    except InvalidVersion:
        tried |= {"1.0.1", "1.1.dev3", "2!1.0.5"}
    for candidate in sorted(tried):
        row("match", text, candidate, int(found.contains(candidate, prereleases=True)))

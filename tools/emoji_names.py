#!/usr/bin/env python3
"""Writes src/text/spoken/data/emoji.tsv: emoji and what they are called in English.

Source: Unicode CLDR, common/annotations/en.xml and common/annotationsDerived/en.xml, as Debian's
package unicode-cldr-core has them (CLDR 41 for the table in the tree). A name is the annotation of
the type "tts". What is an emoji is told by emoji/emoji-data.txt of Debian's unicode-data (15.0):
the other signs that CLDR names are bullets, arrows and notes, which are not said. Selectors and
skin tones are left out, of what is written and of what is said.

    apt-get download unicode-cldr-core unicode-data
    for package in unicode-*.deb; do dpkg -x $package unicode; done
    tools/emoji_names.py unicode/usr/share/unicode > src/text/spoken/data/emoji.tsv
"""

import argparse
import pathlib
import re
import sys
import xml.etree.ElementTree

SELECTOR = 0xFE0F
CIRCLED_M = 0x24C2  # reads as M
TAGS = range(0xE0000, 0xE0080)  # of flags of a country's parts; text/spoken leaves them out
TONES = range(0x1F3FB, 0x1F400)
# What is written as emoji are and is none, and what is said shorter in a sentence.
OWN = {"★": "star", "☆": "star", "✓": "check mark", "✗": "cross mark", "✖": "cross mark", "✅": "check mark",
       "❎": "cross mark", "❤": "heart", "♥": "heart"}
# Words of names as they are said.
WORDS = {"1st": "first", "2nd": "second", "3rd": "third", "8": "eight", "10": "ten", "&": "and", "St.": "Saint",
         "Mrs.": "Missus", "U.S.": "United States", "ON!": "on", "UP!": "up"}
# Words in capitals that are letters; others are words.
LETTERS = {"AB", "ATM", "CL", "ID", "NG", "OK", "SAR", "SOS", "VS"}


def emoji_characters(folder: pathlib.Path) -> set[int]:
    characters = set()
    for line in (folder / "emoji" / "emoji-data.txt").read_text(encoding="utf-8").splitlines():
        row = re.match(r"([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*;\s*Emoji\s*#", line)
        if row:
            characters.update(range(int(row[1], 16), int(row[2] or row[1], 16) + 1))
    # Below stand digits and what is read as a sign; squares and triangles are bullets of lists.
    return {c for c in characters if c >= 0x2300 and not 0x25A0 <= c < 0x2600 and c != CIRCLED_M}


def annotations(folder: pathlib.Path) -> dict[str, str]:
    names = {}
    for part in ("annotations", "annotationsDerived"):
        tree = xml.etree.ElementTree.parse(folder / "cldr" / "common" / part / "en.xml")
        for row in tree.getroot().iter("annotation"):
            if row.get("type") == "tts":
                names[row.get("cp")] = row.text.strip()
    return names


def spoken_word(word: str) -> str:
    word = WORDS.get(word, word)
    return word.lower() if len(word) > 1 and word.isupper() and word not in LETTERS else word


def spoken(name: str) -> str:
    name = re.sub("[“”]", "", name.replace("’", "'").replace(" - ", ", "))
    return " ".join(map(spoken_word, name.split()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("unicode", type=pathlib.Path, help="the folder of both packages")
    folder = parser.parse_args().unicode
    names, emoji = annotations(folder), emoji_characters(folder)
    rows = {}
    for written, name in names.items():
        code_points = [ord(c) for c in written if ord(c) != SELECTOR]
        if code_points[0] in emoji and not any(c in TAGS for c in code_points):
            alone = [c for c in code_points if c not in TONES] or code_points
            key = "".join(map(chr, alone))
            if len(alone) == len(code_points):
                rows[key] = spoken(name)
    rows.update(OWN)
    for name in rows.values():
        if re.search("[0-9\t]", name):
            raise SystemExit(f"wanted a name of words, found {name!r}: say it in WORDS")
    print("# Emoji: written (without selectors and skin tones), called. By tools/emoji_names.py of")
    print("# Unicode CLDR 41; Copyright 1991-2022 Unicode, Inc.; languages/data/unicode-licence.txt.")
    for written in sorted(rows):
        print(f"{written}\t{rows[written]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

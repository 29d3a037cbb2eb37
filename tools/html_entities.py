#!/usr/bin/env python3
"""Writes src/text/spoken/data/html_entities.tsv: HTML's named character references.

Source: the table of the HTML standard (13.5), as Python's html.entities has it. The 106 names that
a browser also takes without a semicolon are there once: with one.

    tools/html_entities.py > src/text/spoken/data/html_entities.tsv
"""

import html.entities
import sys


def main() -> int:
    print("# HTML's named characters (HTML standard, 13.5): name, code points in hexadecimal digits. By tools/html_entities.py.")
    for name, characters in sorted(html.entities.html5.items()):
        if name.endswith(";"):
            print(f"{name[:-1]}\t{' '.join(f'{ord(c):X}' for c in characters)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Prints the name that a measurement of mynah-gpu-check is kept under: its date and card, "2026-11-22-nvidia-h200".

Usage: measurement_name.py gpu-check.json
"""

import json
import re
import sys


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as f:
        report = json.load(f)
    cards = [row["name"] for section in report["sections"] for row in section["rows"] if row.get("row") == "card"]
    card = cards[0] if cards else report["device"]
    print(report["date"] + "-" + re.sub(r"[^a-z0-9]+", "-", card.lower()).strip("-"))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""./dev bench memory: what a memory recalls of LoCoMo's conversations, and how fast it searches.

LoCoMo (Maharana et al. 2024, arXiv:2402.17753; github.com/snap-research/locomo) has ten long conversations and questions with the turns that
answer them. It is public and no part of this repository: LOCOMO is its data/locomo10.json, or a folder with a file a conversation
(data/locomo10.zip, unpacked). A turn is kept as it was said, a photo as its caption behind it. Of each question recall is the share of its
turns among the first 5 and 10 that are found: by words (bm25), by meaning (MiniLM), by both.

usage: memory.py [--turns N] [LOCOMO]     N: turns by chance (seed 33) to search for speed; 0: none
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BENCH_BUILD", ROOT / "build/release"))
WEIGHTS = pathlib.Path(os.environ.get("MYNAH_WEIGHTS", ROOT / ".cache/weights"))
PROGRAM = BUILD / "bench/memory/mynah_bench_memory"
CATEGORIES = {"1": "several turns", "2": "time", "3": "general knowledge", "4": "one turn", "5": "not answered by it"}


def conversations(path):
    """Those of one file or of a folder, each with its sessions and questions."""
    for file in sorted(path.rglob("*.json")) if path.is_dir() else [path]:
        loaded = json.loads(file.read_text())
        for one in loaded if isinstance(loaded, list) else [loaded]:
            yield {**one, **one.get("conversation", {})}


def turns(conversation):
    sessions = [key for key, value in conversation.items() if key.startswith("session_") and isinstance(value, list) and key.count("_") == 1]
    for session in sorted(sessions, key=lambda key: int(key.split("_")[1])):
        for turn in conversation[session]:
            caption = turn.get("blip_caption")
            text = turn.get("clean_text") or turn.get("text") or ""
            text = f"{text} [{caption}]" if caption else text
            if text.strip():
                yield {"id": turn["dia_id"], "who": turn["speaker"], "text": text}


def questions(conversation):
    for question in conversation["qa"]:
        evidence = [part for one in question.get("evidence", []) for part in one.replace(";", " ").split()]
        yield {"text": question["question"], "evidence": evidence, "category": question["category"]}


def run(*arguments):
    out = subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("locomo", nargs="?", type=pathlib.Path)
    parser.add_argument("--turns", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        if options.locomo:
            file = folder / "conversations.jsonl"
            with file.open("w") as out:
                for one in conversations(options.locomo):
                    out.write(json.dumps({"turns": list(turns(one)), "questions": list(questions(one))}) + "\n")
            found = run("recall", WEIGHTS / "minilm", file, folder / "recall")
            print(f"{found['questions']} questions, {found['recall_ms']:.1f} ms each (median, the question's vector with it)")
            print(f"{'':22}{'words':>16}{'meaning':>16}{'both':>16}   recall at 5 and 10")
            rows = [("all", found)] + [(CATEGORIES.get(key.split()[1], key), value) for key, value in found.items() if key.startswith("category ")]
            for name, scores in rows:
                print(f"{name:22}" + "".join(f"{scores[m]['recall_5']:>10.3f}{scores[m]['recall_10']:>6.3f}" for m in ("words", "meaning", "both")))
            print("cosine of the nearest turn that answers, at these shares of questions:", found["cosine_of_wanted"])
        if options.turns:
            print(json.dumps(run("search", options.turns, folder / "search")))
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""./dev bench think: language models on the processor beside llama.cpp, the same files, in one run.

Rounds alternate between mynah (mynah_bench_think) and llama.cpp (llama-bench and llama-batched-bench, built by tools/build_llama.sh from
the source package that tools/requirements-think.txt pins); figures are medians, and what is compared is their ratio. mynah's own texts
are checked first: one is the same alone and in company. `--only FILE` measures one file alone.

usage: think.py [--rounds N] [--threads N] [--llama FOLDER] [FILE.gguf ...]
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BENCH_BUILD", ROOT / "build/release"))
MYNAH = BUILD / "bench/think/mynah_bench_think"
PROMPT, TOKENS, TEXTS = 512, 64, 8


def mynah(model, threads, cache):
    line = subprocess.run([MYNAH, model, "--threads", str(threads), "--prompt", str(PROMPT), "--tokens", str(TOKENS), "--sequences", str(TEXTS),
                           "--cache", cache], check=True, capture_output=True, text=True).stdout
    return json.loads(line)


def llama_bench(llama, model, threads):
    out = subprocess.run([llama / "llama-bench", "-m", model, "-t", str(threads), "-p", str(PROMPT), "-n", str(TOKENS), "-r", "1", "-o", "json"],
                         check=True, capture_output=True, text=True).stdout
    rows = json.loads(out)
    return {"prompt_per_s": next(r["avg_ts"] for r in rows if r["n_prompt"]), "alone_per_s": next(r["avg_ts"] for r in rows if r["n_gen"])}


def llama_batched(llama, model, threads):
    out = subprocess.run([llama / "llama-batched-bench", "-m", model, "-t", str(threads), "-tb", str(threads), "-npp", "1", "-ntg", str(TOKENS),
                          "-npl", str(TEXTS), "-c", str(TEXTS * (TOKENS + 16))], check=True, capture_output=True, text=True).stdout
    # |  PP |  TG |  B |  N_KV |  T_PP s | S_PP t/s |  T_TG s | S_TG t/s |  T s |  S t/s |
    row = [line for line in out.splitlines() if re.match(r"\|\s*\d", line)][-1]
    return {"beside_per_s": float(row.split("|")[8])}


def turns_of(model, options, cache):
    """What turns wait for, what guesses give, what forms cost, and memory: of mynah and of llama.cpp."""
    def of_mynah(what):
        return json.loads(subprocess.run([MYNAH, model, "--threads", str(options.threads), "--rounds", str(options.rounds), "--cache", cache,
                                          "--what", what], check=True, capture_output=True, text=True).stdout)

    def of_llama(what):
        return json.loads(subprocess.run([sys.executable, ROOT / "bench/think_llama.py", options.llama.parent.parent, model, what,
                                          str(options.threads), str(options.rounds)], check=True, capture_output=True, text=True).stdout)

    ours, theirs, guesses, constraint = of_mynah("turns"), of_llama("turns"), of_mynah("guesses"), of_mynah("constraint")
    memory, their_memory = of_mynah("memory"), of_llama("memory")
    for key, name in (("first_turn_ms", "first turn of 2000"), ("second_turn_ms", "second turn of 30"), ("clause_ms", "16 behind 40 of 1540")):
        print(f"  {name:20} {ours[key]:9.1f} ms, llama.cpp {theirs[key]:9.1f}: {theirs[key] / ours[key]:.2f}x")
    print(f"  second turn is {ours['second_turn_ms'] / ours['first_turn_ms']:.3f} of the first")
    for key in ("repeating", "free"):
        print(f"  {key + ' text':20} {guesses[key + '_per_s']:9.1f} tokens/s, without guesses {guesses[key + '_without_guesses_per_s']:.1f}: "
              f"{guesses[key + '_per_s'] / guesses[key + '_without_guesses_per_s']:.3f}x; by the medians of steps {guesses[key + '_by_steps']:.3f}x")
    for company, forms in constraint.items():
        for form, row in forms.items():
            print(f"  {company + ', ' + form:20} {row['of_plain']:.3f} of a plain token's time, new {row['new_of_plain']:.3f}")
    print(f"  peak with 4096 tokens {memory['peak_mb']:.0f} MB, llama.cpp {their_memory['peak_mb']:.0f} "
          f"(with {their_memory['python_mb']:.0f} of Python)")
    return {"mynah": {**ours, **guesses, **memory, "constraint": constraint}, "llama.cpp": {**theirs, **their_memory}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--llama", type=pathlib.Path, default=ROOT / ".cache/llama/build/bin")
    options = parser.parse_args()
    files = options.files or sorted(str(p) for p in (ROOT / ".cache/llama/models").glob("*.gguf"))
    if not files:
        sys.exit("wanted GGUF files, found none: name them, or run tools/build_llama.sh")
    cache = str(ROOT / ".cache/bench/think")
    os.makedirs(cache, exist_ok=True)
    table = []
    for model in files:
        mynah(model, options.threads, cache)  # packs what is packed once
        ours, theirs = [], []
        for _ in range(options.rounds):
            ours.append(mynah(model, options.threads, cache))
            theirs.append({**llama_bench(options.llama, model, options.threads), **llama_batched(options.llama, model, options.threads)})
        row = {"file": os.path.basename(model), "mynah": {}, "llama.cpp": {}}
        print(f"\n{row['file']} ({ours[0]['file_bytes'] / 1e6:.0f} MB), {options.threads} threads, {ours[0]['processor']}, "
              f"medians of {options.rounds}")
        for key, name in (("prompt_per_s", f"prompt of {PROMPT}"), ("alone_per_s", "one text"), ("beside_per_s", f"{TEXTS} texts in sum")):
            a = statistics.median(r[key] for r in ours)
            b = statistics.median(r[key] for r in theirs)
            row["mynah"][key], row["llama.cpp"][key] = a, b
            print(f"  {name:20} {a:9.1f} tokens/s, llama.cpp {b:9.1f}: {a / b:.2f}x")
        limit = statistics.median(r["read_bytes_per_s"] for r in ours)
        share = row["mynah"]["alone_per_s"] * ours[0]["file_bytes"] / limit
        row["share_of_reading"] = share
        row["load_ms"] = statistics.median(r["load_ms"] for r in ours)
        row["peak_mb"] = statistics.median(r["peak_mb"] for r in ours)
        print(f"  one text reads its file at {100 * share:.0f} % of what {options.threads} threads read ({limit / 1e9:.1f} GB/s); "
              f"loaded in {row['load_ms']:.1f} ms, peak {row['peak_mb']:.0f} MB")
        row["turns"] = turns_of(model, options, cache)
        table.append(row)
    out = ROOT / "build/bench/think.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(table, indent=1))


main()

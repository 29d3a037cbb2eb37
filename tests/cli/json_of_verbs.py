"""--json of every verb, run: each line on standard output is one JSON object, and of an error too, on standard error.

usage: json_of_verbs.py MYNAH. Without real weights what needs a model is skipped.
"""
import json
import pathlib
import re
import shutil
import sys
import tempfile

from checks import ROOT, SENTENCE, WEIGHTS, Checks, environment, needs, run, wav


def fault_of(text, wanted=1):
    """None where there are `wanted` lines or more, each an object."""
    lines = text.splitlines()
    if len(lines) < wanted:
        return f"wanted {wanted} lines, found {text!r}"
    for line in lines:
        try:
            if not isinstance(json.loads(line), dict):
                return f"wanted an object, found {line[:200]!r}"
        except json.JSONDecodeError as error:
            return f"{error}: {line[:200]!r}"
    return None


def placement_fault(text):
    """None where each answer says where it was computed, and how long that took: all lines but those of a clause or a clip."""
    for line in text.splitlines():
        found = json.loads(line)
        found = found.get("total", found)
        if "first_byte" in found or "unit" in found:
            continue
        if not (found.get("placement") or {}).get("stages"):
            return f"no stages in {line[:300]}"
        for stage in found["placement"]["stages"]:
            if stage["device"] != "cpu" or not stage["operations"] > 0 or not stage["milliseconds"] > 0:
                return f"where it was computed, and how long, is not told: {stage}"
    return None


# Verbs whose answers say where they were computed.
COMPUTING = {"vad", "transcribe", "wer", "speak", "voices"}


def main():
    program = sys.argv[1]
    needs(SENTENCE)
    checks = Checks()
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home)
        env = environment(folder)
        quiet = folder / "quiet.wav"
        quiet.write_bytes(wav(b"\0" * 32000))
        table = folder / "table.tsv"
        table.write_text("clip\tlang\ttext\nquiet.wav\ten\thello\n")
        facts = folder / "facts.json"
        facts.write_text(json.dumps({"machine": {"cards": [{"name": "NVIDIA TITAN Xp", "compute_capability": "6.1"}]}}))
        profiles = folder / "models/profiles"
        profiles.mkdir(parents=True)
        for name in ("day", "night"):
            shutil.copy(ROOT / "tests/fuzz/corpus/profile/whole", profiles / f"{name}.json")
        silero = WEIGHTS / "silero/silero_vad_16k.safetensors"
        hibari, phonemes, tiny = (WEIGHTS / name for name in ("hibari", "phonemes", "tiny.en"))
        minilm = WEIGHTS / "minilm"
        thinker = WEIGHTS / "smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
        schema, fits, other = folder / "schema.json", folder / "fits.json", folder / "other.json"
        schema.write_text(json.dumps({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}))
        fits.write_text('{"a": 5}\n')
        other.write_text('{"a": "five"}\n')
        word = folder / "tiny.tflite"
        shutil.copy(ROOT / "tests/models/wake_word/golden/tiny.tflite", word)
        word.with_suffix(".json").write_text('{"wake_word": "Tiny", "micro": {}}')
        spoken = folder / "spoken.txt"
        spoken.write_text("Hello there.\nAnd again.\n")
        clips = folder / "clips.tsv"
        clips.write_text(f"clip\tlang\ttext\n{SENTENCE}\ten\thello\n")
        # What is run, its exit code, and how many objects it prints at least; the order matters: a model is brought first.
        runs = [
            (["version"], 0, 1),
            (["config"], 0, 1),
            (["completion", "bash"], 0, 1),
            (["devices"], 0, 3),
            (["devices", "--sound"], 0, 1),
            (["doctor", "--as", facts], 0, 1),
            (["doctor", "--as", facts, "--facts"], 0, 1),
            (["doctor", "explain", "no kernel image is available for execution on the device"], 0, 1),
            (["doctor", "explain", "nothing"], 1, 0),
            (["doctor", "update", "--show"], 0, 1),
            (["doctor", "try", "--", "true"], 0, 1),
            (["doctor", "try", "--timeout", "1", "--", "sleep", "100"], 3, 1),
            (["import", silero, "--name", "silero"], 0, 1),
            (["models", "list"], 0, 1 if silero.exists() else 0),
            (["models", "list", "--all"], 0, 5),
            (["models", "show", "silero"], 0, 1),
            (["models", "show", "gpt-oss"], 0, 1),
            (["models", "verify"], 0, 1 if silero.exists() else 0),
            (["vad", "--model", "silero", "--explain", quiet, SENTENCE], 0, 2),
            (["transcribe", "--model", tiny, "--explain", SENTENCE], 0, 1),
            (["transcribe", "--model", tiny, SENTENCE, SENTENCE, folder / "none.wav"], 1, 3),
            (["wer", "--model", tiny, "--explain", clips], 0, 2),
            (["chat", "--model", thinker, "--max-tokens", "4", "hello"], 0, 1),
            (["chat", "--model", thinker, "--max-tokens", "4", "--schema", schema, "hello"], 1, 1),
            (["chat", "--top-p", "3", "hello"], 2, 0),
            (["chat", "hello"], 3, 0),
            (["talk", "--wav", SENTENCE, "--out", folder / "talk.wav", "--model", thinker, "--asr-model", tiny, "--vad-model", "silero",
              "--voice-model", "builtin", "--max-tokens", "4"], 0, 5),
            (["talk", "--wav", SENTENCE, "--model", thinker, "--asr-model", tiny, "--vad-model", "silero", "--voice-model", "builtin",
              "--context", "10"], 2, 1),
            (["talk", "--satellite", "--system", "x"], 2, 0),
            (["talk", "--wav", SENTENCE, "--pause", "0"], 2, 0),
            (["talk", "--real-time"], 2, 0),
            (["memory", "list"], 0, 0),
            (["chat", "--model", thinker, "--memory", "--max-tokens", "4", "Remember that my sister lives in Ulm."], 0, 1),
            (["memory", "list"], 0, 3 if thinker.exists() else 0),
            (["memory", "search", "--model", minilm, "--origin", "user", "my sister"], 0 if thinker.exists() else 1, 1 if thinker.exists() else 0),
            (["memory", "export"], 0, 3 if thinker.exists() else 0),
            (["memory", "forget", "--containing", "ULM"], 0 if thinker.exists() else 1, 1),
            (["memory", "forget"], 2, 0),
            (["memory", "forget", "--facts"], 2, 0),
            (["memory", "forget", "--facts", "--with-turns"], 1, 1),
            (["memory", "forget", "--all"], 0, 1),
            (["embed", "--model", minilm, "--explain", "hello", "there"], 0, 3),
            (["embed", "--model", minilm, "--nearest", "trains", "--top", "1", "The station is there.", "", "Bread."], 0, 2),
            (["embed", "hello"], 3, 0),
            (["embed", "--nearest", "", "hello"], 2, 0),
            (["schema", schema], 0, 1),
            (["schema", schema, "--check", fits, "--check", other], 1, 2),
            (["models", "remove", "silero"], 0, 1),
            (["pull", "tiny.en", "--offline"], None, 0),
            (["tune"], 3, 0),
            (["ps"], 0, 0),
            (["serve", "--host", "0.0.0.0", "--port", "0"], 2, 0),
            (["keys", "add", "kitchen"], 0, 1),
            (["keys", "list"], 0, 1),
            (["health", "--url", "http://127.0.0.1:9"], 1, 1),
            (["keys", "remove", "kitchen"], 0, 1),
            (["profile", "list"], 0, 2),
            (["profile", "use", "day"], 3, 0),
            (["profile", "use", "none"], 0, 1),
            (["profile", "show", "day"], 0, 1),
            (["profile", "diff", "day", "night"], 0, 1),
            (["profile", "remove", "day", "night"], 0, 2),
            (["vad", "--model", "builtin", quiet], 0, 1),
            (["wake", "--word", word, quiet], 0, 1),
            (["transcribe", "--model", "builtin", quiet, SENTENCE], 0, 2),
            (["transcribe", "--model", "builtin", folder / "none.wav"], 1, 1),
            (["wer", "--model", "builtin", table], 0, 1),
            (["voices"], 0, 2),
            (["voices", "slt", "--model", "builtin", "--out", folder / "samples"], 0, 1),
            (["speak", "Hello there.", "--model", "builtin", "--out", folder / "hello.wav"], 0, 2),
            (["speak", " ", "--model", "builtin", "--out", folder / "nothing.wav"], 1, 0),
            (["phonemes", "Hello there."], 3, 0),
            (["import", phonemes], 0, 1),
            (["import", hibari], 0, 1),
            (["speak", "Hello there.", "--explain", "--model", "hibari", "--out", folder / "hibari.wav"], 0, 2),
            (["speak", "--file", spoken, "--model", "hibari", "--out", folder / "book.wav"], 0, 2),
            (["speak", "--file", spoken, "--model", "hibari", "--output-dir", folder / "lines"], 0, 2),
            (["voices", "heart", "--model", "hibari", "--out", folder / "samples"], 0, 1),
        ]
        tried = set()
        for words, code, objects in runs:
            name = " ".join(str(word) for word in words[:2])
            tried.add(words[0])
            brought = {"silero": silero, "hibari": hibari}
            wanted = [brought.get(word, word) for word in words if word in (*brought, *brought.values(), phonemes, tiny, thinker, minilm)]
            if missing := [str(weights) for weights in wanted if not weights.exists()]:
                checks.skip(name, f"no {', '.join(missing)}")
                continue
            # Behind "--" stands another command.
            own = words.index("--") if "--" in words else len(words)
            result = run(env, program, *words[:own], "--json", *words[own:])
            fault = fault_of(result.stdout, objects)
            if fault is None and result.returncode != (result.returncode if code is None else code):
                fault = f"wanted exit code {code}, found {result.returncode}: {result.stderr[-300:]}"
            if fault is None and result.returncode and not result.stdout:
                fault = fault_of(result.stderr)
            if fault is None and wanted and words[0] in COMPUTING:
                fault = placement_fault(result.stdout)
            if fault is None and "--explain" in words and not re.search(r"^mynah: \S+ on cpu", result.stderr, re.MULTILINE):
                fault = f"--explain does not say where it is: {result.stderr[-300:]!r}"
            checks.add(name, fault)
        verbs = set(re.findall(r"^  ([a-z][a-z-]*)\s{2,}\S", run(env, program, "--help").stdout, re.MULTILINE)) - {"help"}
        for verb in sorted(verbs):
            checks.add(f"{verb} was run", None if verb in tried else "no run of this verb in json_of_verbs.py")
            result = run(env, program, verb, "--json", "--no-such-flag")
            checks.add(f"{verb} refuses in JSON", fault_of(result.stderr) or (result.returncode != 2 and "wanted exit code 2"))
    checks.close()


main()

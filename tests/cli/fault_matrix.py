"""Every kind of fault at every stage on every kind of device asked for: does the request survive, or is it refused rightly?

usage: fault_matrix.py MYNAH PLACE_TOOL DRIVER [--all] [--only TEXT] [--jobs N]. Without --all each kind meets each stage once and each
device several times, and `mynah vad` and `mynah embed` a few of them; with it every cell runs, and a table is printed. Skipped without real weights.
"""
import argparse
import tempfile

from checks import SENTENCE, Checks, needs
from fault_judge import but_for_time, fallback_fault, letters_of, refusal_fault, split_at
from fault_runs import HIBARI, SILERO, Rigs, main_arguments, side_by_side

KINDS = ["crash", "exit", "hang", "lost", "nan", "oom", "stop", "wrong"]
# Whose work a stage's faults meet, and beside it `mynah vad`, which hears several recordings at once: one call of the stage.
STAGES = {"vad": "transcribe", "stt.encoder": "transcribe", "stt.decoder": "transcribe", "tts.acoustic": "speak",
          "tts.vocoder": "speak", "llm": "chat"}
# What is asked for, the device that then computes, and whether another may.
ASKED = {"simt:0": ("simt:0", False), "simt:0,cpu": ("simt:0", True), "cuda": ("cuda:0", False),
         "cuda,cpu": ("cuda:0", True), "auto": ("cuda:0", True)}
# Stages apart: what is asked for, with flags, and of the processor alone. Of the last one the plan takes them apart: the card has
# no room for both.
APART = {"stt.encoder=simt:0,cpu": ("transcribe", "cpu"), "stt.decoder=simt:0,cpu": ("transcribe", "cpu"),
         "tts.acoustic=simt:0,cpu": ("speak", "cpu"), "tts.vocoder=simt:0,cpu": ("speak", "cpu"),
         "simt:0,cpu --gpu-layers 1": ("chat", "cpu"), "auto --storage i8 --max-vram 9MB": ("speak", "cpu --storage i8")}
PLANNED = list(APART)[-1]
# How the card and the processor may share its stages out: which of the two is planned is by the times that were measured.
SHARED_OUT = [f"tts.acoustic={one},tts.vocoder={other} --storage i8" for one, other in (("cpu", "cuda:0"), ("cuda:0", "cpu"))]
# The call that fails: behind the first commit; and the first of all, where nothing was given out yet.
CALLS = [2, 1]
# Of what is done in one call, where not every cell runs: what shows itself in numbers alone, and what ends the worker.
AT_ONCE = {"vad": "vad", "embed": "embed"}  # verb: stage
FEW_AT_ONCE = ["wrong", "nan", "crash"]
FEW_APART = ["crash", "wrong"]


def prepare_whole(rig, verbs, checks):
    """What each device makes of the work when none fails. The proofs of these runs are those of all others."""
    references = {}
    for verb in verbs:
        for device in ("cpu", "simt:0", "cuda"):
            if verb != "vad":  # its model was proven for `transcribe`
                rig.run(verb, device, warm=True)  # the first proves
            outcome = rig.run(verb, device, warm=True)
            fault = None
            if outcome.code or None in outcome.pieces or outcome.left or outcome.moves():
                fault = f"exit code {outcome.code}, {outcome.pieces.count(None)} pieces missing, {outcome.left}: {outcome.err}"
            checks.append((f"{verb} on {device} without a fault", fault))
            references[verb, {"cuda": "cuda:0"}.get(device, device)] = outcome
        for device in ("simt:0", "cuda:0"):
            told_apart = split_at(references[verb, device].pieces, references[verb, "cpu"].pieces,
                                  references[verb, device].pieces) == 0
            checks.append((f"{verb}: pieces of {device} and of cpu can be told apart",
                           None if told_apart else "a piece is the same by both"))
    if "chat" in verbs:
        texts = {device: letters_of(references["chat", device].pieces) for device in ("cpu", "simt:0", "cuda:0")}
        checks.append(("chat: each device writes the same text", None if len(set(texts.values())) == 1 else str(texts)))
    if {"chat", "embed"} & set(verbs):
        rig.favour("cuda:0")  # of so small a model a token takes the processor microseconds: a thousand times is not enough
    rig.favour("cuda:0")
    for verb in verbs:
        outcome = rig.run(verb, "auto")
        same = outcome.pieces == references[verb, "cuda:0"].pieces
        checks.append((f"{verb} on auto takes the card that is faster", None if same else f"{outcome.device()}: {outcome.err}"))
    return references


def prepare_apart(rig, verbs, checks, references):
    """The same of stages apart."""
    if "speak" in verbs:
        for _ in range(2):  # the whole is proven, then its stages apart, each time more slowly than the processor
            rig.run("speak", PLANNED, warm=True)
            rig.favour("cuda:0")
            rig.favour("cuda:0")
    for asked, (verb, alone) in APART.items():
        if verb not in verbs:
            continue
        if asked != PLANNED:
            rig.run(verb, asked, warm=True)
        outcome = references[verb, asked] = rig.run(verb, asked, warm=True)
        if (verb, alone) not in references:
            references[verb, alone] = rig.run(verb, alone, warm=True)
        devices = outcome.devices()
        fault = None
        if outcome.code or None in outcome.pieces or outcome.left or outcome.moves() or len(devices) < 2:
            fault = f"exit code {outcome.code}, on {devices}, {outcome.left}: {outcome.err}"
        elif split_at(outcome.pieces, references[verb, alone].pieces, outcome.pieces) != 0:
            fault = "a piece is the same by the processor alone"
        checks.append((f"{verb} on {asked} without a fault, its stages apart", fault))
    if "speak" in verbs:
        for asked in SHARED_OUT:
            references["speak", asked] = rig.run("speak", asked, warm=True)
        planned = [asked for asked in SHARED_OUT if references["speak", asked].pieces == references["speak", PLANNED].pieces]
        checks.append(("what the plan takes apart is what a request for the same devices gives",
                       None if len(planned) == 1 else f"{len(planned)} of {SHARED_OUT} give the same"))


def prepare(rigs, jobs, checks, apart=False):
    """(verb, device) -> what it makes of the work when none fails; `apart`: of stages apart too."""
    def prepare_side(verbs):
        found = []
        references = prepare_whole(rigs.sides[verbs], verbs, found)
        if apart:
            prepare_apart(rigs.sides[verbs], verbs, found, references)
        return references, found

    everything = {}
    for _, (references, found) in side_by_side(jobs, prepare_side, list(rigs.sides)):
        everything.update(references)
        for check in found:
            checks.add(*check)
    return everything


def cells(everything):
    """(verb, kind, stage, asked, call): all, or of each kind and stage one, the devices in turn."""
    devices = list(ASKED)
    for i, kind in enumerate(KINDS):
        for j, (stage, verb) in enumerate(STAGES.items()):
            if everything:
                yield from ((verb, kind, stage, asked, call) for asked in devices for call in CALLS)
            else:
                yield verb, kind, stage, devices[(i + j) % len(devices)], CALLS[(i + j // 2) % 2]
    for verb, stage in AT_ONCE.items():
        for kind in KINDS if everything else FEW_AT_ONCE:
            for asked in devices if everything else ["simt:0,cpu", "cuda"]:
                yield verb, kind, stage, asked, 1
    for i, (asked, (verb, _)) in enumerate(APART.items()):
        stages = [stage for stage, whose in STAGES.items() if whose == verb and stage != "vad"]
        stages += ["llm.lower"] if verb == "chat" else []
        # Each stage fails, that which is on the processor too: it computes in the worker of the other.
        for j, kind in enumerate(KINDS if everything else FEW_APART):
            if everything:
                yield from ((verb, kind, stage, asked, call) for stage in stages for call in CALLS)
            else:
                yield verb, kind, stages[(i + j) % 2], asked, CALLS[j % 2]


def name_of(verb, kind, stage, asked, call):
    return f"{verb}: {stage}:{kind}@{call} on {asked}"


def fault_of(cell, outcome, first, second, others):
    """`first`, `second`: what the device of the cell and the processor make of the work; `others`: what other splits do."""
    _, kind, stage, asked, call = cell
    if asked in APART or ASKED[asked][1]:
        return fallback_fault(outcome, first, second, stage, kind, call, others)
    return refusal_fault(outcome, first, stage, kind, call)


def print_table(results):
    """kind by stage; in each cell a mark for each device asked for."""
    columns = [(verb, stage) for stage, verb in STAGES.items()] + [("chat", "llm.lower")] + list(AT_ONCE.items())
    print("\n| | " + " | ".join(f"{verb}: {stage}" for verb, stage in columns) + " |\n|---|" + "---|" * len(columns))
    for kind in KINDS:
        row = []
        for column in columns:
            found = {asked: [fault for (v, k, s, a, _), (fault, _) in results.items() if (v, s, k, a) == (*column, kind, asked)]
                     for asked in [*ASKED, *APART]}
            row.append(", ".join(f"{asked} {'ok' if not any(faults) else 'FAILED'}" for asked, faults in found.items() if faults))
        print(f"| {kind} | " + " | ".join(row) + " |")
    for kind in KINDS:
        lost = [seconds for (_, k, _, a, _), (_, seconds) in results.items() if k == kind and (a in APART or ASKED[a][1])]
        if lost:
            lost.sort()
            print(f"time lost to {kind}: median {lost[len(lost) // 2]:.2f} s, most {lost[-1]:.2f} s")


def main():
    (program, tool, driver), rest = main_arguments()
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(rest)
    needs(SENTENCE, SILERO, HIBARI)
    checks, results = Checks(), {}
    with tempfile.TemporaryDirectory() as folder:
        wanted = [cell for cell in cells(options.all) if options.only in name_of(*cell)]
        rigs = Rigs(program, tool, driver, folder, {cell[0] for cell in wanted})
        references = prepare(rigs, options.jobs, checks, apart=True)
        run = lambda cell: rigs.run(cell[0], cell[3], f"{cell[2]}:{cell[1]}@{cell[4]}")
        for cell, outcome in side_by_side(options.jobs, run, wanted):
            verb, asked = cell[0], cell[3]
            device, alone = (asked, APART[asked][1]) if asked in APART else (ASKED[asked][0], "cpu")
            first = references[verb, device]
            others = [references[verb, split] for split in SHARED_OUT] if asked == PLANNED else []
            fault = but_for_time(fault_of(cell, outcome, first, references[verb, alone], others),
                                 lambda: fault_of(cell, run(cell), rigs.run(verb, device), rigs.run(verb, alone), others))
            checks.add(name_of(*cell), fault and f"{fault}\n    said: {outcome.err[-1500:]}")
            results[cell] = (fault, outcome.seconds - first.seconds)
    if options.all:
        print_table(results)
    checks.close()


if __name__ == "__main__":
    main()

"""Random faults, one run after the other for the same user: nothing is lost, nothing is repeated, nothing stays behind.

usage: random_faults.py MYNAH PLACE_TOOL DRIVER [--runs N] [--seed S] [--jobs N]. Each run has up to three faults at any stage and call,
on any request for devices. What is given out is always, piece by piece, what one of the devices makes of that piece, in
one order of devices, or it is named as doubtful. Skipped without real weights.
"""
import argparse
import operator
import os
import random
import tempfile

from checks import SENTENCE, Checks, needs
from fault_judge import but_for_time, common_fault
from fault_matrix import KINDS, STAGES, prepare
from fault_runs import HIBARI, PIECES, SILERO, Rigs, main_arguments, side_by_side

REQUESTS = {
    "transcribe": ["auto", "simt:0,cpu", "cuda,cpu", "cuda,simt:0,cpu", "simt:0,cuda,cpu", "stt=cuda:0,cpu,vad=simt:0,cpu",
                   "stt.encoder=simt:0,cpu,stt.decoder=cpu,vad=cpu", "simt:0", "cuda", "cuda,simt:0"],
    "chat": ["auto", "simt:0,cpu", "cuda,cpu", "cuda,simt:0,cpu", "simt:0,cuda,cpu", "simt:0", "cuda"],
    "speak": ["auto", "simt:0,cpu", "cuda,cpu", "cuda,simt:0,cpu", "tts.acoustic=cpu,tts.vocoder=cuda:0,cpu", "simt:0", "cuda"],
}


def same_letter(one, other):
    """A letter of an answer is the same on all devices: who wrote it is in the digits of its probability alone."""
    return one[0] == other[0]


def outcome_fault(outcome, made, faults, ends_at_cpu):
    """`made`: for each device what it makes of each piece, and when two pieces are the same."""
    fault = common_fault(outcome, *(made["longest"], made["longest"]), [kind for _, kind, _ in faults])
    if fault:
        return fault
    given = [piece for piece in outcome.pieces if piece is not None]
    if outcome.pieces[:len(given)] != given:
        return "a piece in the middle is missing"
    wanted = len(outcome.pieces)
    if ends_at_cpu and (outcome.code or len(given) != wanted):
        return f"exit code {outcome.code}, {len(given)} of {wanted} pieces, although the processor was allowed: {outcome.err[-300:]}"
    # An answer that is whole, and that the last look alone doubts, has no error: its last move says why.
    told = outcome.error() or (len(given) == wanted and outcome.moves())
    if not ends_at_cpu and outcome.code == 3 and not told:
        return f"no reason is told: {outcome.err[-300:]}"
    doubtful = "may be wrong too" in outcome.out + outcome.err
    for number, piece in enumerate(given):
        whose = [device for device, pieces in made["pieces"].items() if made["same"](pieces[number], piece)]
        # A model whose stages are apart has pieces of its own: those are checked by its own run without a fault.
        if not whose and not doubtful:
            return f"piece {number + 1} is of no device"
    return None


def chosen(chance, runs):
    """(verb, request, faults) of each run."""
    for _ in range(runs):
        verb = chance.choice(["transcribe", "speak", "chat"])
        request = chance.choice(REQUESTS[verb])
        stages = [stage for stage, owner in STAGES.items() if owner == verb]
        yield verb, request, [(chance.choice(stages), chance.choice(KINDS), chance.randint(1, PIECES))
                              for _ in range(chance.randint(1, 3))]


def main():
    (program, tool, driver), rest = main_arguments()
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(rest)
    needs(SENTENCE, SILERO, HIBARI)
    checks = Checks()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        rigs = Rigs(program, tool, driver, folder)
        references = prepare(rigs, options.jobs, checks)
        cases = list(chosen(chance, options.runs))
        descriptors = len(os.listdir("/proc/self/fd"))
        # What the devices of each request make of each piece, those of a split model included.
        whole = {}
        requests = sorted({(verb, request) for verb, request, _ in cases})
        for (verb, request), outcome in side_by_side(options.jobs, lambda of: rigs.run(*of), requests):
            checks.add(f"{verb} on {request} without a fault", None if outcome.code == 0 and not outcome.left else outcome.err)
            whole[verb, request] = outcome
        run = lambda case: rigs.run(*case[:2], ",".join(f"{stage}:{kind}@{call}" for stage, kind, call in case[2]))
        for number, ((verb, request, faults), outcome) in enumerate(side_by_side(options.jobs, run, cases)):
            pieces = {device: made.pieces for (of, device), made in references.items() if of == verb}
            pieces["request"] = whole[verb, request].pieces
            longest = max([whole[verb, request], *(made for (of, _), made in references.items() if of == verb)],
                          key=lambda made: made.seconds)
            ends_at_cpu = "cpu" in request or request == "auto"
            made = {"pieces": pieces, "longest": longest, "same": same_letter if verb == "chat" else operator.eq}
            fault = but_for_time(outcome_fault(outcome, made, faults, ends_at_cpu),
                                 lambda: outcome_fault(run((verb, request, faults)), {**made, "longest": rigs.run(verb, request)},
                                                       faults, ends_at_cpu))
            checks.add(f"run {number + 1}: {verb} on {request}, {faults}", fault)
        checks.add("no descriptor was left open here", None if len(os.listdir("/proc/self/fd")) == descriptors else "some were")
    checks.close()


main()

"""What is right for a run whose device failed on purpose: the promises of docs/placement.md, as checks of an outcome."""
import os
import re

# What the reason has to say, whatever the device is called.
REASONS = {
    "lost": r"device lost",
    "oom": r"memory is full|has too little memory",
    "nan": r"NaN|no number",
    "wrong": r"computes wrongly|no probabilities",  # a state that grows and grows shows itself
    "hang": r"hung in {stage}|gave no sign of life in {stage}",
    "crash": r"crashed in {stage} \(signal 11",
    "exit": r"ended in {stage} with exit code 0",
    "stop": r"was stopped, and stayed so, in {stage}|gave no sign of life in {stage}",
}
# Seconds until a device that says nothing is given up (place/workers/watchdog.cpp, workers/step_limit.cpp); the others say it.
# A device that hangs is given longer where its own steps were measured to be long: it says how long.
DEADLINES = {"hang": 2.0, "stop": 1.0}
# A worker that says it was silent is given up after this (place/workers/watchdog.cpp, kSilence).
SIGN_OF_LIFE_S = 10.0
WRITES = ("llm", "llm.lower")  # stages of what writes a text
SLOW = "took"  # begins what time_fault() says
AT_ONCE = ("vad", "embed")  # stages that do all pieces in one call
ALLOWED = re.compile(r"(\d+) are allowed")


def split_at(pieces, first, second):
    """How many pieces are the first device's, all others being the second's; None where it is not so.

    Where a piece is the same by both devices, the earliest.
    """
    for count in range(len(pieces) + 1):
        if pieces[:count] == first[:count] and pieces[count:] == second[count:]:
            return count
    return None


def split_among(pieces, first, second, between):
    """As split_at, where some pieces behind the first device's may be those of one of `between`."""
    for other in between:
        for end in range(len(pieces), -1, -1):
            if pieces[end:] == second[end:] and (count := split_at(pieces[:end], first[:end], other[:end])) is not None:
                return count
    return split_at(pieces, first, second)


def time_fault(outcome, first, second, kinds):
    """Work may be done twice, on both devices, and a device that is silent is waited for; a busy machine stretches all."""
    load = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    allowed = sum(int(milliseconds) / 1000 for milliseconds in set(ALLOWED.findall(outcome.err)))
    silent_s = SIGN_OF_LIFE_S if "gave no sign of life" in outcome.err else 0
    bound = max(allowed, silent_s, sum(DEADLINES.get(kind, 0) for kind in kinds)) + first.seconds + second.seconds + 5
    if outcome.seconds > bound * load:
        return f"{SLOW} {outcome.seconds:.1f} s, more than the {bound * load:.1f} s of deadline and both devices"
    return None


def but_for_time(fault, again):
    """The fault, unless it is only that a run took long: then what `again()` finds, which runs all of it once more.

    What a run may take was measured at another time, and another program may have had the machine since.
    """
    return again() if fault and fault.startswith(SLOW) else fault


def reason_fault(reason, stage, kind):
    wanted = REASONS[kind].format(stage=re.escape(stage))
    return None if re.search(wanted, reason) else f"wanted '{wanted}' as the reason, found '{reason}'"


def common_fault(outcome, first, second, kinds):
    """What holds of every run."""
    if outcome.left:
        return f"left behind: {', '.join(outcome.left)}"
    if outcome.code not in (0, 3):
        return f"exit code {outcome.code}: {outcome.err[-400:]}"
    return time_fault(outcome, first, second, kinds)


def fallback_fault(outcome, first, second, stage, kind, call, others):
    """It went on elsewhere: everything is there, the beginning of the first device's, the end of the second's, and it is said.

    `others`: what the model gives whose stages share out the devices in another way.
    """
    fault = common_fault(outcome, first, second, [kind])
    if fault:
        return fault
    if outcome.code != 0:
        return f"exit code {outcome.code} although another device was allowed: {outcome.err[-400:]}"
    moves = outcome.moves()
    if not moves:
        return "no move is told"
    fault = reason_fault(moves[0]["reason"], stage, kind)
    if fault:
        return fault
    # Memory that runs out is no failure of the device: other stages of the model may have room there before it is left, and
    # the fault meets them as it met the first.
    if is_made_room_for(stage, kind, call):
        return room_fault(outcome, first, moves)
    last = moves[-1] if kind == "oom" else moves[0]
    between = [other.pieces for other in others] if kind == "oom" and len(moves) > 1 else []
    if last["to"] != "cpu":
        return f"went to {last['to']}"
    # What only the last look finds leaves nothing to go on with.
    said = [f"goes on on {last['to']}"] + ([f"is asked next goes to {last['to']}"] if kind == "wrong" and call > 1 else [])
    if not any(words in outcome.err for words in said):
        return f"standard error does not say so: {outcome.err[-400:]}"
    if kind == "wrong" and call > 1:
        doubts = re.search(r"may be wrong too: (.*)", moves[0]["reason"])
        if stage == "vad" and doubts and not re.match(r"speech from [\d.]+ to [\d.]+ s of ", doubts[1]):
            return f"the pieces that may be wrong are not named: '{doubts[0]}'"
        return wrong_fault(outcome, first, second, moves[0]["reason"], 1 if stage in AT_ONCE else call)
    if stage in WRITES:
        return answer_fault(outcome, first, call - 1)
    count = split_among(outcome.pieces, first.pieces, second.pieces, between)
    if count is None:
        return "what was given out is not the first device's up to a point and the second's from there"
    # A call of `vad` is a piece of the recording, one of `embed` all texts, of the others one of the pieces of the result.
    if stage not in AT_ONCE and count != call - 1:
        return f"{count} pieces are of the device that failed, wanted the {call - 1} before the fault"
    return None


def letters_of(pieces):
    return "".join(letter for letter, _ in pieces)


def answer_fault(outcome, first, count):
    """The answer goes on where the device died, with the text that it would have had: so many letters are of that device.

    What the next one computes of it is read again, and its digits need not be those of an answer that it wrote alone.
    """
    if None in outcome.pieces:
        return f"only {outcome.pieces} were written"
    if letters_of(outcome.pieces) != letters_of(first.pieces):
        return f"the text is {letters_of(outcome.pieces)}, without the fault {letters_of(first.pieces)}"
    same = next((i for i, piece in enumerate(outcome.pieces) if piece != first.pieces[i]), len(outcome.pieces))
    return None if same == count else f"{same} letters are of the device that failed, wanted the {count} before the fault"


def is_made_room_for(stage, kind, call):
    """Whether there is something that a model could let go of: what it remembers of texts."""
    return stage in WRITES and kind == "oom" and call > 1


def room_fault(outcome, first, moves):
    """Memory that runs out once is made room in where the model is: what it remembers of texts is read again there."""
    if len(moves) != 1 or moves[0]["to"] != moves[0]["from"] or not re.search(REASONS["oom"], moves[0]["reason"]):
        return f"wanted that the answer goes on where it was, found {moves}"
    if f"goes on on {moves[0]['to']}" not in outcome.err:
        return f"standard error does not say so: {outcome.err[-400:]}"
    if None in outcome.pieces or letters_of(outcome.pieces) != letters_of(first.pieces):
        return f"the answer is {outcome.pieces}, without the fault {first.pieces}"
    return None


def wrong_fault(outcome, first, second, reason, call):
    """A device that is wrong from a later call on: what it gave between two canaries may be wrong, and is named."""
    good = next((i for i, piece in enumerate(outcome.pieces) if piece != first.pieces[i]), len(outcome.pieces))
    rest = len(outcome.pieces)
    while rest > good and outcome.pieces[rest - 1] == second.pieces[rest - 1]:
        rest -= 1
    if None in outcome.pieces:
        return "a piece is missing"
    if good < call - 1:
        return f"only {good} pieces are the first device's, wanted {call - 1}"
    if rest > good and "may be wrong too" not in reason:
        return f"pieces {good + 1} to {rest} are of neither device, and are not named: '{reason}'"
    return None


def refusal_fault(outcome, first, stage, kind, call):
    """No other device is allowed: what was given out stays and is marked, the exit code says so, with the reason and where to go on."""
    fault = common_fault(outcome, first, first, [kind])
    if fault:
        return fault
    if is_made_room_for(stage, kind, call):
        return room_fault(outcome, first, outcome.moves())
    if outcome.code != 3:
        return f"exit code {outcome.code}, wanted 3: {outcome.err[-400:]}"
    moves = outcome.moves()
    # What is one object of JSON has its error beside it, on standard error.
    fault = reason_fault(moves[-1]["reason"] if moves else outcome.error() or outcome.err, stage, kind)
    if fault:
        return fault
    if moves and moves[-1]["to"] is not None:
        return f"went to {moves[-1]['to']}, which nobody asked for"
    if not re.search(REASONS[kind].format(stage=re.escape(stage)), outcome.err):
        return f"standard error does not give the reason: {outcome.err[-400:]}"
    given = [piece for piece in outcome.pieces if piece is not None]
    if stage in WRITES and not given:
        return None  # an object of JSON is whole, or there is none
    if outcome.pieces[:len(given)] != given:
        return "a piece in the middle is missing"
    if kind == "wrong" and call > 1 and given != first.pieces[:call - 1]:
        return None if "may be wrong too" in outcome.err else f"what may be wrong is not named: {outcome.err}"
    if given != first.pieces[:len(given)]:
        return "what was given out is not the first device's"
    if stage not in AT_ONCE and len(given) != call - 1:
        return f"{len(given)} pieces were given out, wanted the {call - 1} before the fault"
    if given and outcome.resume_at() is None:
        return "where to go on is not told"
    return None

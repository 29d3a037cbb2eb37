"""Policies that end turns, swept as eot-bench does: over scores of every pause, by how soon they end turns and how many pauses they cut off.

A pause is a row: logits at LOOKS seconds of silence (nan behind its end), how long it is, whether the turn is over in it, how far the voice
before it had fallen (decibels: TurnLevel of speech/turn_level.h), and what its transcript ends in (ClauseState of speech/open_clause.h: -1 open,
1 whole, 0 neither). A policy says after how much silence it ends the turn; latency is the mean of that over true ends, a false cut-off is a
pause before the end that lasts longer. `ours` is the rule of speech/end_of_turn_rule.h: the pause's lowest logit so far and what the fall gives,
against a line over silence; words count from 0.2 s on. What a decibel gives was chosen in folds of the first half (docs/turns.md), all else is
swept.
"""
import itertools

import numpy as np

LOOKS = np.array([.1, .2, .3, .4, .5, .6, .7, .8, 1.0, 1.2, 1.5])
WORDS_KNOWN_S = .2
TIMEOUTS = np.round(np.arange(.3, 3.01, .1), 1)
THRESHOLDS = np.arange(-4, 6.1, .5)
OUR_THRESHOLDS = np.arange(-8, 10.1, .5)
USUAL_FALL_DB = 4
FALL_GAIN = 2.5
MOST_GIVEN = 5
SLOPES = (-2, 0)
# What an open clause takes from a score, and how much longer silence must last behind it; of settings that are as good the first is taken.
WORDS = ((8, .6), (8, 1), (4, .5))


class Pauses:
    def __init__(self, logits, lengths, ends, clauses, falls, turns):
        self.logits, self.lengths, self.ends, self.clauses, self.falls, self.turns = logits, lengths, ends, clauses, falls, turns

    def only(self, chosen):
        return Pauses(*(column[chosen] for column in (self.logits, self.lengths, self.ends, self.clauses, self.falls, self.turns)))

    def lowest(self):
        return np.fmin.accumulate(self.logits, 1)


def first_look(fires):
    return np.where(fires, LOOKS[None], np.inf).min(1)


def silence(pauses):
    for timeout in TIMEOUTS:
        yield (timeout,), np.full(len(pauses.ends), timeout)


def once(pauses):
    """pipecat's way: asked at 0.2 s of silence."""
    at = int(np.argmin(np.abs(LOOKS - .2)))
    for threshold in THRESHOLDS:
        ends = np.where(pauses.logits[:, at] >= threshold, LOOKS[at], np.inf)
        for timeout in TIMEOUTS:
            yield (threshold, timeout), np.minimum(ends, timeout)


def streamed(pauses):
    """Asked at every look from a delay on, with one threshold: eot-bench's own three knobs."""
    for delay, threshold in itertools.product((.1, .2, .3), THRESHOLDS):
        ends = first_look((pauses.logits >= threshold) & (LOOKS[None] >= delay - 1e-9))
        for timeout in TIMEOUTS:
            yield (delay, threshold, timeout), np.minimum(ends, timeout)


def ours(pauses):
    value = pauses.lowest() + np.clip(FALL_GAIN * (pauses.falls - USUAL_FALL_DB), -MOST_GIVEN, MOST_GIVEN)[:, None]
    is_open = pauses.clauses == -1
    for less, longer in WORDS:
        taken = np.where(LOOKS[None] >= WORDS_KNOWN_S - 1e-9, (less * is_open)[:, None], 0)
        for delay, threshold, slope in itertools.product((.1, .2), OUR_THRESHOLDS, SLOPES):
            ends = first_look((value - taken >= threshold + slope * LOOKS[None]) & (LOOKS[None] >= delay - 1e-9))
            for timeout in TIMEOUTS:
                yield (delay, threshold, slope, timeout, less, longer), np.minimum(ends, timeout + longer * is_open)


POLICIES = {"silence": silence, "Smart Turn once": once, "Smart Turn streamed": streamed, "ours": ours}


def measure(pauses, ended):
    """Mean latency and share of pauses that are cut off."""
    return ended[pauses.ends].mean(), (ended < pauses.lengths)[~pauses.ends].mean()


def choose(policy, pauses, most_latency=None, most_cut=None):
    """The setting with the fewest cut-offs within a latency, or the least latency within a share of cut-offs."""
    best = (np.inf, np.inf, None)
    for setting, ended in policy(pauses):
        latency, cut = np.round(measure(pauses, ended), 9)
        if most_latency is not None and latency <= most_latency + 1e-9:
            best = min(best, (cut, latency, setting), key=lambda one: one[:2])
        if most_cut is not None and cut <= most_cut + 1e-9:
            best = min(best, (latency, cut, setting), key=lambda one: one[:2])
    return best[2]


def ended_by(policy, pauses, setting):
    return next(ended for one, ended in policy(pauses) if np.allclose(one, setting))


def interval(pauses, figure, rounds=1000, seed=33):
    """95 % of `figure` over turns drawn anew."""
    rng = np.random.default_rng(seed)
    turns = np.unique(pauses.turns)
    rows = {turn: np.flatnonzero(pauses.turns == turn) for turn in turns}
    found = [figure(np.concatenate([rows[turn] for turn in rng.choice(turns, len(turns))])) for _ in range(rounds)]
    return np.quantile(found, [.025, .975])

"""What of a call's output differs from run to run, by name: keys of JSON, and sentences that hold a time, a size or a number
of this run. Nothing else is masked, and of a sentence no more than what is measured.
"""
import re

# Keys of JSON whose numbers are measured, or are this process's.
MEASURED_KEYS = (
    "seconds", "milliseconds", "load_ms", "first_sound_ms", "proof_ms", "seconds_ago", "proven_seconds_ago", "peak_mb",
    "expected_ms_per_second", "cpu_ms_per_second", "ms_per_second", "longest_step_ms", "waited_share", "free_memory_bytes",
    "quiet_seconds", "processor_seconds", "idle_s", "pid", "process", "thread",
)
# Keys of JSON whose texts are this build's, this machine's or this moment's.
NAMED_KEYS = ("commit", "compiler", "created")

NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
# What a sentence says, its pattern, and what stands there instead.
SENTENCES = [
    ("operations of the voice detector, which takes what was read meanwhile", r'("stage":"vad"[^{}\[\]]*"operations":)\d+', r"\1{number}"),
    ("a key of JSON that is measured", rf'("(?:{"|".join(MEASURED_KEYS)})"\s*:\s*){NUMBER}', r"\1{number}"),
    ("a key of JSON that is named", rf'("(?:{"|".join(NAMED_KEYS)})"\s*:\s*)"[^"]*"', r'\1"{text}"'),
    ("memory that a stage holds", r'("bytes":)\d+(,"memory_with")', r"\1{number}\2"),
    ("the program's version and build", r"\bmynah \d+\.\d+\.\d+ \(commit (?:[^()]|\([^()]*\))*\)", "mynah {version} ({build})"),
    ("the program's size and time", r"(\{program\}) \d+ -?\d+", r"\1 {stamp}"),
    ("a file's size and time", r'("stamp": "\d+) -?\d+', r"\1 {time}"),
    ("a stage's time", r"^(  [a-z.]+ +\S+) +\d+\.\d ms( for|$)", r"\1 {time} ms\2"),
    ("how fast speech was made", r" in \d+\.\d s \(\d+(?:\.\d+)?x as fast as it sounds\)", " in {time} s ({factor}x as fast as it sounds)"),
    ("how fast recordings were heard", r" in [\d.]+ s: [\d.]+ times real time", " in {time} s: {factor} times real time"),
    ("when a command ended", r"^(mynah: (?:exited \d+|crashed|hangs|ended.*)) after [\d.]+ s", r"\1 after {time} s"),
    ("a command's process", r"^(mynah: process) \d+", r"\1 {number}"),
    ("how long ago a device was proven", r"\b(proven|passed|failed) \d+ (?:s|min|h|days?) ago", r"\1 {time} ago"),
    ("how long proofs took", r"\bproofs took [\d.]+ s", "proofs took {time} s"),
    ("how long one proof took", r"^(mynah: )proving \S+ for \S+ took \d+ s\n", ""),
    ("how fast a device is", r" +[\d.]+ ms for a second of sound", " {time} ms for a second of sound"),
    ("how fast a device is that was not chosen", r"(^  not chosen .*): [\d.]+ ms$", r"\1: {time} ms"),
    ("how much slower a device is", r"\b[\d.]+ times (slower|faster) than", r"{factor} times \1 than"),
    ("who else had the cores", r"; others had the cores for \d+ % of the time", ""),
    ("that others had the cores", r"^mynah: \S+: measure again when the machine is idle\n", ""),
    ("when a profile was measured", r"^(  measured +)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", r"\1{date}"),
    ("when a model was taken in", r"^(  created   )\S+", r"\1{date}"),
    ("a process that has something loaded", r"^\d+ +((?:vad|stt|tts)\S* .*?) +\d+ s  ", r"{number} \1 {time} s  "),
    ("a process that lets go of it", r"^\d+( is asked to let go)", r"{number}\1"),
    ("where a language model fits", r"(; needs [^;\n]*; )(?:fits|does not fit)[^\n]*", r"\1{room}"),
    ("the same in JSON", r'("room":)\[[^\]]*\]', r"\1{room}"),
    ("how many errors are known", r"\b\d+( known errors:)", r"{number}\1"),
    ("the same in JSON", r'("errors":)\d+(,"program_date")', r"\1{number}\2"),
    ("free memory", r"\d+(?:\.\d+)? of (\d+(?:\.\d+)? [GM]B)", r"{free} of \1"),
]
PATTERNS = [(re.compile(pattern, re.MULTILINE), instead) for _, pattern, instead in SENTENCES]


def masked(text, places):
    """`text` without what differs from run to run; `places` are this run's paths and their names, the longest first."""
    for path, name in places:
        text = text.replace(path, name)
    for pattern, instead in PATTERNS:
        text = pattern.sub(instead, text)
    return text

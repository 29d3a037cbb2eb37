#!/usr/bin/env python3
"""Writes tests/speech/golden/subtitles: what openai/whisper's own writers make of one transcript.

usage: subtitle_golden.py PATH_TO_WHISPER_UTILS_PY OUTPUT_FOLDER

The transcript is made up here, from a seed: segments with words, pauses longer than three seconds,
languages with and without spaces, and text that is markup in subtitles.  Made with utils.py of
openai-whisper 20250625.
"""

import importlib.util
import io
import json
import pathlib
import random
import sys

TEXTS = [
    " And so, my fellow Americans: ask not what your country can do for you,",
    " ask what you can do for your country.",
    " Größe, naïve, façade — “quoted” words and an arrow --> here.",
    " 今日はいい天気ですね",
    " One.",
    " A sentence that is a good deal longer than the others, so that lines of forty characters"
    " have to break it several times over before it ends.",
]

CASES = {
    "plain": {},
    "width": {"max_line_width": 20},
    "width_and_count": {"max_line_width": 24, "max_line_count": 2},
    "one_line": {"max_line_width": 42, "max_line_count": 1},
    "count_alone": {"max_line_count": 1},
    "highlight": {"highlight_words": True},
    "highlight_width": {"highlight_words": True, "max_line_width": 30, "max_line_count": 2},
}


def words_of(text):
    if " " in text.strip():
        return [" " + word for word in text.strip().split(" ")]
    return [" " + text.strip()[0], *text.strip()[1:]]


def transcript():
    rng = random.Random(20250625)
    now = 0.4
    segments = []
    for i, text in enumerate(TEXTS):
        words = []
        for word in words_of(text):
            if rng.random() < 0.1:
                now += rng.choice([0.3, 3.5])
            length = round(rng.uniform(0.05, 0.6), 2)
            words.append({"word": word, "start": round(now, 2), "end": round(now + length, 2),
                          "probability": round(rng.random(), 3)})
            now = round(now + length, 2)
        segments.append({"id": i, "start": round(words[0]["start"] - 0.1, 2),
                         "end": round(words[-1]["end"] + 0.1, 2), "text": text, "words": words})
        now += rng.choice([0.0, 0.5, 4.0, 3700.0 if i == 3 else 1.0])
    return {"language": "en", "segments": segments}


def main():
    spec = importlib.util.spec_from_file_location("whisper_utils", sys.argv[1])
    utils = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(utils)
    out = pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    result = transcript()
    (out / "transcript.json").write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n")
    without_words = {"language": "en", "segments": [
        {key: value for key, value in segment.items() if key != "words"}
        for segment in result["segments"]]}

    def write(name, writer, source, options):
        text = io.StringIO()
        writer(".").write_result(source, text, options)
        (out / f"{name}.{writer.extension}").write_text(text.getvalue())

    for case, options in CASES.items():
        write(case, utils.WriteSRT, result, options)
        write(case, utils.WriteVTT, result, options)
    for writer in (utils.WriteSRT, utils.WriteVTT, utils.WriteTSV, utils.WriteTXT):
        write("no_words", writer, without_words, {})


if __name__ == "__main__":
    main()

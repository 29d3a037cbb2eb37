#include "cli/speak/speak_options.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/atomic_file.h"
#include "base/nearest_name.h"

namespace mynah::cli {

namespace {

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  names.reserve(std::size(kSoundFormats) + 2);
  for (const SoundFormatName& known : kSoundFormats) {
    names.emplace_back(known.name);
  }
  names.emplace_back("m4b");
  names.emplace_back("m4a");
  return names;
}

}  // namespace

void markup_field(Fields& fields, TextKind& kind) {
  fields.choice("markup", "KIND", kind,
                {{"none", TextKind::Plain},
                 {"markdown", TextKind::Markdown},
                 {"html", TextKind::Html},
                 {"ssml", TextKind::Ssml}},
                "What is written around the words; what begins with <speak>, or stands in a file "
                "that ends in .ssml, is SSML without saying so.");
}

void emoji_field(Fields& fields, EmojiReading& emoji) {
  fields.choice("emoji", "HOW", emoji,
                {{"names", EmojiReading::Names}, {"silent", EmojiReading::Silent}},
                "Say emoji by their names, or not at all.");
}

void VoiceOptions::fields(Fields& fields) {
  fields.section("Voice");
  fields
      .option("voice", "NAME", speak.voice.voice,
              "A voice of the model, or a mix such as af_bella(2)+af_sky(1); see `mynah voices`.")
      .shorter('v')
      .completes(Complete::Voices)
      .also("speaker");
  fields
      .option("lang", "LANGUAGE", speak.language,
              "Language of the text, such as en-gb; empty: the voice's.")
      .also("language")
      .shorter('l');
  fields.option("speed", "X", speak.voice.speed,
                "0.25 to 4; at 2 everything takes half the time. The pitch stays.");
  fields.option("noise-scale", "X", speak.voice.noise_scale,
                "Piper and hibari: noise in the sound; none: the voice's own.");
  fields.option("noise-w", "X", speak.voice.noise_w,
                "Piper: noise in how long phonemes last; none: the voice's own.");
  fields.option("seed", "N", speak.voice.seed, "Of that noise: the same seed, the same sound.");
  fields.option("volume", "X", speak.volume, "Factor on the samples, 0 to 10.");
  fields.option("loudness", "LUFS", loudness,
                "As loud as every voice is made, -50 to -8, its true peaks at -1 dBTP at most; "
                "none: as loud as its model speaks.");
  fields.time("sentence-silence", sentence_silence_s,
              "Silence between sentences in seconds; none: 0.3, 0.6 between paragraphs.");
  fields.flag(
      "normalize", speak.normalize,
      "Say numbers, signs and short forms in words; --no-normalize leaves them as they are.");
  emoji_field(fields, speak.emoji);
  markup_field(fields, kind);
  fields.flag("phonemes", phonemes,
              "The text is phonemes in the model's alphabet, as `mynah phonemes` prints them.");
}

Result<SpeakOptions> VoiceOptions::finish() const {
  SpeakOptions options = speak;
  if (loudness != "none") {
    double lufs = 0;
    const char* const end = loudness.data() + loudness.size();
    const auto read = std::from_chars(loudness.data(), end, lufs);
    if (read.ec != std::errc() || read.ptr != end) {
      return fail(
          ErrorCode::Usage,
          fmt::format("--loudness: wanted LUFS such as -23, or none, found '{}'", loudness));
    }
    options.loudness_lufs = lufs;
  }
  options.kind = phonemes ? TextKind::Phonemes : kind;
  if (sentence_silence_s) {
    options.sentence_silence_s = *sentence_silence_s;
    options.paragraph_silence_s = std::max(options.paragraph_silence_s, *sentence_silence_s);
  }
  return options;
}

void SoundOptions::fields(Fields& fields) {
  fields.section("Output");
  fields
      .option("out", "FILE", out,
              "Write here; - is standard output; of a document a folder too, for a file a chapter. "
              "Without it sound goes to standard output where that is a pipe or a file, else it is "
              "played.")
      .shorter('o')
      .completes(Complete::Files)
      .once();
  fields
      .option("output-dir", "FOLDER", folder,
              "Write each line of the text to a file of its own here: 0001.wav, 0002.wav ...")
      .completes(Complete::Folders)
      .once();
  fields
      .flag("json-input", json_lines,
            "Lines are JSON objects: text, and for that line output_file, voice or speaker, speed. "
            "With --output-dir files are in that folder.")
      .once();
  fields
      .option(
          "format", "FORMAT", format,
          "wav, flac, mp3, opus, aac, pcm, m4b or m4a; none: as the file's name ends, else wav.")
      .offering(format_names());
  fields.option("rate", "HZ", rate_hz,
                "Samples a second of what is written; none: the voice's, or the next that the "
                "format has.");
  fields.flag(
      "stream", stream,
      "Begin with a short clause, so that sound comes early, as where it is played or goes to "
      "standard output.");
  fields.flag("play", play, "Play it, with --out beside writing it.");
  fields.option(
      "player", "PROGRAM", player,
      "What plays a WAV from its standard input; empty: pw-play, paplay, aplay or ffplay.");
  fields.option("srt", "FILE", captions.srt, "Write subtitles (SubRip) beside the sound.")
      .completes(Complete::Files)
      .once();
  fields.option("vtt", "FILE", captions.vtt, "Write subtitles (WebVTT) beside the sound.")
      .completes(Complete::Files)
      .once();
}

bool SoundOptions::is_m4b() const {
  // .m4a is the same but for its name, which players take for music rather than for a book.
  const bool named = out.ends_with(".m4b") || out.ends_with(".m4a");
  return format ? *format == "m4b" || *format == "m4a" : named;
}

Result<SoundFormat> SoundOptions::format_of(std::string_view or_else) const {
  if (!format) {
    const auto by_name = sound_format_of(out);
    std::error_code error;
    const bool named = !out.empty() && out != "-" && !out.ends_with('/') &&
                       !std::filesystem::is_directory(out, error) && !is_device_or_pipe(out) &&
                       !out.starts_with("/dev/");
    if (!by_name && named) {
      return fail(ErrorCode::Usage,
                  fmt::format("--out {}: cannot tell the format from the name; wanted a name that "
                              "ends in .wav, .flac, .mp3, .opus, .aac, .pcm, .m4b or .m4a{}",
                              out, or_else));
    }
    return by_name.value_or(SoundFormat::Wav);
  }
  // By any name that a file may end in: "ogg" is Opus.
  if (const auto known = sound_format_of("a." + *format)) {
    return *known;
  }
  const auto names = format_names();
  return fail(ErrorCode::Usage,
              fmt::format("--format: wanted {}, found '{}'{}", fmt::join(names, ", "), *format,
                          suggestion(*format, names)));
}

}  // namespace mynah::cli

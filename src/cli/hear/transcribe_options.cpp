#include "cli/hear/transcribe_options.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/nearest_name.h"
#include "cli/hear/language_codes.h"
#include "cli/placement/engine_fields.h"
#include "speech/hotwords.h"
#include "text/phonemes/user_lexicon.h"

namespace mynah::cli {

namespace {

// "12.5-20", "1:15-2:00": either side may be missing.
Result<ClipRange> parse_clip(const std::string& text) {
  const size_t hyphen = text.find('-');
  constexpr double kForever_s = 1e9;  // thirty years: counted in samples it is still a number
  ClipRange clip{.start_s = 0, .end_s = kForever_s};
  const auto wrong = [&] {
    return fail(ErrorCode::Usage,
                fmt::format("--clip: wanted START-END, times as 75 (seconds), 1:15 or 0:01:15.5, "
                            "found '{}'",
                            text));
  };
  if (hyphen == std::string::npos) {
    return wrong();
  }
  if (hyphen > 0) {
    const auto start = parse_time(text.substr(0, hyphen));
    if (!start) {
      return wrong();
    }
    clip.start_s = *start;
  }
  if (hyphen + 1 < text.size()) {
    const auto end = parse_time(text.substr(hyphen + 1));
    if (!end) {
      return wrong();
    }
    clip.end_s = std::min(*end, kForever_s);
  }
  if (!(clip.start_s < clip.end_s)) {
    return fail(ErrorCode::Usage,
                fmt::format("--clip: wanted an end after the start, found '{}'", text));
  }
  return clip;
}

constexpr auto kRawEncodings = std::to_array<std::string_view>(
    {"u8", "s16le", "s24le", "s32le", "f32le", "f64le", "mulaw", "alaw"});

// As others call them.
constexpr auto kRawAliases =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"ulaw", "mulaw"},
                                                                  {"pcmu", "mulaw"},
                                                                  {"pcma", "alaw"},
                                                                  {"s16", "s16le"},
                                                                  {"s24", "s24le"},
                                                                  {"s32", "s32le"},
                                                                  {"f32", "f32le"},
                                                                  {"f64", "f64le"}});

std::string raw_encoding(const std::string& name) {
  const auto* const alias =
      std::ranges::find(kRawAliases, name, &std::pair<std::string_view, std::string_view>::first);
  return alias == kRawAliases.end() ? name : std::string(alias->second);
}

Status check_raw(const std::string& encoding) {
  if (std::ranges::find(kRawEncodings, encoding) == kRawEncodings.end()) {
    const std::vector<std::string> known(kRawEncodings.begin(), kRawEncodings.end());
    return fail(ErrorCode::Usage,
                fmt::format("--raw: wanted {}, found '{}'{}", fmt::join(known, ", "), encoding,
                            suggestion(encoding, known)));
  }
  return {};
}

Status check_range(std::string_view flag, double value, double least, double most) {
  if (!(value >= least && value <= most)) {
    return fail(ErrorCode::Usage,
                fmt::format("{}: wanted {} to {}, found {}", flag, least, most, value));
  }
  return {};
}

}  // namespace

void RecognizerFlags::fields(Fields& fields) {
  CuttingOptions& cutting = options.cutting;
  DecodingOptions& decoding = options.decoding;
  WhisperOptions& whisper = decoding.whisper;
  fields.section("Speech");
  fields
      .option("language", "LANG", decoding.language,
              "Spoken language: a code, an English name or auto.")
      .completes(Complete::Languages);
  fields.choice("task", "TASK", decoding.task,
                {{"transcribe", Task::Transcribe}, {"translate", Task::Translate}},
                "Write what is said, or what it means in English.");
  fields.flag("words", decoding.words, "Times of words.").also("word-timestamps");
  fields.flag("timestamps", decoding.timestamps, "Times of segments.");
  fields.option("initial-prompt", "TEXT", cutting.initial_prompt,
                "Text before the recording: names, style.");
  fields.flag("carry-initial-prompt", cutting.carry_initial_prompt,
              "Give the initial prompt to every window, not the first alone.");
  fields.option("hotwords", "WORDS", hotwords,
                "Words to expect, written so, with commas between them.");
  lexicon_field(fields, lexicon);
  fields.list("clip", "A-B", clips, "Only these parts of the recording: 75-90, 1:15-1:30.").once();

  fields.section("Decoding");
  fields.choice("context", "HOW", whisper.context,
                {{"cached", AudioContext::Cached}, {"full", AudioContext::Full}},
                "Encode what is spoken, or whole windows of 30 seconds.");
  fields.option("beam", "N", whisper.beam_size, "Beams of the search; 1: greedy.")
      .also("beam-size");
  fields.option("best-of", "N", whisper.best_of, "Samples tried where the temperature is above 0.");
  fields.option("patience", "X", whisper.patience, "Patience of the beam search.");
  fields.option("length-penalty", "X", whisper.length_penalty,
                "Exponent of a beam's length; 0: none.");
  fields.option("repetition-penalty", "X", whisper.repetition_penalty, "Above 1: less repetition.");
  fields.option("no-repeat-ngram-size", "N", whisper.no_repeat_ngram_size,
                "No run of this many tokens twice; 0: off.");
  fields.option("temperature", "T", temperature, "Temperature of the first try.");
  fields
      .option("temperature-increment", "T", temperature_increment,
              "Step to the next try of a doubtful window.")
      .also("temperature-increment-on-fallback");
  fields.flag("fallback", fallback, "Decode doubtful windows again at higher temperatures.");
  fields.option("compression-ratio-threshold", "X", whisper.compression_ratio_threshold,
                "More repetitive text than this is doubtful.");
  fields
      .option("log-probability-threshold", "X", whisper.log_probability_threshold,
              "A mean below this is doubtful.")
      .also("logprob-threshold");
  fields.option("no-speech-threshold", "P", whisper.no_speech_threshold,
                "Doubtful text above this probability of no speech is dropped.");
  fields.option("entropy-threshold", "X", whisper.entropy_threshold,
                "whisper.cpp's guard against repetition.");
  fields.option("seed", "N", decoding.seed, "Seed of the samples.");
  fields.flag("condition-on-previous-text", cutting.condition_on_previous_text,
              "Give each window the text before it.");
  fields.option("max-context-tokens", "N", whisper.max_context_tokens, "Tokens of prompt at most.");
  fields.list("suppress-tokens", "IDS", whisper.suppress_tokens,
              "Tokens never written; -1: the symbols that are no speech.");
  fields.flag("suppress-blank", whisper.suppress_blank, "No window begins with a space alone.");
  fields.option("suppress-regex", "RE", whisper.suppress_regex,
                "Tokens never written, by their whole text (RE2).");
  fields.time("max-initial-timestamp", whisper.max_initial_timestamp_s,
              "The first segment of a window begins by then.");
  fields.option("max-new-tokens", "N", whisper.max_new_tokens, "Tokens of a window at most.");
  fields
      .time("hallucination-silence", cutting.hallucination_silence_s,
            "Drop text about silence longer than this where it seems invented.")
      .also("hallucination-silence-threshold");
  fields.option("batch", "N", cutting.batch,
                "Windows decoded together; a long run has up to four such batches under way.");
  fields.option("language-detection-segments", "N", cutting.language_detection_segments,
                "Windows that the language is heard from.");
}

void RecognizerFlags::vad_fields(Fields& fields) {
  CuttingOptions& cutting = options.cutting;
  VadOptions& v = cutting.vad_options;
  fields.section("Voice activity");
  fields.flag("vad", cutting.vad, "Cut the recording at silence, and decode speech alone.");
  fields.option("vad-threshold", "P", v.threshold, "Speech begins at this probability.");
  fields.option("vad-negative-threshold", "P", v.negative_threshold,
                "Speech ends below it; negative: threshold less 0.15.");
  fields.option("vad-min-speech-ms", "MS", v.min_speech_ms, "Shorter speech is dropped.");
  fields.time("vad-max-speech-s", v.max_speech_s, "Longer speech is cut.");
  fields.time("chunk-length", cutting.chunk_length_s,
              "Speech is heard in pieces of at most this many seconds.");
  fields.option("vad-min-silence-ms", "MS", v.min_silence_ms, "Shorter silence does not cut.");
  fields.option("vad-speech-pad-ms", "MS", v.speech_pad_ms, "Added on both sides of speech.");
}

Result<RecognizerOptions> RecognizerFlags::finish() const {
  RecognizerOptions finished = options;
  CuttingOptions& cutting = finished.cutting;
  WhisperOptions& whisper = finished.decoding.whisper;
  MYNAH_TRY_STATUS(check_range("--beam", whisper.beam_size, 1, 64));
  MYNAH_TRY_STATUS(check_range("--best-of", whisper.best_of, 1, 64));
  MYNAH_TRY_STATUS(check_range("--repetition-penalty", whisper.repetition_penalty, 0.01, 100));
  MYNAH_TRY_STATUS(check_range("--batch", cutting.batch, 1, 256));
  MYNAH_TRY_STATUS(check_range("--temperature", temperature, 0, 1));
  MYNAH_TRY_STATUS(check_range("--temperature-increment", temperature_increment, 0, 1));
  MYNAH_TRY_STATUS(check_range("--vad-threshold", cutting.vad_options.threshold, 0, 1));
  MYNAH_TRY_STATUS(check_range("--chunk-length", cutting.chunk_length_s, 5, 30));
  MYNAH_TRY_STATUS(check_range("--max-new-tokens", whisper.max_new_tokens, 1, 448));
  MYNAH_TRY_STATUS(check_range("--max-context-tokens", whisper.max_context_tokens, 0, 1 << 20));
  whisper.temperatures = {temperature};
  if (fallback && temperature_increment > 0) {
    // Steps are counted, not added up: five of 0.2 make 1.0 exactly.
    const auto steps =
        static_cast<int>(std::floor((1.0F - temperature) / temperature_increment + 1e-4F));
    for (int i = 1; i <= steps; ++i) {
      whisper.temperatures.push_back(temperature + temperature_increment * static_cast<float>(i));
    }
  }
  cutting.hotwords = hotwords_in(hotwords);
  MYNAH_TRY(std::vector<std::string> words, read_lexicon_words(lexicon));
  std::ranges::move(words, std::back_inserter(cutting.hotwords));
  for (const std::string& clip : clips) {
    MYNAH_TRY(const ClipRange range, parse_clip(clip));
    cutting.clips.push_back(range);
  }
  return finished;
}

void RecordingOptions::fields(Fields& fields) {
  fields.section("Recording");
  fields.option("channel", "N", channel, "Only this channel, from 0; none: all mixed.");
  fields.option("track", "TRACK", track,
                "Only this audio track: a number, from 1, or a language; none: the first that has "
                "speech.");
  fields.time("start", start_s, "Begin here: 75, 1:15 or 0:01:15.5.").once();
  fields.time("length", length_s, "Read only this much: 75, 1:15 or 0:01:15.5.").once();
  fields
      .option("raw", "ENCODING", raw,
              fmt::format("Samples without a header: {}.", fmt::join(kRawEncodings, ", ")))
      .offering({kRawEncodings.begin(), kRawEncodings.end()});
  fields.option("raw-rate", "HZ", raw_rate_hz,
                "Their rate; none: 8000 of mulaw and alaw, as telephony has it, else 16000.");
  fields.option("raw-channels", "N", raw_channels, "Their channels.");
}

Result<AudioOpenOptions> RecordingOptions::finish() const {
  MYNAH_TRY_STATUS(check_range("--start", start_s, 0, 1e9));
  if (length_s) {
    MYNAH_TRY_STATUS(check_range("--length", *length_s, 1e-3, 1e9));
  }
  if (channel) {
    MYNAH_TRY_STATUS(check_range("--channel", *channel, 0, 255));
  }
  AudioOpenOptions options;
  options.channel = channel;
  // Tracks are compared without their regions: "de" of "de-AT".
  options.track = language_codes(std::string_view(track).substr(0, track.find_first_of("-_")));
  options.start_s = start_s;
  options.duration_s = length_s;
  if (!raw.empty()) {
    const std::string encoding = raw_encoding(raw);
    MYNAH_TRY_STATUS(check_raw(encoding));
    const bool telephony = encoding == "mulaw" || encoding == "alaw";
    const int rate_hz = raw_rate_hz.value_or(telephony ? 8000 : 16000);
    MYNAH_TRY_STATUS(check_range("--raw-rate", rate_hz, 1000, 768000));
    MYNAH_TRY_STATUS(check_range("--raw-channels", raw_channels, 1, 256));
    options.raw = {.rate_hz = rate_hz, .channels = raw_channels, .encoding = encoding};
  }
  return options;
}

void OutputOptions::fields(Fields& fields) {
  fields.section("Output");
  fields
      .list("format", "LIST", formats,
            fmt::format("Formats: {}; all: txt, vtt, srt, tsv, json. One without --output-dir "
                        "goes to standard output when the recording has ended.",
                        fmt::join(transcript_format_names(), ", ")))
      .offering(transcript_format_names())
      .once();
  fields.option("output-dir", "FOLDER", folder, "Write FOLDER/NAME.FORMAT for each recording.")
      .shorter('o')
      .completes(Complete::Folders)
      .once();
  fields
      .names("output-file", "NAME", bases,
             "Write NAME.FORMAT; once a recording; -: standard output. An extension that is there "
             "stays as it is, and chooses the format where --format does not.")
      .once();
  fields.flag("output-beside", beside, "Write RECORDING.FORMAT beside each recording.").once();
  fields.choice("style", "WHOSE", style,
                {{"openai", TranscriptStyle::OpenAi}, {"whisper.cpp", TranscriptStyle::WhisperCpp}},
                "Whose files they look like.");
  fields.choice("cues", "SHAPE", cues, {{"readable", CueShape::Readable}, {"raw", CueShape::Raw}},
                "Subtitles that can be read (two lines of 42 characters, 0.7 to 7 seconds), or "
                "segments as they are.");
  fields.option(
      "max-line-width", "N", max_line_width,
      "Characters of a subtitle's line at most, wide ones counted twice; none: 42, and of "
      "raw cues any.");
  fields.option("max-line-count", "N", max_line_count,
                "Lines of a subtitle at most; none: 2, and of raw cues any.");
  fields.flag("highlight-words", highlight_words,
              "Underline each word of a subtitle as it is said.");
  fields.option("max-segment-length", "N", max_segment_length,
                "Cut segments at words into pieces of at most this many characters.");
  fields.option("cue-offset", "N", cue_offset, "Added to the numbers of SRT cues.").once();
  fields.flag("stereo-speakers", stereo_speakers,
              "Name each segment's channel as its speaker; channels with sounds of their own are "
              "heard each by itself.");
  fields.flag("confidence", confidence, "Colour words by their probability, red to green.");
  fields.flag("confidence-marks", confidence_marks,
              "Mark words by their probability: reversed, underlined, dim.");
  fields.flag("special-tokens", special_tokens, "Print tokens that are no text.");
  fields.flag("quiet", quiet, "Nothing but results and errors.").shorter('q');
  fields.flag("progress", progress, "A progress bar, where stderr is a terminal.");
  fields.flag("progress-lines", progress_lines, "A line on stderr at every 5 percent.");
  fields.flag("explain", explain, "Say what was chosen, and how long each stage took.");
  fields
      .flag("resume", resume,
            "Skip recordings whose outputs are there, whole, newer and made with the same options.")
      .once();
}

Status OutputOptions::check() const {
  if (beside && !folder.empty()) {
    return fail(ErrorCode::Usage,
                "--output-beside and --output-dir are two places for the same files: give one");
  }
  constexpr int kMost = 1'000'000;
  MYNAH_TRY_STATUS(check_range("--max-line-width", max_line_width.value_or(1), 1, kMost));
  MYNAH_TRY_STATUS(check_range("--max-line-count", max_line_count.value_or(1), 1, kMost));
  return check_range("--max-segment-length", max_segment_length, 0, kMost);
}

}  // namespace mynah::cli

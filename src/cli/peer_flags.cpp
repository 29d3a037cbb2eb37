#include "cli/peer_flags.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/fields.h"

namespace mynah::cli {

namespace {

using enum PeerValue;

// whisper.cpp examples/cli/cli.cpp, in the order of its --help; then what whisper and whisperX have
// under other names. Flags that mynah calls the same are not here. {} is the value.
constexpr auto kFlags = std::to_array<PeerFlag>({
    {"-t", "--threads", Text, "--threads={}", "", ""},
    {"-p", "--processors", Text, "", "1",
     "mynah decodes the windows of a recording together: use --batch and --threads"},
    {"-ot", "--offset-t", Text, "--start={s}", "0", ""},
    {"-on", "--offset-n", Text, "--cue-offset={}", "", ""},
    {"-d", "--duration", Text, "--length={s}", "0", ""},
    {"-mc", "--max-context", Text, "--max-context-tokens={}", "-1", ""},
    {"-ml", "--max-len", Text, "--max-segment-length={}", "0", ""},
    {"-sow", "--split-on-word", None, "", "", ""},  // mynah never cuts inside a word
    {"-bo", "--best-of", Text, "--best-of={}", "", ""},
    {"-bs", "--beam-size", Text, "--beam={}", "", ""},
    {"-ac", "--audio-ctx", Text, "--context=cached", "0", ""},
    {"-wt", "--word-thold", Text, "", "", ""},  // word times come from cross-attention here
    {"-et", "--entropy-thold", Text, "--entropy-threshold={}", "", ""},
    {"-lpt", "--logprob-thold", Text, "--log-probability-threshold={}", "", ""},
    {"-nth", "--no-speech-thold", Text, "--no-speech-threshold={}", "", ""},
    {"-tp", "--temperature", Text, "--temperature={}", "", ""},
    {"-tpi", "--temperature-inc", Text, "--temperature-increment={}", "", ""},
    {"-debug", "--debug-mode", None, "--explain", "", ""},
    {"-tr", "--translate", None, "--task=translate", "", ""},
    {"-di", "--diarize", None, "--stereo-speakers --style=whisper.cpp", "", ""},
    {"-tdrz", "--tinydiarize", None, "", "",
     "mynah has no tinydiarize models: use --stereo-speakers where each speaker has a channel"},
    {"-nf", "--no-fallback", None, "--no-fallback", "", ""},
    {"-otxt", "--output-txt", None, "--format=txt --output-beside --style=whisper.cpp", "", ""},
    {"-ovtt", "--output-vtt", None, "--format=vtt --output-beside --style=whisper.cpp", "", ""},
    {"-osrt", "--output-srt", None, "--format=srt --output-beside --style=whisper.cpp", "", ""},
    {"-olrc", "--output-lrc", None, "--format=lrc --output-beside --style=whisper.cpp", "", ""},
    {"-owts", "--output-words", None, "--format=wts --output-beside --style=whisper.cpp", "", ""},
    {"-fp", "--font-path", Text, "", "",
     "the karaoke script takes the system's monospace font: leave it out"},
    {"-ocsv", "--output-csv", None, "--format=csv --output-beside --style=whisper.cpp", "", ""},
    {"-oj", "--output-json", None, "--format=json --output-beside --style=whisper.cpp", "", ""},
    {"-ojf", "--output-json-full", None, "--format=json-full --output-beside --style=whisper.cpp",
     "", ""},
    {"-of", "--output-file", Text, "--output-file={}", "", ""},
    {"-np", "--no-prints", None, "--quiet --style=whisper.cpp", "", ""},
    {"-ps", "--print-special", None, "--special-tokens --style=whisper.cpp", "", ""},
    {"-pc", "--print-colors", None, "--confidence --style=whisper.cpp", "", ""},
    {"", "--print-confidence", None, "--confidence-marks --style=whisper.cpp", "", ""},
    {"-pp", "--print-progress", None, "--progress-lines", "", ""},
    {"-nt", "--no-timestamps", None, "--no-timestamps --style=whisper.cpp", "", ""},
    {"-l", "--language", Text, "--language={}", "", ""},
    {"-dl", "--detect-language", None, "--detect-language", "", ""},
    {"", "--prompt", Text, "--initial-prompt={}", "", ""},
    {"", "--carry-initial-prompt", None, "--carry-initial-prompt", "", ""},
    {"-m", "--model", Text, "--model={}", "", ""},
    {"-f", "--file", Text, "{} --style=whisper.cpp", "", ""},
    {"-oved", "--ov-e-device", Text, "", "", "mynah does not use OpenVINO: use --device"},
    {"-dtw", "--dtw", Text, "--words", "", ""},
    {"-ls", "--log-score", None, "", "",
     "token probabilities are in --output-json-full; word probabilities in --words --json"},
    {"-ng", "--no-gpu", None, "--device=cpu", "", ""},
    {"-dev", "--device", Number, "", "", ""},  // the number of a GPU, of which none is used
    {"-fa", "--flash-attn", None, "", "", ""},
    {"-nfa", "--no-flash-attn", None, "", "", ""},
    {"-sns", "--suppress-nst", None, "--suppress-tokens=-1", "", ""},
    {"", "--suppress-regex", Text, "--suppress-regex={}", "", ""},
    {"", "--grammar", Text, "", "",
     "mynah writes by no grammar: use --initial-prompt or --hotwords"},
    {"", "--grammar-rule", Text, "", "",
     "mynah writes by no grammar: use --initial-prompt or --hotwords"},
    {"", "--grammar-penalty", Text, "", "",
     "mynah writes by no grammar: use --initial-prompt or --hotwords"},
    {"", "--vad", None, "--vad", "", ""},
    {"-vm", "--vad-model", Text, "--vad-model={}", "", ""},
    {"-vt", "--vad-threshold", Text, "--vad-threshold={}", "", ""},
    {"-vspd", "--vad-min-speech-duration-ms", Text, "--vad-min-speech-ms={}", "", ""},
    {"-vsd", "--vad-min-silence-duration-ms", Text, "--vad-min-silence-ms={}", "", ""},
    {"-vmsd", "--vad-max-speech-duration-s", Text, "--vad-max-speech-s={}", "", ""},
    {"-vp", "--vad-speech-pad-ms", Text, "--vad-speech-pad-ms={}", "", ""},
    {"-vo", "--vad-samples-overlap", Text, "", "", ""},  // chunks never overlap here

    {"", "--output-format", Text, "--format={}", "", ""},
    {"", "--max-line-width", Text, "--max-line-width={}", "None", ""},
    {"", "--max-line-count", Text, "--max-line-count={}", "None", ""},
    {"", "--fp16", Text, "", "", ""},  // --storage and --precision choose the arithmetic here
    {"", "--compute-type", Text, "--storage={}", "default auto", ""},
    {"", "--batch-size", Text, "--batch={}", "", ""},
    {"", "--chunk-size", Text, "--chunk-length={}", "", ""},
    {"", "--vad-onset", Text, "--vad-threshold={}", "", ""},
    {"", "--vad-offset", Text, "--vad-negative-threshold={}", "", ""},
    {"", "--min-speakers", Text, "", "",
     "mynah tells speakers apart by channel only: use --stereo-speakers"},
    {"", "--max-speakers", Text, "", "",
     "mynah tells speakers apart by channel only: use --stereo-speakers"},
});

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// "Name=value" apart; the name with hyphens.
struct Written {
  std::string name;
  std::string value;
  bool has_value = false;
};

Written take_apart(const std::string& argument) {
  Written written;
  const size_t equals = argument.find('=');
  written.name = argument.substr(0, equals);
  if (written.name.starts_with("--")) {
    std::ranges::replace(written.name, '_', '-');
  }
  if (equals != std::string::npos) {
    written.has_value = true;
    written.value = argument.substr(equals + 1);
  }
  return written;
}

const PeerFlag* find_flag(const std::string& name) {
  const auto found = std::ranges::find_if(kFlags, [&](const PeerFlag& flag) {
    return name == flag.longer || (!flag.shorter.empty() && name == flag.shorter);
  });
  return found == kFlags.end() ? nullptr : &*found;
}

bool is_ignored(const PeerFlag& flag, const std::string& value) {
  std::string_view rest = flag.ignored_values;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == value) {
      return true;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

Status append(const PeerFlag& flag, const std::string& value, std::vector<std::string>& result) {
  std::string_view rest = flag.becomes;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    std::string argument(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (const size_t ms = argument.find("{s}"); ms != std::string::npos) {
      const auto number = parse_number(value);
      if (!number) {
        return fail(ErrorCode::Usage,
                    fmt::format("{}: wanted milliseconds, found '{}'", flag.longer, value));
      }
      argument.replace(ms, 3, print_number(*number / 1000));
    } else if (const size_t text = argument.find("{}"); text != std::string::npos) {
      argument.replace(text, 2, value);
    }
    result.push_back(std::move(argument));
  }
  return {};
}

}  // namespace

std::span<const PeerFlag> peer_flags() {
  return kFlags;
}

Result<std::vector<std::string>> translate_peer_flags(const std::vector<std::string>& arguments) {
  std::vector<std::string> result;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") {
      result.insert(result.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i),
                    arguments.end());
      break;
    }
    const Written written = take_apart(arguments[i]);
    const PeerFlag* flag = find_flag(written.name);
    if (flag == nullptr) {
      result.push_back(arguments[i]);
      continue;
    }
    const bool apart = flag->value != None && !written.has_value;
    const bool lacks = apart && i + 1 == arguments.size();
    const std::string value = apart && !lacks ? arguments[++i] : written.value;
    if (!flag->instead.empty() && !is_ignored(*flag, value)) {
      return fail(ErrorCode::Usage, fmt::format("{} is not done: {}", written.name, flag->instead));
    }
    if (lacks) {
      return fail(ErrorCode::Usage, fmt::format("{} wants a value", written.name));
    }
    if (flag->value == Number && !is_number(value)) {
      result.push_back(fmt::format("{}={}", flag->longer, value));
      continue;
    }
    if (flag->value == None && written.has_value) {
      result.push_back(arguments[i]);  // "--vad=false": mynah's own spelling
      continue;
    }
    if (!is_ignored(*flag, value)) {
      MYNAH_TRY_STATUS(append(*flag, value, result));
    }
  }
  return result;
}

}  // namespace mynah::cli

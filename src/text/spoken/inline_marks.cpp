#include "text/spoken/inline_marks.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/ascii.h"

namespace mynah {
namespace {

// A mark and its brackets are no longer than this, so that brackets that do not close cost nothing.
constexpr size_t kLongestMark = 400;
constexpr double kDay_s = 86400.0;

// [word](/IPA/)
struct Pronounced {
  std::string_view word;
  std::string_view phonemes;
  size_t bytes = 0;
};

std::optional<Pronounced> pronounced_at(std::string_view text) {
  const std::string_view bounded = text.substr(0, kLongestMark);
  const size_t close = bounded.find("](/");
  if (close == std::string_view::npos || close < 2 || bounded.find('[', 1) < close) {
    return std::nullopt;
  }
  const size_t end = bounded.find("/)", close + 3);
  if (end == std::string_view::npos || end == close + 3 ||
      bounded.substr(close + 3, end - close - 3).find_first_of("\n]") != std::string_view::npos) {
    return std::nullopt;
  }
  return Pronounced{.word = bounded.substr(1, close - 1),
                    .phonemes = bounded.substr(close + 3, end - close - 3),
                    .bytes = end + 2};
}

// [name:value]
struct Command {
  std::string_view name;
  std::string_view value;
  size_t bytes = 0;
};

std::optional<Command> command_at(std::string_view text) {
  for (const std::string_view name : {"pause", "voice", "rate"}) {
    if (!text.substr(1).starts_with(name) || text.substr(1 + name.size(), 1) != ":") {
      continue;
    }
    const size_t close = text.substr(0, kLongestMark).find(']');
    if (close == std::string_view::npos) {
      return std::nullopt;
    }
    const size_t value = name.size() + 2;
    return Command{
        .name = name, .value = trimmed(text.substr(value, close - value)), .bytes = close + 1};
  }
  return std::nullopt;
}

// Text parts as they grow.
class Parts {
 public:
  Parts(SpeakScript& script, const std::string& voice, const double& rate)
      : script_(script), voice_(voice), rate_(rate) {}

  void copy(std::string_view text, size_t source) {
    part_.text += text;
    part_.source.add(text.size(), {source, source + text.size()});
  }

  void mark(std::string_view word, std::string_view phonemes, size_t source) {
    part_.marks.push_back({.kind = TextMark::Kind::Phonemes,
                           .begin = part_.text.size(),
                           .end = part_.text.size() + word.size(),
                           .value = std::string(phonemes),
                           .format = {}});
    copy(word, source);
  }

  void end() {
    if (!trimmed(part_.text).empty()) {
      part_.voice = voice_;
      part_.rate = rate_;
      script_.parts.push_back(std::move(part_));
    }
    part_ = SpeakPart{};
  }

  void pause(double seconds) {
    end();
    SpeakPart part;
    part.kind = SpeakPart::Kind::Pause;
    part.pause_s = seconds;
    part.voice = voice_;
    part.rate = rate_;
    script_.parts.push_back(std::move(part));
  }

 private:
  SpeakScript& script_;
  const std::string& voice_;
  const double& rate_;
  SpeakPart part_;
};

void warn(SpeakScript& script, std::string warning) {
  if (std::ranges::find(script.warnings, warning) == script.warnings.end()) {
    script.warnings.push_back(std::move(warning));
  }
}

}  // namespace

double plain_number(std::string_view text) {
  double value = 0.0;
  const bool plain =
      !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return plain && error == std::errc{} && end == text.data() + text.size() ? value : -1.0;
}

double duration_seconds(std::string_view text) {
  double unit = 1.0;
  if (text.ends_with("ms")) {
    unit = 0.001;
    text.remove_suffix(2);
  } else if (text.ends_with('s')) {
    text.remove_suffix(1);
  }
  const double value = plain_number(trimmed(text)) * unit;
  return value <= kDay_s ? std::max(value, -1.0) : -1.0;
}

SpeakScript InlineMarks::read(std::string_view text, size_t source_begin) {
  SpeakScript script;
  Parts parts(script, voice_, rate_);
  size_t at = 0;
  while (at < text.size()) {
    const size_t next = std::min(text.find_first_of("[\\", at), text.size());
    parts.copy(text.substr(at, next - at), source_begin + at);
    at = next;
    if (at == text.size()) {
      break;
    }
    const std::string_view rest = text.substr(at);
    if (rest[0] == '\\') {
      // "\[" is a bracket; any other backslash is itself.
      const size_t skipped = rest.starts_with("\\[") ? 1 : 0;
      parts.copy(rest.substr(skipped, 1), source_begin + at + skipped);
      at += skipped + 1;
    } else if (const auto pronounced = pronounced_at(rest)) {
      parts.mark(pronounced->word, pronounced->phonemes, source_begin + at + 1);
      at += pronounced->bytes;
    } else if (const auto command = command_at(rest)) {
      at += command->bytes;
      const std::string written(rest.substr(0, command->bytes));
      if (command->name == "pause") {
        const double seconds = duration_seconds(command->value);
        if (seconds < 0.0 || seconds > kLongestPause_s) {
          warn(script, written +
                           " is left out: a pause is 0 to 60 seconds, such as [pause:1.5s] or "
                           "[pause:300ms]");
        } else {
          parts.pause(seconds);
        }
      } else if (command->name == "voice") {
        parts.end();
        voice_ = command->value;
      } else {
        const double rate = command->value.empty() ? 1.0 : plain_number(command->value);
        if (rate < kLeastRate || rate > kMostRate) {
          warn(script, written + " is left out: a rate is 0.25 to 4, such as [rate:1.5]");
        } else {
          parts.end();
          rate_ = rate;
        }
      }
    } else {
      parts.copy(rest.substr(0, 1), source_begin + at);
      ++at;
    }
  }
  parts.end();
  return script;
}

}  // namespace mynah

#include "text/phonemes/open_jtalk/trace.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace mynah::open_jtalk {
namespace {

constexpr std::string_view kWords = "[Text analysis result]";
constexpr std::string_view kLabels = "[Output label]";
// Open JTalk 1.11, njd_node.c, NJDNode_fprint(): surface, part of speech and its three groups, two
// forms, dictionary form, reading, pronunciation, accent/moras, chain rule, chain flag.
constexpr size_t kFields = 13;
constexpr size_t kKind = 1;
constexpr size_t kSubkind = 2;
constexpr size_t kKana = 9;
constexpr size_t kAccent = 10;
constexpr size_t kChain = 12;
constexpr std::string_view kChained = "1";

std::unexpected<Error> damaged(std::string_view line) {
  return fail(ErrorCode::InvalidInput,
              fmt::format("wanted a trace of open_jtalk's, found '{}'", line.substr(0, 80)));
}

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

Result<Morpheme> parse_morpheme(std::string_view line) {
  // The surface may be a comma itself: fields are counted from the end.
  std::vector<std::string_view> fields;
  std::string_view rest = line;
  for (size_t i = 1; i < kFields; ++i) {
    const size_t comma = rest.rfind(',');
    if (comma == std::string_view::npos) {
      return damaged(line);
    }
    fields.insert(fields.begin(), rest.substr(comma + 1));
    rest = rest.substr(0, comma);
  }
  fields.insert(fields.begin(), rest);
  Morpheme morpheme{.surface = std::string(fields.front()),
                    .kind = std::string(fields[kKind]),
                    .subkind = std::string(fields[kSubkind]),
                    .kana = std::string(fields[kKana]),
                    .chained = fields[kChain] == kChained};
  const std::string_view accent = fields[kAccent];
  const size_t slash = accent.find('/');
  if (slash == std::string_view::npos) {
    return damaged(line);
  }
  const std::string_view moras = accent.substr(slash + 1);
  const auto read = std::from_chars(moras.data(), moras.data() + moras.size(), morpheme.moras);
  if (read.ec != std::errc() || morpheme.moras < 0) {
    return damaged(line);
  }
  return morpheme;
}

// "0 1250 xx^sil-k+o=N/A:...": the phoneme stands between '-' and '+'.
Result<std::string> parse_label(std::string_view line) {
  const size_t begin = line.find('-');
  const size_t end = begin == std::string_view::npos ? begin : line.find('+', begin);
  if (end == std::string_view::npos) {
    return damaged(line);
  }
  return std::string(line.substr(begin + 1, end - begin - 1));
}

}  // namespace

Result<Trace> parse_trace(std::string_view text) {
  Trace trace;
  if (text.empty()) {
    return trace;
  }
  if (take_line(text) != kWords) {
    return damaged(text);
  }
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line == kLabels) {
      break;
    }
    if (!line.empty()) {
      MYNAH_TRY(Morpheme morpheme, parse_morpheme(line));
      trace.morphemes.push_back(std::move(morpheme));
    }
  }
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.empty()) {
      break;
    }
    MYNAH_TRY(std::string phoneme, parse_label(line));
    if (phoneme != "sil") {
      trace.phonemes.push_back(std::move(phoneme));
    }
  }
  return trace;
}

}  // namespace mynah::open_jtalk

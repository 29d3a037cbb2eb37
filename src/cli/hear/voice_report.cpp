#include "cli/hear/voice_report.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mynah::cli {

namespace {

// To the microsecond: finer than any sample, and no tail of digits that a double cannot hold.
double rounded(double seconds) {
  return std::round(seconds * 1e6) / 1e6;
}

}  // namespace

double speech_s(const VoiceReport& report) {
  double total = 0;
  for (const SpeechSpan& span : report.spans) {
    total += span.end_s - span.start_s;
  }
  return total;
}

std::string text_line(const SpeechSpan& span) {
  return fmt::format("{:9.3f} {:9.3f}", span.start_s, span.end_s);
}

std::string summary(const VoiceReport& report) {
  return fmt::format("{}: {} segment{}, {:.1f} of {:.1f} s are speech ({})", report.file,
                     report.spans.size(), report.spans.size() == 1 ? "" : "s", speech_s(report),
                     report.duration_s, report.model);
}

std::string json_line(const VoiceReport& report, bool with_probabilities,
                      nlohmann::ordered_json placement) {
  nlohmann::ordered_json json = {{"file", report.file},
                                 {"model", report.model},
                                 {"rate_hz", report.rate_hz},
                                 {"duration", rounded(report.duration_s)},
                                 {"speech", rounded(speech_s(report))},
                                 {"segments", nlohmann::ordered_json::array()}};
  for (const SpeechSpan& span : report.spans) {
    json["segments"].push_back({{"start", rounded(span.start_s)}, {"end", rounded(span.end_s)}});
  }
  json["placement"] = std::move(placement);
  if (with_probabilities) {
    json["frame"] = report.frame_s;
    json["probabilities"] = nlohmann::ordered_json::array();
    for (const float probability : report.probabilities) {
      json["probabilities"].push_back(rounded(probability));
    }
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string rttm_lines(const VoiceReport& report) {
  // Fields are separated by spaces, so that a name may have none.
  std::string name = std::filesystem::path(report.file).stem().string();
  std::ranges::replace_if(name, [](unsigned char c) { return c <= ' '; }, '_');
  std::string lines;
  for (const SpeechSpan& span : report.spans) {
    fmt::format_to(std::back_inserter(lines),
                   "SPEAKER {} 1 {:.3f} {:.3f} <NA> <NA> speech <NA> <NA>\n", name, span.start_s,
                   span.end_s - span.start_s);
  }
  return lines;
}

}  // namespace mynah::cli

#include "server/metrics/exposition.h"

#include <cmath>

#include <fmt/format.h>

namespace mynah::server {
namespace {

void append_escaped(std::string& text, std::string_view value, bool quotes) {
  for (const char c : value) {
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c == '\\' || (quotes && c == '"') ? "\\" : "";
      text += c;
    }
  }
}

std::string number(double value) {
  if (std::isinf(value)) {
    return value > 0 ? "+Inf" : "-Inf";
  }
  return std::isnan(value) ? "NaN" : fmt::format("{}", value);
}

}  // namespace

void Exposition::begin(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  text_ += fmt::format("# HELP {} ", name);
  append_escaped(text_, help, false);
  text_ += fmt::format("\n# TYPE {} {}\n", name, type);
}

void Exposition::line(std::string_view suffix, const Labels& labels, double value) {
  text_ += name_;
  text_ += suffix;
  char before = '{';
  for (const auto& [name, of] : labels) {
    text_ += before;
    text_ += name;
    text_ += "=\"";
    append_escaped(text_, of, true);
    text_ += '"';
    before = ',';
  }
  text_ += labels.empty() ? " " : "} ";
  text_ += number(value) + "\n";
}

void Exposition::sample(double value, const Labels& labels) {
  line("", labels, value);
}

void Exposition::buckets(std::span<const double> bounds, std::span<const uint64_t> counts,
                         double sum, const Labels& labels) {
  Labels with_bound = labels;
  with_bound.emplace_back("le", std::string());
  uint64_t all = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    all += counts[i];
    with_bound.back().second = i < bounds.size() ? number(bounds[i]) : "+Inf";
    line("_bucket", with_bound, static_cast<double>(all));
  }
  line("_sum", labels, sum);
  line("_count", labels, static_cast<double>(all));
}

}  // namespace mynah::server

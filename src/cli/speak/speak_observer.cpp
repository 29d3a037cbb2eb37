#include "cli/speak/speak_observer.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/hear/captions.h"

namespace mynah::cli {

SpeakObserver::SpeakObserver(Context& context, std::vector<std::unique_ptr<SoundOutput>> outputs,
                             int rate_hz, bool captions)
    : context_(context),
      outputs_(std::move(outputs)),
      rate_hz_(rate_hz),
      captions_(captions),
      begin_(Clock::now()) {}

double SpeakObserver::seconds() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

Status SpeakObserver::on_clause(const SpokenClause& clause) {
  for (const auto& output : outputs_) {
    MYNAH_TRY_STATUS(output->write(clause.samples));
  }
  if (first_s_ == 0) {
    first_s_ = seconds();
  }
  spoken_ = spoken_ || !clause.samples.empty();
  samples_ += clause.samples.size();
  text_end_ = clause.end;
  if (context_.json) {
    context_.out.line(
        to_json(clause).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    context_.out.flush();
  }
  if (captions_) {
    transcript_.segments.push_back(
        segment_of(clause, static_cast<int64_t>(transcript_.segments.size())));
  }
  return {};
}

Status SpeakObserver::silence_until(size_t samples) {
  constexpr size_t kBlockSamples = 1 << 15;
  const std::vector<float> silence(kBlockSamples);
  while (samples_ < samples) {
    const auto block = std::span(silence).first(std::min(kBlockSamples, samples - samples_));
    for (const auto& output : outputs_) {
      MYNAH_TRY_STATUS(output->write(block));
    }
    samples_ += block.size();
  }
  return {};
}

void SpeakObserver::on_warning(const std::string& text) {
  context_.say(text);
  warnings_.push_back(text);
}

Status SpeakObserver::finish() {
  for (const auto& output : outputs_) {
    MYNAH_TRY_STATUS(output->finish());
  }
  spent_s_ = seconds();
  transcript_.duration_s = duration_s();
  return {};
}

Result<std::vector<std::string>> SpeakObserver::keep_part() {
  std::vector<std::string> names;
  for (const auto& output : outputs_) {
    MYNAH_TRY(const auto name, output->keep_part());
    if (name) {
      names.push_back(*name);
    }
  }
  transcript_.duration_s = duration_s();
  return names;
}

std::string SpeakObserver::names() const {
  std::vector<std::string> names;
  names.reserve(outputs_.size());
  for (const auto& output : outputs_) {
    names.push_back(output->name());
  }
  return fmt::format("{}", fmt::join(names, " and "));
}

}  // namespace mynah::cli

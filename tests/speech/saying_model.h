// A recogniser that writes what a test says, for who looks at what was heard.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "speech/window_model.h"

namespace mynah::test {

// What was asked, and what it says to a window.
struct Said {
  std::function<Result<std::string>(const WindowTask& task)> says;
  std::vector<std::vector<std::string>> prompts{};
  std::vector<std::string> languages{};
};

// A word a second, of a text that begins where the window does.
class SayingDecoder final : public WindowDecoder {
 public:
  explicit SayingDecoder(std::shared_ptr<Said> said) : said_(std::move(said)) {}

  [[nodiscard]] Result<std::vector<HeardWindow>> decode(std::span<const WindowTask> tasks,
                                                        const std::stop_token& /*stop*/) override {
    std::vector<HeardWindow> heard;
    for (const WindowTask& task : tasks) {
      said_->prompts.push_back(task.prompts);
      said_->languages.push_back(task.language);
      MYNAH_TRY(const std::string text, said_->says(task));
      HeardWindow window;
      window.segments.emplace_back();
      window.segments.front().text = text;
      for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find(' ', at + 1), text.size());
        const auto second = static_cast<double>(window.words.size());
        window.words.push_back({.text = text.substr(at, end - at),
                                .tokens = {},
                                .start_s = second,
                                .end_s = second + 1});
        at = end;
      }
      heard.push_back(std::move(window));
    }
    return heard;
  }

  [[nodiscard]] Result<HeardWindow> draft(const WindowTask& /*task*/,
                                          const std::stop_token& /*stop*/) override {
    return HeardWindow{};
  }

  [[nodiscard]] const WindowTimings& timings() const override { return timings_; }

 private:
  std::shared_ptr<Said> said_;
  WindowTimings timings_;
};

class SayingModel final : public WindowModel, public HearingHeader {
 public:
  explicit SayingModel(std::shared_ptr<Said> said) : said_(std::move(said)) {}

  [[nodiscard]] std::shared_ptr<const HearingHeader> header() const override {
    return {std::shared_ptr<const HearingHeader>(), this};
  }

  [[nodiscard]] Result<std::unique_ptr<WindowDecoder>> decoder(
      const DecodingOptions& /*options*/) const override {
    return std::make_unique<SayingDecoder>(said_);
  }

  [[nodiscard]] Result<Probe> probe() const override { return Probe{}; }

  [[nodiscard]] WindowDevices devices() const override { return {"here", "here"}; }

  [[nodiscard]] const HearingFacts& facts() const override { return facts_; }

  [[nodiscard]] Status check(const DecodingOptions& /*options*/) const override { return {}; }

  [[nodiscard]] double effort(const DecodingOptions& /*options*/) const override { return 1; }

  [[nodiscard]] std::string token_text(int32_t /*token*/) const override { return {}; }

 private:
  std::shared_ptr<Said> said_;
  HearingFacts facts_{.model = "saying",
                      .languages = {"en", "de"},
                      .longest_window_s = 30,
                      .full_window_s = 30,
                      .sizes = {}};
};

}  // namespace mynah::test

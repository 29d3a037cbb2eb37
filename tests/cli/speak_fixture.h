// `mynah speak` on a voice that hums, in a folder of its own.
#pragma once

#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../speech/fake_voice.h"
#include "audio/open.h"
#include "cli/speak/phonemes.h"
#include "cli/speak/speak.h"
#include "cli/speak/voices.h"
#include "engine/synthesizer.h"
#include "temporary_folder.h"
#include "test_context.h"
#include "text/phonemes/written_words.h"

namespace mynah::cli {

// Hums, and asks for a stop when it has said a word.
class StoppingVoice final : public VoiceModel {
 public:
  StoppingVoice(std::vector<std::string>& said, std::string last, std::function<void()> stop)
      : voice_(said), last_(std::move(last)), stop_(std::move(stop)) {}

  [[nodiscard]] std::string name() const override { return voice_.name(); }

  [[nodiscard]] int rate_hz() const override { return voice_.rate_hz(); }

  [[nodiscard]] const std::vector<VoiceFacts>& voices() const override { return voice_.voices(); }

  [[nodiscard]] Result<VoiceFacts> find_voice(const std::string& voice) const override {
    return voice_.find_voice(voice);
  }

  [[nodiscard]] size_t most_phonemes() const override { return test::FakeVoice::kMost; }

  [[nodiscard]] const PhonemeAlphabet& alphabet() const override { return voice_.alphabet(); }

  [[nodiscard]] const VoiceReading& reading() const override { return voice_.reading(); }

  [[nodiscard]] Result<ClauseSound> speak(std::span<const PhonemeWord> words,
                                          const VoiceSettings& settings) const override {
    auto sound = voice_.speak(words, settings);
    if (words.front().text == last_) {
      stop_();
    }
    return sound;
  }

 private:
  test::FakeVoice voice_;
  std::string last_;
  std::function<void()> stop_;
};

inline double seconds_of(const std::string& path) {
  auto source = open_audio(path, {});
  EXPECT_TRUE(source) << source.error().message;
  std::vector<float> block(4096);
  size_t count = 0;
  for (size_t got = 1; got > 0; count += got) {
    got = (*source)->read(block).value_or(0);
  }
  return static_cast<double>(count) / (*source)->rate_hz();
}

class SpeakVerb : public testing::Test {
 protected:
  // As the program does (signals.h): a player that ends is told by an error.
  SpeakVerb() { std::signal(SIGPIPE, SIG_IGN); }

  int run(std::vector<std::string> arguments) {
    program_.emplace(
        std::vector<Verb>{{"speak", "Turn text into speech.",
                           [this] { return std::make_unique<SpeakCommand>(opener()); }},
                          verb<VoicesCommand>("voices", "List voices."),
                          verb<PhonemesCommand>("phonemes", "Show how a text is read.")});
    program_->environment["MYNAH_HOME"] = folder_ / "home";
    program_->environment["PATH"] = "/nowhere";
    program_->environment["HOME"] = folder_ / "home";
    return program_->run(arguments);
  }

  // As loud as it hums: what is measured would be among what was said.
  int speak(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"speak", "--loudness", "none"});
    return run(std::move(arguments));
  }

  // The same, stopped as by Ctrl-C when that word begins what was said.
  int speak_until(const std::string& word, std::vector<std::string> arguments) {
    last_ = word;
    const int code = speak(std::move(arguments));
    last_.clear();
    return code;
  }

  engine::SynthesizerOpener opener() {
    return [this](const engine::SynthesizerWish& options,
                  const engine::Surroundings& surroundings) -> Result<engine::OpenedSynthesizer> {
      if (options.model != "hum") {
        return engine::open_synthesizer(options, surroundings);
      }
      engine::OpenedSynthesizer engine;
      engine.voice = options.voice;
      engine.synthesizer = std::make_unique<Synthesizer>(
          std::make_unique<const StoppingVoice>(said_, last_,
                                                [this] { program_->stop.request_stop(); }),
          [](const std::string&) -> Result<std::shared_ptr<const Phonemizer>> {
            return std::make_shared<const WrittenWords>();
          });
      return engine;
    };
  }

  [[nodiscard]] const std::string& out() const { return program_->out.text(); }

  [[nodiscard]] const std::string& err() const { return program_->err.text(); }

  [[nodiscard]] std::vector<nlohmann::json> lines() const {
    std::vector<nlohmann::json> lines;
    std::istringstream text(out());
    for (std::string line; std::getline(text, line);) {
      lines.push_back(nlohmann::json::parse(line));
    }
    return lines;
  }

  std::vector<std::string> said_;
  std::string last_;  // what a stop follows; "": none
  test::TemporaryFolder folder_;
  std::optional<TestProgram> program_;
};

}  // namespace mynah::cli

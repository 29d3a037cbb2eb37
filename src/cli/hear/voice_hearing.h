// Recordings through a voice detector: long ones as they come, short ones several at a time.
#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "audio/open.h"
#include "cli/hear/voice_report.h"
#include "speech/voice_detector.h"

namespace mynah::cli {

struct HearingOptions {
  VadOptions vad;
  AudioOpenOptions audio;  // rate_hz is the detector's
  bool probabilities = false;
  bool peaks = false;
};

class VoiceHearing {
 public:
  // What is heard, as soon as it is certain. `on_span` is called for one recording alone: several
  // are told apart by their reports. Reports come in the order of the recordings.
  struct Listener {
    std::function<void(const std::vector<std::string>& files)> on_begin;  // that are heard next
    std::function<void(const SpeechSpan&)> on_span;
    std::function<void(const std::string& file, const std::string& text)> on_note{};
    std::function<void(const std::string& file, Result<VoiceReport>)> on_report;
  };

  VoiceHearing(const VoiceDetector& detector, const HearingOptions& options, std::stop_token stop)
      : detector_(detector), options_(options), stop_(std::move(stop)) {}

  // Hears all files; a bad one does not stop the others, a requested stop does.
  void hear(std::span<const std::string> files, const Listener& listener) const;

 private:
  // A short recording in memory, or why not.
  struct Loaded {
    std::string file;
    Result<std::vector<float>> samples;
  };

  [[nodiscard]] Result<VoiceReport> hear_as_it_comes(
      const std::string& file, AudioSource& source,
      const std::function<void(const SpeechSpan&)>& on_span) const;
  [[nodiscard]] Result<std::vector<float>> read_whole(AudioSource& source) const;
  void hear_together(std::vector<Loaded>& loaded, const Listener& listener) const;

  [[nodiscard]] VoiceReport empty_report(const std::string& file) const;
  void keep_span(VoiceReport& report, const SpeechSpan& span) const;

  const VoiceDetector& detector_;
  HearingOptions options_;
  std::stop_token stop_;
};

}  // namespace mynah::cli

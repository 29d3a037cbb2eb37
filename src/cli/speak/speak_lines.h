// A file for each line of a text, as piper has it: batches of prompts, sentences of a corpus.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "audio/sound_writer.h"
#include "cli/command/verb.h"
#include "engine/engine.h"
#include "engine/synthesizer.h"

namespace mynah::cli {

struct LineOptions {
  std::string folder;        // where files go that a line does not name
  bool json = false;         // lines are objects: "text", and what is wanted of that line alone:
                             // "output_file", "voice" or "speaker", "speed"
  SoundWriterOptions sound;  // whose rate_hz is of each line's model
  SpeakOptions speak;
  bool explain = false;          // of models that a line's voice brings
  engine::SynthesizerWish wish;  // what the first model was opened by
};

// Takes lines as they come and speaks each when it is whole. Prints each file's name on standard
// output, with --json an object. Files are called 0001.wav and so on. A line's voice may be of
// another model, unless the model was asked for by name.
class LineSpeaker {
 public:
  // `opened` speaks, and must outlive it, as `context` must.
  LineSpeaker(const engine::OpenedSynthesizer& opened, LineOptions options, Context& context)
      : first_(opened), options_(std::move(options)), context_(context) {}

  Status push(std::string_view text);
  Status finish();

  // Lines that were spoken, and that could not be.
  [[nodiscard]] size_t spoken() const { return spoken_; }

  [[nodiscard]] size_t failed() const { return failed_; }

  // Of all models that spoke; null: built-in ones alone.
  [[nodiscard]] const place::Placer* placer() const;

 private:
  struct Line {
    std::string text;
    std::string path;
    SpeakOptions speak;
  };

  // A line that was spoken.
  struct Spoken {
    double duration_s = 0;
    std::string model;
  };

  Status take(const std::string& line);
  [[nodiscard]] Result<Line> parse(const std::string& line);
  void warn_of_key(const std::string& key);
  [[nodiscard]] Result<std::string> path_of(const std::string& name) const;
  // Speaks a line by the first model, or by the one that has its voice.
  Result<Spoken> speak(Line line);
  Result<Spoken> speak_by(const engine::OpenedSynthesizer& opened, const Line& line);
  // Speaks it by another model, which is opened where it is not.
  Result<Spoken> speak_by_other(const engine::SynthesizerWish& wish,
                                const engine::SpeakingModel& model, const Line& line);

  const engine::OpenedSynthesizer& first_;
  LineOptions options_;
  Context& context_;
  std::string rest_;
  std::set<std::string> written_;
  std::set<std::string> told_keys_;
  std::set<std::string> explained_;         // models
  std::unique_ptr<engine::Engine> others_;  // null: no line wanted another model yet
  size_t number_ = 0;
  size_t spoken_ = 0;
  size_t failed_ = 0;
};

}  // namespace mynah::cli

// WhisperWindows: a Whisper model of this process as a WindowModel. Windows are decoded again where
// their text is in doubt.
#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "models/whisper/model.h"
#include "speech/whisper/probe_whisper.h"
#include "speech/whisper/whisper_header.h"
#include "speech/whisper/window_text.h"
#include "speech/window_model.h"

namespace mynah {

// How a batch is tried.
struct DecodeTry {
  float temperature = 0;
  int beam_size = 1;
  int max_new_tokens = 224;
};

class WhisperWindowDecoder final : public WindowDecoder {
 public:
  static Result<std::unique_ptr<WhisperWindowDecoder>> create(
      std::shared_ptr<const whisper::Model> model, const DecodingOptions& options);

  [[nodiscard]] Result<std::vector<HeardWindow>> decode(std::span<const WindowTask> tasks,
                                                        const std::stop_token& stop) override;
  [[nodiscard]] Result<HeardWindow> draft(const WindowTask& task,
                                          const std::stop_token& stop) override;

  [[nodiscard]] const WindowTimings& timings() const override { return timings_; }

 private:
  // A batch of windows as the decoder hears it.
  struct Heard {
    whisper::CrossCache cross;
    std::vector<size_t> tasks;  // of each utterance
  };

  WhisperWindowDecoder(std::shared_ptr<const whisper::Model> model, const DecodingOptions& options,
                       whisper::TokenRules rules)
      : model_(std::move(model)), options_(options), rules_(std::move(rules)) {}

  // decode() and draft(), throwing DeviceError.
  [[nodiscard]] std::vector<WindowText> write_down(std::span<const WindowTask> tasks,
                                                   const std::stop_token& stop);
  [[nodiscard]] WindowText write_draft(const WindowTask& task, const std::stop_token& stop);
  [[nodiscard]] Heard hear(std::span<const WindowTask> tasks, std::vector<size_t> which,
                           AudioContext context, const std::stop_token& stop);
  // Whether an utterance was heard without all of the window around it.
  [[nodiscard]] bool in_part(const Heard& heard, size_t utterance) const;
  void release_between_stages(size_t windows) const;
  void find_languages(const Heard& heard, std::span<const WindowTask> tasks,
                      std::span<WindowText> texts);
  // Decodes some utterances of `heard` once; returns those whose text is in doubt.
  [[nodiscard]] std::vector<size_t> generate(const Heard& heard, std::span<const size_t> utterances,
                                             std::span<const WindowTask> tasks,
                                             const DecodeTry& how, std::span<WindowText> texts,
                                             const std::stop_token& stop);
  // The words that a task expects, known to the model's decoder; null: none.
  [[nodiscard]] const whisper::ContextGraph* words_of(const WindowTask& task);
  // A try as the options say: the first, and others.
  [[nodiscard]] DecodeTry first_try() const;
  [[nodiscard]] DecodeTry at_temperature(float temperature) const;
  // The other temperatures, for utterances in doubt: the first text that is not, else the
  // likeliest.
  void fall_back(const Heard& heard, std::vector<size_t> utterances,
                 std::span<const WindowTask> tasks, std::span<WindowText> texts,
                 const std::stop_token& stop);
  void fall_back_together(const Heard& heard, std::vector<size_t> utterances,
                          std::span<const WindowTask> tasks, std::span<WindowText> texts,
                          const std::stop_token& stop);
  // Hears some tasks once more, with all of the window around them.
  void hear_in_full(std::vector<size_t> which, std::span<const WindowTask> tasks,
                    std::span<WindowText> texts, const std::stop_token& stop);
  void finish(const Heard& heard, std::span<const size_t> utterances,
              std::span<const WindowTask> tasks, std::span<WindowText> texts,
              const std::stop_token& stop);
  void find_words(const Heard& heard, std::span<const size_t> utterances,
                  std::span<const WindowTask> tasks, std::span<WindowText> texts);
  [[nodiscard]] bool better(const WindowText& text, const WindowText& than,
                            const WindowTask& task) const;
  // Of a text of more than can have been said, what can have been.
  void cut_loop(WindowText& text, const WindowTask& task) const;
  [[nodiscard]] std::vector<int32_t> prompt_of(const WindowTask& task, const WindowText& text,
                                               int64_t& sot_index) const;
  [[nodiscard]] std::vector<int32_t> sot_sequence(int32_t language_token) const;
  [[nodiscard]] std::string language_code(int32_t language_token) const;
  [[nodiscard]] bool loops(const WindowText& text, const WindowTask& task) const;
  [[nodiscard]] bool failed(const WindowText& text, const WindowTask& task) const;
  [[nodiscard]] bool silent(const WindowText& text) const;
  [[nodiscard]] bool nobodys(const WindowText& text) const;
  [[nodiscard]] bool repeats_a_sentence(const WindowText& text) const;

  std::shared_ptr<const whisper::Model> model_;
  DecodingOptions options_;
  whisper::TokenRules rules_;

  // Of words that tasks expected lately, the latest first.
  struct KnownWords {
    std::vector<std::string> words;
    std::unique_ptr<const whisper::ContextGraph> graph;
  };

  std::vector<KnownWords> known_words_;
  WindowTimings timings_;
};

class WhisperWindows final : public WindowModel {
 public:
  // `header` is the model's.
  WhisperWindows(std::shared_ptr<const whisper::Model> model,
                 std::shared_ptr<const HearingHeader> header)
      : model_(std::move(model)), header_(std::move(header)) {}

  explicit WhisperWindows(const std::shared_ptr<const whisper::Model>& model)
      : WhisperWindows(model, std::make_shared<const WhisperHeader>(model->header())) {}

  [[nodiscard]] std::shared_ptr<const HearingHeader> header() const override { return header_; }

  [[nodiscard]] Result<std::unique_ptr<WindowDecoder>> decoder(
      const DecodingOptions& options) const override {
    return WhisperWindowDecoder::create(model_, options);
  }

  [[nodiscard]] Result<Probe> probe() const override { return probe_whisper(*model_); }

  [[nodiscard]] Result<WindowMemory> hear_full_window() const override {
    return mynah::hear_full_window(*model_);
  }

  [[nodiscard]] WindowDevices devices() const override {
    return {.encoder = model_->encoder_backend().device().str(),
            .decoder = model_->decoder_backend().device().str()};
  }

  [[nodiscard]] int parts() const override { return model_->parts(); }

  void run_parts(int parts, FunctionRef<void(int)> fn) const override {
    model_->run_parts(parts, fn);
  }

 private:
  std::shared_ptr<const whisper::Model> model_;
  std::shared_ptr<const HearingHeader> header_;
};

}  // namespace mynah

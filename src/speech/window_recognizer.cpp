#include "speech/whisper_recognizer.h"

#include <fmt/format.h>

#include "base/nearest_name.h"
#include "speech/job_scheduler.h"
#include "speech/live_session.h"
#include "tensor/device_error.h"
#include "text/languages.h"

namespace mynah {

namespace {

// " (did you mean en?)" of "en-US", a language with its country as others write it, and of a
// mistyped name; else nothing.
std::string language_meant(const std::string& text) {
  if (const auto language = find_language(text.substr(0, text.find_first_of("-_")))) {
    return fmt::format(" (did you mean {}?)", languages()[*language].code);
  }
  std::vector<std::string> names;
  for (const Language& language : languages()) {
    names.emplace_back(language.name);
  }
  return suggestion(text, names);
}

}  // namespace

Status WhisperRecognizer::check(const RecognizerOptions& options) const {
  const bool english_only = !multilingual();
  if (english_only && options.task == Task::Translate) {
    return fail(ErrorCode::Unsupported,
                fmt::format("{} knows English only and cannot translate: use a multilingual model, "
                            "such as small: `mynah pull small`",
                            model_name()));
  }
  if (options.language != "auto") {
    const auto language = find_language(options.language);
    if (!language) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("\"{}\" is no language that Whisper knows{}: give a code such as en, "
                              "de or ja, a name such as german, or auto",
                              options.language, language_meant(options.language)));
    }
    if (english_only && languages()[*language].code != "en") {
      return fail(ErrorCode::Unsupported,
                  fmt::format("{} knows English only, not {}: use a multilingual model, such as "
                              "small: `mynah pull small`",
                              model_name(), languages()[*language].name));
    }
    if (!english_only && !model_->header().tokenizer.language_token(options.language)) {
      return fail(ErrorCode::Unsupported,
                  fmt::format("{} does not know {}: use large-v3", model_name(), options.language));
    }
  }
  for (const ClipRange& clip : options.clips) {
    if (!(clip.start_s >= 0) || !(clip.end_s > clip.start_s)) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("a clip wants a start of 0 or more and a later end, found {} to {} s",
                              clip.start_s, clip.end_s));
    }
  }
  auto decoder = model_->decoder(options);
  return decoder ? Status{} : std::unexpected(std::move(decoder).error());
}

Result<std::unique_ptr<Recognizer::Session>> WhisperRecognizer::session(
    const RecognizerOptions& options) const {
  return LiveSession::create(model_, voice_, options);
}

void WhisperRecognizer::run(std::span<const RecognizerJob> jobs, const RecognizerOptions& options,
                            RecognizerObserver& observer, const std::stop_token& stop) const {
  Status checked = check(options);
  if (!checked) {
    for (size_t i = 0; i < jobs.size(); ++i) {
      observer.on_done(i, std::unexpected(checked.error()));
    }
    return;
  }
  JobScheduler scheduler(*model_, options, voice_.get(), jobs, observer);
  try {
    scheduler.run(stop);
  } catch (const DeviceError& error) {
    scheduler.end_all(error.error());
  }
}

ModelFacts WhisperRecognizer::facts() const {
  const whisper::Config& config = model_->header().config;
  // whisper.cpp tells sizes apart by the encoder's layers.
  const auto type = [&config]() -> std::string {
    switch (config.n_audio_layer) {
      case 4:
        return "tiny";
      case 6:
        return "base";
      case 12:
        return "small";
      case 24:
        return "medium";
      case 32:
        return "large";
      default:
        return "unknown";
    }
  };
  return {.type = type(),
          .n_vocab = config.n_vocab,
          .n_audio_ctx = config.n_audio_ctx,
          .n_audio_state = config.n_audio_state,
          .n_audio_head = config.n_audio_head,
          .n_audio_layer = config.n_audio_layer,
          .n_text_ctx = config.n_text_ctx,
          .n_text_state = config.n_text_state,
          .n_text_head = config.n_text_head,
          .n_text_layer = config.n_text_layer,
          .n_mels = config.n_mels,
          .ftype = 1};  // f16: what whisper.cpp's own conversion writes
}

}  // namespace mynah

#include "speech/whisper/whisper_header.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/nearest_name.h"
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

// whisper.cpp tells sizes apart by the encoder's layers.
std::string type_of(const whisper::Config& config) {
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
}

std::vector<std::string> languages_of(const whisper::ModelHeader& model) {
  if (!model.config.multilingual()) {
    return {"en"};
  }
  const WhisperSpecialTokens& special = model.tokenizer.special();
  std::vector<std::string> codes;
  codes.reserve(static_cast<size_t>(special.n_languages));
  for (int32_t i = 0; i < special.n_languages; ++i) {
    codes.emplace_back(model.tokenizer.language_code(special.language_begin + i));
  }
  return codes;
}

HearingFacts facts_of(const whisper::ModelHeader& model) {
  // docs/models/whisper.md: a position of the encoder is two mel frames of 10 ms.
  constexpr double kPosition_s = 0.02;
  constexpr double kTrained_s = 30;
  const whisper::Config& config = model.config;
  return {.model = model.name,
          .languages = languages_of(model),
          .longest_window_s = kTrained_s,
          .full_window_s = static_cast<double>(config.n_audio_ctx) * kPosition_s,
          .wants_vad = true,
          .takes_prompt = true,
          .takes_hotwords = true,
          .times_words = false,
          .sizes = {.type = type_of(config),
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
                    .ftype = 1}};  // f16: what whisper.cpp's own conversion writes
}

// How many sequences a window is decoded into at once.
double sequences_of(const WhisperOptions& options) {
  return std::max(options.beam_size, options.best_of);
}

}  // namespace

WhisperHeader::WhisperHeader(std::shared_ptr<const whisper::ModelHeader> model)
    : model_(std::move(model)), facts_(facts_of(*model_)) {}

Status WhisperHeader::check(const DecodingOptions& options) const {
  const bool english_only = !facts_.multilingual();
  if (english_only && options.task == Task::Translate) {
    return fail(ErrorCode::Unsupported,
                fmt::format("{} knows English only and cannot translate: use a multilingual model, "
                            "such as small: `mynah pull small`",
                            facts_.model));
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
                              facts_.model, languages()[*language].name));
    }
    if (!english_only && !model_->tokenizer.language_token(options.language)) {
      return fail(ErrorCode::Unsupported,
                  fmt::format("{} does not know {}: use large-v3", facts_.model, options.language));
    }
  }
  return whisper::TokenRules::check(model_->tokenizer, rules_of(options));
}

double WhisperHeader::effort(const DecodingOptions& options) const {
  return std::max(1.0, sequences_of(options.whisper) / sequences_of({}));
}

whisper::RuleOptions rules_of(const DecodingOptions& options) {
  return {.timestamps = options.timestamps,
          .suppress_blank = options.whisper.suppress_blank,
          .suppress_tokens = options.whisper.suppress_tokens,
          .suppress_regex = options.whisper.suppress_regex,
          .max_initial_timestamp_s = options.whisper.max_initial_timestamp_s};
}

}  // namespace mynah

#include "cli/talk/talk_wake.h"

#include <utility>

#include <fmt/format.h>

#include "engine/wake.h"
#include "speech/wake/wake_check.h"

namespace mynah::cli {

namespace {

constexpr double kLeastWindow_s = 1;
constexpr double kMostWindow_s = 600;

// A phrase has several words; a name, known or mistyped, is one.
bool may_be_own(const WakeChoice& choice) {
  return choice.word.contains(' ');
}

}  // namespace

void WakeChoice::fields(Fields& fields) {
  fields
      .option("wake", "WORD", word,
              "Listen for nothing but this word until it is said: okay-nabu or another model that "
              "mynah wake takes, or words of your own, such as 'hey mynah'; empty: always awake.")
      .completes(Complete::Models);
  fields
      .option("wake-window", "SECONDS", window_s,
              "With --wake: stay awake so long after the last words and the end of a reply.")
      .within(kLeastWindow_s, kMostWindow_s);
}

talk::WakeSettings WakeChoice::settings(int played_hz) const {
  return {.played_hz = played_hz, .window_s = window_s};
}

std::string own_words_note(const Context& context, const WakeChoice& choice) {
  if (!may_be_own(choice) || engine::open_wake_words({choice.word}, context.environment)) {
    return "";
  }
  return fmt::format(
      "--wake '{}' is no model: the recogniser listens for it as words of your own; wake-word "
      "models here: {}",
      choice.word, engine::wake_words_here(context.environment));
}

Result<std::unique_ptr<talk::WakeEar>> open_wake_ear(const Context& context,
                                                     const WakeChoice& choice,
                                                     const TalkModels& models,
                                                     talk::Workers& workers) {
  if (choice.word.empty()) {
    return nullptr;
  }
  std::shared_ptr<WakeCheck> check;
  if (models.hears != nullptr) {
    MYNAH_TRY(check, WakeCheck::create(models.hears));
  }
  auto words = engine::open_wake_words({choice.word}, context.environment);
  if (words) {
    return talk::word_wake_ear(*std::move(words), std::move(check), workers);
  }
  if (!may_be_own(choice)) {
    return std::unexpected(
        Error{words.error().code,
              fmt::format("--wake {}: {}; wake-word models here: {}; words of your own are a "
                          "phrase, such as 'hey mynah'",
                          choice.word, words.error().message,
                          engine::wake_words_here(context.environment))});
  }
  MYNAH_TRY(WakePhrase phrase, WakePhrase::create(choice.word));
  if (check == nullptr) {
    return fail(ErrorCode::Unsupported,
                fmt::format("--wake '{}': words of your own are heard by a model of this machine, "
                            "and {} is none",
                            choice.word, models.ear->facts().model));
  }
  return talk::phrase_wake_ear(std::move(phrase), models.language, models.voice, std::move(check),
                               workers);
}

}  // namespace mynah::cli

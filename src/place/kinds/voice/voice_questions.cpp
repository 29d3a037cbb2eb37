#include "place/kinds/voice/voice_questions.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "place/wire/possible.h"
#include "speech/synthesizer.h"
#include "text/utf8.h"

namespace mynah::place {
namespace {

constexpr size_t kMostText = 20000;

std::unexpected<Error> refuse(const char* what) {
  return fail(ErrorCode::InvalidInput, fmt::format("a question with {}", what));
}

}  // namespace

Status check_voice(const std::string& voice) {
  return voice.size() <= kMostText && !is_voice_file(voice)
             ? Status{}
             : refuse("a voice that is a file: another mynah has its own alone");
}

Status check_question(const ClauseQuestion& question, size_t most_phonemes) {
  MYNAH_TRY_STATUS(check_voice(question.settings.voice));
  const auto is_noise = [](const std::optional<float>& noise) {
    return !noise || is_within(*noise, 0, 10);
  };
  if (!is_within(question.settings.speed, 0.05, 20) || !is_noise(question.settings.noise_scale) ||
      !is_noise(question.settings.noise_w)) {
    return refuse("settings that nobody has");
  }
  size_t text = 0;
  size_t phonemes = 0;
  for (const PhonemeWord& word : question.words) {
    text += word.text.size();
    phonemes += to_code_points(word.phonemes).size();
  }
  if (question.words.size() > kMostText || text > kMostText ||
      phonemes > std::min(most_phonemes, kMostText)) {
    return refuse("more than a clause");
  }
  return {};
}

}  // namespace mynah::place

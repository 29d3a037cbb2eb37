#include "speech/voice_choice.h"

#include <algorithm>
#include <utility>

#include "speech/languages.h"

namespace mynah {
namespace {

class HeardByNobody final : public SpeechObserver {
 public:
  Status on_clause(const SpokenClause& /*clause*/) override { return {}; }
};

// Whether there is that voice, and something here reads to it.
bool can_speak(const Synthesizer& synthesizer, const SpeakOptions& options) {
  HeardByNobody nobody;
  return synthesizer.session(options, nobody, {}).has_value();
}

}  // namespace

SpeakOptions options_in(const std::string& language, const Synthesizer& synthesizer,
                        const VoiceFacts& chosen, SpeakOptions options) {
  if (speaks(chosen.language, language)) {
    return options;
  }
  const auto& voices = synthesizer.model().voices();
  const auto other = std::ranges::find_if(
      voices, [&](const VoiceFacts& voice) { return speaks(voice.language, language); });
  if (other != voices.end()) {
    const std::string own = std::exchange(options.voice.voice, other->name);
    if (can_speak(synthesizer, options)) {
      return options;
    }
    options.voice.voice = own;
  }
  options.language = language;
  if (!can_speak(synthesizer, options)) {
    options.language.clear();
  }
  return options;
}

}  // namespace mynah

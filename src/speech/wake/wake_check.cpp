#include "speech/wake/wake_check.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/turns.h"
#include "speech/hearing.h"

namespace mynah {
namespace {

// One beam and one try: who waits for an answer to a word waits for this.
DecodingOptions check_options() {
  DecodingOptions options;
  options.language = "auto";
  options.words = true;
  options.whisper.beam_size = 1;
  options.whisper.temperatures = {0.0F};
  options.whisper.log_probability_threshold.reset();
  options.whisper.compression_ratio_threshold.reset();
  options.whisper.no_speech_threshold.reset();
  options.whisper.max_new_tokens = 24;
  return options;
}

// Where the word ends that the byte before `end` of the text belongs to.
double end_of_word(std::span<const HeardWord> words, size_t end, double otherwise) {
  size_t at = 0;
  for (const HeardWord& word : words) {
    at += word.text.size();
    if (at >= end) {
      return word.end_s;
    }
  }
  return otherwise;
}

}  // namespace

Result<std::shared_ptr<WakeCheck>> WakeCheck::create(std::shared_ptr<const WindowModel> model) {
  DecodingOptions options = check_options();
  options.words = model->header()->check(options).has_value();
  MYNAH_TRY(auto decoder, model->decoder(options));
  return std::shared_ptr<WakeCheck>(new WakeCheck(std::move(model), std::move(decoder)));
}

Result<WakeVerdict> WakeCheck::look(std::span<const float> samples, const WakePhrase& phrase,
                                    const std::string& language, const std::stop_token& stop) {
  const HearingFacts& facts = model_->header()->facts();
  const bool knows = std::ranges::find(facts.languages, language) != facts.languages.end();
  const WindowTask untold{.samples = samples,
                          .prompts = {},
                          .previous = {},
                          .language = knows ? language : "",
                          .alone = true,
                          .stop = stop};
  WindowTask told = untold;
  told.prompts = {phrase.text() + "."};
  const std::array<WindowTask, 2> tasks = {told, untold};
  const std::lock_guard lock(mutex_);
  const UrgencyScope waited_for(Urgency::Interactive);
  MYNAH_TRY(const std::vector<HeardWindow> heard, decoder_->decode(tasks, stop));
  if (stop.stop_requested()) {
    return fail(ErrorCode::Cancelled, "stopped");
  }
  WakeVerdict verdict{
      .heard = heard[0].text(), .untold = heard[1].text(), .end_s = untold.duration_s()};
  const auto match = phrase.nearest(verdict.heard);
  const auto plain = phrase.nearest(verdict.untold);
  if (match && plain) {
    verdict.distance = std::max(match->distance, plain->distance - WakeVerdict::kToldHelps);
    verdict.end_s = end_of_word(heard[0].words, match->end, verdict.end_s);
  }
  return verdict;
}

}  // namespace mynah

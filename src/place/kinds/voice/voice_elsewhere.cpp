#include "place/kinds/voice/voice_elsewhere.h"

#include <utility>
#include <vector>

#include "place/elsewhere/shared_digest.h"
#include "place/kinds/voice/voice_questions.h"
#include "text/utf8.h"

namespace mynah::place {
namespace {

// Asks one question, which has one answer.
template <class Answer, class Question>
Result<Answer> ask_for(MynahCaller& mynah, std::string_view route, const Question& question) {
  Answer answer;
  bool told = false;
  WireWriter out;
  out(question);
  MYNAH_TRY_STATUS(mynah.ask(route, out.bytes(),
                             [&](std::span<const std::byte> bytes) -> Status {
                               if (told || !read_wire(bytes, answer)) {
                                 return fail(ErrorCode::InvalidInput,
                                             "it answers with bytes that are no answer");
                               }
                               told = true;
                               return {};
                             },
                             {}));
  return told ? Result<Answer>(std::move(answer))
              : fail(ErrorCode::Device, "failed: it answered with nothing");
}

class ElsewhereVoice final : public VoiceModel {
 public:
  ElsewhereVoice(std::unique_ptr<MynahCaller> mynah, std::string digest, VoiceModelFacts facts)
      : mynah_(std::move(mynah)),
        digest_(std::move(digest)),
        facts_(std::move(facts)),
        alphabet_(to_code_points(facts_.phonemes)) {}

  [[nodiscard]] std::string name() const override { return facts_.name; }

  [[nodiscard]] int rate_hz() const override { return facts_.rate_hz; }

  [[nodiscard]] const std::vector<VoiceFacts>& voices() const override { return facts_.voices; }

  [[nodiscard]] Result<VoiceFacts> find_voice(const std::string& voice) const override {
    MYNAH_TRY(VoiceAnswer answer,
              ask_for<VoiceAnswer>(*mynah_, kVoiceRoute,
                                   VoiceQuestion{.digest = digest_, .voice = voice}));
    return std::move(answer.voice);
  }

  [[nodiscard]] size_t most_phonemes() const override {
    return static_cast<size_t>(facts_.most_phonemes);
  }

  [[nodiscard]] const PhonemeAlphabet& alphabet() const override { return alphabet_; }

  [[nodiscard]] const VoiceReading& reading() const override { return facts_.reading; }

  [[nodiscard]] Result<ClauseSound> speak(std::span<const PhonemeWord> words,
                                          const VoiceSettings& settings) const override {
    MYNAH_TRY(ClauseSound sound,
              ask_for<ClauseSound>(*mynah_, kClauseRoute,
                                   ClauseQuestion{.digest = digest_,
                                                  .words = {words.begin(), words.end()},
                                                  .settings = settings}));
    if (!is_possible(sound, words.size())) {
      return fail(ErrorCode::Device, "failed: it answers with a sound that cannot be");
    }
    return sound;
  }

 private:
  std::unique_ptr<MynahCaller> mynah_;  // which calls that come one at a time use
  std::string digest_;
  VoiceModelFacts facts_;
  PhonemeAlphabet alphabet_;
};

}  // namespace

Result<std::unique_ptr<const VoiceModel>> open_voice_elsewhere(const VoiceModelFile& file,
                                                               std::unique_ptr<MynahCaller> mynah) {
  MYNAH_TRY(std::string digest, shared_digest(file, file.cache_folder));
  MYNAH_TRY(VoiceAnswer answer, ask_for<VoiceAnswer>(*mynah, kVoiceRoute,
                                                     VoiceQuestion{.digest = digest, .voice = {}}));
  if (!is_possible(answer.model)) {
    return fail(ErrorCode::Device, "failed: it tells of a voice that cannot be");
  }
  return std::make_unique<const ElsewhereVoice>(std::move(mynah), std::move(digest),
                                                std::move(answer.model));
}

}  // namespace mynah::place

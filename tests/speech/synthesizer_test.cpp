// What stands around a voice model: sentences, clauses, silence, seams, times of words.
#include "speech/synthesizer.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/loudness.h"
#include "fake_voice.h"
#include "speech/clause_edges.h"
#include "text/phonemes/written_words.h"

namespace mynah {
namespace {

using test::FakeVoice;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kRate = FakeVoice::kRate;

class Collector final : public SpeechObserver {
 public:
  Status on_clause(const SpokenClause& clause) override {
    clauses.push_back(clause);
    samples.insert(samples.end(), clause.samples.begin(), clause.samples.end());
    if (clauses.size() == fail_at) {
      return fail(ErrorCode::Io, "the disk is full");
    }
    return {};
  }

  void on_warning(const std::string& text) override { warnings.push_back(text); }

  std::vector<SpokenClause> clauses;
  std::vector<float> samples;
  std::vector<std::string> warnings;
  size_t fail_at = 0;
};

class Speaking : public testing::Test {
 protected:
  Status speak(std::string_view text, const SpeakOptions& options = {}) {
    heard_ = {};
    said_.clear();
    return synthesizer_.speak(text, options, heard_, {});
  }

  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    texts.reserve(heard_.clauses.size());
    for (const SpokenClause& clause : heard_.clauses) {
      texts.push_back(clause.text);
    }
    return texts;
  }

  // Seconds of silence before a clause, behind the one before it.
  [[nodiscard]] double silence_before(size_t clause) const {
    return heard_.clauses[clause].start_s - heard_.clauses[clause - 1].end_s;
  }

  std::vector<std::string> said_;
  Synthesizer synthesizer_{
      std::make_unique<const FakeVoice>(said_),
      [](const std::string& language) -> Result<std::shared_ptr<const Phonemizer>> {
        if (language != "en-US") {
          return fail(ErrorCode::Unsupported, "no phonemes for " + language);
        }
        return std::make_shared<const WrittenWords>();
      }};
  Collector heard_;
};

TEST_F(Speaking, ASentenceIsAClauseOfItsOwn) {
  ASSERT_TRUE(speak("One two. Three four!\n\nFive."));
  EXPECT_THAT(texts(), ElementsAre("One two.", "Three four!", "Five."));
  EXPECT_THAT(said_, ElementsAre("One two.", "Three four!", "Five."));
  const SpeakOptions options;
  EXPECT_EQ(heard_.clauses[0].start_s, 0);
  EXPECT_NEAR(silence_before(1), options.sentence_silence_s, 1 / kRate);
  EXPECT_NEAR(silence_before(2), options.paragraph_silence_s, 1 / kRate);
  EXPECT_TRUE(heard_.clauses[1].ends_paragraph);
  EXPECT_FALSE(heard_.clauses[0].ends_paragraph);
  EXPECT_NEAR(heard_.clauses[2].end_s, static_cast<double>(heard_.samples.size()) / kRate,
              1 / kRate);
}

// A voice that reads phonemes.
class ReadingVoice final : public FakeVoice {
 public:
  using FakeVoice::FakeVoice;

  [[nodiscard]] const VoiceReading& reading() const override { return reading_; }

 private:
  VoiceReading reading_ = {.by = ReadBy::EveryLanguage, .language = {}, .espeak_voice = {}};
};

TEST_F(Speaking, PhonemesAreThoseThatWouldBeSaid) {
  const Synthesizer reads(std::make_unique<const ReadingVoice>(said_), [](const std::string&) {
    return Result<std::shared_ptr<const Phonemizer>>(std::make_shared<const WrittenWords>());
  });
  const auto phonemes = reads.phonemes("**One** two [pause:1s] three. It is 5!",
                                       {.voice = {}, .kind = TextKind::Markdown}, {});
  ASSERT_TRUE(phonemes) << phonemes.error().message;
  EXPECT_EQ(*phonemes, "One two three. It is five!");
  EXPECT_THAT(said_, ElementsAre());
  const auto letters = synthesizer_.phonemes("One.", {}, {});
  ASSERT_FALSE(letters);
  EXPECT_THAT(letters.error().message, HasSubstr("reads letters"));
}

TEST_F(Speaking, MarksNameNoFilesWhereOthersWriteThem) {
  SpeakOptions options;
  options.voice_files = false;
  for (const char* voice : {"/etc/a", "a.pt", "../a"}) {
    ASSERT_TRUE(speak(std::string("[voice:") + voice + "] One.", options));
    EXPECT_THAT(heard_.warnings, ElementsAre(HasSubstr("by its name here")));
    EXPECT_THAT(said_, ElementsAre("One."));
  }
  EXPECT_FALSE(is_voice_file("af_bella(0.5)+af_sky(1.25)"));
  EXPECT_TRUE(is_voice_file("af_bella.pt"));
  EXPECT_TRUE(is_voice_file("0.5.bin"));
}

TEST_F(Speaking, PlacesAreBytesOfTheWholeText) {
  const std::string text = "  One two.  Three, é four! ";
  ASSERT_TRUE(speak(text));
  for (const SpokenClause& clause : heard_.clauses) {
    EXPECT_EQ(text.substr(clause.begin, clause.end - clause.begin), clause.text);
  }
  EXPECT_EQ(heard_.clauses.size(), 2U);
}

TEST_F(Speaking, ALongSentenceIsCutAndNothingIsLost) {
  std::string sentence;
  for (int i = 0; i < 100; ++i) {
    sentence +=
        (i == 0       ? ""
         : i % 9 == 0 ? ", "
                      : " ") +
        (std::string("word") + static_cast<char>('a' + i / 26) + static_cast<char>('a' + i % 26));
  }
  ASSERT_TRUE(speak(sentence));
  std::string all;
  for (const std::string& text : said_) {
    EXPECT_LE(text.size(), FakeVoice::kMost + 1);
    all += (all.empty() || all.back() == ' ' ? "" : " ") + text;
  }
  EXPECT_EQ(all, sentence);
  for (size_t i = 1; i < heard_.clauses.size(); ++i) {
    EXPECT_NEAR(silence_before(i), SpeakOptions{}.clause_silence_s, 1 / kRate);
    EXPECT_EQ(heard_.clauses[i].ends_sentence, i + 1 == heard_.clauses.size());
  }
}

TEST_F(Speaking, AWordThatIsTooLongIsSpokenInParts) {
  const std::string word(1000, 'a');
  ASSERT_TRUE(speak("Oh " + word + " my."));
  std::string all;
  for (const std::string& text : said_) {
    EXPECT_LE(text.size(), FakeVoice::kMost + 1);
    all += text;
  }
  EXPECT_EQ(std::ranges::count(all, 'a'), 1000);
}

TEST_F(Speaking, TheFirstClauseIsShortWhereThatIsAskedFor) {
  SpeakOptions options;
  options.first_phonemes = 12;
  ASSERT_TRUE(speak("One two three, four five six. And seven eight nine.", options));
  EXPECT_LE(said_.front().size(), 15U);
  EXPECT_EQ(said_.back(), "And seven eight nine.");
}

TEST_F(Speaking, PiecesOfTextGiveTheSameSoundAsTheWhole) {
  const std::string text =
      "Dr. Smith went home. \"Really?\" he said, and \xC3\xA9t\xC3\xA9 came.\n\nThe end, or not... "
      "Who knows";
  ASSERT_TRUE(speak(text));
  const Collector whole = heard_;
  std::mt19937 random(7);
  for (int turn = 0; turn < 20; ++turn) {
    Collector heard;
    const auto session = synthesizer_.session({}, heard, {});
    ASSERT_TRUE(session);
    for (size_t at = 0; at < text.size();) {
      const size_t count = std::min<size_t>(1 + random() % 9, text.size() - at);
      ASSERT_TRUE((*session)->push(std::string_view(text).substr(at, count)));
      at += count;
    }
    ASSERT_TRUE((*session)->finish());
    EXPECT_EQ(heard.samples, whole.samples);
  }
}

TEST_F(Speaking, WordsHaveTheTimesOfTheirPhonemes) {
  ASSERT_TRUE(speak("One, two (three)."));
  ASSERT_EQ(heard_.clauses.size(), 1U);
  const auto& words = heard_.clauses[0].words;
  ASSERT_EQ(words.size(), 3U);
  EXPECT_EQ(words[0].text, "One,");
  EXPECT_EQ(words[2].text, "(three).");
  double before = heard_.clauses[0].start_s;
  for (const SpokenWord& word : words) {
    EXPECT_GE(word.start_s, before);
    EXPECT_GT(word.end_s, word.start_s);
    before = word.end_s;
  }
  // A mark is no part of the word's sound.
  EXPECT_NEAR(words[0].end_s - words[0].start_s, 3 * FakeVoice::kPhonemeSamples / kRate, 1e-9);
  EXPECT_NEAR(words[2].end_s - words[2].start_s, 5 * FakeVoice::kPhonemeSamples / kRate, 1e-9);
}

TEST_F(Speaking, SpeedShortensSilenceTooAndVolumeIsAFactor) {
  ASSERT_TRUE(speak("One two. Three."));
  const Collector plain = heard_;
  SpeakOptions options;
  options.voice.speed = 2;
  ASSERT_TRUE(speak("One two. Three.", options));
  EXPECT_NEAR(silence_before(1), options.sentence_silence_s / 2, 1 / kRate);
  // All but the short rests at the ends of clauses.
  EXPECT_LT(heard_.samples.size(), plain.samples.size() * 65 / 100);
  options = {};
  options.volume = 0.25F;
  ASSERT_TRUE(speak("One two. Three.", options));
  ASSERT_EQ(heard_.samples.size(), plain.samples.size());
  for (size_t i = 0; i < plain.samples.size(); ++i) {
    ASSERT_FLOAT_EQ(heard_.samples[i], plain.samples[i] * 0.25F);
  }
}

TEST_F(Speaking, SpeedIsAFactorOfAllTimes) {
  const std::string text = "One hundred twenty. Three hundred and forty five. Six.";
  ASSERT_TRUE(speak(text));
  const Collector plain = heard_;
  for (const float speed : {0.25F, 0.5F, 0.8F, 1.3F, 2.0F, 3.0F, 4.0F}) {
    SpeakOptions options;
    options.voice.speed = speed;
    ASSERT_TRUE(speak(text, options));
    const double wanted = static_cast<double>(plain.samples.size()) / speed;
    EXPECT_NEAR(static_cast<double>(heard_.samples.size()) / wanted, 1, 0.03) << speed;
    ASSERT_EQ(heard_.clauses.size(), plain.clauses.size());
    for (size_t i = 0; i < plain.clauses.size(); ++i) {
      const std::vector<SpokenWord>& words = heard_.clauses[i].words;
      ASSERT_EQ(words.size(), plain.clauses[i].words.size());
      for (size_t k = 0; k < words.size(); ++k) {
        // What is heard is found in windows of 5 ms.
        EXPECT_NEAR(words[k].start_s, plain.clauses[i].words[k].start_s / speed, 0.02) << speed;
        EXPECT_NEAR(words[k].end_s, plain.clauses[i].words[k].end_s / speed, 0.02) << speed;
        EXPECT_LE(words[k].end_s, heard_.clauses[i].end_s);
      }
    }
  }
}

TEST_F(Speaking, TheRateOfAPartIsAFactorOfItsTime) {
  ASSERT_TRUE(speak("Six seven eight nine."));
  const double alone_s = heard_.clauses.front().end_s - heard_.clauses.front().start_s;
  ASSERT_TRUE(speak("[rate:2] Six seven eight nine."));
  EXPECT_NEAR(heard_.clauses.front().end_s - heard_.clauses.front().start_s, alone_s / 2, 0.012);
}

// The voice hums at half of full scale, whatever it says.
TEST_F(Speaking, EveryVoiceIsAsLoudAsIsAskedFor) {
  std::string text;
  for (int i = 0; i < 6; ++i) {
    text += "Twelve hundred and thirty four men went home. ";
  }
  ASSERT_TRUE(speak(text));
  const double own = loudness_lufs(heard_.samples, FakeVoice::kRate).value_or(0);
  for (const double wanted : {-30.0, -23.0}) {
    SpeakOptions options;
    options.loudness_lufs = wanted;
    ASSERT_TRUE(speak(text, options));
    EXPECT_NEAR(loudness_lufs(heard_.samples, FakeVoice::kRate).value_or(0), wanted, 1);
    EXPECT_GT(std::abs(wanted - own), 3);  // that something was to be done
  }
  // One gain for all of a text: no clause is louder than another that the voice says as loud.
  const auto peak = [this](size_t clause) {
    return std::ranges::max(heard_.clauses[clause].samples);
  };
  EXPECT_NEAR(peak(1), peak(4), 0.01);
}

TEST_F(Speaking, NoPeakIsBeyondTheCeilingWhereLoudnessIsSet) {
  SpeakOptions options;
  options.loudness_lufs = -8;
  options.volume = 4;
  ASSERT_TRUE(speak("Twelve hundred and thirty four men went home.", options));
  EXPECT_LE(std::ranges::max(heard_.samples), std::pow(10.0, kMostPeak_dBTP / 20));
  EXPECT_GT(std::ranges::max(heard_.samples), 0.7);
  // As the model speaks, there is no ceiling but the file's.
  options.loudness_lufs.reset();
  ASSERT_TRUE(speak("Twelve hundred and thirty four men went home.", options));
  EXPECT_GT(std::ranges::max(heard_.samples), 1.5);
}

TEST_F(Speaking, AVoiceIsMeasuredOnce) {
  SpeakOptions options;
  options.loudness_lufs = -23;
  ASSERT_TRUE(speak("One.", options));
  EXPECT_GT(said_.size(), 1U);
  ASSERT_TRUE(speak("One. Two.", options));
  EXPECT_THAT(said_, ElementsAre("One.", "Two."));
}

TEST_F(Speaking, WhatCannotBeHeardGivesNothing) {
  for (const char* text : {"", "   \n\n ", "... !? —", "[voice:hum]", "\xFF\xFE"}) {
    ASSERT_TRUE(speak(text)) << text;
    EXPECT_TRUE(heard_.clauses.empty()) << text;
  }
}

TEST_F(Speaking, PhonemesThatTheModelLacksAreNamed) {
  SpeakOptions options;
  options.kind = TextKind::Phonemes;
  ASSERT_TRUE(speak("a%b. c %%.", options));
  EXPECT_THAT(heard_.warnings, ElementsAre("fake has no phonemes %: they were left out"));
  const Status none = speak("%% %", options);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::InvalidInput);
  EXPECT_THAT(none.error().message, HasSubstr("fake has no phoneme of this text: %"));
  ASSERT_TRUE(speak("ab", options));
  EXPECT_TRUE(heard_.warnings.empty());
}

TEST_F(Speaking, WhatIsOfAnotherScriptIsToldOnceBehindTheText) {
  ASSERT_TRUE(speak("One \u043C\u0438\u0440 two. \u043C\u0438\u0440 three. \u4F60."));
  EXPECT_THAT(
      heard_.warnings,
      ElementsAre("6 characters of Cyrillic and 1 of Han were left out: no voice of English "
                  "reads them; choose a voice of their language"));
}

TEST_F(Speaking, EmojiAreSilentWhereThatIsAskedFor) {
  SpeakOptions options;
  options.emoji = EmojiReading::Silent;
  ASSERT_TRUE(speak("One \U0001F600.", options));
  EXPECT_THAT(said_, ElementsAre("One."));
  ASSERT_TRUE(speak("One \U0001F600."));
  EXPECT_THAT(said_, ElementsAre("One grinning face."));
}

TEST_F(Speaking, PhonemesAreSaidAsTheyAre) {
  SpeakOptions options;
  options.kind = TextKind::Phonemes;
  options.language = "xx";  // no phonemizer is asked
  ASSERT_TRUE(speak("wVn tu. Tri", options));
  EXPECT_THAT(said_, ElementsAre("wVn tu.", "Tri"));
}

TEST_F(Speaking, MarksInTheTextChangeHowItIsSpoken) {
  ASSERT_TRUE(speak("One [pause:1.5s] two. [rate:2] Three [voice:him]four."));
  EXPECT_THAT(texts(), ElementsAre("One", "two.", "Three", "four."));
  EXPECT_NEAR(silence_before(1), 1.5, 1 / kRate);
  const auto seconds = [this](size_t i) {
    return heard_.clauses[i].end_s - heard_.clauses[i].start_s;
  };
  EXPECT_LT(seconds(2), seconds(0) * 5 / 3 * 0.75);
  EXPECT_THAT(heard_.warnings, ElementsAre(HasSubstr("no voice 'him'")));
  ASSERT_TRUE(speak("One. [pause:2]"));
  EXPECT_EQ(heard_.clauses.size(), 2U);
  EXPECT_EQ(heard_.clauses[1].samples.size(), 2U * FakeVoice::kRate);
  std::string pauses;
  for (int i = 0; i < 1000; ++i) {
    pauses += "[pause:50s]";
  }
  ASSERT_TRUE(speak("One. " + pauses + " Two."));
  EXPECT_NEAR(silence_before(1), 60, 1 / kRate) << "nobody has silence without end kept in memory";
}

TEST_F(Speaking, SsmlIsReadAsAWhole) {
  SpeakOptions options;
  options.kind = TextKind::Ssml;
  const std::string text =
      "<speak>One two.<break time='700ms'/><prosody volume='-6dB' rate='200%'>Three. "
      "Four.</prosody> <foo>five</foo> <sub alias='six'>6th</sub></speak>";
  ASSERT_TRUE(speak(text, options)) << speak(text, options).error().message;
  EXPECT_THAT(texts(), ElementsAre("One two.", "Three.", "Four.", testing::HasSubstr("five")));
  EXPECT_NEAR(silence_before(1), 0.7, 1 / kRate);
  EXPECT_NEAR(silence_before(2), SpeakOptions{}.sentence_silence_s / 2, 1 / kRate);
  EXPECT_EQ(said_.back(), "five six");
  EXPECT_EQ(heard_.warnings.size(), 1U);
  EXPECT_EQ(text.substr(heard_.clauses[1].begin, 6), "Three.");
  const auto loudest = [this](size_t i) {
    return *std::ranges::max_element(heard_.clauses[i].samples);
  };
  EXPECT_NEAR(loudest(1) / loudest(0), 0.5, 0.01);
  const Status wrong = speak("<speak>One <b", options);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::InvalidInput);
}

// A part in a language that nobody reads is read as the rest, and that is told.
TEST_F(Speaking, ReadsPartsOfUnknownLanguagesAsTheRest) {
  SpeakOptions options;
  options.kind = TextKind::Ssml;
  ASSERT_TRUE(speak("<speak>One. <lang xml:lang='fr'>Deux.</lang> Three.</speak>", options));
  EXPECT_EQ(heard_.clauses.size(), 3U);
  EXPECT_THAT(heard_.warnings, testing::ElementsAre("no phonemes for fr; it is read as en-US"));
}

TEST_F(Speaking, SaysNothingWhereThereAreOnlyMarks) {
  ASSERT_TRUE(speak("... !? - \xE2\x80\xA6"));
  EXPECT_TRUE(heard_.clauses.empty());
}

TEST_F(Speaking, RefusesWhatIsOutOfRangeOrNotThere) {
  SpeakOptions options;
  options.voice.speed = -1;
  EXPECT_THAT(speak("a", options).error().message, HasSubstr("speed: wanted 0.25 to 4, found -1"));
  options = {};
  options.loudness_lufs = 3;
  EXPECT_THAT(speak("a", options).error().message,
              HasSubstr("loudness: wanted -50 to -8, found 3"));
  options = {};
  options.volume = std::nanf("");
  EXPECT_THAT(speak("a", options).error().message, HasSubstr("volume: wanted 0 to 10, found nan"));
  options = {};
  options.voice.voice = "him";
  EXPECT_EQ(speak("a", options).error().code, ErrorCode::NotFound);
  options = {};
  options.language = "fr";
  EXPECT_EQ(speak("a", options).error().message, "no phonemes for fr");
}

TEST_F(Speaking, EndsWithTheObserversErrorAndWhereItIsStopped) {
  heard_.fail_at = 2;
  const Status failed = synthesizer_.speak("One. Two. Three.", {}, heard_, {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "the disk is full");
  EXPECT_EQ(heard_.clauses.size(), 2U);
  std::stop_source stop;
  stop.request_stop();
  const Status stopped = synthesizer_.speak("One.", {}, heard_, stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
}

TEST_F(Speaking, SeamsAreSilentAtBothSides) {
  std::string text;
  for (int i = 0; i < 101; ++i) {
    text += "Sentence " + std::to_string(i) + " is here. ";
  }
  ASSERT_TRUE(speak(text));
  ASSERT_EQ(heard_.clauses.size(), 101U);
  for (const SpokenClause& clause : heard_.clauses) {
    const auto begin = static_cast<size_t>(std::lround(clause.start_s * kRate));
    const auto end = static_cast<size_t>(std::lround(clause.end_s * kRate));
    // No step between silence and sound: a sample is at most what the fade leaves of it.
    EXPECT_LT(std::abs(heard_.samples[begin]), 0.01F);
    EXPECT_LT(std::abs(heard_.samples[end - 1]), 0.01F);
  }
}

TEST(TrimClause, CutsSilenceAndMovesPlaces) {
  std::vector<float> samples(8000, 0.0F);
  for (size_t i = 3000; i < 5000; ++i) {
    samples[i] = i % 2 == 0 ? 0.5F : -0.5F;
  }
  ClauseSound sound{.samples = samples,
                    .words = {{{.symbol = "a", .span = {.begin = 3000, .end = 5000}}}}};
  trim_clause(sound, 8000);
  // 15 ms before, 40 ms behind.
  EXPECT_EQ(sound.samples.size(), 120U + 2000U + 320U);
  EXPECT_EQ(sound.words[0][0].span.begin, 120U);
  EXPECT_EQ(sound.words[0][0].span.end, 2120U);
  EXPECT_EQ(sound.samples[120 + 1000], samples[4000]);
}

TEST(TrimClause, OfSilenceNothingIsLeft) {
  ClauseSound sound{.samples = std::vector<float>(8000, 1e-6F),
                    .words = {{{.symbol = "a", .span = {.begin = 10, .end = 20}}}}};
  trim_clause(sound, 8000);
  EXPECT_TRUE(sound.samples.empty());
  EXPECT_EQ(sound.words[0][0].span.end, 0U);
}

}  // namespace
}  // namespace mynah

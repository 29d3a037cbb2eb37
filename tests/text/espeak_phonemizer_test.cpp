// Text to espeak-ng's phonemes: cutting, sharing out, alphabets, and all of it with the real
// program.
#include "text/phonemes/espeak/espeak_phonemizer.h"

#include <map>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/process.h"
#include "test_paths.h"
#include "text/phonemes/espeak/pieces.h"
#include "text/phonemes/espeak/shares.h"
#include "text/utf8.h"

namespace mynah {
namespace {

using espeak::Alphabet;
using testing::ElementsAre;

// "word word" with marks in angle brackets, as cut.
std::string cut_words(const std::string& text) {
  std::string result;
  for (const espeak::Piece& piece : espeak::cut(text)) {
    std::string mark;
    if (piece.mark != 0) {
      append_utf8(mark, piece.mark);
    }
    result += piece.mark != 0 ? "<" + mark + ">" : piece.spoken;
    result += piece.space_after ? "_" : "|";
  }
  return result;
}

TEST(EspeakPieces, AreWordsAndMarks) {
  const std::map<std::string, std::string> cases = {
      {"Hello, world!", "Hello|<,>_world|<!>|"},
      {"at 10:30, 3.14 or 1,000: yes.", "at_10:30|<,>_3.14_or_1,000|<:>_yes|<.>|"},
      {"the U.S. army", "the_U.S._army|"},
      {"It is 5 a.m. He", "It_is_5_a.m|<.>_He|"},
      {"He said \"go\" (now).", "He_said_<\">|go|<\">_<(>|now|<)>|<.>|"},
      {"well-known - and -5", "well-known_<—>_and_-5|"},
      {"Wait — what…", "Wait_<—>_what|<…>|"},
      {"¿Qué? 你好。再见！", "<¿>|Qué|<?>_你好|<.>|再见|<!>|"},
      {"don't l’eau", "don't_l’eau|"},
      {"[[h@l@U]]", "<(>|<(>|h@l@U|<)>|<)>|"},
      {"a\x01m\nb", "a_m_b|"},
      {"", ""},
      {"  x", "x|"}};
  for (const auto& [text, pieces] : cases) {
    EXPECT_EQ(cut_words(text), pieces) << text;
  }
}

TEST(EspeakPieces, KnowTheirBytes) {
  const std::string text = " naïve,\xFF ok";
  const std::vector<espeak::Piece> pieces = espeak::cut(text);
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(text.substr(pieces[0].begin, pieces[0].end - pieces[0].begin), "naïve");
  EXPECT_EQ(pieces[1].begin, 7U);
  EXPECT_TRUE(pieces[1].space_after);
  EXPECT_EQ(pieces[2].spoken, "ok");
}

// "word word+joined word"
std::string shares_of(const std::string& whole, const std::vector<std::string>& alone) {
  std::string result;
  for (const espeak::Share& share : espeak::share_out(whole, alone)) {
    result += "[" + share.phonemes + "]" + (share.space_after ? "_" : "");
  }
  return result;
}

TEST(EspeakShares, OfWordsThatAreSaidTogether) {
  EXPECT_EQ(shares_of("ʌvðə pˈiːpəl", {"ˈʌv", "ðə", "pˈiːpəl"}), "[ʌv][ðə]_[pˈiːpəl]_");
  EXPECT_EQ(shares_of("ɪn tˈuː hˈʌndɹɪd dˈeɪz", {"ˈɪn", "tˈuː hˈʌndɹɪd", "dˈeɪz"}),
            "[ɪn]_[tˈuː hˈʌndɹɪd]_[dˈeɪz]_");
  EXPECT_EQ(shares_of("jˈɛs", {"", "jˈɛs"}), "[]_[jˈɛs]_");
  EXPECT_EQ(shares_of("", {"", "jˈɛs"}), "[]_[]_");
  EXPECT_EQ(shares_of("a", {}), "");
}

// hexgrad/misaki espeak.py, by its tables.
TEST(EspeakAlphabets, OfKokoro) {
  const auto kokoro = [](const std::string& ipa, const std::string& voice) {
    return espeak::to_alphabet(ipa, Alphabet::Kokoro, voice);
  };
  EXPECT_EQ(kokoro("həlˈo^ʊ", "en-us"), "həlˈO");
  EXPECT_EQ(kokoro("həlˈə^ʊ", "en-gb"), "həlˈQ");
  EXPECT_EQ(kokoro("bˈʌʔn\u0329", "en-us"), "bˈʌtn");
  EXPECT_EQ(kokoro("nˈɜːs", "en-us"), "nˈɜɹs");
  EXPECT_EQ(kokoro("mˈʌt^ʃ d^ʒˈʌd^ʒ", "en-us"), "mˈʌʧ ʤˈʌʤ");
  EXPECT_EQ(kokoro("mˈut^ʃo", "es"), "mˈuʧo");
  EXPECT_EQ(kokoro("t^sˈa^ɪt", "de"), "ʦˈIt");
  EXPECT_EQ(kokoro("(en)wˈiːkɛnd(fr)", "fr-fr"), "wˈiːkɛnd");
  EXPECT_EQ(espeak::to_alphabet("(en)həlˈo^ʊ(fr)", Alphabet::Espeak, "fr-fr"), "həlˈoʊ");
  EXPECT_EQ(espeak::to_alphabet("mˈoː^ɹ", Alphabet::Espeak, "en-us"), "mˈɔːɹ");
  EXPECT_EQ(espeak::from_given("həlˈO ʤˈIv", Alphabet::Espeak), "həlˈoʊ dʒˈaɪv");
  EXPECT_EQ(espeak::from_given("'t\u0361ʃɜː.g", Alphabet::Espeak), "ˈtʃɜːɡ");
  EXPECT_EQ(espeak::from_given("bɜɹd", Alphabet::Espeak), "bɜːd");
  EXPECT_EQ(espeak::from_given("t\u0361ʃˈaɪ.ko", Alphabet::Kokoro), "ʧˈIko");
  EXPECT_EQ(espeak::from_given("pˈero", Alphabet::Kokoro), "pˈero");
}

class EspeakText : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("espeak-ng")) {
      GTEST_SKIP() << "not here: espeak-ng (apt install espeak-ng)";
    }
  }

  static std::unique_ptr<Phonemizer> make(const std::string& voice, Alphabet alphabet) {
    auto made = espeak_phonemizer({.voice = voice, .alphabet = alphabet});
    EXPECT_TRUE(made.has_value()) << made.error().message;
    return made ? *std::move(made) : nullptr;
  }

  static std::string said(const Phonemizer& phonemizer, const std::string& text) {
    const auto words = phonemizer.phonemes(text);
    EXPECT_TRUE(words.has_value()) << words.error().message;
    std::string result;
    for (const PhonemeWord& word : words.value_or(std::vector<PhonemeWord>())) {
      result += word.phonemes;
      result += word.space_after ? " " : "";
    }
    return result;
  }
};

TEST_F(EspeakText, HasItsMarks) {
  const auto english = make("en-us", Alphabet::Espeak);
  EXPECT_EQ(said(*english, "Hello there, \"you\": yes!"), "həlˈoʊ ðˈɛɹ, jˈuː: jˈɛs!");
  EXPECT_EQ(said(*english, "Wait — what?"), "wˈeɪt; wˈʌt?");
  EXPECT_EQ(said(*english, "of the people."), "ʌvðə pˈiːpəl.");
  const auto words = english->phonemes("of the 22 people.");
  ASSERT_TRUE(words.has_value());
  std::vector<std::string> texts;
  for (const PhonemeWord& word : *words) {
    texts.push_back(word.text + "=" + word.phonemes);
  }
  EXPECT_THAT(texts, ElementsAre("of=ʌv", "the=ðə", "22=twˈɛnti tˈuː", "people=pˈiːpəl", ".=."));
}

TEST_F(EspeakText, OfKokorosLanguages) {
  const std::map<std::string, std::pair<std::string, std::string>> cases = {
      {"es", {"¡Hola, mucho gusto!", "ˈola, mˈuʧo ɣˈusto!"}},
      {"fr-fr", {"Bonjour, ça va ?", "bɔ̃ʒˈuʁ, sa vˈa ?"}},
      {"it", {"Buongiorno a tutti.", "bʊonʤˈɔrno a tˈutːɪ."}},
      {"pt-br", {"Olá, tudo bem?", "olˈa, tˈudʊ bˈAŋ?"}},
      {"hi", {"नमस्ते।", "nəmˈʌsteː."}}};
  for (const auto& [voice, expected] : cases) {
    EXPECT_EQ(said(*make(voice, Alphabet::Kokoro), expected.first), expected.second) << voice;
  }
}

// Each of these is text.
TEST_F(EspeakText, IsNeitherOptionNorMarkup) {
  const auto english = make("en-us", Alphabet::Espeak);
  const std::string plain = said(*english, "hello");
  EXPECT_EQ(said(*english, "[[h@l@U]]"), said(*english, "h@l@U"));
  EXPECT_EQ(said(*english,
                 "\x01"
                 "99S hello"),
            said(*english, "99S hello"));
  for (const char* text : {"--voices hello", "-v fr hello", "<speak>hello", "&lt;hello",
                           "<audio src='/etc/passwd'/> hello", "hello\n-w /tmp/x"}) {
    EXPECT_THAT(said(*english, text), testing::HasSubstr(plain)) << text;
  }
  EXPECT_EQ(said(*english, "hello"), plain);
}

TEST_F(EspeakText, GivenPhonemesAreSaidAsGiven) {
  const auto english = make("en-us", Alphabet::Espeak);
  const std::vector<GivenPhonemes> given = {{.begin = 6, .end = 11, .phonemes = "wˈO"}};
  const auto words = english->phonemes("hello there you", given);
  ASSERT_TRUE(words.has_value()) << words.error().message;
  ASSERT_EQ(words->size(), 3U);
  EXPECT_EQ((*words)[1].phonemes, "wˈoʊ");
  EXPECT_EQ((*words)[1].text, "there");
  EXPECT_TRUE((*words)[1].space_after);
  EXPECT_EQ((*words)[2].begin, 12U);
  const std::vector<GivenPhonemes> wrong = {{.begin = 6, .end = 99, .phonemes = "x"}};
  EXPECT_FALSE(english->phonemes("hello", wrong).has_value());
}

TEST_F(EspeakText, AVeryLongWordIsText) {
  const auto english = make("en-us", Alphabet::Espeak);
  const std::string word(5000, 'a');
  const auto words = english->phonemes(word + " end.");
  ASSERT_TRUE(words.has_value()) << words.error().message;
  ASSERT_EQ(words->size(), 3U);
  EXPECT_EQ((*words)[0].end, word.size());
  EXPECT_EQ((*words)[1].phonemes, "ˈɛnd");
}

// Whatever the bytes, words come in order, none overlaps another, and the next question is answered
// as the first.
TEST_F(EspeakText, AnyBytesAreText) {
  std::mt19937 random(20261122);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (const char* voice : {"en-us", "hi"}) {
    const auto phonemizer = make(voice, Alphabet::Espeak);
    const std::string plain = said(*phonemizer, "taxi");
    for (int round = 0; round < 100; ++round) {
      std::string text;
      const uint32_t length = below(40);
      for (uint32_t i = 0; i < length; ++i) {
        switch (below(6)) {
          case 0:
            text += static_cast<char>(below(256));
            break;
          case 1:
            append_utf8(text, static_cast<char32_t>(below(0x110000)));
            break;
          case 2:
            append_utf8(text, static_cast<char32_t>(below(0x3000)));
            break;
          case 3:
            text += " [.,;:-!?\n\t<&\x01"[below(15)];
            break;
          default:
            text += static_cast<char>('a' + below(26));
        }
      }
      const auto words = phonemizer->phonemes(text);
      ASSERT_TRUE(words.has_value()) << words.error().message;
      size_t end = 0;
      for (const PhonemeWord& word : *words) {
        ASSERT_LE(end, word.begin);
        ASSERT_LE(word.begin, word.end);
        ASSERT_EQ(word.text, text.substr(word.begin, word.end - word.begin));
        ASSERT_EQ(replace_invalid_utf8(word.phonemes), word.phonemes);
        end = word.end;
      }
      ASSERT_LE(end, text.size());
    }
    EXPECT_EQ(said(*phonemizer, "taxi"), plain);
  }
}

}  // namespace
}  // namespace mynah

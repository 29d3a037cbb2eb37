// The user's own words, and the alphabets that they may be written in.
#include "text/phonemes/user_lexicon.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temporary_folder.h"
#include "text/english_files.h"
#include "text/phonemes/alphabet.h"
#include "text/phonemes/own_words.h"

namespace mynah {
namespace {

using testing::HasSubstr;

TEST(KokoroPhonemes, are_taken_as_they_are_or_made_of_ipa) {
  EXPECT_EQ(to_kokoro_phonemes("fəˈnɛmz", false), "fəˈnɛmz");
  EXPECT_EQ(to_kokoro_phonemes("ˈmaɪnə bɜːrdz", false), "ˈmInə bɜɹdz");
  EXPECT_EQ(to_kokoro_phonemes("ˈtʃɜːtʃ", true), "ˈʧɜːʧ");
  EXPECT_EQ(to_kokoro_phonemes("t͡ʃeɪndʒ", false), "ʧAnʤ");
  EXPECT_EQ(to_kokoro_phonemes("ɡəʊ", true), "ɡQ");
  EXPECT_EQ(to_kokoro_phonemes("goʊ", false), "ɡO");
  EXPECT_EQ(to_kokoro_phonemes("'bʌt.n̩", false), "ˈbʌtᵊn");
}

TEST(KokoroPhonemes, name_what_is_none) {
  const auto phonemes = to_kokoro_phonemes("mˈI7nə", false);
  ASSERT_FALSE(phonemes);
  EXPECT_THAT(phonemes.error().message, HasSubstr("found \"7\" (U+0037)"));
}

class OwnWords : public testing::Test {
 protected:
  static std::string say(const std::string& lexicon, std::string_view text) {
    auto own = UserLexicon::parse(lexicon, "own.txt", LexiconPhonemes::American);
    EXPECT_TRUE(own) << own.error().message;
    const auto phonemizer =
        english_phonemizer(test::small_english(), /*british=*/false, nullptr,
                           {.own_words = std::make_shared<const UserLexicon>(std::move(*own))});
    EXPECT_TRUE(phonemizer) << phonemizer.error().message;
    return joined(*(*phonemizer)->phonemes(text));
  }

  static std::string error(const std::string& lexicon) {
    const auto own = UserLexicon::parse(lexicon, "own.txt", LexiconPhonemes::American);
    return own ? "none" : own.error().message;
  }
};

TEST_F(OwnWords, come_before_the_lexicons) {
  EXPECT_EQ(say("# ours\n\ndog\tkˈæt\r\n", "the dog, the Dog, the DOG"),
            "ðə kˈæt, ðə kˈæt, ðə kˈæt");
  EXPECT_EQ(say("the\tðˈi", "the dog"), "ðˈi dˈɔɡ") << "even where a rule would have read it";
  EXPECT_EQ(say("lead\tlˈɛd", "the lead"), "ðə lˈɛd");
}

TEST_F(OwnWords, behind_a_tab_have_phonemes) {
  EXPECT_THAT(error("dog\tkˈæt\ncat\t\n"),
              HasSubstr("own.txt, line 2: wanted phonemes behind the tab of \"cat\", found none"));
  EXPECT_THAT(error("cat\t \r\n"), HasSubstr("line 1: wanted phonemes"));
  EXPECT_EQ(error("cat \r\n"), "none") << "a word for hearing";
}

TEST(UserLexicon, a_file_without_words_is_refused) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "own.txt";
  for (const std::string text : {"", "# nothing\n\n"}) {
    test::write_file(file, text);
    for (const std::string& told :
         {read_lexicon_words(file).error().message,
          UserLexicon::read(file, LexiconPhonemes::American).error().message}) {
      EXPECT_THAT(told, HasSubstr("own.txt: wanted words, each on a line of its own"));
    }
  }
}

TEST_F(OwnWords, with_capitals_are_meant_as_they_are_written) {
  EXPECT_EQ(say("Dog\tzˈib", "Dog dog DOG"), "zˈib dˈɔɡ dˈɔɡ");
  EXPECT_EQ(say("Dog\tzˈib\ndog\tkˈæt", "Dog dog"), "zˈib kˈæt");
}

TEST_F(OwnWords, have_endings_and_may_have_any_signs) {
  EXPECT_EQ(say("blorp\tblˈɔɹp", "blorps blorp's Blorping"), "blˈɔɹps blˈɔɹps blˈɔɹpɪŋ");
  EXPECT_EQ(say("C++\tsˈi plˈʌs\ndon't\tdˈO", "C++ don't don\u2019t"), "sˈi plˈʌs dˈO dˈO");
  EXPECT_EQ(say("x-box\tˈɛksbɑks", "the x-box"), "ði ˈɛksbɑks");
}

TEST_F(OwnWords, say_on_which_line_what_is_wrong) {
  EXPECT_THAT(error("a\tb\nword w"), HasSubstr("own.txt, line 2: wanted a word, a tab"));
  EXPECT_THAT(error("\n\n\tword"), HasSubstr("own.txt, line 3: wanted a word, a tab"));
  EXPECT_THAT(error("two words\ta"), HasSubstr("line 1: wanted one word without a space"));
  EXPECT_THAT(error("a\tb\n#\na\tb"), HasSubstr("line 3: \"a\" has an entry above already"));
  EXPECT_THAT(error("a\tb\ncaf\xE9\tb"), HasSubstr("own.txt, line 2: wanted UTF-8"));
  EXPECT_THAT(error("a\t8"), HasSubstr("own.txt, line 1: wanted phonemes"));
  EXPECT_EQ(error(""), "none");
  EXPECT_EQ(error("\xEF\xBB\xBF# with a byte order mark\na\tb"), "none");
}

TEST_F(OwnWords, that_stand_alone_are_said_as_without_them) {
  EXPECT_EQ(say("dog\ncat\nthe\tðˈi", "the dog"), "ðˈi dˈɔɡ");
}

TEST(LexiconWords, AreThoseOfAllLinesAsTheyAreWritten) {
  const auto words =
      lexicon_words("# names\nSiobhan\tʃɪˈvɔːn\n\nTadhg\r\n東京\nx-box\t8", "own.txt");
  ASSERT_TRUE(words) << words.error().message;
  EXPECT_EQ(*words, (std::vector<std::string>{"Siobhan", "Tadhg", "東京", "x-box"}));
  EXPECT_EQ(lexicon_words("", "own.txt")->size(), 0U);
  EXPECT_EQ(read_lexicon_words("")->size(), 0U) << "no file";
}

TEST(LexiconWords, SayOnWhichLineWhatIsWrong) {
  const auto error = [](std::string_view text) {
    const auto words = lexicon_words(text, "own.txt");
    return words ? "none" : words.error().message;
  };
  EXPECT_THAT(error("a\nNew York"), HasSubstr("own.txt, line 2: wanted a word, a tab"));
  EXPECT_THAT(error("a\n\na\tb"), HasSubstr("own.txt, line 3: \"a\" has an entry above"));
  EXPECT_THAT(error("a\ncaf\xE9"), HasSubstr("own.txt, line 2: wanted UTF-8"));
  EXPECT_FALSE(read_lexicon_words("/nowhere/own.txt"));
}

TEST_F(OwnWords, are_read_from_a_file_that_must_be_there) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "own.txt", "dog\tkˈæt\n");
  const auto own = UserLexicon::read(folder / "own.txt", LexiconPhonemes::American);
  ASSERT_TRUE(own);
  EXPECT_EQ(own->size(), 1U);
  EXPECT_FALSE(UserLexicon::read(folder / "other.txt", LexiconPhonemes::American));
}

// Says a given range as "text=phonemes" and nothing else.
class GivenAlone final : public Phonemizer {
 public:
  [[nodiscard]] Result<std::vector<PhonemeWord>> phonemes(
      std::string_view text, std::span<const GivenPhonemes> given) const override {
    std::vector<PhonemeWord> words;
    for (const GivenPhonemes& range : given) {
      words.push_back({.text = {},
                       .phonemes = std::string(text.substr(range.begin, range.end - range.begin)) +
                                   "=" + range.phonemes,
                       .space_after = true});
    }
    return words;
  }
};

TEST(OwnWordsFirst, AreGivenToAPhonemizerThatHasNoLexicon) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "own.txt", "mynah\tmˈaɪnə\nC++\tsˈiː\nx-box\tˈɛks\nGöthe\tɡˈøːtə\n");
  const auto phonemizer = own_words_first(folder / "own.txt", std::make_shared<GivenAlone>());
  ASSERT_TRUE(phonemizer) << phonemizer.error().message;
  const auto say = [&](std::string_view text, std::vector<GivenPhonemes> given = {}) {
    const auto words = (*phonemizer)->phonemes(text, given);
    return words ? joined(*words) : words.error().message;
  };
  EXPECT_EQ(say("A \"Mynah\", my mynahs: MYNAH!"), "Mynah=mˈaɪnə MYNAH=mˈaɪnə");
  EXPECT_EQ(say("(C++) and an x-box, an x box"), "C++=sˈiː x-box=ˈɛks");
  EXPECT_EQ(say("Göthe göthe mynah-Göthe"), "Göthe=ɡˈøːtə mynah=mˈaɪnə Göthe=ɡˈøːtə");
  EXPECT_EQ(say("mynah mynah", {{.begin = 0, .end = 5, .phonemes = "x"}}), "mynah=x mynah=mˈaɪnə");
  EXPECT_EQ(say("\xFFmynah\xC3"), "mynah=mˈaɪnə");
  EXPECT_EQ(say(""), "");
}

TEST(OwnWordsFirst, NeedTheirFile) {
  const auto rest = std::make_shared<GivenAlone>();
  const auto missing = own_words_first("/nowhere/own.txt", rest);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("/nowhere/own.txt"));
  EXPECT_EQ(own_words_first("", rest), rest);
}

}  // namespace
}  // namespace mynah

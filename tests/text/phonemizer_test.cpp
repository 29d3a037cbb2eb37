// What a phonemizer promises whatever the text, by a lexicon of a few words
// (tests/text/data/small_english).
#include "text/phonemes/phonemizer.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "much.h"
#include "text/english_files.h"
#include "text/utf8.h"

namespace mynah {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Says of every unknown word that it was asked for it.
class Asked : public UnknownWords {
 public:
  [[nodiscard]] std::string pronounce(std::string_view word) const override {
    return "<" + std::string(word) + ">";
  }
};

class SmallEnglish : public testing::Test {
 protected:
  SmallEnglish() : phonemizer_(make(nullptr)), asking_(make(std::make_shared<Asked>())) {}

  static std::unique_ptr<Phonemizer> make(std::shared_ptr<const UnknownWords> unknown) {
    auto made = english_phonemizer(test::small_english(), /*british=*/false, std::move(unknown));
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }

  static std::string say(const Phonemizer& phonemizer, std::string_view text) {
    const auto words = phonemizer.phonemes(text);
    EXPECT_TRUE(words) << words.error().message;
    return joined(*words);
  }

  [[nodiscard]] std::string say(std::string_view text) const { return say(*phonemizer_, text); }

  std::unique_ptr<Phonemizer> phonemizer_;
  std::unique_ptr<Phonemizer> asking_;
};

TEST_F(SmallEnglish, says_where_each_word_stands_in_the_bytes) {
  const std::string text = "The  dog's\u2014\u201Ccat\u201D.\n";
  const auto words = phonemizer_->phonemes(text);
  ASSERT_TRUE(words);
  std::string back;
  size_t end = 0;
  for (const PhonemeWord& word : *words) {
    EXPECT_LE(end, word.begin);
    EXPECT_EQ(word.text, text.substr(word.begin, word.end - word.begin));
    back += word.text + (word.space_after ? "_" : "");
    end = word.end;
  }
  EXPECT_EQ(back, "The_dog's\u2014\u201Ccat\u201D._");
}

TEST_F(SmallEnglish, lets_the_next_sound_decide_on_the_and_to) {
  EXPECT_EQ(say("the dog"), "ðə dˈɔɡ");
  EXPECT_EQ(say("the apple"), "ði ˈæpᵊl");
  EXPECT_EQ(say("to eat, to stop, to."), "tʊ ˈit, tə stˈɑp, tˈu.");
  EXPECT_EQ(say("that cat, that."), "ðæt kˈæt, ðˈæt.");
}

TEST_F(SmallEnglish, reads_by_the_part_of_speech) {
  EXPECT_EQ(say("to read"), "tə ɹˈid");
  EXPECT_EQ(say("the dog read"), "ðə dˈɔɡ ɹˈɛd");
  EXPECT_EQ(say("I read"), "ˌI ɹˈid") << "the present, whatever the lexicon says of VBP";
}

TEST_F(SmallEnglish, puts_endings_behind_words_that_it_has) {
  EXPECT_EQ(say("cats dogs boxes tries"), "kˈæts dˈɔɡz bˈɑksᵻz tɹˈIz");
  EXPECT_EQ(say("kissed waited hoped"), "kˈɪst wˈATᵻd hˈOpt");
  EXPECT_EQ(say("stopping waiting hoping kissing"), "stˈɑpɪŋ wˈATɪŋ hˈOpɪŋ kˈɪsɪŋ");
  EXPECT_EQ(say("dog's dogs' Dogs'"), "dˈɔɡz dˈɔɡz dˈɔɡz");
}

TEST_F(SmallEnglish, takes_capitals_for_the_word) {
  EXPECT_EQ(say("DOG"), "dˈɔɡ");
  EXPECT_EQ(say("U.S."), "jˌuˈɛs");
}

TEST_F(SmallEnglish, asks_for_words_that_nobody_knows) {
  EXPECT_EQ(say(*asking_, "the blorp, o'blorp"), "ðə <blorp>, <o'blorp>");
  EXPECT_EQ(say(*asking_, "dog_blorp"), "<dog> <blorp>") << "the whole of what stands together";
}

TEST_F(SmallEnglish, spells_unknown_words_where_nobody_is_to_be_asked) {
  EXPECT_EQ(say("bcd"), "bˌisˌidˈi");
  EXPECT_EQ(say("\u00E9t\u00E9"), "ˌitˌiˈi") << "without accents";
}

TEST_F(SmallEnglish, reads_digits_that_were_left) {
  EXPECT_EQ(say("1985"), "nˌIntˈin ˈATi fˈIv");
  EXPECT_EQ(say("23rd"), "twˈɛnti θˈɜɹd");
  EXPECT_EQ(say("-3.4"), "mˈInəs θɹˈi pYnt fˈɔɹ");
  EXPECT_EQ(say("mp3"), "ˌɛmpˈi θɹˈi");
  EXPECT_EQ(say("$2 cat"), "tˈu dˈɑləɹz kˈæt");
}

TEST_F(SmallEnglish, says_what_the_user_gave_for_a_range) {
  const std::string text = "the bass is";
  const std::vector<GivenPhonemes> given = {{.begin = 4, .end = 8, .phonemes = "ˈæs"}};
  const auto words = phonemizer_->phonemes(text, given);
  ASSERT_TRUE(words);
  EXPECT_EQ(joined(*words), "ði ˈæs ɪz") << "the word before it hears the vowel";
  EXPECT_EQ((*words)[1].text, "bass");
  const std::vector<GivenPhonemes> inside = {{.begin = 5, .end = 7, .phonemes = "ˈO"}};
  EXPECT_EQ(joined(*phonemizer_->phonemes(text, inside)), "ðə bˈiˈOˈɛs ɪz");
}

TEST_F(SmallEnglish, refuses_ranges_that_are_not_of_the_text) {
  using Ranges = std::vector<GivenPhonemes>;
  for (const Ranges& given :
       {Ranges{{.begin = 0, .end = 9, .phonemes = ""}},
        Ranges{{.begin = 1, .end = 1, .phonemes = ""}},
        Ranges{{.begin = 1, .end = 3, .phonemes = ""}, {.begin = 2, .end = 4, .phonemes = ""}}}) {
    const auto words = phonemizer_->phonemes("the dog", given);
    ASSERT_FALSE(words);
    EXPECT_EQ(words.error().code, ErrorCode::InvalidInput);
    EXPECT_THAT(words.error().message, HasSubstr("wanted ranges in order"));
  }
}

TEST_F(SmallEnglish, keeps_in_the_list_what_it_cannot_read) {
  const auto words = phonemizer_->phonemes("dog \u72AC cat \xFF\xFE");
  ASSERT_TRUE(words);
  std::vector<std::string> texts;
  for (const PhonemeWord& word : *words) {
    texts.push_back(word.text);
  }
  EXPECT_THAT(texts, ElementsAre("dog", "\u72AC", "cat", "\xFF\xFE"));
  EXPECT_EQ((*words)[1].phonemes, "");
  EXPECT_EQ((*words)[3].phonemes, "");
}

TEST_F(SmallEnglish, survives_any_bytes) {
  for (const std::string text : {"", " ", "\n\t", "\xC3", "a\xED\xA0\x80z", "\xF0\x9F\x98\x80", "'",
                                 "''''", "-", "--", "_", ".", "$", "$$$", "'s", "\u0130\u0307"}) {
    const auto words = phonemizer_->phonemes(text);
    ASSERT_TRUE(words);
    for (const PhonemeWord& word : *words) {
      EXPECT_EQ(replace_invalid_utf8(word.phonemes), word.phonemes);
      EXPECT_LT(word.begin, word.end);
    }
  }
  EXPECT_EQ(say(std::string("dog \0 cat", 9)), "dˈɔɡ  kˈæt");
}

// Whoever looks at all of such a word again for each of its characters never ends.
TEST_F(SmallEnglish, ends_with_two_megabytes_without_a_space) {
  constexpr size_t kBytes = test::much(2'000'000);
  for (const std::string piece : {"a", "A", "(", "\xF0", "\u2026", "aB", "1", "a'"}) {
    std::string text;
    while (text.size() < kBytes) {
      text += piece;
    }
    const auto words = phonemizer_->phonemes(text);
    ASSERT_TRUE(words);
    EXPECT_EQ(words->back().end, text.size()) << piece;
  }
}

// Words of many parts take microseconds a part.
TEST_F(SmallEnglish, ends_with_words_of_twenty_thousand_parts) {
  constexpr size_t kParts = test::much(20'000);
  for (const std::string piece : {".", "'", "dog-", "dog_", "@a.", "a/", "a.", "1,", "...,", "-"}) {
    std::string text;
    for (size_t i = 0; i < kParts; ++i) {
      text += piece;
    }
    const auto words = phonemizer_->phonemes(text);
    ASSERT_TRUE(words);
    EXPECT_EQ(words->back().end, text.size()) << piece;
  }
}

TEST(JoinedPhonemes, have_the_texts_spaces_but_none_at_the_ends) {
  const std::vector<PhonemeWord> words = {{.text = "\u72AC", .phonemes = "", .space_after = true},
                                          {.text = "a", .phonemes = "ɐ", .space_after = true},
                                          {.text = "!", .phonemes = "!", .space_after = true}};
  EXPECT_EQ(joined(words), "ɐ !");
  EXPECT_EQ(joined({}), "");
}

class EnglishLoader : public testing::Test {
 protected:
  EnglishLoader() {
    for (const char* name :
         {"lexicon_us_gold", "lexicon_us_silver", "tagger", "tokenizer_exceptions"}) {
      test::write_file(folder_ / (std::string(name) + ".json"),
                       test::read_file(test::source_path(
                           std::string("tests/text/data/small_english/") + name + ".json")));
    }
  }

  void write(const std::string& name, std::string_view bytes) {
    test::write_file(folder_ / name, bytes);
  }

  [[nodiscard]] std::string error() const {
    const auto made = english_phonemizer(english_files_in(folder_.path(), false), false, nullptr);
    return made ? "none" : made.error().message;
  }

  test::TemporaryFolder folder_;
};

TEST_F(EnglishLoader, reads_packed_files_too) {
  const std::string plain = folder_.read("tagger.json");
  const gzFile file = gzopen((folder_ / "tagger.json.gz").c_str(), "wb");
  gzwrite(file, plain.data(), static_cast<unsigned>(plain.size()));
  gzclose(file);
  std::filesystem::remove(folder_ / "tagger.json");
  EXPECT_EQ(error(), "none");
  const std::string packed = folder_.read("tagger.json.gz");
  write("tagger.json.gz", packed.substr(0, packed.size() / 2));
  EXPECT_THAT(error(), HasSubstr("tagger.json.gz: wanted"));
}

TEST_F(EnglishLoader, names_the_file_and_the_byte_of_what_is_wrong) {
  write("lexicon_us_gold.json", R"({"a": 3})");
  EXPECT_THAT(error(), HasSubstr("lexicon_us_gold.json, byte 6: wanted a string"));
  write("lexicon_us_gold.json", R"({"a": {"NOUN": "b"}})");
  EXPECT_THAT(error(), HasSubstr("wanted a reading DEFAULT"));
  write("lexicon_us_gold.json", R"({"a": "b"} x)");
  EXPECT_THAT(error(), HasSubstr("wanted the end"));
}

TEST_F(EnglishLoader, refuses_a_tagger_whose_tags_are_not_all_listed) {
  write("tagger.json", R"({"tags": ["NN"], "tagdict": {"a": "DT"}, "weights": {}})");
  EXPECT_THAT(error(), HasSubstr("1 of 2 are in it"));
  write("tagger.json", R"({"tags": ["NN", "NN"], "tagdict": {}, "weights": {}})");
  EXPECT_THAT(error(), HasSubstr("wanted each tag once"));
  write("tagger.json", R"({"weights": {"b": {"NN": "x"}}})");
  EXPECT_THAT(error(), HasSubstr("wanted a number"));
}

TEST_F(EnglishLoader, refuses_exceptions_whose_pieces_are_another_word) {
  write("tokenizer_exceptions.json", R"({"can't": ["ca", "not"]})");
  EXPECT_THAT(error(), HasSubstr("wanted pieces that are the whole word"));
}

TEST_F(EnglishLoader, names_the_file_that_is_missing) {
  std::filesystem::remove(folder_ / "tagger.json");
  EXPECT_THAT(error(), HasSubstr("tagger.json"));
}

}  // namespace
}  // namespace mynah

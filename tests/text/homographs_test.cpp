// Words with two readings: those that a dictionary has for each of 350 sentences
// (tests/text/data/homographs.tsv, homographs_held_out.tsv), the letter A, and what nobody wrote in
// a dictionary.
#include "text/phonemes/homographs.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "text/english_files.h"
#include "text/phonemes/stretched_words.h"
#include "text/utf8.h"

namespace mynah {
namespace {

struct Case {
  std::string word;
  std::string phonemes;
  std::string sentence;
};

std::vector<Case> cases(const std::string& file) {
  std::vector<Case> result;
  for (const std::string& line : test::lines_of(test::source_path("tests/text/data/" + file))) {
    if (!line.starts_with('#')) {
      const size_t first = line.find('\t');
      const size_t second = line.find('\t', first + 1);
      result.push_back({line.substr(0, first), line.substr(first + 1, second - first - 1),
                        line.substr(second + 1)});
    }
  }
  return result;
}

// Without the second stress; a flapped t as a t, and one weak vowel for another.
std::u32string sounds(const std::string& phonemes) {
  std::u32string result = to_code_points(phonemes);
  std::erase(result, U'ˌ');
  std::ranges::replace(result, U'T', U't');
  std::ranges::replace(result, U'ᵻ', U'ɪ');
  std::ranges::replace(result, U'ᵊ', U'ə');
  return result;
}

// The words of the sentence that are the case's, by their begin: "bow" is also that of "bowed".
bool reads_right(const std::vector<PhonemeWord>& words, const Case& expected) {
  return std::ranges::any_of(words, [&](const PhonemeWord& word) {
    std::string small = word.text;
    std::ranges::transform(small, small.begin(),
                           [](char c) { return static_cast<char>(std::tolower(c)); });
    std::string wanted = expected.word;
    std::ranges::transform(wanted, wanted.begin(),
                           [](char c) { return static_cast<char>(std::tolower(c)); });
    return small == wanted && sounds(word.phonemes).starts_with(sounds(expected.phonemes));
  });
}

TEST(Homographs, are_read_as_their_sentences_mean_them) {
  const EnglishFiles files = english_files_in(test::weights_path("phonemes"), /*british=*/false);
  MYNAH_SKIP_WITHOUT(files.tagger);
  const auto phonemizer = english_phonemizer(files, /*british=*/false, nullptr);
  ASSERT_TRUE(phonemizer) << phonemizer.error().message;
  const std::vector<Case> all = cases("homographs.tsv");
  EXPECT_GE(all.size(), 260U);
  for (const Case& expected : all) {
    const auto words = (*phonemizer)->phonemes(expected.sentence);
    ASSERT_TRUE(words);
    EXPECT_TRUE(reads_right(*words, expected))
        << expected.word << " " << expected.phonemes << ": " << expected.sentence << "\n  found "
        << joined(*words);
  }
}

// 79 of 80 when they were first read.
TEST(Homographs, are_read_right_in_sentences_that_no_rule_was_made_for) {
  const EnglishFiles files = english_files_in(test::weights_path("phonemes"), /*british=*/false);
  MYNAH_SKIP_WITHOUT(files.tagger);
  const auto phonemizer = english_phonemizer(files, /*british=*/false, nullptr);
  ASSERT_TRUE(phonemizer) << phonemizer.error().message;
  const std::vector<Case> all = cases("homographs_held_out.tsv");
  EXPECT_GE(all.size(), 80U);
  size_t right = 0;
  std::string wrong;
  for (const Case& expected : all) {
    const bool good = reads_right(*(*phonemizer)->phonemes(expected.sentence), expected);
    right += good ? 1 : 0;
    wrong += good ? "" : "\n  " + expected.sentence;
  }
  EXPECT_GE(20 * right, 19 * all.size()) << right << " of " << all.size() << ":" << wrong;
}

TEST(Homographs, change_little_of_ordinary_text) {
  const EnglishFiles files = english_files_in(test::weights_path("phonemes"), /*british=*/true);
  MYNAH_SKIP_WITHOUT(files.tagger);
  const auto with = english_phonemizer(files, /*british=*/true, nullptr);
  const auto without = english_phonemizer(files, /*british=*/true, nullptr, {.as_misaki = true});
  ASSERT_TRUE(with && without);
  size_t changed = 0;
  for (const std::string& sentence : test::english_sentences()) {
    const std::string ours = joined(*(*with)->phonemes(sentence));
    changed += ours == joined(*(*without)->phonemes(sentence)) ? 0 : 1;
  }
  EXPECT_GT(changed, 10U);
  EXPECT_LT(changed, 200U) << "of 2,000 sentences few have such a word, a name or an accent";
}

// Both readings must be phonemes that a voice knows.
TEST(Homographs, have_phonemes_in_both_accents) {
  EXPECT_GE(homograph_rules().size(), 100U);
  for (const HomographRule& rule : homograph_rules()) {
    for (const std::u32string_view reading :
         {std::u32string_view(rule.american), std::u32string_view(rule.british)}) {
      // None in the "Des" of "Des Moines".
      EXPECT_EQ(std::ranges::count(reading, U'ˈ'), rule.word == U"Des" ? 0 : 1)
          << to_utf8(rule.word);
    }
    EXPECT_EQ(rule.american.find(U'ː'), std::u32string::npos) << to_utf8(rule.word);
  }
}

class PlainEnglish : public testing::Test {
 protected:
  PlainEnglish() {
    const EnglishFiles files = english_files_in(test::weights_path("phonemes"), /*british=*/false);
    if (std::filesystem::exists(files.tagger)) {
      phonemizer_ = *english_phonemizer(files, /*british=*/false, nullptr);
    }
  }

  void SetUp() override {
    if (phonemizer_ == nullptr) {
      GTEST_SKIP() << "no lexicons; tools/fetch_weights.py brings them";
    }
  }

  [[nodiscard]] std::string say(std::string_view text) const {
    return joined(*phonemizer_->phonemes(text));
  }

  std::unique_ptr<Phonemizer> phonemizer_;
};

TEST_F(PlainEnglish, tells_the_letter_A_from_the_article) {
  EXPECT_EQ(say("Hepatitis A spreads."), "hˌɛpətˈITəs ˈA spɹˈɛdz.");
  EXPECT_EQ(say("Team A won."), "tˈim ˈA wˈʌn.");
  EXPECT_EQ(say("Plan A failed."), "plˈæn ˈA fˈAld.");
  EXPECT_EQ(say("They are type A people."), "ðˌA ɑɹ tˈIp ˈA pˈipᵊl.");
  EXPECT_EQ(say("a squared plus b squared"), "ˈA skwˈɛɹd plˈʌs bˈi skwˈɛɹd");
  EXPECT_EQ(say("in A minor, the letter a"), "ɪn ˈA mˈInəɹ, ðə lˈɛTəɹ ˈA");
  EXPECT_EQ(say("A minor point. A major one."), "ɐ mˈInəɹ pˈYnt. ɐ mˈAʤəɹ wˈʌn.");
  EXPECT_EQ(say("A"), "ˈA");
  EXPECT_EQ(say("an A, (a)"), "ɐn ˈA, (ˈA)");
  EXPECT_EQ(say("A is the first letter."), "ˈA ɪz ðə fˈɜɹst lˈɛTəɹ.");
  EXPECT_EQ(say("A dog saw a cat."), "ɐ dˈɔɡ sˈɔ ɐ kˈæt.");
  EXPECT_EQ(say("What A Day"), "wˌʌt ɐ dˈA");
  EXPECT_EQ(say("THIS IS A TEST"), "ðˈɪs ˈɪz ɐ tˈɛst");
}

TEST_F(PlainEnglish, reads_dialect_and_wrong_apostrophes) {
  EXPECT_EQ(say("the best o' times, 'tis ol' news, d'you see, nothin' more"),
            "ðə bˈɛst əv tˈImz, tˈɪz ˈOl nˈuz, ʤu sˈi, nˈʌθɪn mˈɔɹ");
  EXPECT_EQ(say("I don\u00B4t and won`t and can\u2032t."), "ˌI dˈOnt ænd wOnt ænd kˈænt.");
  EXPECT_EQ(say("for th\u2019 mornin\u2019"), "fɔɹ ðə mˈɔɹnɪn");
  EXPECT_EQ(say("the cabin' 'Robin'").find("ɪŋ"), std::string::npos) << "quotes behind words";
}

TEST_F(PlainEnglish, reads_sounds_and_stretched_words) {
  EXPECT_EQ(say("Shh! Grr. Brrr. Tsk. Zzz. Pssst."), "ʃ! ɡɹ. bɹ. tsk. z. pst.");
  EXPECT_EQ(say("Nooooo! Sooo goood."), "nˈO! sˌO ɡˈʊd.");
  EXPECT_EQ(say("pleeease, reeeally, yesss"), say("please, really, yes"));
  EXPECT_EQ(say("III"), "ˌIˌIˈI") << "letters";
}

TEST_F(PlainEnglish, knows_arithmetic_and_Pan_Am) {
  EXPECT_EQ(say("The arithmetic is simple."), "ði əɹˈɪθmətˌɪk ɪz sˈɪmpəl.");
  EXPECT_EQ(say("She likes arithmetic."), "ʃˌi lˈIks əɹˈɪθmətˌɪk.");
  EXPECT_EQ(say("an arithmetic mean"), "ɐn ˌɛɹɪθmˈɛTɪk mˈin");
  EXPECT_EQ(say("the Pan Am clipper"), "ðə pˈæn ˈæm klˈɪpəɹ");
}

TEST(StretchedWords, are_tried_with_two_letters_and_with_one) {
  EXPECT_EQ(unstretched(U"gooood"), (std::vector<std::u32string>{U"good", U"god"}));
  EXPECT_TRUE(unstretched(U"good").empty());
  EXPECT_TRUE(unstretched(U"www").empty());
  EXPECT_EQ(unstretched(std::u32string(65, U'a') + U"b").size(), 0U);
  EXPECT_FALSE(interjection(U"see", false));
  EXPECT_FALSE(interjection(U"PST", false));
}

}  // namespace
}  // namespace mynah

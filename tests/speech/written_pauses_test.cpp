// Pauses at brackets and around actions.
#include "speech/written_pauses.h"

#include <string>

#include <gtest/gtest.h>

#include "text/phonemes/written_words.h"

namespace mynah {
namespace {

// As a voice that reads letters is given it: brackets stand at words.
std::string letters(const std::string& sentence) {
  auto words = WrittenWords().phonemes(sentence, {});
  add_pauses(sentence, *words);
  return joined(*words);
}

// As others are: each bracket is a word, which has a phoneme or none. Asterisks have none.
std::string phonemes(const std::string& sentence, bool brackets_are_phonemes) {
  std::vector<PhonemeWord> words;
  for (size_t at = 0; at < sentence.size(); ++at) {
    const char c = sentence[at];
    if (c == ' ') {
      words.back().space_after = true;
    } else if (std::string_view("()[].,!?").find(c) != std::string_view::npos) {
      const bool bracket = std::string_view("()[]").find(c) != std::string_view::npos;
      words.push_back({.text = std::string(1, c),
                       .phonemes = bracket && !brackets_are_phonemes ? "" : std::string(1, c),
                       .begin = at,
                       .end = at + 1});
    } else if (c != '*') {
      if (words.empty() || words.back().end != at ||
          std::string_view("()[].,!?").find(sentence[at - 1]) != std::string_view::npos) {
        words.push_back({.text = "", .phonemes = "", .begin = at, .end = at});
      }
      words.back().text += c;
      words.back().phonemes += c;
      words.back().end = at + 1;
    } else if (!words.empty() && at + 1 < sentence.size() && sentence[at + 1] == ' ') {
      words.back().space_after = true;
    }
  }
  add_pauses(sentence, words);
  return joined(words);
}

struct Case {
  const char* written;
  const char* said;
};

TEST(WrittenPauses, ABracketIsAComma) {
  for (const auto& [written, said] : std::initializer_list<Case>{
           {"He went (slowly, as always) home.", "He went, slowly, as always, home."},
           {"He went home (slowly).", "He went home, slowly."},
           {"(Laughs) He went.", "Laughs, He went."},
           {"He went (slowly), then ran.", "He went, slowly, then ran."},
           {"He went, (slowly) then.", "He went, slowly, then."},
           {"[Laughs]", "Laughs"},
           {"He [the king] came.", "He, the king, came."}}) {
    EXPECT_EQ(phonemes(written, true), said);
    EXPECT_EQ(phonemes(written, false), said);
    EXPECT_EQ(letters(written), said);
  }
}

TEST(WrittenPauses, WithinAWordThereIsNone) {
  EXPECT_EQ(phonemes("The word(s) of f(x) here.", true), "The words of fx here.");
  EXPECT_EQ(letters("The word(s) of f(x) here."), "The word(s) of f(x) here.");
}

TEST(WrittenPauses, AnActionIsAClauseOfItsOwn) {
  for (const auto& [written, said] : std::initializer_list<Case>{
           {"*sighs* I do not know.", "sighs, I do not know."},
           {"*Sighs* I do not know.", "Sighs, I do not know."},
           {"*rolls her eyes* you are late.", "rolls her eyes, you are late."},
           {"Well, *shrugs* I know.", "Well, shrugs, I know."},
           {"Hello *waves* There you are.", "Hello, waves, There you are."},
           {"*laughs*", "laughs"},
           {"*laughs*.", "laughs."}}) {
    EXPECT_EQ(phonemes(written, true), said);
  }
}

TEST(WrittenPauses, AStressedWordIsNone) {
  for (const auto& [written, said] :
       std::initializer_list<Case>{{"I do *not* know.", "I do not know."},
                                   {"It was *very good*.", "It was very good."},
                                   {"*Not* that one.", "Not that one."},
                                   {"Two*three*four.", "Twothreefour."}}) {
    EXPECT_EQ(phonemes(written, true).size(), std::string(said).size()) << written;
  }
}

}  // namespace
}  // namespace mynah

// How names are said: the dictionary's table, its phones in Kokoro's alphabet, and names in
// sentences.
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/english_files.h"
#include "text/phonemes/arpabet.h"
#include "text/phonemes/pronouncing_table.h"
#include "text/utf8.h"

namespace mynah {
namespace {

using testing::HasSubstr;

std::string said(std::string_view phones, std::string_view word, bool british = false) {
  const auto packed = packed_arpabet(phones);
  return packed ? to_utf8(arpabet_in_kokoro(*packed, word, british)) : "no phones";
}

TEST(Arpabet, is_said_as_misakis_lexicon_has_such_words) {
  EXPECT_EQ(said("D AA1 N AH0 L D", "donald"), "dˈɑnəld");
  EXPECT_EQ(said("HH OW2 Z EY1", "jose"), "hOzˈA") << "no second stress before the first";
  EXPECT_EQ(said("Y OW0 S EH1 M IH0 T IY0", "yosemite"), "jOsˈɛmɪTi") << "a tapped t";
  EXPECT_EQ(said("B AE1 T AH0 N", "batten"), "bˈætᵊn") << "but not in -ten";
  EXPECT_EQ(said("R AE1 N D AH0 L", "randall"), "ɹˈændᵊl");
  EXPECT_EQ(said("SH EH1 R AH0 L", "cheryl"), "ʃˈɛɹəl");
  EXPECT_EQ(said("B ER1 T AH0", "berta"), "bˈɜɹTə");
}

TEST(Arpabet, is_said_in_British_by_its_spelling) {
  EXPECT_EQ(said("D AA1 N AH0 L D", "donald", true), "dˈɒnəld");
  EXPECT_EQ(said("K AA1 N", "khan", true), "kˈɑːn");
  EXPECT_EQ(said("P AA1 R K ER0", "parker", true), "pˈɑːkə");
  EXPECT_EQ(said("N UW1 T AH0 N", "newton", true), "njˈuːtᵊn");
  EXPECT_EQ(said("M AO1 R AH0 S", "morris", true), "mˈɒɹəs");
  EXPECT_EQ(said("N AO1 R AH0", "nora", true), "nˈɔːɹə");
  EXPECT_EQ(said("M ER1 IY0", "murray", true), "mˈʌɹi");
}

TEST(Arpabet, refuses_what_is_no_phone) {
  for (const char* wrong : {"", " ", "X", "AA", "D1", "AA3", "aa1"}) {
    EXPECT_FALSE(packed_arpabet(wrong)) << wrong;
  }
  EXPECT_EQ(arpabet_in_kokoro("\x3F\x02", "a", false), U"ə")
      << "a byte that is none is passed over";
}

std::shared_ptr<const MappedFile> bytes_of(const std::string& table) {
  return MappedFile::from_bytes(std::as_bytes(std::span(table)), "table");
}

TEST(PronouncingTable, finds_the_first_reading_of_each_word) {
  const auto packed = pack_pronouncing_dictionary(
      ";;; ours\nzoe Z OW1 IY0\na AH0\na(2) EY1\ndonald D AA1 N AH0 L D # name\n", "dict");
  ASSERT_TRUE(packed) << packed.error().message;
  const auto table = PronouncingTable::open(bytes_of(*packed));
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->size(), 3U);
  EXPECT_EQ(table->find("a"), packed_arpabet("AH0"));
  EXPECT_EQ(table->find("donald"), packed_arpabet("D AA1 N AH0 L D"));
  EXPECT_EQ(table->find("zoe"), packed_arpabet("Z OW1 IY0"));
  for (const char* none : {"", "Zoe", "donal", "donalds", "zz"}) {
    EXPECT_FALSE(table->find(none)) << none;
  }
}

TEST(PronouncingTable, names_the_line_of_what_is_wrong) {
  const auto packed = pack_pronouncing_dictionary("a AH0\nb B Q\n", "cmudict.dict");
  ASSERT_FALSE(packed);
  EXPECT_THAT(packed.error().message,
              HasSubstr("cmudict.dict, line 2: wanted a word and its phones"));
}

TEST(PronouncingTable, refuses_other_bytes_and_parts_of_a_table) {
  const std::string whole = *pack_pronouncing_dictionary("a AH0\n", "dict");
  for (const std::string& bytes : {std::string(), whole.substr(0, 12), whole.substr(0, 20),
                                   whole + "x", "NYNAHPT1" + whole.substr(8)}) {
    const auto table = PronouncingTable::open(bytes_of(bytes));
    ASSERT_FALSE(table);
    EXPECT_THAT(table.error().message, HasSubstr("mynah pull cmudict --force"));
  }
  std::string outside = whole;
  outside[16] = '\x7F';
  EXPECT_FALSE(PronouncingTable::open(bytes_of(outside))->find("a"));
}

class Names : public testing::Test {
 protected:
  // With the dictionary that tools/fetch_weights.py brings; null without it.
  static std::unique_ptr<Phonemizer> names(bool british = false) {
    EnglishFiles files = english_files_in(test::weights_path("phonemes"), british);
    const std::string dictionary = test::weights_path("cmudict/cmudict.dict");
    if (!std::filesystem::exists(files.tagger) || !std::filesystem::exists(dictionary)) {
      return nullptr;
    }
    const test::TemporaryFolder folder;
    files.dictionary = folder / "cmudict.bin";
    const auto packed = pack_pronouncing_dictionary(test::read_file(dictionary), "cmudict.dict");
    EXPECT_TRUE(packed) << packed.error().message;
    test::write_file(files.dictionary, *packed);
    auto made = english_phonemizer(files, british, nullptr);
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }

  static std::string say(const Phonemizer& phonemizer, std::string_view text) {
    return joined(*phonemizer.phonemes(text));
  }
};

TEST_F(Names, are_said_as_the_dictionary_has_them) {
  const auto phonemizer = names();
  if (phonemizer == nullptr) {
    GTEST_SKIP() << "no lexicons or no dictionary; tools/fetch_weights.py brings them";
  }
  EXPECT_EQ(say(*phonemizer, "Donald and Michelle met Sean. Jose and Ethan drove to Yosemite."),
            "dˈɑnəld ænd mɪʃˈɛl mˈɛt ʃˈɔn. hOzˈA ænd ˈiθən dɹˈOv tə jOsˈɛmɪTi.");
  EXPECT_EQ(say(*phonemizer, "Angela, Pamela, Cheryl, Dylan, Felix, Jorge, Chloe"),
            "ˈænʤələ, pˈæmələ, ʃˈɛɹəl, dˈɪlən, fˈilɪks, hˈɔɹhA, klˈOi");
  EXPECT_EQ(say(*phonemizer, "Jorge's, MICHELLE'S, Felix’s"), "hˈɔɹhAz, mɪʃˈɛlz, fˈilɪksᵻz");
  EXPECT_EQ(say(*phonemizer, "DYLAN, IAN, Beth, Karen"), "dˈɪlən, ˈiən, bˈɛθ, kˈɛɹən");
}

// Where the dictionary has another's name, or none.
TEST_F(Names, of_the_news_are_said_as_newsreaders_do) {
  const auto phonemizer = names();
  if (phonemizer == nullptr) {
    GTEST_SKIP() << "no lexicons or no dictionary; tools/fetch_weights.py brings them";
  }
  EXPECT_EQ(say(*phonemizer, "Macron, Lagarde, Milei, LeBron, Proust, Camus"),
            "mɑkɹˈOn, ləɡˈɑɹd, mɪlˈA, ləbɹˈɑn, pɹˈust, kɑmˈu");
  EXPECT_EQ(say(*phonemizer, "Huawei and Xiaomi in Des Moines"), "hwˈɑwˌA ænd ʃˈWmi ɪn də mˈYn");
}

TEST_F(Names, leave_common_words_as_they_are) {
  const auto phonemizer = names();
  if (phonemizer == nullptr) {
    GTEST_SKIP() << "no lexicons or no dictionary; tools/fetch_weights.py brings them";
  }
  EXPECT_EQ(say(*phonemizer, "Mark the bill. Will it rise? May I? Rose petals."),
            "mˈɑɹk ðə bˈɪl. wˌɪl ɪt ɹˈIz? mˈA ˌI? ɹˈOz pˈɛTᵊlz.");
  EXPECT_EQ(say(*phonemizer, "the FBI, the IRS, US"), "ði ˌɛfbˌiˈI, ði ˌIˌɑɹˈɛs, jˌuˈɛs");
}

TEST_F(Names, with_accents_are_found_without) {
  const auto phonemizer = names();
  if (phonemizer == nullptr) {
    GTEST_SKIP() << "no lexicons or no dictionary; tools/fetch_weights.py brings them";
  }
  EXPECT_EQ(say(*phonemizer, "Zoë, Noël, Chloë, coöperate, Zürich, élite, ÉLITE"),
            "zˈOi, nOˈɛl, klˈOi, kOˈɑpəɹˌAt, zˈuɹɪk, ɪlˈit, ɪlˈit");
  EXPECT_EQ(say(*phonemizer, "touché, papier-mâché, Élysée, Mbappé, Erdoğan"),
            "tuʃˈA, pˌApəɹməʃˈA, ˌAlizˈA, ɛmbˈɑpA, ˈɛɹdəwˌɑn");
  EXPECT_EQ(say(*phonemizer, "a soufflé, à la carte, a coup d'état, raison d'être, résumés"),
            "ɐ suflˈA, ɑ lˌɑ kˈɑɹt, ɐ kˈu dAtˈɑ, ɹˈAsɑn dˈɛtɹə, ɹˈɛzəmˌAz");
  EXPECT_EQ(say(*phonemizer, "jalapeño, Pokémon, Łódź, Malmö"),
            "hˌɑləpˈAnjO, pˈOkAmˌɑn, wˈʊʧ, mˈælmO");
}

TEST_F(Names, have_a_British_reading) {
  const auto phonemizer = names(/*british=*/true);
  if (phonemizer == nullptr) {
    GTEST_SKIP() << "no lexicons or no dictionary; tools/fetch_weights.py brings them";
  }
  EXPECT_EQ(say(*phonemizer, "Donald and Heather Hutton met Pamela Parkinson."),
            "dˈɒnəld and hˈɛðə hˈʌtᵊn mˈɛt pˈamələ pˈɑːkɪnsən.");
}

}  // namespace
}  // namespace mynah

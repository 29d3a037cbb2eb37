// Numbers of other languages: rules, data, and all of it against ICU's words and their phonemes.
#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/process.h"
#include "test_paths.h"
#include "text/phonemes/espeak/espeak_phonemizer.h"
#include "text/spoken/english_spoken.h"
#include "text/spoken/languages/language_files.h"
#include "text/spoken/languages/language_numbers.h"
#include "text/spoken/sentences.h"

namespace mynah {
namespace {

struct Case {
  std::string language;
  std::string type;
  std::string written;
  std::string words;
};

std::vector<Case> read_cases(const std::string& name = "foreign_numbers.tsv") {
  std::ifstream file(test::source_path("tests/text/data/" + name));
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) {
      continue;
    }
    std::array<std::string, 4> fields;
    std::istringstream stream(line);
    for (std::string& field : fields) {
      std::getline(stream, field, '\t');
    }
    cases.push_back({fields[0], fields[1], fields[2], fields[3]});
  }
  return cases;
}

std::string said(const std::string& language, const std::string& text) {
  return spoken_other(text, {.language = language}).text;
}

std::string shared_text(const std::string& name) {
  std::ifstream file(test::shared_path("cases/speak/01-foreign-numbers/" + name));
  std::string line;
  std::getline(file, line);
  return line;
}

TEST(NumberRules, FollowUnicodesFormat) {
  NumberRules rules([](uint64_t n, bool) { return std::string_view(n == 1 ? "one" : "other"); });
  for (const auto* const rule :
       {"0: zero", "1: one", "2: two", "3: three", "5: five", "20: twenty", "21: twenty->%n>",
        "80/20: four-twenty", "81/20: four-twenty->%n>", "100: <%n< hundred",
        "101: <%n< hundred and >%n>", "1000: <%n< $(cardinal,one{thousand}other{thousands})$",
        "1001: <%n< $(cardinal,one{thousand}other{thousands})$ >%n>", "x.x: <%n< point >%n>"}) {
    rules.add("%n", rule);
  }
  const std::map<uint64_t, std::string> words = {
      {21, "twenty-one"},         {80, "four-twenty"},          {85, "four-twenty-five"},
      {200, "two hundred"},       {201, "two hundred and one"}, {1000, "one thousand"},
      {2001, "two thousands one"}};
  for (const auto& [number, expected] : words) {
    EXPECT_EQ(rules.words(number, "%n"), expected) << number;
  }
  EXPECT_EQ(rules.decimal(2, "05", "%n"), "two point zero five");
  EXPECT_EQ(rules.words(1'000'000'000'000'000'000, "%n"), std::nullopt);
  EXPECT_EQ(rules.words(1, "%other"), std::nullopt);
}

TEST(LanguageNumbers, HaveWordsForEveryNumber) {
  for (const std::string tag : {"cs", "de", "es", "fr", "fr-BE", "fr-CH", "hi", "it", "nl", "pl",
                                "pt", "pt-PT", "ru", "sv", "tr", "uk"}) {
    const LanguageNumbers* const language = language_numbers(tag);
    ASSERT_NE(language, nullptr) << tag;
    std::vector<std::string> sets = {language->year_set};
    for (const auto& [gender, set] : language->cardinals) {
      sets.push_back(set);
    }
    for (const auto& [form, ordinal] : language->ordinals) {
      sets.push_back(ordinal.set);
    }
    for (const std::string& set : sets) {
      for (uint64_t number = 1; !set.empty() && number < 3000; ++number) {
        const auto words = language->rules->words(number, set);
        ASSERT_TRUE(words) << tag << " " << set << " " << number;
        ASSERT_EQ(words->find_first_of("%<>=$#{}"), std::string::npos) << *words;
      }
    }
    EXPECT_EQ(language->months.size(), 12U) << tag;
    EXPECT_FALSE(language->units.empty());
    for (const auto& [sign, unit] : language->units) {
      EXPECT_FALSE(unit.forms.empty()) << tag << " " << sign;
    }
  }
  EXPECT_EQ(language_numbers("fi"), nullptr);
  EXPECT_EQ(language_numbers(""), nullptr);
  EXPECT_EQ(language_numbers("shared"), nullptr);
  EXPECT_EQ(language_numbers("de-AT")->year_set, language_numbers("de")->year_set);
}

TEST(ForeignNumbers, AreSaidInTheirLanguagesWords) {
  const std::vector<Case> cases = read_cases();
  std::map<std::string, int> count;
  for (const Case& one : cases) {
    EXPECT_EQ(said(one.language, one.written), one.words) << one.language << " " << one.type;
    ++count[one.language];
  }
  EXPECT_EQ(count.size(), 13U);
  for (const auto& [language, number] : count) {
    EXPECT_EQ(number, 40) << language;
  }
}

// What is compared is what is heard: the phonemes of a line as it is read and of its words.
TEST(ForeignNumbers, HaveThePhonemesOfTheirWords) {
  if (!find_program("espeak-ng")) {
    GTEST_SKIP() << "not here: espeak-ng (apt install espeak-ng)";
  }
  std::map<std::string, std::array<std::string, 2>> texts;  // written and words, by language
  for (const Case& one : read_cases()) {
    texts[one.language][0] += said(one.language, one.written) + ".\n";
    texts[one.language][1] += one.words + ".\n";
  }
  ASSERT_EQ(texts.size(), 13U);
  for (const auto& [language, both] : texts) {
    const auto voice = espeak_phonemizer({.voice = language == "pt" ? "pt-br" : language});
    ASSERT_TRUE(voice) << voice.error().message;
    std::array<std::string, 2> phonemes;
    for (size_t i = 0; i < both.size(); ++i) {
      const auto words = (*voice)->phonemes(both[i], {});
      ASSERT_TRUE(words) << words.error().message;
      for (const PhonemeWord& word : *words) {
        phonemes[i] += word.phonemes + " ";
      }
    }
    EXPECT_GT(phonemes[0].size(), 1000U);
    EXPECT_EQ(phonemes[0], phonemes[1]) << language;
  }
}

TEST(ForeignNumbers, OfTheReportAreRight) {
  MYNAH_SKIP_WITHOUT(test::shared_path("cases/speak/01-foreign-numbers/t.txt"));
  EXPECT_EQ(said("es", shared_text("t.txt")),
            "Cuesta mil doscientos cincuenta euros, hay veintidós coma cinco grados a las quince "
            "treinta, es el primero.");
  EXPECT_EQ(said("it", shared_text("i.txt")), "Costa tremilacinquecento euro alle nove e trenta.");
  EXPECT_EQ(said("fr-FR", shared_text("f.txt")),
            "Il fait vingt-deux virgule cinq degrés le premier mai.");
}

TEST(ForeignNumbers, StandWithWhatTheyCount) {
  const std::vector<std::array<std::string, 3>> cases = {
      {"de", "1 Kind und 1 Frau", "ein Kind und eine Frau"},
      {"de", "am 3. Mai, der 3. Mai", "am dritten Mai, der dritte Mai"},
      {"de", "in der 3. Klasse", "in der dritten Klasse"},
      {"de", "die 1990er Jahre", "die neunzehnhundertneunziger Jahre"},
      {"de", "1 Mio. Euro", "eine Million Euro"},
      {"de", "am 8. und 9. Mai, vom 14.–16. Mai",
       "am achten und neunten Mai, vom vierzehnten bis sechzehnten Mai"},
      {"de", "5,- Euro und 3,–", "fünf Euro und drei"},
      {"de", "CHF 1'250.50", "eintausendzweihundertfünfzig Franken fünfzig"},
      {"pl", "o godz. 8.15 w latach 90.",
       "o godzinie ósmej piętnaście w latach dziewięćdziesiątych."},
      {"ru", "5 и 6 июня в 8.15", "пятого и шестого июня в восемь пятнадцать"},
      {"ru", "в 1941–1945 гг.",
       "в одна тысяча девятьсот сорок первом-одна тысяча девятьсот сорок пятом годах"},
      {"fr", "2 000 000 habitants", "deux millions d'habitants"},
      {"es", "91 123 45 67", "noventa y uno ciento veintitrés cuarenta y cinco sesenta y siete"},
      {"ru", "Цена 1 234,50 рублей или 5 тыс. руб.",
       "Цена одна тысяча двести тридцать четыре рубля пятьдесят копеек или пять тысяч рублей."},
      {"cs", "1. vydání", "první vydání"},
      {"tr", "1. baskı", "birinci baskı"},
      {"es-MX", "$1,250.50 y 22.5 °C",
       "mil doscientos cincuenta pesos con cincuenta centavos y veintidós punto cinco grados "
       "Celsius"},
      {"fr-CH", "71 et 95", "septante-et-un et nonante-cinq"},
      {"fr", "06 12 34 56 78", "zéro six, douze, trente-quatre, cinquante-six, soixante-dix-huit"},
      {"pt-PT", "12,50 €", "doze euros e cinquenta cêntimos"},
      {"ru", "1 книга, 2 книги, 5 книг", "одна книга, две книги, пять книг"},
      {"ru", "в 1985 году, 1985 год",
       "в одна тысяча девятьсот восемьдесят пятом году, "
       "одна тысяча девятьсот восемьдесят пятый год"},
      {"pl", "w 1985 roku, od 1985 roku",
       "w tysiąc dziewięćset osiemdziesiątym piątym roku, od tysiąc dziewięćset osiemdziesiątego "
       "piątego roku"},
      {"tr", "%22,5", "yüzde yirmi iki virgül beş"},
      {"sv", "på 1990-talet", "på nittonhundranittiotalet"},
      {"it", "20° a Roma", "venti gradi a Roma"},
      {"hi", "१२,३४,५६७", "बारह लाख चौंतीस हज़ार पाँच सौ सड़सठ"}};
  for (const auto& [language, written, words] : cases) {
    EXPECT_EQ(said(language, written), words) << language;
  }
}

// docs/spoken-text.md: rows of "language | written | spoken" read as they say.
TEST(ForeignNumbers, OfThePageReadAsItSays) {
  std::ifstream page(test::source_path("docs/spoken-text.md"));
  size_t rows = 0;
  bool shown = false;
  for (std::string line; std::getline(page, line);) {
    if (line == "| Language | Written | Spoken |") {
      shown = true;
      std::getline(page, line);
      continue;
    }
    shown = shown && line.starts_with("| ");
    if (!shown) {
      continue;
    }
    const size_t first = line.find(" | ");
    const size_t second = line.find(" | ", first + 3);
    ASSERT_NE(second, std::string::npos) << line;
    EXPECT_EQ(said(line.substr(2, first - 2), line.substr(first + 3, second - first - 3)) + " |",
              line.substr(second + 3));
    ++rows;
  }
  EXPECT_GE(rows, 14U);
}

TEST(ForeignNumbers, OfSayAsAreOfTheLanguage) {
  const std::vector<TextMark> marks = {
      {.kind = TextMark::Kind::SayAs, .begin = 4, .end = 5, .value = "cardinal", .format = {}}};
  EXPECT_EQ(spoken_other("Die 5 da", {.language = "de"}, marks).text, "Die fünf da");
}

// The sentences of a text, each as it is said, with " / " between.
std::string said_in_sentences(const std::string& language, const std::vector<Sentence>& sentences) {
  std::string all;
  for (const Sentence& sentence : sentences) {
    all += (all.empty() ? "" : " / ") + said(language, sentence.text);
  }
  return all;
}

TEST(OtherLanguages, AreReadAsNewsreadersReadThem) {
  const std::vector<Case> cases = read_cases("language_sentences.tsv");
  EXPECT_GT(cases.size(), 100U);
  for (const Case& one : cases) {
    const auto sentences = split_sentences(one.written, {.language = one.language});
    EXPECT_EQ(said_in_sentences(one.language, sentences), one.words)
        << one.language << " " << one.type << ": " << one.written;
  }
}

TEST(OtherLanguages, HaveTheSameSentencesInAnyPieces) {
  for (const Case& one : read_cases("language_sentences.tsv")) {
    const auto whole = split_sentences(one.written, {.language = one.language});
    for (size_t size = 1; size < 8; ++size) {
      SentenceSplitter splitter({.language = one.language});
      std::vector<Sentence> pieces;
      for (size_t at = 0; at < one.written.size(); at += size) {
        std::ranges::move(splitter.push(std::string_view(one.written).substr(at, size)),
                          std::back_inserter(pieces));
      }
      std::ranges::move(splitter.finish(), std::back_inserter(pieces));
      ASSERT_EQ(pieces.size(), whole.size()) << size << ": " << one.written;
      for (size_t i = 0; i < whole.size(); ++i) {
        EXPECT_EQ(pieces[i].text, whole[i].text) << size;
      }
    }
  }
}

TEST(ForeignNumbers, AreLeftWholeWhereTheirSenseIsNotSure) {
  for (const std::string text :
       {"10.0.0.1", "1.2.3", "3D-Film", "A4", "1/2", "MP3", "4x4", "12345678901234567890.5"}) {
    EXPECT_EQ(said("de", text), text);
  }
  const std::string text = "Hinta on 1.250,50 euroa, 22,5 astetta klo 15:30 (1.000), 50% ja 3D.";
  EXPECT_EQ(said("fi", text), text);
  EXPECT_EQ(spoken_other(text).text, text);
}

TEST(ForeignNumbers, KeepTheBytesTheyCameFrom) {
  const std::string text = "Um 15:30 Uhr 1.250 Euro.";
  const SpokenText spoken = spoken_other(text, {.language = "de"});
  std::vector<std::string> sources;
  for (const SpokenPiece& piece : spoken.pieces) {
    sources.push_back(text.substr(piece.source_begin, piece.source_end - piece.source_begin));
  }
  EXPECT_EQ(sources, (std::vector<std::string>{"Um", "15:30 Uhr", "1.250 Euro", "."}));
}

}  // namespace
}  // namespace mynah

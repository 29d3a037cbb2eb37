#include "text/spoken/abbreviations.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "text/spoken/characters.h"
#include "text/spoken/roman.h"
#include "text/unicode.h"

namespace mynah {
namespace {

using enum AbbreviationStop;

// Readings are those of Merriam-Webster's and the Chicago Manual's lists of abbreviations
// (17th edition, chapter 10).
constexpr std::array kAbbreviations = std::to_array<Abbreviation>({
    // Titles before a name.
    {"mr", "Mister", Never, true},
    {"mrs", "Missus", Never, true},
    {"ms", "Miz", Never, true},
    {"messrs", "Messieurs", Never, true},
    {"mme", "Madame", Never, true},
    {"mlle", "Mademoiselle", Never, true},
    {"dr", "", Never, true},
    {"drs", "Doctors", Never, true},
    {"prof", "Professor", Never},
    {"profs", "Professors", Never},
    {"st", "", Never, true},
    {"sts", "Saints", Never},
    {"rev", "Reverend", Never},
    {"fr", "Father", Never},
    {"hon", "Honorable", Never},
    {"gen", "General", Never},
    {"col", "Colonel", Never},
    {"maj", "Major", Never},
    {"capt", "Captain", Never},
    {"cmdr", "Commander", Never},
    {"cpl", "Corporal", Never},
    {"lt", "Lieutenant", Never},
    {"sgt", "Sergeant", Never},
    {"adm", "Admiral", Never},
    {"gov", "Governor", Never},
    {"sen", "Senator", Never},
    {"rep", "Representative", Never},
    {"pres", "President", Never},
    {"supt", "Superintendent", Never},
    {"atty", "Attorney", Never},
    {"mt", "Mount", Never},
    {"ft", "", Never},
    // Inside a sentence.
    {"e.g", "for example", Never, true},
    {"eg", "for example", Never},
    {"i.e", "that is", Never, true},
    {"ie", "that is", Never},
    {"viz", "namely", Never, true},
    {"cf", "compare", Never, true},
    {"vs", "versus", Never, true},
    {"v", "versus", Never},
    {"approx", "approximately", Never, true},
    {"ca", "circa", Never},
    {"c", "circa", BeforeNumber},
    {"incl", "including", Never, true},
    {"excl", "excluding", Never, true},
    {"resp", "respectively", Never},
    {"esp", "especially", Never},
    {"usu", "usually", Never},
    {"avg", "average", Never, true},
    {"est", "established", BeforeNumber},
    {"w.r.t", "with respect to", Never},
    {"a.k.a", "also known as", Never},
    {"aka", "also known as", Never, true},
    // Before a number.
    {"no", "number", BeforeNumber},
    {"nos", "numbers", BeforeNumber},
    {"nr", "number", BeforeNumber},
    {"p", "page", BeforeNumber},
    {"pp", "pages", BeforeNumber},
    {"pg", "page", BeforeNumber},
    {"fig", "figure", BeforeNumber},
    {"figs", "figures", BeforeNumber},
    {"vol", "volume", BeforeNumber},
    {"vols", "volumes", BeforeNumber},
    {"ch", "chapter", BeforeNumber},
    {"chap", "chapter", BeforeNumber},
    {"sec", "section", BeforeNumber},
    {"sect", "section", BeforeNumber},
    {"eq", "equation", BeforeNumber},
    {"eqs", "equations", BeforeNumber},
    {"eqn", "equation", BeforeNumber},
    {"eqns", "equations", BeforeNumber},
    {"ref", "reference", BeforeNumber},
    {"refs", "references", BeforeNumber},
    {"ex", "example", BeforeNumber},
    {"art", "article", BeforeNumber},
    {"para", "paragraph", BeforeNumber},
    {"par", "paragraph", BeforeNumber},
    {"ed", "edition", BeforeNumber},
    {"tab", "table", BeforeNumber},
    {"app", "appendix", BeforeNumber},
    {"op", "opus", BeforeNumber},
    {"ext", "extension", BeforeNumber},
    {"apt", "apartment", BeforeNumber},
    {"rm", "room", BeforeNumber},
    {"ste", "suite", BeforeNumber},
    {"tel", "telephone", BeforeNumber},
    {"ver", "version", BeforeNumber},
    {"l", "line", BeforeNumber},
    {"ll", "lines", BeforeNumber},
    {"b", "born", BeforeNumber},
    {"d", "died", BeforeNumber},
    {"rs", "rupees", BeforeNumber},
    // At the end of a phrase, or of a sentence.
    {"etc", "et cetera", AtCapital, true},
    {"al", "al", AtCapital},
    {"ibid", "ibidem", AtCapital},
    {"jr", "Junior", AtStarter, true},
    {"sr", "Senior", AtStarter, true},
    {"esq", "Esquire", AtCapital, true},
    {"inc", "Incorporated", AtStarter},
    {"ltd", "Limited", AtStarter, true},
    {"corp", "Corporation", AtStarter},
    {"co", "Company", AtStarter},
    {"cos", "Companies", AtStarter},
    {"bros", "Brothers", AtStarter, true},
    {"dept", "Department", AtStarter, true},
    {"univ", "University", AtStarter},
    {"govt", "government", AtStarter, true},
    {"assn", "Association", AtStarter},
    {"ave", "Avenue", AtStarter},
    {"blvd", "Boulevard", AtStarter, true},
    {"rd", "Road", AtStarter},
    {"ln", "Lane", AtStarter},
    {"hwy", "Highway", AtStarter, true},
    {"pkwy", "Parkway", AtStarter, true},
    {"sq", "Square", AtStarter},
    {"misc", "miscellaneous", AtCapital, true},
    {"max", "maximum", AtCapital},
    {"min", "minimum", AtCapital},
    {"temp", "temperature", AtCapital},
    {"tbsp", "tablespoons", AtCapital, true},
    {"tsp", "teaspoons", AtCapital, true},
    {"ft-lb", "foot pounds", AtCapital, true},
    {"a.m", "", AtCapital},
    {"p.m", "", AtCapital},
    {"u.s", "", AtStarter},
    {"u.k", "", AtStarter},
    {"u.n", "", AtStarter},
    {"e.u", "", AtStarter},
    {"u.s.a", "", AtStarter},
    {"d.c", "", AtStarter},
    {"b.c", "", AtStarter},
    {"a.d", "", AtStarter},
    {"b.c.e", "", AtStarter},
    {"c.e", "", AtStarter},
    {"ph.d", "P H D", AtStarter},
    {"m.d", "", AtStarter},
    {"b.a", "", AtStarter},
    {"m.a", "", AtStarter},
    {"b.sc", "B S C", AtStarter},
    {"m.sc", "M S C", AtStarter},
    {"p.s", "", AtCapital},
    {"r.i.p", "", AtStarter},
    {"p.o", "", Never},
    // Months and days.
    {"jan", "January", AtStarter},
    {"feb", "February", AtStarter},
    {"mar", "March", BeforeNumber},
    {"apr", "April", AtStarter},
    {"jun", "June", AtStarter},
    {"jul", "July", AtStarter},
    {"aug", "August", AtStarter},
    {"sep", "September", AtStarter},
    {"sept", "September", AtStarter, true},
    {"oct", "October", AtStarter},
    {"nov", "November", AtStarter},
    {"dec", "December", AtStarter},
    {"mon", "Monday", AtStarter},
    {"tue", "Tuesday", AtStarter},
    {"tues", "Tuesday", AtStarter},
    {"thu", "Thursday", AtStarter},
    {"thur", "Thursday", AtStarter},
    {"thurs", "Thursday", AtStarter},
    {"fri", "Friday", AtStarter},
    // Units, whose words depend on the number before them.
    {"mi", "", AtCapital},
    {"yd", "", AtCapital},
    {"hr", "hour", AtCapital},
    {"hrs", "hours", AtCapital, true},
    {"mins", "minutes", AtCapital, true},
    {"secs", "seconds", AtCapital, true},
    {"yr", "year", AtCapital, true},
    {"yrs", "years", AtCapital, true},
    {"lb", "", AtCapital},
    {"lbs", "pounds", AtCapital, true},
    {"oz", "", AtCapital},
});

constexpr auto kStarters = std::to_array<std::string_view>(
    {"the",     "a",         "an",      "it",    "he",    "she",   "we",    "they",  "you",
     "i",       "this",      "that",    "these", "those", "there", "here",  "but",   "and",
     "or",      "so",        "yet",     "in",    "on",    "at",    "by",    "for",   "from",
     "with",    "after",     "before",  "when",  "while", "if",    "as",    "since", "because",
     "then",    "now",       "however", "what",  "who",   "where", "why",   "how",   "is",
     "are",     "was",       "do",      "did",   "can",   "my",    "your",  "his",   "her",
     "its",     "our",       "their",   "no",    "not",   "yes",   "all",   "some",  "many",
     "most",    "one",       "another", "also",  "both",  "each",  "every", "let",   "to",
     "despite", "therefore", "today"});

// Short forms of measures that are other words where no number stands before them, or that the
// table above has as such.
constexpr auto kMeasures = std::to_array<std::string_view>(
    {"in",  "c",   "pt",  "pts", "qt", "qts", "gal", "gals", "mo",   "mos",  "wk",
     "wks", "yds", "sec", "ft",  "cu", "sq",  "doz", "pkg",  "pkgs", "tsps", "tbsps",
     "tbs", "ml",  "km",  "cm",  "mm", "kg",  "g",   "l",    "deg"});

}  // namespace

bool is_numbered(std::string_view abbreviation, char32_t next, std::string_view next_word) {
  if (abbreviation == "b" || abbreviation == "d") {
    return next_word.size() > 2 && next_word.size() < 5 &&
           std::ranges::all_of(next_word, is_ascii_digit);
  }
  if (decimal_digit(next).has_value() || next == U'#') {
    return true;
  }
  if (abbreviation == "no" || abbreviation == "nos") {
    return next_word == "of";
  }
  const bool roman =
      !next_word.empty() && next_word.find_first_not_of("IVXLC") == std::string_view::npos;
  // One small letter alone is a page's number.
  const bool page = abbreviation == "p" || abbreviation == "pp";
  return roman || ((page || next_word.size() > 1) && small_roman_value(next_word) != 0);
}

bool is_measure(std::string_view lower) {
  return std::ranges::find(kMeasures, lower) != kMeasures.end();
}

const Abbreviation* find_abbreviation(std::string_view lower) {
  static const auto* const table = [] {
    auto* map = new std::unordered_map<std::string_view, const Abbreviation*>();
    for (const Abbreviation& abbreviation : kAbbreviations) {
      map->emplace(abbreviation.written, &abbreviation);
    }
    return map;
  }();
  const auto found = table->find(lower);
  return found == table->end() ? nullptr : found->second;
}

bool is_lettered(std::string_view lower) {
  constexpr auto kLettered = std::to_array<std::string_view>(
      {"plan", "vitamin", "grade", "type", "class", "group", "option", "team", "part", "section",
       "exhibit", "hepatitis", "point", "appendix", "schedule", "side", "answer", "blood"});
  return std::ranges::find(kLettered, lower) != kLettered.end();
}

bool is_sentence_starter(std::string_view lower) {
  return std::ranges::find(kStarters, lower) != kStarters.end();
}

}  // namespace mynah

// What a language writes and says for numbers: its rules, words and customs, read from data.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/spoken/languages/number_rules.h"

namespace mynah {

// What is counted: what is said around a number's words ("{0} Kilometer") by the number's class,
// and the gender that the number takes with it ("masculine", "feminine", "neuter").
struct CountedNoun {
  std::map<std::string, std::string, std::less<>> forms;
  std::string gender = "masculine";
};

struct CurrencyWords {
  CountedNoun whole;
  CountedNoun part;  // its hundredth; no forms: decimals are read as decimals
};

// An ordinal: a set of rules, and what stands for single characters of its words: "*" is "ego" in
// the genitive where a language has the same stems with many endings.
struct OrdinalForm {
  std::string set;
  std::vector<std::pair<std::string, std::string>> endings;
};

// How the word behind a number shows its gender, or the form of an ordinal.
struct EndingRules {
  std::map<std::string, std::string, std::less<>> words;     // whole words come first
  std::vector<std::pair<std::string, std::string>> endings;  // then the first ending that fits
};

using WordMap = std::map<std::string, std::string, std::less<>>;

// How Roman numerals are said. A form is one of the ordinals, with words that are said before it
// ("der e": "Friedrich der Zweite"), or "cardinal".
struct RomanWords {
  WordMap suffixes;            // letters that touch the numeral: "XXe"
  EndingRules behind;          // the form before a word: "XX wiek"
  EndingRules behind_capital;  // the same of any capitalised word: "II Cumbre"
  WordMap before;              // the form behind a word: "siglo XX"
  WordMap names;               // behind a ruler's name: "Felipe VI"
  WordMap after;               // another form behind a preposition: "unter der e": "dem n"
  WordMap shorts;              // words cut short behind it: "в.": "века"
  WordMap range_behind;        // the form of both before a word in the plural: "XIX–XX вв."
  WordMap endings;             // what is added to the words: ":s": "s"
  WordMap joints;              // "y" in "siglos XIX y XX"
  unsigned most = 3999;        // greater ones are cardinals behind words and names
};

// The case that a number has behind a preposition, or before a noun that shows it, or both.
struct CaseRule {
  std::string name;                  // "genitive": of `cardinals` "masculine-genitive"; empty: none
  WordMap before;                    // empty: any word
  std::vector<std::string> endings;  // of the noun; empty: any
  uint64_t most = UINT64_MAX;        // greater numbers have it not
};

struct LanguageNumbers {
  LanguageNumbers() = default;

  std::shared_ptr<NumberRules> rules;
  PluralOf plural = nullptr;

  std::string decimal = ",";   // the sign before decimals
  std::string groups = ".' ";  // signs between groups of three
  bool lakhs = false;          // groups of two before the last ("1,25,000")

  WordMap cardinals;  // by gender; "" is counting
  std::map<std::string, OrdinalForm, std::less<>> ordinals;
  WordMap ordinal_suffixes;          // "er" in "1er": a form of `ordinals`
  std::string compound_set;          // of numbers that begin a word: "8-летний"
  bool ordinal_capital = false;      // "2. Mahmut": an ordinal before any word
  WordMap number_suffixes;           // "er" in "90er": what is added to the year's words
  bool apostrophe_suffixes = false;  // "15'te": letters behind an apostrophe join the words
  WordMap starters;                  // words that often begin sentences: "The", and prepositions
  WordMap lettered;                  // words before a letter that is a name: "vitamin C"
  bool capital_nouns = false;        // nouns begin with capitals
  bool roman_stop = false;           // "Karl IV." is an ordinal
  bool ordinal_stop = false;         // "3." is an ordinal
  WordMap ordinal_after;             // "v století": the form between two words; "* století"
  WordMap ordinal_before;            // the form behind this word ("am": "n")
  std::string ordinal_default;       // the form before words that show none
  EndingRules ordinal_behind;        // the form before a word
  std::string ordinal_day;           // the form of a day before its month; empty: a cardinal
  WordMap day_before;                // the form of a day behind a preposition
  std::string ordinal_first_day;     // the same of the first alone
  std::string day_gender;            // of a day as a cardinal

  std::vector<CaseRule> cases;       // the first that fits
  EndingRules genders;               // of nouns behind a number
  EndingRules genders_of_one;        // of nouns in the singular, where their endings mean another
  bool only_one_has_gender = false;  // other numbers have none
  bool decimal_cases = false;        // "около двух целых пяти десятых"
  WordMap height_before;             // "mesure 1,75 m": metres and hundredths, unnamed
  WordMap phone_before;              // words before a telephone number
  WordMap score_words;               // words near a result: "21:19" is no time
  bool phone_pairs = false;          // telephone numbers are read in pairs of digits

  RomanWords roman;
  WordMap fractions;  // "1/2", "1/2 feminine", "1 1/2", "+1/2" behind a number, "of" before nouns

  // Years: a set of rules, the years that it is for, and the words that they stand behind.
  std::string year_set;
  unsigned year_low = 0;
  unsigned year_high = 0;
  WordMap year_before;         // "seit", "in": any value
  WordMap year_behind;         // "году": the ordinal's form; "" is a cardinal
  WordMap century_words;       // "веке": a number before it is an ordinal
  WordMap year_behind_after;   // the word before the year that makes another form of it
  WordMap year_short;          // "r.": the word that it is cut from
  WordMap years_short;         // "гг.", "в гг.": form and noun of a range of years
  WordMap weekdays;            // "am Donnerstag, 3. Oktober"
  WordMap day_joints;          // "und": between two days of one month
  WordMap decade_before;       // "lata": the form of the decade behind it
  std::string date_year;       // the ordinal's form of a date's year; empty: a cardinal
  std::string date_year_word;  // said behind a date's year
  std::string date_joint;      // "de", between day, month and year

  std::string time;       // "{h} Uhr {m}"
  std::string full_hour;  // "{h} Uhr"
  std::string one_hour;   // of one alone; empty: as the others
  std::string one_time;   // the same with minutes
  std::string hour_form;  // an ordinal's form: "piętnasta trzydzieści"
  WordMap hour_before;    // the word before a time that makes another form of the hour
  std::string hour_gender;
  std::string minute_gender;
  std::string minute_zero;  // said before a minute below ten
  WordMap time_signs;       // what stands between hour and minute: ":" "h" "."; "?" with a word
  WordMap time_before;      // words that make a time of "9.30"
  WordMap hour_alone;       // words before an hour without minutes: "o 18"
  WordMap hour_behind;      // words behind such an hour: "o 7 rano"
  WordMap hour_nouns;       // the form of an hour before a word: "18 годині"
  WordMap time_named;       // words behind that make a time of "9.30" and stay
  WordMap time_behind;      // words behind that belong to a time: "Uhr"

  std::vector<std::string> months;  // as they stand behind a day
  WordMap month_of;                 // any form of a month, in small letters: its number
  std::string date_order = "dmy";

  std::map<std::string, CountedNoun, std::less<>> units;         // by sign
  WordMap unit_signs;                                            // other signs: "км": "km"
  std::map<std::string, CurrencyWords, std::less<>> currencies;  // by ISO code
  WordMap currency_signs;                                        // "€": "EUR"
  std::string cents_joint;                                       // "con"
  bool cents_named = true;                                       // "fifty cents", not "fifty"
  std::string of;        // "de": behind millions, before what is counted
  std::string of_vowel;  // the same before a vowel
  WordMap of_endings;    // of words that it is said before: "millón de habitantes"
  std::map<std::string, CountedNoun, std::less<>> magnitudes;  // "Mio."
  WordMap thousands;                                           // "mil" behind digits
  WordMap before;                                              // "Nr.": "Nummer"
  WordMap signs;                                               // "-": "minus", "range": "bis"
  WordMap address;                                             // ".": "Punkt" in "spiegel.de"
  WordMap domains;                                             // "de": ends of hosts without "www."
};

// The numbers of a language by its BCP 47 tag, a country's own before the language's; nothing where
// mynah has no data of it. Any number of threads may ask.
[[nodiscard]] const LanguageNumbers* language_numbers(std::string_view tag);

}  // namespace mynah

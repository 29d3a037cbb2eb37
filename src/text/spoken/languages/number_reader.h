// Reads what begins with a number, or with a sign of one, in a language's words.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "text/spoken/languages/language_numbers.h"
#include "text/spoken/languages/number_scan.h"

namespace mynah {

// What was read: how far, and the words for it.
struct SaidNumber {
  size_t end = 0;
  std::string words;
};

class NumberReader {
 public:
  NumberReader(std::string_view text, const LanguageNumbers& language)
      : text_(text), language_(language) {}

  // What begins at `at`. None where nothing there is a number, or what it means is not sure: then
  // the voice has its digits as they stand.
  [[nodiscard]] std::optional<SaidNumber> read(size_t at) const;

  // A Roman numeral that begins at `at`, where a word begins, by what stands around it.
  [[nodiscard]] std::optional<SaidNumber> read_roman(size_t at) const;

 private:
  // A day, a month and, in most dates, a year.
  struct Date {
    size_t end = 0;
    unsigned day = 0;
    unsigned month = 0;
    std::string year;      // its digits; empty: none
    bool stopped = false;  // the day is written as an ordinal
  };

  struct Clock {
    size_t end = 0;
    unsigned hour = 0;
    unsigned minute = 0;
    std::string_view seconds;
  };

  // A number with what is counted, before it is said.
  struct Amount {
    WrittenNumber number;
    size_t end = 0;
    const CountedNoun* magnitude = nullptr;  // "Millionen"
    const CountedNoun* noun = nullptr;       // a unit or currency
    const CurrencyWords* currency = nullptr;
    std::string_view noun_case;  // "genitive"; empty: none
  };

  // number_reader.cpp
  [[nodiscard]] std::optional<SaidNumber> read_alone(size_t at) const;
  [[nodiscard]] std::optional<SaidNumber> read_signed(size_t at) const;
  [[nodiscard]] std::optional<SaidNumber> read_ordinal(size_t at) const;
  [[nodiscard]] std::optional<SaidNumber> read_stopped(size_t at) const;
  [[nodiscard]] bool is_numbered_at(size_t at) const;
  [[nodiscard]] std::string stopped_form(size_t at, size_t stop) const;
  [[nodiscard]] std::string between_words(size_t at, std::string_view behind) const;
  [[nodiscard]] std::optional<SaidNumber> read_suffixed(size_t at) const;
  [[nodiscard]] std::optional<SaidNumber> read_compound(const WrittenNumber& number) const;
  [[nodiscard]] std::optional<std::string> cardinal(const WrittenNumber& number,
                                                    std::string_view gender) const;
  [[nodiscard]] std::optional<std::string> ordinal(uint64_t number, std::string_view form) const;
  [[nodiscard]] std::string sign(std::string_view name) const;
  [[nodiscard]] std::string_view gender_behind(const WrittenNumber& number) const;
  [[nodiscard]] WordMap::const_iterator find_before(const WordMap& map, size_t at) const;
  [[nodiscard]] bool is_degree_at(size_t behind) const;
  [[nodiscard]] static std::string by_ending(const EndingRules& rules, std::string_view word);

  // number_amounts.cpp
  [[nodiscard]] std::optional<SaidNumber> read_amount(size_t at) const;
  [[nodiscard]] std::optional<SaidNumber> read_currency_first(size_t at) const;
  [[nodiscard]] std::optional<Amount> amount_at(size_t at) const;
  void add_noun(Amount& amount) const;
  [[nodiscard]] std::string_view case_at(size_t at, const Amount& amount) const;
  [[nodiscard]] std::string_view case_behind(std::string_view before, const Amount& amount) const;
  [[nodiscard]] std::optional<SaidNumber> read_score(const Amount& first, Amount second,
                                                     bool falling) const;
  [[nodiscard]] std::optional<SaidNumber> read_pair(size_t at) const;
  [[nodiscard]] std::string read_per(size_t& end) const;
  [[nodiscard]] static std::string in_case(std::string_view gender, std::string_view noun_case);
  [[nodiscard]] std::optional<size_t> range_at(size_t at) const;
  [[nodiscard]] std::optional<std::string> say_bare(const Amount& amount) const;
  [[nodiscard]] std::optional<std::string> say(const Amount& amount) const;
  [[nodiscard]] std::optional<std::string> say_height(const Amount& amount, size_t at) const;
  [[nodiscard]] std::optional<std::string> say_money(const Amount& amount) const;
  [[nodiscard]] std::string of_before(std::string_view word) const;
  [[nodiscard]] std::string in_form(const CountedNoun& noun, const Amount& amount,
                                    const std::string& words) const;
  [[nodiscard]] const CurrencyWords* currency_of(std::string_view sign) const;

  // number_phones.cpp
  [[nodiscard]] std::optional<SaidNumber> read_digits(size_t at) const;
  [[nodiscard]] bool is_phone_at(size_t at) const;

  // number_fractions.cpp
  [[nodiscard]] std::optional<SaidNumber> read_fraction(size_t at) const;
  [[nodiscard]] std::optional<SaidNumber> around_noun(const Amount& amount, std::string_view word,
                                                      std::string said,
                                                      const std::string& number) const;
  [[nodiscard]] std::string fraction_words(std::string_view key, std::string_view gender) const;

  // number_roman.cpp
  struct Roman {
    size_t end = 0;  // behind the letters that touch it
    unsigned value = 0;
    std::string suffix_form;  // empty: none
    bool alone = false;       // one letter
  };

  [[nodiscard]] std::optional<Roman> roman_at(size_t at) const;
  [[nodiscard]] size_t roman_front(size_t at) const;
  [[nodiscard]] std::pair<std::string, size_t> roman_form(size_t at, const Roman& last,
                                                          bool range) const;
  [[nodiscard]] std::string form_before_noun(size_t at, std::string_view noun) const;
  [[nodiscard]] std::string roman_form_before(size_t at, const Roman& numeral) const;
  [[nodiscard]] std::optional<std::string> say_roman(const Roman& numeral,
                                                     std::string_view form) const;

  // number_dates.cpp
  [[nodiscard]] std::optional<SaidNumber> read_date(size_t at) const;
  [[nodiscard]] std::optional<SaidNumber> read_days(size_t at) const;
  [[nodiscard]] std::optional<SaidNumber> read_years(const WrittenNumber& first,
                                                     const WrittenNumber& second, size_t at) const;
  [[nodiscard]] std::optional<SaidNumber> read_year(const WrittenNumber& number, size_t at) const;
  [[nodiscard]] std::optional<Date> numeric_date(size_t at) const;
  [[nodiscard]] std::optional<Date> iso_date(size_t at) const;
  [[nodiscard]] std::optional<Date> named_date(size_t at) const;
  [[nodiscard]] size_t before_weekday(size_t at) const;
  [[nodiscard]] std::optional<std::string> say_date(const Date& date, size_t at) const;
  [[nodiscard]] std::optional<std::string> year_words(uint64_t year) const;

  // number_times.cpp
  [[nodiscard]] std::optional<SaidNumber> read_time(size_t at) const;
  [[nodiscard]] std::optional<Clock> clock_at(size_t at) const;
  [[nodiscard]] bool is_clock_range(size_t at) const;
  [[nodiscard]] bool is_score_at(size_t at) const;
  [[nodiscard]] std::optional<SaidNumber> read_hour(size_t at) const;
  [[nodiscard]] std::optional<std::string> say_clock(const Clock& clock, size_t at) const;

  std::string_view text_;
  const LanguageNumbers& language_;
};

}  // namespace mynah

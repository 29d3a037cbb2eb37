#include "text/spoken/languages/language_numbers.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "text/spoken/languages/language_files.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

using Json = nlohmann::json;

// Classes of whole numbers and decimals (CLDR 42, plurals.xml).
std::string_view plural_one(uint64_t n, bool decimals) {
  return n == 1 && !decimals ? "one" : "other";
}

// Below two is one, with decimals too.
std::string_view plural_below_two(uint64_t n, bool) {
  return n < 2 ? "one" : "other";
}

std::string_view plural_hindi(uint64_t n, bool decimals) {
  return n == 0 || (n == 1 && !decimals) ? "one" : "other";
}

std::string_view plural_czech(uint64_t n, bool decimals) {
  if (decimals) {
    return "many";
  }
  return n == 1 ? "one" : n >= 2 && n <= 4 ? "few" : "other";
}

bool is_few(uint64_t n) {
  return n % 10 >= 2 && n % 10 <= 4 && (n % 100 < 12 || n % 100 > 14);
}

std::string_view plural_polish(uint64_t n, bool decimals) {
  if (decimals) {
    return "other";
  }
  return n == 1 ? "one" : is_few(n) ? "few" : "many";
}

std::string_view plural_russian(uint64_t n, bool decimals) {
  if (decimals) {
    return "other";
  }
  return n % 10 == 1 && n % 100 != 11 ? "one" : is_few(n) ? "few" : "many";
}

PluralOf plural_of(std::string_view name) {
  const std::pair<std::string_view, PluralOf> rules[] = {
      {"one", plural_one},     {"below two", plural_below_two}, {"hindi", plural_hindi},
      {"czech", plural_czech}, {"polish", plural_polish},       {"russian", plural_russian}};
  for (const auto& [known, rule] : rules) {
    if (known == name) {
      return rule;
    }
  }
  MYNAH_CHECK(false, name);
  return nullptr;
}

Json parse(std::string_view name) {
  for (const LanguageFile& file : language_files()) {
    if (file.name == name) {
      Json json = Json::parse(file.text, nullptr, false);
      MYNAH_CHECK(json.is_object(), name);
      return json;
    }
  }
  return {};
}

void read(const Json& json, const char* key, std::string& into) {
  into = json.value(key, into);
}

void read(const Json& json, const char* key, WordMap& into) {
  if (const auto found = json.find(key); found != json.end()) {
    for (const auto& [word, value] : found->items()) {
      into[word] = value.get<std::string>();
    }
  }
}

// Words that all mean the same: "seit in ab".
void read_words(const Json& json, const char* key, WordMap& into) {
  const std::string words = json.value(key, std::string());
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find(' ', at), words.size());
    into[words.substr(at, end - at)] = "";
    at = end + 1;
  }
}

// "Stunde Minute": the value, for each of several words or endings.
EndingRules read_endings(const Json& json, const char* key) {
  EndingRules rules;
  const auto found = json.find(key);
  if (found == json.end()) {
    return rules;
  }
  for (const auto& [value, lists] : found->items()) {
    WordMap words;
    WordMap endings;
    read_words(lists, "words", words);
    read_words(lists, "endings", endings);
    for (const auto& [word, none] : words) {
      rules.words[word] = value;
    }
    for (const auto& [ending, none] : endings) {
      rules.endings.emplace_back(ending, value);
    }
  }
  // The longest first: "-ción" is more than "-n".
  std::ranges::stable_sort(rules.endings, std::greater<>(),
                           [](const auto& ending) { return ending.first.size(); });
  return rules;
}

CountedNoun read_noun(const Json& json) {
  CountedNoun noun;
  for (const auto& [key, value] : json.items()) {
    if (key == "gender") {
      noun.gender = value.get<std::string>();
    } else if (value.is_string()) {
      const auto form = value.get<std::string>();
      noun.forms[key] = form.find("{0}") == std::string::npos ? "{0} " + form : form;
    }
  }
  return noun;
}

// Months by all their forms, in small letters.
void read_months(const Json& json, LanguageNumbers& numbers) {
  for (const char* const key : {"months", "short_months", "other_months"}) {
    const auto found = json.find(key);
    if (found == json.end()) {
      continue;
    }
    for (size_t i = 0; i < found->size(); ++i) {
      const auto name = (*found)[i].get<std::string>();
      numbers.month_of[to_utf8(to_lower(to_code_points(name)))] = std::to_string(i);
      if (key == std::string_view("months")) {
        numbers.months.resize(found->size());
        numbers.months[i] = name;
      }
    }
  }
}

void read_ordinals(const Json& json, LanguageNumbers& numbers) {
  const auto found = json.find("ordinals");
  if (found == json.end()) {
    return;
  }
  for (const auto& [form, value] : found->items()) {
    OrdinalForm& ordinal = numbers.ordinals[form];
    ordinal = {.set = value[0].get<std::string>(), .endings = {}};
    for (size_t i = 1; i + 1 < value.size(); i += 2) {
      ordinal.endings.emplace_back(value[i].get<std::string>(), value[i + 1].get<std::string>());
    }
  }
}

void read_rules(const Json& json, NumberRules& rules) {
  if (const auto found = json.find("rules"); found != json.end()) {
    for (const auto& [set, lines] : found->items()) {
      rules.clear(set);
      for (const Json& line : lines) {
        rules.add(set, line.get<std::string>());
      }
    }
  }
}

void read_counted(const Json& json, LanguageNumbers& numbers) {
  if (const auto units = json.find("units"); units != json.end()) {
    for (const auto& [sign, noun] : units->items()) {
      // "км": "km" is another way to write it.
      if (noun.is_null()) {
        numbers.units.erase(sign);  // a word of this language
        continue;
      }
      if (noun.is_string()) {
        numbers.unit_signs[sign] = noun.get<std::string>();
      } else {
        numbers.units[sign] = read_noun(noun);
      }
    }
  }
  read(json, "unit_signs", numbers.unit_signs);
  if (const auto genders = json.find("unit_genders"); genders != json.end()) {
    for (const auto& [gender, words] : genders->items()) {
      WordMap signs;
      read_words(*genders, gender.c_str(), signs);
      for (const auto& [sign, none] : signs) {
        const auto unit = numbers.units.find(sign);
        MYNAH_CHECK(unit != numbers.units.end(), sign);
        unit->second.gender = gender;
      }
    }
  }
  if (const auto currencies = json.find("currencies"); currencies != json.end()) {
    for (const auto& [code, words] : currencies->items()) {
      CurrencyWords& currency = numbers.currencies[code];
      currency.whole = read_noun(words);
      if (const auto part = words.find("part"); part != words.end()) {
        currency.part = read_noun(*part);
      }
    }
  }
}

// ["genitive", "от до", "endings"]
void read_cases(const Json& json, std::vector<CaseRule>& cases) {
  const auto found = json.find("cases");
  if (found == json.end()) {
    return;
  }
  for (const Json& row : *found) {
    CaseRule rule{
        .name = row[0].get<std::string>(), .before = {}, .endings = {}, .most = UINT64_MAX};
    rule.name = rule.name == "none" ? "" : rule.name;
    read_words({{"words", row[1]}}, "words", rule.before);
    WordMap endings;
    read_words({{"words", row[2]}}, "words", endings);
    for (const auto& [ending, none] : endings) {
      rule.endings.push_back(ending);
    }
    constexpr size_t kMost = 3;
    rule.most = row.size() > kMost ? row[kMost].get<uint64_t>() : rule.most;
    cases.push_back(std::move(rule));
  }
}

void read_times(const Json& json, LanguageNumbers& numbers) {
  const Json times = json.value("times", Json::object());
  read(times, "time", numbers.time);
  read(times, "full_hour", numbers.full_hour);
  read(times, "one_hour", numbers.one_hour);
  read(times, "one_time", numbers.one_time);
  read(times, "hour_form", numbers.hour_form);
  read(times, "hour_before", numbers.hour_before);
  read(times, "hour_gender", numbers.hour_gender);
  read(times, "minute_gender", numbers.minute_gender);
  read(times, "minute_zero", numbers.minute_zero);
  read_words(times, "signs", numbers.time_signs);
  read_words(times, "before", numbers.time_before);
  read_words(times, "hour_alone", numbers.hour_alone);
  read_words(times, "hour_behind", numbers.hour_behind);
  read(times, "hour_nouns", numbers.hour_nouns);
  read_words(times, "named", numbers.time_named);
  read_words(times, "behind", numbers.time_behind);
}

void read_dates(const Json& json, LanguageNumbers& numbers) {
  const Json dates = json.value("dates", Json::object());
  read(dates, "order", numbers.date_order);
  read(dates, "day", numbers.ordinal_day);
  read(dates, "before", numbers.day_before);
  read(dates, "first_day", numbers.ordinal_first_day);
  read(dates, "day_gender", numbers.day_gender);
  read(dates, "year", numbers.date_year);
  read(dates, "year_word", numbers.date_year_word);
  read(dates, "joint", numbers.date_joint);
  const Json years = json.value("years", Json::object());
  read(years, "set", numbers.year_set);
  numbers.year_low = years.value("low", numbers.year_low);
  numbers.year_high = years.value("high", numbers.year_high);
  read_words(years, "before", numbers.year_before);
  read(years, "behind", numbers.year_behind);
  read_words(years, "century_words", numbers.century_words);
  read(years, "behind_after", numbers.year_behind_after);
  read(years, "short", numbers.year_short);
  read(years, "range_short", numbers.years_short);
  read(years, "decade_before", numbers.decade_before);
  read_words(dates, "weekdays", numbers.weekdays);
  read_words(dates, "day_joints", numbers.day_joints);
}

// "glava kniha": the value, for each of several words.
void read_inverse(const Json& json, const char* key, WordMap& into) {
  const Json lists = json.value(key, Json::object());
  for (const auto& [value, list] : lists.items()) {
    WordMap words;
    read_words(lists, value.c_str(), words);
    for (const auto& [word, none] : words) {
      into[word] = value;
    }
  }
}

void read_roman(const Json& json, RomanWords& roman) {
  const auto found = json.find("roman");
  if (found == json.end()) {
    return;
  }
  read(*found, "suffixes", roman.suffixes);
  roman.behind = read_endings(*found, "behind");
  roman.behind_capital = read_endings(*found, "behind_capital");
  read_inverse(*found, "before", roman.before);
  read_inverse(*found, "names", roman.names);
  read(*found, "after", roman.after);
  read(*found, "short", roman.shorts);
  read(*found, "range_behind", roman.range_behind);
  read(*found, "ending", roman.endings);
  read_words(*found, "joints", roman.joints);
  roman.most = found->value("most", roman.most);
}

void read_into(const Json& json, LanguageNumbers& numbers) {
  if (json.is_null()) {
    return;
  }
  if (json.contains("plural")) {
    numbers.plural = plural_of(json["plural"].get<std::string>());
  }
  if (numbers.rules == nullptr) {
    numbers.rules = std::make_shared<NumberRules>(numbers.plural);
  }
  read(json, "decimal", numbers.decimal);
  read(json, "groups", numbers.groups);
  numbers.lakhs = json.value("lakhs", numbers.lakhs);
  read_rules(json, *numbers.rules);
  read(json, "cardinals", numbers.cardinals);
  read_ordinals(json, numbers);
  read(json, "ordinal_suffixes", numbers.ordinal_suffixes);
  read(json, "number_suffixes", numbers.number_suffixes);
  read(json, "compound_set", numbers.compound_set);
  numbers.ordinal_capital = json.value("ordinal_capital", numbers.ordinal_capital);
  numbers.ordinal_stop = json.value("ordinal_stop", numbers.ordinal_stop);
  read_words(json, "phone_before", numbers.phone_before);
  read_words(json, "score_words", numbers.score_words);
  read_words(json, "starters", numbers.starters);
  read_words(json, "lettered", numbers.lettered);
  read(json, "address", numbers.address);
  read_words(json, "domains", numbers.domains);
  numbers.capital_nouns = json.value("capital_nouns", numbers.capital_nouns);
  numbers.roman_stop = json.value("roman_stop", numbers.roman_stop);
  read(json, "ordinal_after", numbers.ordinal_after);
  read(json, "ordinal_before", numbers.ordinal_before);
  read(json, "ordinal_default", numbers.ordinal_default);
  if (json.contains("ordinal_behind")) {
    numbers.ordinal_behind = read_endings(json, "ordinal_behind");
  }
  if (json.contains("genders")) {
    numbers.genders = read_endings(json, "genders");
  }
  if (json.contains("genders_of_one")) {
    numbers.genders_of_one = read_endings(json, "genders_of_one");
  }
  numbers.only_one_has_gender = json.value("only_one_has_gender", numbers.only_one_has_gender);
  numbers.decimal_cases = json.value("decimal_cases", numbers.decimal_cases);
  read_words(json, "height_before", numbers.height_before);
  numbers.phone_pairs = json.value("phone_pairs", numbers.phone_pairs);
  numbers.apostrophe_suffixes = json.value("apostrophe_suffixes", numbers.apostrophe_suffixes);
  read(json, "fractions", numbers.fractions);
  read_cases(json, numbers.cases);
  read_roman(json, numbers.roman);
  read_times(json, numbers);
  read_dates(json, numbers);
  read_months(json, numbers);
  read_counted(json, numbers);
  read(json, "currency_signs", numbers.currency_signs);
  read(json, "cents_joint", numbers.cents_joint);
  numbers.cents_named = json.value("cents_named", numbers.cents_named);
  read(json, "of", numbers.of);
  read(json, "of_vowel", numbers.of_vowel);
  read_words(json, "of_endings", numbers.of_endings);
  if (const auto magnitudes = json.find("magnitudes"); magnitudes != json.end()) {
    for (const auto& [sign, noun] : magnitudes->items()) {
      numbers.magnitudes[sign] = noun.is_string() ? read_noun({{"other", noun}}) : read_noun(noun);
    }
  }
  read_words(json, "thousands", numbers.thousands);
  read(json, "before", numbers.before);
  read(json, "signs", numbers.signs);
}

// A language's own file names the plural rule, which CLDR's data is read with; the rest of it
// comes before CLDR's.
std::unique_ptr<LanguageNumbers> load(const std::string& tag) {
  const size_t hyphen = std::min(tag.find('-'), tag.size());
  const std::string base = tag.substr(0, hyphen);
  const Json own = parse(base);
  if (own.is_null() || !own.contains("plural")) {
    return nullptr;
  }
  auto numbers = std::make_unique<LanguageNumbers>();
  read_into({{"plural", own["plural"]}}, *numbers);
  read_into(parse(base + ".cldr"), *numbers);
  read_into(parse("shared"), *numbers);
  read_into(own, *numbers);
  if (hyphen < tag.size()) {
    // "mx": "es-419": a country that writes as others do.
    const Json countries = own.value("countries", Json::object());
    const std::string name = countries.value(tag.substr(hyphen + 1), tag);
    const Json country = parse(name);
    if (!country.is_null()) {
      read_into(parse(name + ".cldr"), *numbers);
      read_into(country, *numbers);
    }
  }
  // Hundredths of every dollar are those of "$".
  for (const char* const dollar : {"USD", "CAD", "AUD"}) {
    const auto found = numbers->currencies.find(dollar);
    const auto plain = numbers->currencies.find("$");
    if (found != numbers->currencies.end() && plain != numbers->currencies.end() &&
        found->second.part.forms.empty()) {
      found->second.part = plain->second.part;
    }
  }
  for (const auto& [sign, unit] : numbers->unit_signs) {
    if (const auto found = numbers->units.find(unit); found != numbers->units.end()) {
      numbers->units.try_emplace(sign, found->second);
    }
  }
  return numbers;
}

}  // namespace

const LanguageNumbers* language_numbers(std::string_view tag) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<LanguageNumbers>, std::less<>> loaded;
  const std::scoped_lock lock(mutex);
  auto found = loaded.find(tag);
  if (found == loaded.end()) {
    std::string folded = to_utf8(to_lower(to_code_points(tag)));
    std::ranges::replace(folded, '_', '-');
    // Unknown tags take no place for ever.
    constexpr size_t kMostTags = 256;
    if (loaded.size() >= kMostTags) {
      return nullptr;
    }
    found = loaded.emplace(std::string(tag), load(folded)).first;
  }
  return found->second.get();
}

}  // namespace mynah

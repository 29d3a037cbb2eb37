// Numbers in words, by rules that are data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mynah {

// A number's class in a language: "one", "few", "many" or "other" (CLDR's plural categories).
// `decimals` says that a fraction follows.
using PluralOf = std::string_view (*)(uint64_t number, bool decimals);

// Rules in the form of Unicode's rule-based number format (UTS #35, part 3, "Rule-Based Number
// Formatting"), as far as CLDR's spell-out rules of our languages use it: "BASE/RADIX: body", where
// <%set< is the number divided by the rule's divisor, >%set> the rest, =%set= the number itself and
// $(cardinal,one{...}other{...})$ a word that agrees; "x.x: body" has the decimals.
class NumberRules {
 public:
  explicit NumberRules(PluralOf plural) : plural_(plural) {}

  // A rule of a set; sets are made as they are named. Data that is no rule is a bug.
  void add(const std::string& set, std::string_view rule);

  // Replaces a set of another language's rules by that of a country.
  void clear(const std::string& set) { sets_.erase(set); }

  [[nodiscard]] bool has(std::string_view set) const { return sets_.find(set) != sets_.end(); }

  // The number in words; nothing where the rules give up (10^18 and above) or have no such set.
  [[nodiscard]] std::optional<std::string> words(uint64_t number, std::string_view set) const;

  // The same with decimals: `fraction` is the digits behind the sign, at least one. A language with
  // rules for both signs says which it is ("coma", "punto").
  [[nodiscard]] std::optional<std::string> decimal(uint64_t number, std::string_view fraction,
                                                   std::string_view set, char sign = '.') const;

 private:
  struct Part {
    enum class Kind : uint8_t { Text, Quotient, Rest, Same, Plural };

    Kind kind = Kind::Text;
    std::string text;  // the text, or the name of the set
    std::map<std::string, std::string, std::less<>> forms;
  };

  struct Rule {
    uint64_t base = 0;
    uint64_t divisor = 1;
    bool rest = false;  // has a part Rest
    std::vector<Part> parts;
  };

  struct Set {
    std::vector<Rule> rules;  // by base
    std::optional<Rule> decimals;
    std::optional<Rule> comma;      // of decimals behind a comma, where that is another
    std::optional<Rule> below_one;  // of decimals without whole ones, where they have their own
  };

  static std::vector<Part> parse_body(std::string_view body);
  [[nodiscard]] const Set* find(std::string_view name) const;
  static const Rule* rule_for(const Set& set, uint64_t number);
  [[nodiscard]] bool write(uint64_t number, std::string_view set, int depth,
                           std::string& out) const;
  [[nodiscard]] bool write_fraction(std::string_view digits, std::string_view set,
                                    std::string& out) const;
  [[nodiscard]] std::string form(const Part& part, uint64_t number) const;

  PluralOf plural_;
  std::map<std::string, Set, std::less<>> sets_;
};

}  // namespace mynah

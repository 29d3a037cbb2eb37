#include "text/spoken/languages/number_rules.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"

namespace mynah {
namespace {

// Beyond it CLDR's rules have digits.
constexpr uint64_t kEnd = 1'000'000'000'000'000'000;

// Deeper than any rules of ours go: thousands of thousands, by way of other sets.
constexpr int kDeepest = 64;

uint64_t number_of(std::string_view digits) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  MYNAH_CHECK(error == std::errc() && end == digits.data() + digits.size(), digits);
  return number;
}

uint64_t divisor_of(uint64_t base, uint64_t radix) {
  uint64_t divisor = 1;
  while (base / divisor >= radix) {
    divisor *= radix;
  }
  return divisor;
}

}  // namespace

std::vector<NumberRules::Part> NumberRules::parse_body(std::string_view body) {
  std::vector<Part> parts;
  // An apostrophe keeps the space behind it.
  if (body.starts_with('\'')) {
    body.remove_prefix(1);
  }
  while (!body.empty()) {
    Part part;
    if (body.starts_with("$(")) {
      const size_t end = body.find(")$");
      const size_t comma = body.find(',');
      MYNAH_CHECK(end != std::string_view::npos && comma < end, body);
      std::string_view forms = body.substr(comma + 1, end - comma - 1);
      while (!forms.empty()) {
        const size_t open = forms.find('{');
        const size_t close = forms.find('}');
        MYNAH_CHECK(open < close && close != std::string_view::npos, body);
        part.forms.emplace(forms.substr(0, open), forms.substr(open + 1, close - open - 1));
        forms.remove_prefix(close + 1);
      }
      part.kind = Part::Kind::Plural;
      body.remove_prefix(end + 2);
    } else if (const size_t sign = std::string_view("<>=").find(body[0]);
               sign != std::string_view::npos) {
      const size_t end = body.find(body[0], 1);
      MYNAH_CHECK(end != std::string_view::npos, body);
      constexpr Part::Kind kKinds[] = {Part::Kind::Quotient, Part::Kind::Rest, Part::Kind::Same};
      part.kind = kKinds[sign];
      part.text = body.substr(1, end - 1);
      body.remove_prefix(end + 1);
    } else {
      const size_t end = std::min(body.find_first_of("<>=$"), body.size());
      part.text = body.substr(0, end);
      body.remove_prefix(end);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

void NumberRules::add(const std::string& set, std::string_view text) {
  const size_t colon = text.find(": ");
  MYNAH_CHECK(colon != std::string_view::npos, text);
  const std::string_view head = text.substr(0, colon);
  Rule rule{.parts = parse_body(text.substr(colon + 2))};
  Set& into = sets_[set];
  if (head == "x.x" || head == "x,x") {
    (head == "x,x" ? into.comma : into.decimals) = std::move(rule);
    return;
  }
  if (head == "0.x") {
    into.below_one = std::move(rule);
    return;
  }
  if (head == "-x") {
    return;  // signs are said by who reads the text
  }
  const size_t slash = std::min(head.find('/'), head.size());
  rule.base = number_of(head.substr(0, slash));
  const uint64_t radix = slash < head.size() ? number_of(head.substr(slash + 1)) : 10;
  rule.divisor = divisor_of(rule.base, radix);
  rule.rest = std::ranges::any_of(rule.parts,
                                  [](const Part& part) { return part.kind == Part::Kind::Rest; });
  MYNAH_CHECK(into.rules.empty() || into.rules.back().base < rule.base, text);
  into.rules.push_back(std::move(rule));
}

const NumberRules::Set* NumberRules::find(std::string_view name) const {
  const auto found = sets_.find(name);
  return found == sets_.end() ? nullptr : &found->second;
}

// The last rule that begins at the number or below; where it has a rest and there is none, the one
// before it ("101: hundred >>" is not for 200).
const NumberRules::Rule* NumberRules::rule_for(const Set& set, uint64_t number) {
  const auto above = std::ranges::upper_bound(set.rules, number, std::less<>(),
                                              [](const Rule& r) { return r.base; });
  if (above == set.rules.begin()) {
    return nullptr;
  }
  const auto rule = above - 1;
  const bool without_rest =
      rule->rest && rule->base % rule->divisor != 0 && number % rule->divisor == 0;
  return without_rest && rule != set.rules.begin() ? &*(rule - 1) : &*rule;
}

std::string NumberRules::form(const Part& part, uint64_t number) const {
  auto found = part.forms.find(plural_(number, false));
  found = found == part.forms.end() ? part.forms.find("other") : found;
  return found == part.forms.end() ? "" : found->second;
}

bool NumberRules::write(uint64_t number, std::string_view set, int depth, std::string& out) const {
  const Set* const rules = find(set);
  const Rule* const rule = rules == nullptr || number >= kEnd ? nullptr : rule_for(*rules, number);
  if (rule == nullptr || depth > kDeepest) {
    return false;
  }
  for (const Part& part : rule->parts) {
    switch (part.kind) {
      case Part::Kind::Text:
        out += part.text;
        break;
      case Part::Kind::Plural:
        out += form(part, number / rule->divisor);
        break;
      case Part::Kind::Quotient:
      case Part::Kind::Rest:
      case Part::Kind::Same: {
        uint64_t value = number;
        if (part.kind == Part::Kind::Quotient) {
          value = number / rule->divisor;
        } else if (part.kind == Part::Kind::Rest) {
          value = number % rule->divisor;
        }
        if (!write(value, part.text, depth + 1, out)) {
          return false;
        }
        break;
      }
    }
  }
  return true;
}

std::optional<std::string> NumberRules::words(uint64_t number, std::string_view set) const {
  std::string out;
  return write(number, set, 0, out) ? std::optional(std::move(out)) : std::nullopt;
}

// Digit by digit, or, by a set that begins at ten, as so many hundredths ("25 сотых") or as a
// number behind its zeros ("zero pięć").
bool NumberRules::write_fraction(std::string_view digits, std::string_view set,
                                 std::string& out) const {
  const Set* const rules = find(set);
  if (rules == nullptr || rules->rules.empty() || rules->rules[0].base == 0) {
    for (size_t i = 0; i < digits.size(); ++i) {
      out += i == 0 ? "" : " ";
      if (!write(static_cast<uint64_t>(digits[i] - '0'), set, 0, out)) {
        return false;
      }
    }
    return true;
  }
  uint64_t denominator = 1;
  for (size_t i = 0; i < digits.size() && denominator < kEnd / 10; ++i) {
    denominator *= 10;
  }
  const Rule* const rule = rule_for(*rules, denominator);
  if (rule == nullptr || rule->base != denominator) {
    return false;
  }
  const uint64_t number = number_of(digits);
  const bool named = std::ranges::any_of(
      rule->parts, [](const Part& part) { return part.kind == Part::Kind::Plural; });
  const size_t zeros = named ? 0 : std::min(digits.find_first_not_of('0'), digits.size() - 1);
  for (size_t i = 0; i < zeros; ++i) {
    if (!write(0, rule->parts[0].text, 0, out)) {
      return false;
    }
    out += ' ';
  }
  for (const Part& part : rule->parts) {
    if (part.kind == Part::Kind::Plural) {
      out += form(part, number);
    } else if (part.kind == Part::Kind::Text) {
      out += part.text;
    } else if (!write(number, part.text, 0, out)) {
      return false;
    }
  }
  return true;
}

std::optional<std::string> NumberRules::decimal(uint64_t number, std::string_view fraction,
                                                std::string_view set, char sign) const {
  const Set* rules = find(set);
  // A set that is another in all but a few numbers has its decimals.
  for (int hops = 0; rules != nullptr && hops < kDeepest; ++hops) {
    const bool own = rules->decimals && rules->decimals->parts.size() > 1;
    if (own || rules->rules.empty() || rules->rules[0].parts.empty() ||
        rules->rules[0].parts[0].kind != Part::Kind::Same) {
      break;
    }
    rules = find(rules->rules[0].parts[0].text);
  }
  if (rules == nullptr || !rules->decimals) {
    return std::nullopt;
  }
  std::string out;
  const bool comma = sign == ',' && rules->comma;
  const auto& rule = number == 0 && rules->below_one ? rules->below_one
                     : comma                         ? rules->comma
                                                     : rules->decimals;
  for (const Part& part : rule->parts) {
    bool good = part.kind != Part::Kind::Same;
    if (part.kind == Part::Kind::Text) {
      out += part.text;
    } else if (part.kind == Part::Kind::Plural) {
      out += form(part, number);
    } else if (part.kind == Part::Kind::Quotient) {
      good = write(number, part.text, 0, out);
    } else if (part.kind == Part::Kind::Rest) {
      good = write_fraction(fraction, part.text, out);
    }
    if (!good) {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace mynah

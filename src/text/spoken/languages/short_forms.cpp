#include "text/spoken/languages/short_forms.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/embedded_file.h"
#include "base/tsv_lines.h"
#include "text/spoken/characters.h"
#include "text/spoken/languages/language_numbers.h"
#include "text/spoken/languages/number_scan.h"
#include "text/spoken/reading.h"
#include "text/spoken/roman.h"
#include "text/unicode.h"
#include "text/utf8.h"

MYNAH_EMBEDDED_FILE(short_forms, MYNAH_LANGUAGE_FOLDER "/short_forms.tsv")

namespace mynah {
namespace {

struct Row {
  std::string_view written;
  std::string_view said;
  ShortFormKind kind = ShortFormKind::On;
};

// The forms of a language by the letters that they begin with, in small letters; those that are
// the end of a word apart.
struct Table {
  std::map<std::string, std::vector<Row>, std::less<>> forms;
  std::vector<Row> suffixes;
};

ShortFormKind kind_of(std::string_view name) {
  using enum ShortFormKind;
  constexpr std::array<std::pair<std::string_view, ShortFormKind>, 6> kNames = {
      {{"on", On},
       {"day", Day},
       {"end", End},
       {"starter", Starter},
       {"name", Name},
       {"number", Number}}};
  const auto* const found = std::ranges::find(kNames, name, [](const auto& n) { return n.first; });
  MYNAH_CHECK(found != kNames.end(), name);
  return found->second;
}

std::map<std::string, Table, std::less<>> read_tables() {
  std::map<std::string, Table, std::less<>> tables;
  for_each_tsv_line<5>(short_forms(), [&](const auto& fields) {
    MYNAH_CHECK(fields[4].empty(), "short_forms.tsv has four fields a line");
    Table& table = tables[std::string(fields[0])];
    Row row{.written = fields[1], .said = fields[2], .kind = kind_of(fields[3])};
    if (row.written.starts_with('-')) {
      row.written.remove_prefix(1);
      table.suffixes.push_back(row);
    } else {
      table.forms[folded(letters_at(row.written, 0))].push_back(row);
    }
  });
  return tables;
}

const Table* table_of(std::string_view language) {
  static const auto* const tables = new auto(read_tables());
  const auto found = tables->find(language.substr(0, language.find_first_of("-_")));
  return found == tables->end() ? nullptr : &found->second;
}

// White space within a form, a few characters of it.
size_t skip_white(std::string_view text, size_t at) {
  for (int characters = 0; characters < 3 && at < text.size(); ++characters) {
    const Utf8Step step = next_code_point(text.substr(at));
    if (!is_white_space(step.code_point)) {
      break;
    }
    at += step.bytes;
  }
  return at;
}

// A stop that a small letter follows without a space is a dot: "np.array".
bool ends_form(std::string_view written, std::string_view text, size_t end) {
  if (end >= text.size()) {
    return true;
  }
  const char32_t next = next_code_point(text.substr(end)).code_point;
  return written.ends_with('.') ? !is_lower_case(next) && !decimal_digit(next)
                                : is_border(text, end);
}

// How far a form goes that begins at `at`; nothing where it does not.
std::optional<ShortForm> match(const Row& row, std::string_view text, size_t at) {
  const std::string_view written = row.written;
  ShortForm form{.end = at, .said = std::string(row.said), .kind = row.kind, .cut = false};
  for (size_t i = 0; i < written.size(); ++i) {
    if (written[i] == ' ') {
      const size_t next = skip_white(text, form.end);
      if (next == form.end && !written.substr(0, i).ends_with('.')) {
        return std::nullopt;
      }
      form.end = next;
      continue;
    }
    if (form.end >= text.size()) {
      form.cut = i > 0 && (written[i - 1] == '.' || written[i] == '.');
      return form.cut ? std::optional(form) : std::nullopt;
    }
    // Hindi writes a ring: "डॉ॰".
    constexpr std::string_view kRing = "\u0970";
    if (written[i] == '.' && text.substr(form.end).starts_with(kRing)) {
      form.end += kRing.size();
      continue;
    }
    if (text[form.end] != written[i]) {
      return std::nullopt;
    }
    ++form.end;
  }
  return ends_form(written, text, form.end) ? std::optional(form) : std::nullopt;
}

// The same with the first letter of any case: "Z. B.", but "M." is no "m.".
std::optional<ShortForm> match_any_case(const Row& row, std::string_view text, size_t at) {
  if (auto form = match(row, text, at)) {
    return form;
  }
  const Utf8Step first = next_code_point(row.written);
  const Utf8Step written = next_code_point(text.substr(at));
  // "a. C." begins no sentence, "A.C." is a club.
  const auto capitals = [](std::string_view form) {
    return std::ranges::any_of(to_code_points(form), is_capital);
  };
  if ((row.kind == ShortFormKind::Starter && capitals(row.written)) ||
      !is_lower_case(first.code_point) || !is_capital(written.code_point) ||
      to_lower(std::u32string(1, written.code_point))[0] != first.code_point) {
    return std::nullopt;
  }
  Row rest = row;
  rest.written.remove_prefix(first.bytes);
  // Two letters and more: a capital alone is an initial.
  if (letters_at(rest.written, 0).empty() && rest.written.find(' ') == std::string_view::npos) {
    return std::nullopt;
  }
  return match(rest, text, at + written.bytes);
}

}  // namespace

std::optional<ShortForm> short_form_at(std::string_view language, std::string_view text,
                                       size_t at) {
  const Table* const table = table_of(language);
  const std::string_view word = letters_at(text, at);
  if (table == nullptr || word.empty()) {
    return std::nullopt;
  }
  std::optional<ShortForm> best;
  if (const auto rows = table->forms.find(folded(word)); rows != table->forms.end()) {
    for (const Row& row : rows->second) {
      const auto form = match_any_case(row, text, at);
      // "Fr. Müller" is a woman, "Fr. 9 Uhr" a day.
      const bool fits = form && best && form->end == best->end &&
                        !has_its_neighbours(*best, text, at) && has_its_neighbours(*form, text, at);
      if (form && (!best || form->end > best->end || fits)) {
        best = form;
        if (row.said == "-") {
          best->said = text.substr(at, best->end - at);
        }
      }
    }
  }
  for (const Row& row : table->suffixes) {
    const std::string_view letters = letters_at(row.written, 0);
    if (!best && word.size() > letters.size() && word.ends_with(letters)) {
      const size_t begin = at + word.size() - letters.size();
      best = match(row, text, begin);
      if (best) {
        best->said.insert(0, text.substr(at, begin - at));
      }
    }
  }
  return best;
}

bool has_its_neighbours(const ShortForm& form, std::string_view text, size_t begin) {
  const size_t next = skip_white(text, form.end);
  const char32_t c = next < text.size() ? next_code_point(text.substr(next)).code_point : 0;
  if (form.kind == ShortFormKind::Name) {
    // "1945 г. Москва" is a year.
    const size_t gap = begin > 0 && text[begin - 1] == ' ' ? begin - 1 : begin;
    // "S. A." is no saint.
    const size_t word_end = next + letters_at(text, next).size();
    const bool initial = word_end < text.size() && text[word_end] == '.' && word_end == next + 1 &&
                         form.end == begin + 2;
    if (initial) {
      return false;
    }
    // "R. do Ouro": a particle before the name.
    const std::string_view particle = letters_at(text, next);
    const size_t behind = next + particle.size() + 1;
    const bool name =
        is_capital(c) ||
        (particle.size() > 1 && particle.size() < 6 && behind < text.size() &&
         text[behind - 1] == ' ' && is_capital(next_code_point(text.substr(behind)).code_point));
    return name && !(gap > 0 && is_ascii_digit(text[gap - 1]));
  }
  if (form.kind == ShortFormKind::Day) {
    const auto is_dash = [](char32_t mark) { return mark == '-' || mark == 0x2013; };
    const bool behind_dash =
        begin > 0 && (text[begin - 1] == '-' || text.substr(0, begin).ends_with("\u2013"));
    return decimal_digit(c).has_value() || is_dash(c) || behind_dash ||
           (c == ',' && form.end == next);
  }
  if (form.kind == ShortFormKind::Number) {
    constexpr unsigned kMostRoman = 89;  // greater ones may be words
    const unsigned roman = roman_value(letters_at(text, next));
    return decimal_digit(c).has_value() || (roman > 0 && roman <= kMostRoman);
  }
  return true;
}

std::optional<Reading> read_short_form(const Tokens& tokens, size_t at,
                                       const SpokenOptions& options) {
  if (!tokens.is_word(at) || !tokens.begins_word(at)) {
    return std::nullopt;
  }
  const std::string_view text = tokens.source();
  const size_t begin = tokens.at(at).begin;
  auto form = short_form_at(options.language, text, begin);
  std::string before;
  if (const size_t apostrophe = tokens.text(at).rfind('\''); apostrophe != std::string_view::npos) {
    // "l'art. 5", "dell'ing. Rossi"
    form = short_form_at(options.language, text, begin + apostrophe + 1);
    before = tokens.text(at).substr(0, apostrophe + 1);
  }
  if (!form || form->cut || !has_its_neighbours(*form, text, begin)) {
    return std::nullopt;
  }
  // "Mo.–Fr."
  const LanguageNumbers* const numbers = language_numbers(options.language);
  if (form->kind == ShortFormKind::Day && numbers != nullptr) {
    for (const std::string_view dash : {"-", "\u2013"}) {
      const auto until = text.substr(form->end).starts_with(dash)
                             ? short_form_at(options.language, text, form->end + dash.size())
                             : std::nullopt;
      const auto joint = numbers->signs.find("range");
      if (until && until->kind == ShortFormKind::Day && joint != numbers->signs.end()) {
        form->said += joint->second.empty() ? " " : " " + joint->second + " ";
        form->said += until->said;
        form->end = until->end;
      }
    }
  }
  // The stop of "Äpfel usw." is the sentence's, too.
  if (text[form->end - 1] == '.' && text.find_first_not_of(" )\"", form->end) >= text.size()) {
    --form->end;
  }
  size_t end = at;
  while (end < tokens.size() && tokens.at(end).begin < form->end) {
    ++end;
  }
  const bool whole = end >= tokens.size() || tokens.at(end).begin == form->end;
  return whole ? std::optional(Reading{end, before + form->said}) : std::nullopt;
}

}  // namespace mynah

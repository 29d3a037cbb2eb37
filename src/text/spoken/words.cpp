// Abbreviations, states of the United States, names of days.
#include <array>
#include <string>

#include "text/spoken/abbreviations.h"
#include "text/spoken/calendar_words.h"
#include "text/spoken/cardinals.h"
#include "text/spoken/characters.h"
#include "text/spoken/codes.h"
#include "text/spoken/quantity.h"
#include "text/spoken/reading.h"
#include "text/spoken/roman.h"
#include "text/spoken/tokens.h"
#include "text/spoken/word_tables.h"

namespace mynah {
namespace {

// "e.g" of the tokens e . g: the dotted form that is an abbreviation, and where it ends, before its
// last stop.
struct Found {
  const Abbreviation* abbreviation = nullptr;
  size_t end = 0;
};

Found longest_abbreviation(const Tokens& tokens, size_t at) {
  Found found;
  std::string written;
  size_t end = at;
  for (int parts = 0; parts < 4 && tokens.is_word(end) && tokens.text(end).size() <= 7; ++parts) {
    written += ascii_lower(tokens.text(end));
    if (const Abbreviation* const abbreviation = find_abbreviation(written)) {
      found = {abbreviation, end + 1};
    }
    if (!tokens.is(end + 1, ".")) {
      break;
    }
    written += '.';
    end += 2;
  }
  return found;
}

// What an address goes on with: "Apt", "Suite", "NW".
bool is_address_part(std::string_view word) {
  constexpr auto kParts = std::to_array<std::string_view>(
      {"Apt", "Apartment", "Suite", "Ste", "Unit", "Floor", "Room",  "Rm",    "N",    "S",
       "E",   "W",         "NE",    "NW",  "SE",   "SW",    "North", "South", "East", "West"});
  return among(kParts, word);
}

std::string_view saint_or_street(const Tokens& tokens, size_t at, size_t behind) {
  const std::string_view next = tokens.word_behind(behind);
  const std::string_view before = tokens.word_before(at);
  const bool name_before = is_capitalised(before) && at > 2;
  if (!is_capitalised(next) || is_ordinal_ending(before) || is_behind_street_name(tokens, at) ||
      (name_before && is_address_part(next)) ||
      (name_before && is_sentence_starter(ascii_lower(next)))) {
    return "Street";
  }
  return "Saint";
}

constexpr auto kArticles =
    std::to_array<std::string_view>({"the", "a", "an", "my", "our", "your", "her", "his", "this"});

std::string_view doctor_or_drive(const Tokens& tokens, size_t at, size_t behind) {
  const std::string_view next = tokens.word_behind(behind);
  const std::string_view before = tokens.word_before(at);
  // "10 Tips Dr. Lee Gave" has no house.
  const bool house = is_behind_street_name(tokens, at) && !before.ends_with('s');
  const bool article = among(kArticles, ascii_lower(before));  // "The Dr. said"
  const bool drive = is_capitalised(before) && !article &&
                     (!is_capitalised(next) || house || is_address_part(next) ||
                      (at > 2 && is_sentence_starter(ascii_lower(next))));
  return drive ? "Drive" : "Doctor";
}

// Britain's "£50 inc. VAT"; behind a name it is a company's.
bool is_british_including(const Tokens& tokens, size_t at, size_t behind, EnglishDialect dialect) {
  const std::string_view next = tokens.word_behind(behind);
  const bool name = at > 2 && is_capitalised(tokens.word_before(at));
  return dialect == EnglishDialect::British && tokens.is(at, "inc") && !next.empty() &&
         (!name || is_all_capitals(next));
}

// "Ohio St. beat Mich. St.": a university's team.
bool is_state_school(const Tokens& tokens, size_t at) {
  constexpr size_t kNear = 12;  // tokens
  const size_t cut = at > 2 && tokens.is_space(at - 1) && tokens.is(at - 2, ".") ? at - 2 : at;
  const std::string_view school = cut < at ? tokens.text(cut - 1) : tokens.word_before(at);
  return among(WordList{"state-schools"}, school) && !is_behind_street_name(tokens, at) &&
         is_near(WordList{"results"}, tokens, at, kNear);
}

constexpr size_t kCricket = 24;  // tokens

// The word for one whose reading depends on its neighbours; empty: it is none here.
std::string_view word_for(const Tokens& tokens, size_t at, size_t behind,
                          const Abbreviation& abbreviation, EnglishDialect dialect) {
  if (is_british_including(tokens, at, behind, dialect)) {
    return "including";
  }
  if (abbreviation.written == "st") {
    if (is_state_school(tokens, at)) {
      return "State";
    }
    return is_capitalised(tokens.text(at)) ? saint_or_street(tokens, at, behind) : "";
  }
  if (abbreviation.written == "dr") {
    return is_capitalised(tokens.text(at)) ? doctor_or_drive(tokens, at, behind) : "";
  }
  if (abbreviation.written == "ft") {
    return is_capitalised(tokens.text(at)) && is_capitalised(tokens.word_behind(behind)) ? "Fort"
                                                                                         : "";
  }
  // "Sec. of State Lee", but "Sec. 4"; "dep. 23:15" and "Dep. Chief Lee".
  const std::string_view next_word = tokens.word_behind(behind);
  const std::string_view before_word = tokens.word_before(at);
  if (abbreviation.written == "sec" && !next_word.empty() && roman_value(next_word) == 0 &&
      next_word.size() > 1) {
    return "Secretary";
  }
  if (abbreviation.written == "dep" && tokens.is_digits(tokens.skip_space(behind))) {
    return "departs";
  }
  // "the 9th Cir.": a court's.
  if (abbreviation.written == "cir" && is_ordinal_ending(before_word)) {
    return "Circuit";
  }
  // "312 for 7 dec."
  if (abbreviation.written == "dec" && is_ascii_lower(tokens.text(at)[0]) &&
      is_near(WordList{"cricket"}, tokens, at, kCricket)) {
    return "declared";
  }
  // "10% tax incl."
  if (abbreviation.written == "incl" && next_word.empty() &&
      !tokens.is_digits(tokens.skip_space(behind))) {
    return "included";
  }
  // "est. of $1.19", "the est. cost"; "Rev. grew 12%"; "pg. 4, ln. 12"
  const bool goes_on = !next_word.empty() && is_ascii_lower(next_word[0]);
  if (abbreviation.written == "est" && goes_on) {
    return next_word == "of" ? "estimate" : "estimated";
  }
  if (abbreviation.written == "rev" && goes_on) {
    return "revenue";
  }
  if (tokens.is(at, "ln") && tokens.is_digits(tokens.skip_space(behind))) {
    return "line";
  }
  // "Djokovic d. Alcaraz"
  if (abbreviation.written == "d" && is_capitalised(next_word)) {
    return "defeated";
  }
  // "Rev. 2.1"
  if (abbreviation.written == "rev" && tokens.is_digits(tokens.skip_space(behind))) {
    return "revision";
  }
  // "fl. 8th c. BC", "fl. 1200"
  if (abbreviation.written == "fl") {
    const size_t number = tokens.skip_space(behind);
    const bool century =
        is_ordinal_ending(tokens.text(number + 1)) && tokens.text(number + 2, number + 5) == " c.";
    return century || tokens.is_digits(number, 3, 4) || tokens.is(number, "c")
               ? "flourished"
               : abbreviation.spoken;
  }
  // "an est. 500 hours": no year.
  if (abbreviation.written == "est" &&
      (before_word == "an" || before_word == "An" ||
       is_counted(tokens.word_behind(tokens.skip_space(behind) + 1)))) {
    return "estimated";
  }
  // "est. £2,000"
  constexpr auto kMoney = std::to_array<std::string_view>({"$", "\u00A3", "\u20AC", "\u00A5"});
  if (abbreviation.written == "est" && among(kMoney, tokens.text(tokens.skip_space(behind)))) {
    return "estimated";
  }
  // "Co. Durham"
  if (abbreviation.written == "co" && among(WordList{"counties"}, next_word)) {
    return "County";
  }
  // "Rt. Hon. Lee", "Rt. 66"
  if (abbreviation.written == "rt") {
    return tokens.is_digits(tokens.skip_space(behind)) ? "Route" : "Right";
  }
  // "Pt. Reyes", but "Pt. 2" and "Pt. II" of a book.
  if (abbreviation.written == "col" && is_ascii_lower(tokens.text(at)[0])) {
    return "column";
  }
  if (abbreviation.written == "pt") {
    const std::string_view next = tokens.text(tokens.skip_space(behind));
    const bool part = tokens.is_digits(tokens.skip_space(behind)) || roman_value(next) != 0;
    return part ? "Part" : abbreviation.spoken;
  }
  return abbreviation.spoken;
}

bool number_follows(const Tokens& tokens, size_t at_no, size_t at,
                    const Abbreviation& abbreviation) {
  const size_t next = tokens.skip_space(at);
  const bool bracket = tokens.is(next, "(") || tokens.is(next, "[");  // "Eq. (3)", "Ref. [12]"
  const std::string_view word = tokens.text(next);
  if (abbreviation.written == "b" || abbreviation.written == "d") {
    return tokens.is_digits(next, 3, 4);  // a year, as in encyclopedias
  }
  if (tokens.is_digits(bracket ? next + 1 : next) || tokens.is(next, "#") || tokens.is(next, "$")) {
    return true;
  }
  // "Tel. +44", "est. \u00A320"
  constexpr auto kSigns = std::to_array<std::string_view>({"+", "\u00A3", "\u20AC", "\u00A5"});
  if (among(kSigns, tokens.text(next)) && tokens.is_digits(next + 1)) {
    return true;
  }
  const bool no = abbreviation.written == "no" || abbreviation.written == "nos";
  // "My no. is 5"
  constexpr auto kVerbs = std::to_array<std::string_view>({"is", "was", "are", "on", "for"});
  if (no && among(kVerbs, word)) {
    return among(WordList{"before-numbers"}, ascii_lower(tokens.word_before(at_no)));
  }
  if (no && word == "of") {
    return tokens.word_behind(next + 1) != "course";  // "No. of items"
  }
  if (abbreviation.written == "sec" && (word == "of" || (is_title_case(word) && word.size() > 1))) {
    return true;
  }
  // "p. A12"
  if ((abbreviation.written == "p" || abbreviation.written == "pp") && word.size() == 1 &&
      is_ascii_upper(word[0]) && tokens.is_digits(next + 1)) {
    return true;
  }
  // "p. xii"; one letter alone is a page's.
  const bool page = abbreviation.written == "p" || abbreviation.written == "pp";
  if (!no && (page || word.size() > 1) && small_roman_value(word) != 0) {
    return true;
  }
  // "App. B", "Exhibit C"
  if (is_letter_numbered(abbreviation.written) && word.size() == 1 && is_ascii_upper(word[0]) &&
      word != "I" && (word != "A" || tokens.word_behind(next + 1).empty())) {
    return true;
  }
  const bool pronoun = word == "I" && abbreviation.written == "no";
  return !word.empty() && !pronoun && word.find_first_not_of("IVXLC") == std::string_view::npos;
}

// "s 1(2)(a)", "ss 3(1)-5": a statute's section, as British courts write it.
bool is_british_section(const Tokens& tokens, size_t at) {
  const bool section = tokens.is(at, "s") || tokens.is(at, "ss");
  return section && tokens.is_space(at + 1) && tokens.is_digits(at + 2) && tokens.is(at + 3, "(");
}

// Whether the word is an abbreviation here, with its stop or without.
bool stands(const Tokens& tokens, size_t at, const Found& found, bool stop, size_t behind) {
  const Abbreviation& abbreviation = *found.abbreviation;
  const std::string_view word = tokens.text(at);
  const bool title = abbreviation.stop == AbbreviationStop::Never &&
                     is_capitalised(abbreviation.spoken) && abbreviation.written != "messrs";
  if (title || abbreviation.written == "st" || abbreviation.written == "dr") {
    // A title has a name behind it, or is the street's.
    const bool numbered =
        abbreviation.written == "pt" && tokens.is_digits(tokens.skip_space(behind));
    const bool named = is_capitalised(tokens.word_behind(behind)) || numbered;
    if (abbreviation.written == "pt" && !named) {
      return false;
    }
    // "See pt. 3" and "p. A12, col. 3", but "2 pt. 3 oz."
    if ((word == "pt" || word == "col") && stop && tokens.is_digits(tokens.skip_space(behind)) &&
        !(at > 1 && tokens.is_digits(at - 2))) {
      return true;
    }
    const std::string_view before = tokens.word_before(at);
    return is_title_case(word) && (stop || (abbreviation.bare && (named || is_capitalised(before) ||
                                                                  is_ordinal_ending(before))));
  }
  // "45 Park Ave", "1st Ave and", "Ash Ct.": these are no words behind a name.
  if (among(WordList{"short-streets"}, abbreviation.written)) {
    constexpr auto kUsual = std::to_array<std::string_view>({"ave", "rd", "ln"});
    const std::string_view before = tokens.word_before(at);
    const bool named = is_ordinal_ending(before) || (at > 1 && is_capitalised(before));
    return among(kUsual, abbreviation.written) && stop ? true : is_title_case(word) && named;
  }
  // "Peoria, Ill.", "(R-Tex.)"
  if (among(WordList{"short-states"}, abbreviation.written)) {
    // "the Univ. of Pa."
    const std::string_view school =
        at > 5 && tokens.word_before(at) == "of" && tokens.is(at - 4, ".")
            ? tokens.text(at - 5)
            : tokens.word_before(at - 2);
    const bool of =
        at > 3 && tokens.word_before(at) == "of" && (school == "Univ" || school == "University");
    return stop && is_title_case(word) && at > 2 &&
           (of || tokens.is(at - 1, "-") || (tokens.is_space(at - 1) && tokens.is(at - 2, ",")));
  }
  // "the 3rd ed. is out", "the 14th Amend. says"
  constexpr auto kCounted =
      std::to_array<std::string_view>({"amend", "dist", "div", "cong", "bn", "fl"});
  const bool counted = among(kCounted, abbreviation.written) || tokens.is(at, "ed");
  // "the Mfg. Div., Attn."
  if (stop && abbreviation.written == "div" && is_title_case(word)) {
    return true;
  }
  if (stop && counted && is_ordinal_ending(tokens.word_before(at))) {
    return true;
  }
  // "the est. cost", "Djokovic d. Alcaraz"
  const std::string_view following = tokens.word_behind(behind);
  const bool estimated =
      abbreviation.written == "est" && !following.empty() && is_ascii_lower(following[0]);
  const bool beaten = tokens.is(at, "d") && is_title_case(tokens.word_before(at)) &&
                      is_title_case(following) && tokens.word_before(at).size() > 1 &&
                      following.size() > 1;
  if (stop && (estimated || beaten)) {
    return true;
  }
  if (abbreviation.stop == AbbreviationStop::BeforeNumber) {
    // "Fig 3", "Apt 4B": these are no words, and do without their stop.
    constexpr auto kNoWords =
        std::to_array<std::string_view>({"fig", "figs", "vol", "vols", "apt", "ste", "eq", "eqs",
                                         "rte", "rm", "mk", "chap", "para", "paras", "sch"});
    const bool bare = word == "pp" || is_british_section(tokens, at) ||
                      (at > 0 && (word == "No" || word == "Nos") && tokens.is_digits(at + 2)) ||
                      (is_capitalised(word) && among(kNoWords, abbreviation.written));
    if (is_capitalised(word) && among(WordList{"small-short-forms"}, abbreviation.written)) {
      return false;  // "plan B. 1950 people"
    }
    return (stop || bare) && number_follows(tokens, at, behind, abbreviation);
  }
  if (abbreviation.written == "v") {
    // "Roe v. Wade", "Apollo Inc. v. Ares"
    const bool cut = at > 2 && tokens.is_space(at - 1) && tokens.is(at - 2, ".");
    const std::string_view before = cut ? tokens.text(at - 3) : tokens.word_before(at);
    // "Lee et al. v. Roe", "R (Miller) v. Prime Minister"
    const bool bracket = at > 1 && tokens.is(at - 2, ")");
    // "England v France"
    if (!stop && tokens.is(at, "v") && tokens.is_space(at + 1)) {
      return at > 1 && (is_capitalised(before) || bracket) && is_capitalised(tokens.text(at + 2));
    }
    return stop && (is_capitalised(before) || before == "al" || bracket);
  }
  if (abbreviation.written.find('.') != std::string_view::npos) {
    return true;
  }
  // "iPhone Pro Max." is a name, "max. 5" is not.
  constexpr auto kNames = std::to_array<std::string_view>({"max", "min", "temp"});
  if (among(kNames, abbreviation.written)) {
    const std::string_view next = tokens.text(tokens.skip_space(behind));
    const bool goes_on =
        stop && !next.empty() && (is_ascii_lower(next[0]) || is_ascii_digit(next[0]));
    return is_capitalised(word) ? goes_on : stop && !tokens.ends_text(behind);
  }
  // "41 HRs"
  if (word.size() > 2 && word.ends_with('s') && is_all_capitals(word.substr(0, word.size() - 1))) {
    return false;
  }
  // "cc: HR."
  if (is_all_capitals(word) && abbreviation.stop == AbbreviationStop::AtCapital) {
    return false;
  }
  return stop || (abbreviation.bare && !is_all_capitals(word));
}

// "(D-NY)", "(R-Tex.)": whether a party's letter stands before `at`.
bool is_behind_party(const Tokens& tokens, size_t at) {
  constexpr auto kParties = std::to_array<std::string_view>({"R", "D", "I", "L"});
  // "Sanders, I-Vt., said"
  const bool listed = at > 3 && tokens.is_space(at - 3) && tokens.is(at - 4, ",");
  return at > 2 && tokens.is(at - 1, "-") && (tokens.is(at - 3, "(") || listed) &&
         among(kParties, tokens.text(at - 2));
}

// ", CA" behind a town. Codes that are words as well need a postal code behind them.
std::optional<Reading> read_state(const Tokens& tokens, size_t at) {
  const bool town = at > 2 && tokens.is_space(at - 1) && tokens.is(at - 2, ",") &&
                    is_title_case(tokens.text(at - 3));
  const bool party = is_behind_party(tokens, at);
  if ((!town && !party) || tokens.text(at).size() != 2) {
    return std::nullopt;
  }
  constexpr auto kWords =
      std::to_array<std::string_view>({"HI", "ID", "IN", "ME", "OH", "OK", "OR"});
  const std::string_view code = tokens.text(at);
  // "Jane Roe, MD": a doctor of medicine.
  const std::string_view given = tokens.word_before(at - 3);
  if (town && code == "MD" &&
      (among(WordList{"given-names"}, ascii_lower(given)) || tokens.is(at - 5, "."))) {
    return std::nullopt;
  }
  const bool postal = tokens.is_space(at + 1) && tokens.is_digits(at + 2, 5, 5);
  const TableRow* const state = find_row(WordTable::States, code);
  if (state == nullptr || (among(kWords, code) && !postal && !party) || !tokens.ends_word(at + 1)) {
    return std::nullopt;
  }
  return Reading{at + 1, with_letter_names((*state)[1])};
}

// "w/", "w/o", "b/c", "c/o".
std::optional<Reading> read_stroke_word(const Tokens& tokens, size_t at) {
  if (!tokens.is(at + 1, "/") || !tokens.begins_word(at) || tokens.text(at).size() != 1) {
    return std::nullopt;
  }
  if (const TableRow* const row = find_row(WordTable::Respelled, tokens.text(at, at + 3));
      row != nullptr && tokens.ends_word(at + 3)) {
    return Reading{at + 3, with_letter_names((*row)[1])};
  }
  if (tokens.is(at, "w") && tokens.ends_word(at + 2)) {
    return Reading{at + 2, "with"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Reading> read_abbreviation(const Tokens& tokens, size_t at,
                                         const SpokenOptions& options) {
  if (!tokens.is_word(at)) {
    return std::nullopt;
  }
  if (auto name = read_calendar_name(tokens, at)) {
    return name;
  }
  const bool titled = at > 1 && tokens.is(at - 1, "-") &&
                      among(WordList{"before-titles"}, ascii_lower(tokens.text(at - 2)));
  if (!tokens.begins_word(at) && !is_behind_party(tokens, at) && !titled) {
    return std::nullopt;
  }
  for (const auto reader : {read_day, read_state, read_stroke_word}) {
    if (auto reading = reader(tokens, at)) {
      return reading;
    }
  }
  const Found found = longest_abbreviation(tokens, at);
  // "msg_list" is an identifier.
  if (found.abbreviation == nullptr || !tokens.ends_word(found.end) || tokens.is(found.end, "_") ||
      (at > 0 && tokens.is(at - 1, "_"))) {
    return std::nullopt;
  }
  // "N.B.C." goes on behind "N.B."
  if (found.end > at + 1 && tokens.is(found.end, ".") && tokens.is_word(found.end + 1) &&
      tokens.text(found.end + 1).size() == 1 && !tokens.is(found.end + 1, "s")) {
    return std::nullopt;
  }
  const bool stop =
      tokens.is(found.end, ".") && !tokens.is_word(found.end + 1) && !tokens.is(found.end + 1, ".");
  const size_t behind = stop ? found.end + 1 : found.end;
  if (!stands(tokens, at, found, stop, behind) &&
      !is_british_including(tokens, at, behind, options.dialect)) {
    return std::nullopt;
  }
  const std::string_view word = word_for(tokens, at, behind, *found.abbreviation, options.dialect);
  if (word.empty()) {
    return std::nullopt;
  }
  // "Robert Downey Jr.'s film"
  if (stop && tokens.is(behind, "'") && tokens.is(behind + 1, "s") &&
      tokens.ends_word(behind + 2)) {
    return Reading{behind + 2, with_letter_names(word) + "'s"};
  }
  // The stop of the last word is the sentence's too, and that of a street's before "He", "The".
  const std::string_view next = tokens.word_behind(behind);
  const bool street = (word == "Street" || word == "Drive" || word == "Avenue") &&
                      is_capitalised(next) && is_sentence_starter(ascii_lower(next));
  const size_t end = stop && (street || tokens.ends_text(behind)) ? found.end : behind;
  // "two Ph.D.s here"
  if (word.size() > 1 && word[1] == ' ' && tokens.is(found.end, ".") &&
      tokens.is(found.end + 1, "s") && tokens.ends_word(found.end + 2)) {
    return Reading{found.end + 2, with_letter_names(word) + "'s"};
  }
  return Reading{end, with_letter_names(word)};
}

}  // namespace mynah

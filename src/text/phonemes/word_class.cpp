#include "text/phonemes/word_class.h"

#include <algorithm>
#include <array>
#include <string>

#include "text/phonemes/letters.h"

namespace mynah {
namespace {

using Words = std::u32string_view;

// Lists with a space around each word.
constexpr Words kModals = U" can could will would shall should may might must 'll ca wo to ";
constexpr Words kDo = U" do does did ";
constexpr Words kBe = U" is are was were be been being am 's 're 'm get gets got getting ";
constexpr Words kHave = U" have has had having 've ";
constexpr Words kAdverbs =
    U" n't not never always often sometimes usually rarely seldom also still even just all both "
    U"already ever hardly barely ";
constexpr Words kSubjects = U" i you we they who ";
constexpr Words kSingularSubjects = U" he she it ";
constexpr Words kObjects =
    U" me him us them it you himself themselves itself herself myself yourself ourselves ";
constexpr Words kDeterminers =
    U" the a an this these those my your his her its our their every each some any all no another "
    U"both ";
constexpr Words kUncertainDeterminers =
    U" all both this that these those no some any each every her ";
constexpr Words kBehindVerb =
    U" when if as after before because while until unless once whenever quickly slowly together "
    U"well badly loudly with against from about that what how whether to each every ";
// Behind these "to" has a verb: "wants to project calm".
constexpr Words kBeforeInfinitives =
    U" want wants wanted need needs needed try tries tried trying plan plans planned planning "
    U"going "
    U"have has had able unable hope hopes hoped like likes love loves refuse refuses refused "
    U"continue continues continued begin begins began start starts started seek seeks sought aim "
    U"aims aimed decide decided decides agree agreed agrees expect expects expected intend intends "
    U"intended order ordered ought used likely unlikely ready willing unwilling how when where "
    U"what "
    U"whether seem seems seemed appear appears appeared fail fails failed manage managed promise "
    U"promised threaten threatened tend tends tended allow allowed force forced ask asked tell "
    U"told "
    U"urge urged help helped eager keen free quick slow easy hard difficult impossible possible "
    U"necessary time reason way right permission chance attempt attempts effort efforts power "
    U"ability not is was are were be ";
constexpr Words kGivers = U" give gave get buy show send offer bring ";
constexpr Words kPlurals = U" people children men women police parents ";
constexpr Words kAnyone =
    U" anyone anybody everyone everybody someone somebody nobody anything everything ";
constexpr Words kPastTimes =
    U" yesterday ago last once earlier previously formerly recently already then ";
constexpr Words kNamedByLetters =
    U" hepatitis vitamin type plan team group class grade section appendix exhibit table figure "
    U"part option point schedule level series side building block wing gate terminal platform "
    U"model example category case influenza flu blood size company division mode form column "
    U"answer phase step room hall zone line route note string chapter article clause paragraph "
    U"annex volume unit set list scenario player person patient candidate variant strain stream "
    U"deck pier lane court pool key letter vector matrix tier from ";
constexpr Words kBehindLetter = U" is was and or to equals has squared cubed through ";
constexpr Words kOperators = U" plus minus times over ";

bool is_among(std::u32string_view word, Words list) {
  return !word.empty() && list.find(U' ' + std::u32string(word) + U' ') != Words::npos;
}

bool starts_with_any(std::string_view tag, std::initializer_list<std::string_view> begins) {
  return std::ranges::any_of(begins,
                             [tag](std::string_view begin) { return tag.starts_with(begin); });
}

class Sentence {
 public:
  Sentence(std::span<const TaggedToken> tokens, size_t at)
      : tokens_(tokens), at_(static_cast<std::ptrdiff_t>(at)) {}

  [[nodiscard]] std::ptrdiff_t at() const { return at_; }

  [[nodiscard]] bool is_there(std::ptrdiff_t i) const { return i >= 0 && i < std::ssize(tokens_); }

  // In small letters; empty outside of the text.
  [[nodiscard]] std::u32string word(std::ptrdiff_t i) const {
    return is_there(i) ? lower(tokens_[static_cast<size_t>(i)].text) : std::u32string();
  }

  [[nodiscard]] std::u32string_view written(std::ptrdiff_t i) const {
    return is_there(i) ? tokens_[static_cast<size_t>(i)].text : std::u32string_view();
  }

  [[nodiscard]] std::string_view tag(std::ptrdiff_t i) const {
    return is_there(i) ? tokens_[static_cast<size_t>(i)].tag : std::string_view();
  }

  [[nodiscard]] bool is(std::ptrdiff_t i, Words list) const { return is_among(word(i), list); }

  // A mark, or beyond the text.
  [[nodiscard]] bool is_mark(std::ptrdiff_t i) const {
    return !is_there(i) || std::ranges::none_of(written(i), is_word_character_of_text);
  }

  [[nodiscard]] bool ends(std::ptrdiff_t i) const {
    const std::u32string_view text = written(i);
    return !is_there(i) || text == U"." || text == U"!" || text == U"?";
  }

  // The place before the word, and before adverbs that stand there.
  [[nodiscard]] std::ptrdiff_t before_adverbs() const {
    std::ptrdiff_t i = at_ - 1;
    while (is_there(i) && (is(i, kAdverbs) || (tag(i) == "RB" && word(i).ends_with(U"ly")))) {
      --i;
    }
    return i;
  }

  // Whether `accepts` holds for a token of the sentence.
  template <class Accepts>
  [[nodiscard]] bool any(Accepts accepts) const {
    for (const std::ptrdiff_t step : {-1, 1}) {
      for (std::ptrdiff_t i = at_ + step; !ends(i) && std::abs(i - at_) < kFarthest; i += step) {
        if (accepts(i)) {
          return true;
        }
      }
    }
    return false;
  }

 private:
  static constexpr std::ptrdiff_t kFarthest = 24;

  static bool is_word_character_of_text(char32_t c) { return is_word_letter(c) || is_any_digit(c); }

  std::span<const TaggedToken> tokens_;
  std::ptrdiff_t at_;
};

bool is_noun(std::string_view tag) {
  return starts_with_any(tag, {"NN"});
}

// Several; at the beginning of a sentence the tagger takes some for a name.
bool is_plural(const Sentence& s, std::ptrdiff_t i) {
  const std::u32string word = s.word(i);
  const bool in_s = word.size() > 3 && word.ends_with(U's') && !word.ends_with(U"ss") &&
                    !word.ends_with(U"us") && !word.ends_with(U"is");
  return starts_with_any(s.tag(i), {"NNS", "NNPS"}) || s.is(i, kPlurals) ||
         (in_s && is_noun(s.tag(i)) && s.ends(i - 1));
}

// An object of a verb begins there.
bool begins_object(const Sentence& s, std::ptrdiff_t i) {
  return s.is(i, kDeterminers) || s.is(i, kObjects) || starts_with_any(s.tag(i), {"PRP$", "DT"});
}

// "Does anyone object?", "Did they project a loss?": an auxiliary begins the clause, and its
// subject stands between.
bool is_asked(const Sentence& s, std::ptrdiff_t subject, bool clause_ends) {
  std::ptrdiff_t i = subject;
  while (s.is_there(i) && subject - i < 4 &&
         (is_noun(s.tag(i)) || starts_with_any(s.tag(i), {"DT", "PRP", "JJ", "CD", "POS"}))) {
    --i;
  }
  const bool auxiliary =
      i < subject && (s.is(i, kDo) || (s.is(i, kModals) && s.word(i) != U"to")) &&
      (s.is_mark(i - 1) || starts_with_any(s.tag(i - 1), {"WP", "WRB", "WDT", "CC"}));
  return auxiliary && (starts_with_any(s.tag(subject), {"PRP", "NNS", "NNP"}) ||
                       s.is(subject, kAnyone) || (s.tag(subject) == "NN" && clause_ends));
}

// Of a word without -s.
bool is_bare_verb(const Sentence& s, bool is_verb_now) {
  const std::ptrdiff_t i = s.before_adverbs();
  const std::ptrdiff_t next = s.at() + 1;
  const bool adverbs = i < s.at() - 1;
  const bool object = begins_object(s, next);
  const bool clause_ends = s.is_mark(next);
  const bool denied = s.word(s.at() - 1) == U"n't" && !s.is(i, kBe) && !s.is(i, kHave);
  if ((s.is(i, kModals) && s.word(i) != U"to") || s.is(i, kDo) || denied) {
    return true;
  }
  if (s.word(i) == U"to" && s.tag(s.at()) != "VB" &&
      (s.is(i - 1, kBeforeInfinitives) || (object && !s.is(i - 1, U" from access due next ")))) {
    return true;
  }
  if (s.is(i, kSubjects) && !(s.word(i) == U"you" && s.is(i - 1, kGivers))) {
    return true;
  }
  if ((clause_ends || object || starts_with_any(s.tag(next), {"IN", "TO", "RB"})) &&
      is_asked(s, i, clause_ends)) {
    return true;
  }
  if (is_plural(s, i)) {
    const bool verbs = s.is(next, U" and or ") && starts_with_any(s.tag(next + 1), {"VB", "VBP"});
    const bool fitting =
        s.word(next) == U"to" && s.tag(s.at()) == "JJ";  // "means appropriate to it"
    if (object || adverbs || verbs || (s.is(next, kBehindVerb) && !fitting)) {
      return true;
    }
  }
  if ((s.is_mark(i) && s.written(i) != U"," && s.written(i) != U"-") || s.word(i) == U"please") {
    return object && !s.is(next, U" no all both some any it ");
  }
  if (!is_verb_now && object && s.is(i, U" and or then ")) {
    for (std::ptrdiff_t k = i - 1; s.is_there(k) && i - k < 5; --k) {
      if (s.tag(k) == "VB" || s.tag(k) == "VBP") {
        return true;
      }
    }
  }
  return false;
}

// Of a word with -s.
bool is_verb_in_s(const Sentence& s) {
  const std::ptrdiff_t i = s.before_adverbs();
  const std::ptrdiff_t next = s.at() + 1;
  return (s.is(i, kSingularSubjects) && s.written(i) != U"IT" && !s.is_mark(next)) ||
         s.is(i, U" who which ") ||
         (begins_object(s, next) && (s.tag(i) == "NN" || s.tag(i) == "NNP") &&
          !s.is(next, U" all both some no any it you her "));
}

bool is_noun_here(const Sentence& s) {
  const std::ptrdiff_t i = s.at() - 1;
  const bool object = begins_object(s, s.at() + 1);
  const bool described =
      starts_with_any(s.tag(i), {"JJ", "CD"}) &&
      (starts_with_any(s.tag(i - 1), {"DT", "PRP$", "POS", "IN"}) || s.is(i - 1, kDeterminers));
  return (s.is(i, kDeterminers) && !s.is(i, kUncertainDeterminers)) || s.is(i, U" of per ") ||
         (!object && (s.tag(i) == "POS" || described));
}

}  // namespace

std::optional<std::string_view> settled_tag(std::span<const TaggedToken> tokens, size_t at) {
  const Sentence s(tokens, at);
  const std::u32string word = s.word(s.at());
  const bool is_verb = s.tag(s.at()).starts_with("VB");
  const bool ends_in_s = word.ends_with(U's') && !word.ends_with(U"ss");
  if (word.ends_with(U"ed")) {
    return std::nullopt;
  }
  if (ends_in_s ? is_verb_in_s(s) : is_bare_verb(s, is_verb)) {
    return is_verb ? std::nullopt : std::optional(ends_in_s ? "VBZ" : "VB");
  }
  return is_verb && is_noun_here(s) ? std::optional("NN") : std::nullopt;
}

std::string_view tense_of_read(std::span<const TaggedToken> tokens, size_t at) {
  constexpr std::string_view kPast = "VBD";
  constexpr std::string_view kPresent = "VB";
  const Sentence s(tokens, at);
  const std::ptrdiff_t i = s.before_adverbs();
  if (s.is(i, kHave) || s.is(i, kBe)) {
    return kPast;  // "I haven't read it"
  }
  if (s.is(i, kModals) || s.is(i, kDo) || s.word(s.at() - 1) == U"n't" ||
      s.is(i, U" please let us help helps ") || s.word(i - 1) == U"let" ||
      is_asked(s, i, s.is_mark(s.at() + 1))) {
    return kPresent;
  }
  if (s.word(i) == U"well") {
    return kPast;
  }
  // "have you read it?"
  if (starts_with_any(s.tag(i), {"PRP", "NN"}) && (s.is(i - 1, kHave) || s.is(i - 2, kHave))) {
    return kPast;
  }
  if (s.is(i, kDeterminers) || (s.tag(i).starts_with("JJ") && s.is(i - 1, kDeterminers))) {
    return kPresent;  // "a good read"
  }
  const auto is_past_verb = [&s](std::ptrdiff_t k) {
    return s.tag(k) == "VBD" && s.word(k) != U"read";
  };
  if (s.is(i, U" and or but then ")) {
    for (std::ptrdiff_t k = i - 1; !s.ends(k); --k) {
      if (s.tag(k).starts_with("VB") && s.tag(k) != "VBG") {
        return is_past_verb(k) || s.tag(k) == "VBN" ? kPast : kPresent;
      }
    }
  }
  const bool past_time = s.any([&s](std::ptrdiff_t k) { return s.is(k, kPastTimes); });
  if (s.is(i, kSubjects) || is_plural(s, i)) {
    return past_time || s.any(is_past_verb) ? kPast : kPresent;
  }
  if (s.is_mark(i)) {
    return !past_time && (begins_object(s, s.at() + 1) || !s.tag(s.at()).starts_with("VB") ||
                          s.tag(s.at() + 1) != "IN")
               ? kPresent
               : kPast;
  }
  // One who reads has an s: "The sign read", "he read", "Mary read".
  const bool one =
      s.is(i, kSingularSubjects) || s.is(i, kAnyone) || s.tag(i) == "NN" || s.tag(i) == "NNP";
  return one || s.tag(s.at()) == "VBD" || s.tag(s.at()) == "VBN" ? kPast : kPresent;
}

bool is_letter_a(std::span<const TaggedToken> tokens, size_t at) {
  const Sentence s(tokens, at);
  const std::ptrdiff_t here = s.at();
  const std::ptrdiff_t next = here + 1;
  const std::u32string_view follows = s.written(next);
  const bool capital = s.written(here) == U"A";
  if (s.is_mark(next)) {
    // "He got an A.", "(a)", "A-level"; not the article before a quotation, or before what is left
    // out.
    constexpr Words kClosing = U".,;:!?)]";
    return !s.is_there(next) || (follows.size() == 1 && kClosing.contains(follows[0])) ||
           (capital && follows == U"-" && !tokens[at].space_after);
  }
  if (s.is(next, kOperators)) {
    return s.written(here + 2).size() == 1 || s.tag(here + 2) == "CD";
  }
  if (s.is_mark(here - 1)) {
    return s.is(next, kBehindLetter);
  }
  if (s.is(next, U" squared cubed equals ")) {
    return true;
  }
  // "the letter a is a vowel", "in A minor"
  if (s.word(here - 1) == U"letter" ||
      (capital && s.is(next, U" minor major flat sharp natural "))) {
    return true;
  }
  if (!capital) {
    return false;
  }
  if (s.is(here - 1, kNamedByLetters) || s.is(here - 1, kDeterminers)) {
    return true;
  }
  return is_lower(follows.substr(0, 1))
             ? starts_with_any(s.tag(next), {"VBZ", "VBD", "VBP", "MD", "IN", "TO", "CC"})
             : std::ranges::all_of(follows, is_any_digit);
}

}  // namespace mynah

#include "text/english_numbers.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "text/decimal.h"
#include "text/normalizer_steps.h"
#include "text/number_patterns.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

using Kind = NumberWord::Kind;

// ^\d+(\.\d+)?$ with its digits as ASCII; nothing if the word is not that.
std::optional<std::string> numeral(std::string_view word) {
  std::string ascii;
  bool after_point = false;
  bool wants_digit = true;
  for (const char32_t c : to_code_points(word)) {
    if (const auto digit = decimal_digit(c)) {
      ascii += static_cast<char>('0' + *digit);
      wants_digit = false;
    } else if (c == U'.' && !after_point && !wants_digit) {
      ascii += '.';
      after_point = true;
      wants_digit = true;
    } else {
      return std::nullopt;
    }
  }
  return wants_digit ? std::nullopt : std::optional(ascii);
}

// The sign that a word such as "$5" begins with; empty if none.
std::string_view leading_sign(std::string_view word) {
  constexpr std::array<std::string_view, 6> kSigns = {"-", "+", "£", "€", "$", "¢"};
  for (const std::string_view sign : kSigns) {
    if (word.starts_with(sign)) {
      return sign;
    }
  }
  return {};
}

// The number heard so far: a whole number, to which words still add ("twenty" + "one"), or text
// that digits are appended to ("one oh" + "one", "three point").
struct Heard {
  bool text = false;
  Decimal number;
  std::string digits;

  static Heard whole(Decimal value) {
    return {.text = false, .number = std::move(value), .digits = {}};
  }

  static Heard literal(std::string value) {
    return {.text = true, .number = {}, .digits = std::move(value)};
  }

  [[nodiscard]] const std::string& string() const { return text ? digits : number.digits(); }
};

// Reads words one by one and writes numbers as they end. A transcription of the reference's
// process_words: every branch has its counterpart there, oddities included ("nineth", "zero" after
// a whole zero), since error rates are compared with those of others.
class NumberReader {
 public:
  NumberReader(const NumberWords& lookup, const std::vector<std::string>& words)
      : lookup_(lookup), words_(words) {}

  std::vector<std::string> run() {
    for (at_ = 0; at_ < words_.size(); ++at_) {
      read();
    }
    end_number();
    return std::move(written_);
  }

 private:
  [[nodiscard]] const NumberWord* word_at(size_t index) const {
    if (index >= words_.size()) {
      return nullptr;
    }
    const auto found = lookup_.find(words_[index]);
    return found == lookup_.end() ? nullptr : &found->second;
  }

  [[nodiscard]] bool is_plain(const NumberWord* word, Kind kind) const {
    return word != nullptr && word->kind == kind && word->suffix.empty();
  }

  [[nodiscard]] const NumberWord* previous() const { return word_at(at_ - 1); }

  [[nodiscard]] const NumberWord* next() const { return word_at(at_ + 1); }

  [[nodiscard]] bool next_is_numeral() const {
    return at_ + 1 < words_.size() && numeral(words_[at_ + 1]).has_value();
  }

  void write(const std::string& text) {
    written_.push_back(prefix_ + text);
    prefix_.clear();
    heard_.reset();
  }

  void end_number() {
    if (heard_) {
      write(std::string(heard_->string()));
    }
  }

  // What the reference writes as str(value or ""): nothing for none, and nothing for a whole zero.
  [[nodiscard]] std::string so_far() const {
    return !heard_ || (!heard_->text && heard_->number.is_zero()) ? "" : heard_->string();
  }

  void read() {
    const std::string& word = words_[at_];
    const std::string_view sign = leading_sign(word);
    if (const auto digits = numeral(std::string_view(word).substr(sign.size()))) {
      read_numeral(word, sign, *digits);
      return;
    }
    const NumberWord* meaning = word_at(at_);
    if (meaning == nullptr) {
      end_number();
      write(word);
      return;
    }
    read_word(word, *meaning);
  }

  void read_numeral(const std::string& word, std::string_view sign, const std::string& digits) {
    if (heard_ && heard_->text && heard_->digits.ends_with('.')) {
      heard_->digits += word;
      return;
    }
    end_number();
    if (!sign.empty()) {
      prefix_ = sign;
    }
    const auto whole = multiply_fraction(digits, 0);
    heard_ = whole ? Heard::whole(*whole) : Heard::literal(word.substr(sign.size()));
  }

  void read_word(const std::string& word, const NumberWord& meaning) {
    switch (meaning.kind) {
      case Kind::Zero:
        heard_ = Heard::literal(so_far() + "0");
        return;
      case Kind::One:
        finish(with_one(meaning.value), meaning.suffix);
        return;
      case Kind::Ten:
        finish(with_ten(meaning.value), meaning.suffix);
        return;
      case Kind::Multiplier:
        read_multiplier(meaning);
        return;
      case Kind::Before:
        end_number();
        if (next() != nullptr || next_is_numeral()) {
          prefix_ = meaning.sign;
        } else {
          write(word);
        }
        return;
      case Kind::After:
        if (heard_) {
          prefix_ = meaning.sign;
          end_number();
        } else {
          write(word);
        }
        return;
      case Kind::Percent:
      case Kind::Per:
        read_percent(word, meaning.kind);
        return;
      default:
        read_special(word, meaning);
    }
  }

  // Keeps the number, or writes it with the suffix of its last word.
  void finish(Heard number, const std::string& suffix) {
    heard_ = std::move(number);
    if (!suffix.empty()) {
      write(heard_->string() + suffix);
    }
  }

  [[nodiscard]] Heard with_one(int ones) const {
    const std::string digits = std::to_string(ones);
    if (!heard_) {
      return Heard::whole(Decimal(digits));
    }
    const NumberWord* before = previous();
    if (heard_->text || is_plain(before, Kind::One)) {
      std::string text = heard_->string();
      if (is_plain(before, Kind::Ten) && ones < 10) {
        text.pop_back();  // the zero of "twenty" in "one twenty one"
      }
      return Heard::literal(text + digits);
    }
    if (heard_->number.ends_in_zeros(ones < 10 ? 1 : 2)) {
      return Heard::whole(heard_->number.plus(Decimal(digits)));
    }
    return Heard::literal(heard_->string() + digits);
  }

  [[nodiscard]] Heard with_ten(int tens) const {
    const std::string digits = std::to_string(tens);
    if (!heard_) {
      return Heard::whole(Decimal(digits));
    }
    if (!heard_->text && heard_->number.ends_in_zeros(2)) {
      return Heard::whole(heard_->number.plus(Decimal(digits)));
    }
    return Heard::literal(heard_->string() + digits);
  }

  void read_multiplier(const NumberWord& meaning) {
    const Heard alone =
        Heard::whole(Decimal("1" + std::string(static_cast<size_t>(meaning.value), '0')));
    if (!heard_) {
      finish(alone, meaning.suffix);
      return;
    }
    if (!heard_->text) {
      finish(Heard::whole(heard_->number.multiply_last_three(meaning.value)), meaning.suffix);
      return;
    }
    if (auto product = multiply_fraction(heard_->digits, meaning.value)) {
      finish(Heard::whole(std::move(*product)), meaning.suffix);
      return;
    }
    end_number();
    finish(alone, meaning.suffix);
  }

  void read_percent(const std::string& word, Kind kind) {
    const bool cent = at_ + 1 < words_.size() && words_[at_ + 1] == "cent";
    if (!heard_ || (kind == Kind::Per && !cent)) {
      end_number();
      write(word);
      return;
    }
    write(heard_->string() + "%");
    at_ += kind == Kind::Per ? 1 : 0;
  }

  void read_special(const std::string& word, const NumberWord& meaning) {
    if (next() == nullptr && !next_is_numeral()) {
      end_number();
      write(word);
      return;
    }
    const NumberWord* after = next();
    if (meaning.kind == Kind::And) {
      if (!is_plain(previous(), Kind::Multiplier)) {
        end_number();
        write(word);
      }
    } else if (meaning.kind == Kind::Double) {
      if (is_plain(after, Kind::One) || is_plain(after, Kind::Zero)) {
        std::string text = so_far();
        for (int i = 0; i < meaning.value; ++i) {
          text += std::to_string(after->value);
        }
        heard_ = Heard::literal(std::move(text));
        ++at_;
      } else {
        end_number();
        write(word);
      }
    } else if (next_is_numeral() || is_plain(after, Kind::Zero) || is_plain(after, Kind::One) ||
               is_plain(after, Kind::Ten)) {
      heard_ = Heard::literal(so_far() + ".");
    }
  }

  const NumberWords& lookup_;
  const std::vector<std::string>& words_;
  size_t at_ = 0;
  std::optional<Heard> heard_;
  std::string prefix_;
  std::vector<std::string> written_;
};

}  // namespace

EnglishNumbers::EnglishNumbers() : words_(number_words()) {}

// "two and a half" becomes "two point five".
std::u32string EnglishNumbers::spell_halves(std::u32string_view text) const {
  std::vector<std::u32string> parts;
  size_t begin = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t end = half_end(text, at);
    if (end == 0) {
      continue;
    }
    const std::u32string_view segment = text.substr(begin, at - begin);
    if (const auto words = split_words(segment); !words.empty()) {
      const auto last = words_.find(to_utf8(words.back()));
      const bool number = last != words_.end() && last->second.suffix.empty() &&
                          last->second.kind <= Kind::Multiplier;
      parts.emplace_back(segment);
      parts.emplace_back(number ? U"point five" : U"and a half");
    }
    begin = end;
    at = end - 1;
  }
  if (const auto rest = text.substr(begin); !split_words(rest).empty()) {
    parts.emplace_back(rest);
  }
  std::u32string joined;
  for (const std::u32string& part : parts) {
    joined.append(joined.empty() ? U"" : U" ").append(part);
  }
  return joined;
}

std::vector<std::string> EnglishNumbers::join_numbers(const std::vector<std::string>& words) const {
  return NumberReader(words_, words).run();
}

std::u32string EnglishNumbers::normalize(std::u32string_view text) const {
  const std::u32string parted = attach_suffixes(part_letters_from_digits(spell_halves(text)));
  std::vector<std::string> words;
  std::ranges::transform(split_words(parted), std::back_inserter(words),
                         [](const std::u32string& word) { return to_utf8(word); });
  std::string joined;
  for (const std::string& word : join_numbers(words)) {
    joined.append(joined.empty() ? "" : " ").append(word);
  }
  return spell_one(extract_cents(combine_cents(to_code_points(joined))));
}

}  // namespace mynah

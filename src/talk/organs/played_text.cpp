#include "talk/organs/played_text.h"

#include <algorithm>

namespace mynah::talk {

namespace {

// Is kept back so that the last clause, which has the rest of the text, has sound.
constexpr double kLastMoment_s = 0.02;

}  // namespace

size_t PlayedText::text_until(double seconds) const {
  const auto expected = static_cast<size_t>(seconds * bytes_per_s_);
  if (expected >= text_.size()) {
    return text_.size();
  }
  const size_t space = text_.find_last_of(" \n\t", expected);
  return space == std::string::npos ? at_ : std::max(at_, space);
}

Status PlayedText::tell(size_t samples, bool last) {
  SpokenClause clause;
  clause.begin = at_;
  clause.start_s = static_cast<double>(told_) / rate_hz_;
  clause.end_s = static_cast<double>(told_ + samples) / rate_hz_;
  clause.end = last ? text_.size() : text_until(clause.end_s);
  clause.text = text_.substr(at_, clause.end - at_);
  clause.ends_sentence = last;
  clause.samples.assign(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(samples));
  held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(samples));
  told_ += samples;
  at_ = clause.end;
  return observer_.on_clause(clause);
}

Status PlayedText::push(std::span<const float> samples) {
  const auto moment = static_cast<size_t>(kLastMoment_s * rate_hz_);
  held_.insert(held_.end(), samples.begin(), samples.end());
  return held_.size() > moment ? tell(held_.size() - moment, false) : Status();
}

Status PlayedText::finish() {
  return tell(held_.size(), true);
}

}  // namespace mynah::talk

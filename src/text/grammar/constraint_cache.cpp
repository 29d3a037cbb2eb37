#include "text/grammar/constraint_cache.h"

#include <algorithm>
#include <iterator>

namespace mynah::grammar {

ConstraintCache::ConstraintCache(std::shared_ptr<const TokenVocabulary> vocabulary, size_t most,
                                 size_t most_bytes)
    : vocabulary_(std::move(vocabulary)), most_(most), most_bytes_(most_bytes) {}

Result<std::shared_ptr<const Constraint>> ConstraintCache::get(const ConstraintSource& source) {
  const size_t hash = hash_of(source);
  const std::scoped_lock lock(mutex_);
  const auto known = std::ranges::find_if(
      entries_, [&](const Entry& entry) { return entry.hash == hash && entry.source == source; });
  if (known != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, known);
    return known->constraint;
  }
  MYNAH_TRY(const Grammar grammar, grammar_of(source));
  MYNAH_TRY(std::shared_ptr<const Constraint> constraint,
            Constraint::compile(grammar, vocabulary_));
  entries_.push_front({.source = source, .hash = hash, .constraint = constraint});
  const auto bytes = [](const Entry& entry) {
    return entry.source.text.size() + entry.constraint->bytes_kept();
  };
  size_t kept = bytes(entries_.front());
  const auto has_no_room = [&](const Entry& entry) {
    kept += bytes(entry);
    return kept > most_bytes_;
  };
  const auto first_without =
      std::ranges::find_if(std::next(entries_.begin()), entries_.end(), has_no_room);
  entries_.erase(first_without, entries_.end());
  while (entries_.size() > most_) {
    entries_.pop_back();
  }
  return constraint;
}

size_t ConstraintCache::size() const {
  const std::scoped_lock lock(mutex_);
  return entries_.size();
}

}  // namespace mynah::grammar

#include "text/grammar/constraint_cache.h"

#include <algorithm>

namespace mynah::grammar {

ConstraintCache::ConstraintCache(std::shared_ptr<const TokenVocabulary> vocabulary, size_t most)
    : vocabulary_(std::move(vocabulary)), most_(most) {}

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

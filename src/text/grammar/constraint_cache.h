// Compiled constraints by what they were made of.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "text/grammar/constraint.h"
#include "text/grammar/constraint_source.h"

namespace mynah::grammar {

// What is kept of all constraints of a model.
inline constexpr size_t kMostCachedBytes = size_t{192} << 20;

// One a model: keeps the constraints that were asked for last. Any number of threads may use it;
// two that ask for the same wait for one compilation.
class ConstraintCache {
 public:
  // `most` constraints, each within kMostConstraintBytes, and about `most_bytes` of them and their
  // sources together; the one that was asked for last is kept, whatever it takes.
  explicit ConstraintCache(std::shared_ptr<const TokenVocabulary> vocabulary, size_t most = 32,
                           size_t most_bytes = kMostCachedBytes);

  // The constraint of this source, compiled where it is not kept. Errors as grammar_of has them,
  // and Constraint::compile; they are not kept.
  [[nodiscard]] Result<std::shared_ptr<const Constraint>> get(const ConstraintSource& source);

  [[nodiscard]] size_t size() const;

 private:
  struct Entry {
    ConstraintSource source;
    size_t hash = 0;
    std::shared_ptr<const Constraint> constraint;
  };

  std::shared_ptr<const TokenVocabulary> vocabulary_;
  size_t most_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // the last one asked for first
  size_t most_bytes_;
};

}  // namespace mynah::grammar

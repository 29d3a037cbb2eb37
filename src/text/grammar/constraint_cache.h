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

// One a model: keeps the constraints that were asked for last. Any number of threads may use it;
// two that ask for the same wait for one compilation.
class ConstraintCache {
 public:
  // `most` constraints, of any size within kMostConstraintBytes each.
  explicit ConstraintCache(std::shared_ptr<const TokenVocabulary> vocabulary, size_t most = 32);

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
};

}  // namespace mynah::grammar

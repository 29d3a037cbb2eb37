// Words of one error that mean another by what stands near them: "No module named 'torch'" while a
// package is built is no missing torch.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

// Of one text, which must outlive it, as must the knowledge. What is near is found once for a text,
// so that a log of one line a million times takes no longer than others.
class Neighbours {
 public:
  Neighbours(std::string_view text, const Knowledge& knowledge)
      : text_(text), knowledge_(knowledge) {}

  // The error that the words of `error` at `at` mean: one that stands `instead_of` it, where any of
  // its `beside` is within some kilobytes; `error` itself otherwise. Places in the knowledge base.
  [[nodiscard]] size_t meant(size_t error, size_t at);

 private:
  // Which blocks of the text have something of `beside`.
  const std::vector<bool>& blocks_of(size_t error);

  std::string_view text_;
  const Knowledge& knowledge_;
  std::map<size_t, std::vector<bool>> blocks_;  // by error
};

}  // namespace mynah::doctor

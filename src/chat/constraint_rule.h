// ConstraintRule: a reply that keeps to a grammar, from where its content begins.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "chat/generation_queue.h"
#include "text/grammar/constraint.h"
#include "text/tokenizer/text_tokenizer.h"

namespace mynah {

class ConstraintRule final : public TokenRule {
 public:
  // `tokenizer` must outlive it. `after`: a marker that the content begins behind, as of a thought
  // that the prompt began; "": at once.
  ConstraintRule(std::shared_ptr<const grammar::Constraint> constraint,
                 const TextTokenizer& tokenizer, std::string after);

  std::span<const uint32_t> allowed() override;
  void take(int32_t token) override;

 private:
  const TextTokenizer& tokenizer_;
  grammar::ConstraintState state_;
  std::string after_;
  std::string written_;  // where after_ did not come yet, what may be its beginning
  std::vector<uint32_t> bits_;
};

}  // namespace mynah

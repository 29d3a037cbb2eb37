// ReplyConstraints: the grammars of one model's replies, made once each.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "chat/chat_request.h"
#include "chat/reply/reply_format.h"
#include "chat/reply/reply_markers.h"
#include "chat/reply_rule.h"
#include "text/grammar/constraint_cache.h"
#include "text/tokenizer/text_tokenizer.h"

namespace mynah {

// Any number of threads may use it.
class ReplyConstraints {
 public:
  explicit ReplyConstraints(std::shared_ptr<const TextTokenizer> tokenizer);

  // The spellings of the vocabulary's control tokens.
  [[nodiscard]] std::shared_ptr<const Spellings> controls() const { return controls_; }

  // As ConstraintCache::get().
  [[nodiscard]] Result<std::shared_ptr<const grammar::Constraint>> answer(
      const grammar::ConstraintSource& source);

  struct Calls {
    CallRules rules;
    std::vector<ReplyNote> notes;  // what calls do not keep to
  };

  // How calls are written.
  struct CallWish {
    bool several = false;         // any number of them, else one
    bool must_come = false;       // from where the content begins: CallRules::begins has nothing
    bool behind_thought = false;  // a thought may stand before those
  };

  // Calls of these tools. A tool whose schema cannot be followed may have any arguments, and it is
  // noted; one that is strict is refused as its schema is, and so is what must come and cannot be
  // followed.
  [[nodiscard]] Result<Calls> calls(const CallFormat& format, const std::vector<ReplyTool>& tools,
                                    CallWish wish);

 private:
  struct Entry {
    std::string key;
    Calls calls;
  };

  [[nodiscard]] Result<std::shared_ptr<const grammar::TokenVocabulary>> vocabulary();
  [[nodiscard]] Result<Calls> make_calls(const CallFormat& format, std::vector<ReplyTool> tools,
                                         CallWish wish);
  [[nodiscard]] Result<CallRules> rules_of(const CallFormat& format,
                                           const std::vector<ReplyTool>& tools, CallWish wish);

  std::shared_ptr<const TextTokenizer> tokenizer_;
  std::shared_ptr<const Spellings> controls_;
  std::mutex mutex_;
  std::shared_ptr<const grammar::TokenVocabulary> vocabulary_;  // once one was asked for
  std::unique_ptr<grammar::ConstraintCache> answers_;
  std::list<Entry> calls_;  // the last one asked for first
};

}  // namespace mynah

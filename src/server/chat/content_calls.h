// ContentCalls: a reply's content that is a call of a tool, told as one while it is written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chat/reply/reply.h"
#include "server/chat/answer_rules.h"

namespace mynah::server {

// For replies of answer_rules(), whose calls are {"name": "f", "arguments": {...}} with white space
// anywhere. Any cut of the content gives the same message.
class ContentCalls {
 public:
  // `id`: of the call, if there is one.
  ContentCalls(ContentIs content, const std::vector<std::string>& callable, std::string id);

  // What is told in place of that.
  [[nodiscard]] ReplyDelta take(ReplyDelta said);
  // The rest.
  [[nodiscard]] ReplyDelta finish();

 private:
  enum class Reads : uint8_t { Beginning, Arguments, Content };

  // Looks whether what is held begins a call.
  void begin(ReplyDelta& told);
  void tell_arguments(ReplyDelta& told);

  Reads reads_;
  std::vector<std::string> beginnings_;  // of each tool's call, without white space
  std::vector<std::string> names_;
  std::string id_;
  std::string held_;
  std::string arguments_;  // that were told
};

}  // namespace mynah::server

// ReplyStream: a reply's tokens as they are written, as text, calls and thoughts for who waits.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "chat/chat_request.h"
#include "chat/reply/reply_parser.h"
#include "chat/stop_texts.h"
#include "text/tokenizer/text_tokenizer.h"
#include "text/utf8.h"

namespace mynah {

// The queue's thread pushes, who asked takes.
class ReplyStream {
 public:
  // `tokenizer` must outlive it. `on_more`: called from the queue's thread when there is more to be
  // taken, or the reply has ended; may be null.
  ReplyStream(const TextTokenizer& tokenizer, const ReplyFormat& format,
              const ReplyOptions& options, std::vector<std::string> stops, bool tells_tokens,
              std::function<void()> on_more = nullptr);

  // False: a stop came, and nothing more is wanted.
  bool push(const ChosenToken& chosen);
  // There will be no more.
  void finish(Result<Generated> result);

  // What came since then; none: nothing did. Text and calls apart, a call at a time: many clients
  // read the first call of a part alone, and no text beside it.
  std::optional<ChatDelta> take();

  // Whether it has ended and all of it was taken.
  [[nodiscard]] bool is_over() const;

  // Once it has ended.
  [[nodiscard]] Result<ChatReply> reply() const;

 private:
  // Text that the model wrote, up to a stop. Wants the lock.
  void read(const std::string& text, bool is_control);
  void tell(const ReplyDelta& said);
  [[nodiscard]] ToldToken told(const ChosenToken& chosen) const;

  const TextTokenizer& tokenizer_;
  bool tells_tokens_;
  std::function<void()> on_more_;
  mutable std::mutex mutex_;
  Utf8Stream utf8_;
  StopTexts stops_;
  ReplyParser parser_;
  ChatDelta waiting_;
  int64_t thought_tokens_ = 0;  // that added to a thought
  std::optional<Result<Generated>> result_;
};

}  // namespace mynah

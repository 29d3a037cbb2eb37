// A language model's output as a message, told as it comes.
#pragma once

#include <memory>

#include "chat/reply/reply.h"
#include "chat/reply/reply_format.h"

namespace mynah {

// Any cut of an output into pieces gives the same message, and the deltas put together are the
// message. What may yet become a marker is held back. Content has no thought and no marker in it; a
// thought that never ends stays one; a call's marker in a thought is no call. Bytes that are no
// UTF-8 become U+FFFD. Takes time in proportion to the output.
class ReplyParser {
 public:
  ReplyParser(const ReplyFormat& format, const ReplyOptions& options);
  ReplyParser(ReplyParser&&) noexcept;
  ReplyParser& operator=(ReplyParser&&) noexcept;
  ~ReplyParser();

  // What the piece added.
  [[nodiscard]] ReplyDelta push(const ReplyPiece& piece);

  // The output has ended, for whatever reason: the rest. Nothing is pushed after it.
  [[nodiscard]] ReplyDelta finish();

  // All that was told so far.
  [[nodiscard]] const ReplyMessage& message() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mynah

// The message of a reply as it grows, and what was added since it was last asked.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "chat/reply/lone_call.h"
#include "chat/reply/reply.h"

namespace mynah {

// White space beside a marker belongs to the format and is dropped: in content and in thoughts it
// is held back until text follows it, or until the reply ends. What ends without a marker is as it
// was written.
class ReplyWriter {
 public:
  explicit ReplyWriter(uint64_t id_seed) : id_seed_(id_seed) {}

  // From now on content that is nothing but a call (LoneCall) is one, and held back while it may
  // be. `tools` must outlive the writer.
  void watch_for_call(const ToolSchemas& tools) { lone_.emplace(tools); }

  // Parts of a stream (reply_markers.h). Control tokens in content are left out: nobody is to hear
  // them. In a thought they are spelled.
  void content(std::string_view stream);
  void reasoning(std::string_view stream);

  // A marker stands here.
  void edge();

  // Nothing but white space was written since the last marker, or the beginning.
  [[nodiscard]] bool is_at_edge() const { return at_edge_; }

  // Begins a call; one that is open ends. Beyond kMostCalls it and its arguments are left out.
  void begin_call(std::string_view name, std::string_view id);

  [[nodiscard]] bool has_open_call() const { return open_; }

  void arguments(std::string_view text);

  // The call is not as its format wants it.
  void spoil_call() { spoilt_ = true; }

  void end_call();

  // The reply ends: what was held back is text, an open call ends.
  void finish();

  // Forgets the content and the thoughts so far, and that they were there; calls stay.
  void forget_text();

  [[nodiscard]] ReplyDelta take_delta();

  [[nodiscard]] const ReplyMessage& message() const { return message_; }

 private:
  // What was held back is content.
  void give_up_call();
  void append(std::string& whole, std::string& added, std::string_view text);
  CallDelta& delta_of_call();
  [[nodiscard]] std::string make_id(size_t index) const;

  uint64_t id_seed_;
  std::optional<LoneCall> lone_;  // while content may be one
  ReplyMessage message_;
  ReplyDelta delta_;
  std::string space_;  // held back
  bool space_is_thought_ = false;
  bool at_edge_ = true;
  bool after_marker_ = false;
  bool open_ = false;      // a call was begun
  bool left_out_ = false;  // and is one too many
  bool spoilt_ = false;
  bool full_ = false;  // no more arguments are taken
};

}  // namespace mynah

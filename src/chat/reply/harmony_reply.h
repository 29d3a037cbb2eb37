// gpt-oss's replies: messages, each with a channel and perhaps the one it is for
// (https://cookbook.openai.com/articles/openai-harmony):
// <|channel|>analysis<|message|>..<|end|><|start|>assistant<|channel|>commentary to=functions.f
// <|constrain|>json<|message|>{..}<|call|>
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chat/reply/reply_markers.h"
#include "chat/reply/reply_reader.h"
#include "chat/reply/reply_writer.h"

namespace mynah {

class HarmonyReply : public ReplyReader {
 public:
  HarmonyReply(const Spellings& controls, ReplyWriter& writer);

  [[nodiscard]] size_t take(std::string_view stream, bool last) override;
  void prompt_ends() override;

 private:
  enum class Place { Header, Content, Thought, Call };

  void add(std::string_view stream);
  void meet(size_t marker);
  void end_part();
  void begin_message();
  void begin_header(bool with_role);

  ReplyWriter& writer_;
  std::vector<std::string> markers_;
  Place place_ = Place::Header;
  std::string part_;  // of the header: the role, the channel, or how the content is constrained
  bool is_role_ = true;
  bool is_channel_ = false;
  bool any_marker_ = false;  // of this header
  std::string channel_;
  std::string recipient_;
};

}  // namespace mynah

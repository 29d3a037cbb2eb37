// Replies in which markers stand around thoughts and calls.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chat/reply/call_body.h"
#include "chat/reply/reply_reader.h"

namespace mynah {

class MarkedReply : public ReplyReader {
 public:
  // All of it outlives the reader. The markers of `format` are streams (mark_controls).
  MarkedReply(const ReplyFormat& format, const ToolSchemas& tools, ReplyWriter& writer);

  [[nodiscard]] size_t take(std::string_view stream, bool last) override;
  void prompt_ends() override;

 private:
  enum class Place { Text, Thought, Section, Body, Behind, Spoilt };
  enum class Kind {
    ThoughtBegin,
    ThoughtEnd,
    SectionBegin,
    CallBegin,
    FunctionBegin,
    CallEnd,
    SectionEnd,
    Dropped
  };

  struct MarkerSet {
    std::vector<std::string> markers;
    std::vector<Kind> kinds;
    void add(Kind kind, const std::string& marker);
    void add(Kind kind, const std::vector<std::string>& all);
  };

  size_t text(std::string_view stream, bool last);
  size_t thought(std::string_view stream, bool last);
  size_t section(std::string_view stream, bool last);
  size_t body(std::string_view stream, bool last);
  size_t behind(std::string_view stream, bool last);
  size_t spoilt(std::string_view stream, bool last);
  size_t meet(Kind kind, size_t length);
  void begin_body(bool bare);
  void break_body();
  void add_spoilt(std::string_view spelled);
  void after_call();
  void end_of_reply();
  [[nodiscard]] bool takes_more_json() const;

  const ReplyFormat& format_;
  CallContext context_;
  ReplyWriter& writer_;
  MarkerSet in_text_, in_thought_, in_section_, behind_call_, in_spoilt_;
  Place place_ = Place::Text;
  bool in_prompt_ = true;
  bool thought_is_from_prompt_ = false;
  bool may_be_bare_ = false;  // nothing but white space and thoughts so far
  bool in_section_place_ = false;
  std::unique_ptr<CallBody> body_;
  bool body_is_bare_ = false;
  std::string spoilt_;  // of a call that was not told yet
};

}  // namespace mynah

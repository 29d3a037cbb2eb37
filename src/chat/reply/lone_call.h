// LoneCall: an answer that is nothing but a call of a tool, written as JSON without what its family
// has around calls. Models that saw few calls write so, within a fence of Markdown or without one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "chat/reply/tool_schemas.h"

namespace mynah {

// {"name": "f", "arguments": {..}}, of a tool that was offered. An answer is held back only as long
// as it may still be one.
class LoneCall {
 public:
  // `tools` must outlive it.
  explicit LoneCall(const ToolSchemas& tools) : tools_(tools) {}

  // More of the content: what of it, and of what was held back, is content for certain.
  [[nodiscard]] std::string take(std::string_view text);

  // Whether the answer is no such call, whatever comes.
  [[nodiscard]] bool is_over() const { return place_ == Place::Over; }

  struct Call {
    std::string name;
    std::string arguments;  // JSON text of an object, as it was written
  };

  // What is held back where the answer ends behind it; none: it is content.
  [[nodiscard]] std::optional<Call> call() const {
    return place_ == Place::Behind && !fenced_ ? call_ : std::nullopt;
  }

  [[nodiscard]] const std::string& held() const { return held_; }

 private:
  enum class Place { Before, Fence, Object, Behind, FenceEnd, Over };

  void next(char byte);
  void in_fence(char byte);
  void in_object(char byte);
  void end_of_string();
  // None: the object is no call.
  [[nodiscard]] std::optional<Call> call_of(std::string_view object) const;

  const ToolSchemas& tools_;
  Place place_ = Place::Before;
  std::string held_;
  std::string fence_;  // of what begins or ends it, so far
  bool fenced_ = false;
  // Of the object; places are counted in what is held.
  size_t begin_ = 0;
  int depth_ = 0;
  bool string_ = false;
  bool escaped_ = false;
  size_t string_begin_ = 0;
  std::string key_;  // of the value that comes; "": a key does
  size_t arguments_begin_ = 0;
  size_t arguments_end_ = 0;
  std::optional<Call> call_;  // once it is whole
};

}  // namespace mynah

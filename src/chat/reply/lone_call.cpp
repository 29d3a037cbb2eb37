#include "chat/reply/lone_call.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "chat/reply/reply.h"
#include "formats/json.h"

namespace mynah {
namespace {

constexpr std::string_view kFence = "```";
constexpr std::string_view kFenceOfJson = "```json";
constexpr std::array<std::string_view, 5> kKeys = {"name", "arguments", "parameters", "type", "id"};

bool is_white(char byte) {
  return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

bool is_arguments(std::string_view key) {
  return key == "arguments" || key == "parameters";
}

// A JSON string's text; "": it is none.
std::string text_of(std::string_view quoted) {
  const auto value = parse_json(quoted, "string");
  return value && value->is_string() ? value->get<std::string>() : std::string();
}

}  // namespace

std::string LoneCall::take(std::string_view text) {
  std::string content;
  for (size_t i = 0; i < text.size(); ++i) {
    if (place_ == Place::Over) {
      return content + std::string(text.substr(i));
    }
    if (place_ == Place::Before && is_white(text[i])) {
      content += text[i];
      continue;
    }
    held_ += text[i];
    next(text[i]);
    if (place_ == Place::Over || held_.size() > kMostArgumentBytes) {
      place_ = Place::Over;
      content += std::exchange(held_, {});
    }
  }
  return content;
}

void LoneCall::next(char byte) {
  switch (place_) {
    case Place::Before:
      if (byte == '{') {
        place_ = Place::Object;
        in_object(byte);
      } else {
        place_ = Place::Fence;
        in_fence(byte);
      }
      break;
    case Place::Fence:
      in_fence(byte);
      break;
    case Place::Object:
      in_object(byte);
      break;
    case Place::Behind:
      if (fenced_ && byte == kFence.front()) {
        place_ = Place::FenceEnd;
        fence_ = byte;
      } else if (!is_white(byte)) {
        place_ = Place::Over;
      }
      break;
    case Place::FenceEnd:
      fence_ += byte;
      if (fence_ == kFence) {
        fenced_ = false;
        place_ = Place::Behind;
      } else if (!kFence.starts_with(fence_)) {
        place_ = Place::Over;
      }
      break;
    case Place::Over:
      break;
  }
}

void LoneCall::in_fence(char byte) {
  fenced_ = true;
  const bool is_whole = fence_ == kFence || fence_ == kFenceOfJson;
  if (is_whole && byte == '{') {
    place_ = Place::Object;
    in_object(byte);
  } else if (!(is_whole && is_white(byte))) {
    fence_ += byte;
    place_ = kFenceOfJson.starts_with(fence_) ? Place::Fence : Place::Over;
  }
}

void LoneCall::in_object(char byte) {
  const size_t at = held_.size() - 1;
  if (string_) {
    if (!escaped_ && byte == '"') {
      string_ = false;
      end_of_string();
    }
    escaped_ = !escaped_ && byte == '\\';
    return;
  }
  switch (byte) {
    case '"':
      string_ = true;
      string_begin_ = at;
      break;
    case '{':
    case '[':
      begin_ = depth_ == 0 ? at : begin_;
      if (++depth_ == 2 && is_arguments(key_)) {
        arguments_begin_ = at;
      }
      break;
    case '}':
    case ']':
      if (--depth_ == 1 && is_arguments(key_)) {
        arguments_end_ = at + 1;
      }
      if (depth_ == 0) {
        call_ = call_of(std::string_view(held_).substr(begin_));
        place_ = call_ ? Place::Behind : Place::Over;
      }
      break;
    case ',':
      if (depth_ == 1) {
        key_.clear();
      }
      break;
    default:
      // An answer in JSON that is no call is told as soon as that is known.
      if (depth_ == 1 && key_.empty() && !is_white(byte)) {
        place_ = Place::Over;
      }
  }
}

void LoneCall::end_of_string() {
  if (depth_ != 1) {
    return;
  }
  const std::string text = text_of(std::string_view(held_).substr(string_begin_));
  if (key_.empty()) {
    key_ = text;
    place_ = std::ranges::find(kKeys, key_) == kKeys.end() ? Place::Over : place_;
  } else if (key_ == "name" && !tools_.has(text)) {
    place_ = Place::Over;
  }
}

std::optional<LoneCall::Call> LoneCall::call_of(std::string_view object) const {
  const auto value = parse_json(object, "call");
  if (!value || !value->contains("name") || !(*value)["name"].is_string() ||
      value->contains("arguments") == value->contains("parameters")) {
    return std::nullopt;
  }
  const auto& arguments = (*value)[value->contains("arguments") ? "arguments" : "parameters"];
  auto name = (*value)["name"].get<std::string>();
  if (!arguments.is_object() || !tools_.has(name)) {
    return std::nullopt;
  }
  return Call{.name = std::move(name),
              .arguments = held_.substr(arguments_begin_, arguments_end_ - arguments_begin_)};
}

}  // namespace mynah

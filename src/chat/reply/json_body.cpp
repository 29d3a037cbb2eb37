#include "chat/reply/json_body.h"

#include <algorithm>

#include "chat/reply/reply_markers.h"
#include "formats/json.h"

namespace mynah {
namespace {

// The keys that families use; no two of one kind stand in one object.
constexpr std::string_view kNameKeys = "name tool_name function";
constexpr std::string_view kArgumentKeys = "arguments parameters";
constexpr std::string_view kIdKeys = "id tool_call_id call_id";
// What stands around a call in OpenAI's form, and in llama.cpp's generic one.
constexpr std::string_view kOuterKeys = "function tool_call tool_calls";

bool is_space(char byte) {
  return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

bool is_one_of(std::string_view word, std::string_view words) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) {
      return true;
    }
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

std::optional<std::string> decoded_string(std::string_view text) {
  const auto value = parse_json(text, "string");
  if (!value || !value->is_string()) {
    return std::nullopt;
  }
  return value->get<std::string>();
}

}  // namespace

BodyStep JsonBody::take(std::string_view stream, bool /*last*/) {
  using State = BodyStep::State;
  size_t at = 0;
  State state = State::More;
  while (at < stream.size() && state == State::More) {
    const bool was_begun = begun_;
    const Verdict verdict = next(stream[at]);
    if (verdict == Verdict::Broken) {
      state = State::Broken;
    } else if (verdict == Verdict::Before) {
      state = State::Done;
    } else if (verdict != Verdict::Again) {
      if (!begun_ && !was_begun && !(any_ && place_ == Place::Outside)) {
        held_ += stream[at];
      }
      ++at;
      state = verdict == Verdict::Done ? State::Done : State::More;
      if (held_.size() > kMostArgumentBytes) {
        state = State::Broken;
      }
    }
  }
  tell();
  return {.taken = at, .state = state};
}

void JsonBody::tell() {
  context_.writer.arguments(untold_);
  untold_.clear();
}

JsonBody::Verdict JsonBody::next(char byte) {
  switch (place_) {
    case Place::Outside:
      return outside(byte);
    case Place::BeforeKey:
      return before_key(byte);
    case Place::Key:
      text_ += byte;
      switch (scan_.next(byte)) {
        case JsonScan::Step::Inside:
          return Verdict::Taken;
        case JsonScan::Step::Ends:
          if (auto key = decoded_string(text_)) {
            key_ = std::move(*key);
            place_ = Place::Colon;
            return Verdict::Taken;
          }
          return Verdict::Broken;
        default:
          return Verdict::Broken;
      }
    case Place::Colon:
      if (byte == ':') {
        place_ = Place::BeforeValue;
      }
      return byte == ':' || is_space(byte) ? Verdict::Taken : Verdict::Broken;
    case Place::BeforeValue:
      return before_value(byte);
    case Place::Value:
      return value(byte);
  }
  return Verdict::Broken;
}

JsonBody::Verdict JsonBody::outside(char byte) {
  if (is_space(byte) || byte == ',') {
    return Verdict::Taken;
  }
  if (byte == '{' || byte == '[') {
    if (around_.size() >= static_cast<size_t>(kMaxJsonDepth)) {
      return Verdict::Broken;
    }
    around_ += byte;
    place_ = byte == '{' ? Place::BeforeKey : Place::Outside;
    return Verdict::Taken;
  }
  if (byte == ']' && around_.ends_with('[')) {
    around_.pop_back();
    if (around_.ends_with('{')) {
      place_ = Place::BeforeKey;
      return Verdict::Taken;
    }
    return around_.empty() ? Verdict::Done : Verdict::Taken;
  }
  return any_ && around_.empty() ? Verdict::Before : Verdict::Broken;
}

JsonBody::Verdict JsonBody::before_key(char byte) {
  if (byte == '}') {
    return end_of_object();
  }
  if (byte == '"') {
    place_ = Place::Key;
    scan_ = {};
    text_.clear();
    return Verdict::Again;
  }
  return byte == ',' || is_space(byte) ? Verdict::Taken : Verdict::Broken;
}

JsonBody::Verdict JsonBody::before_value(char byte) {
  if (is_space(byte)) {
    return Verdict::Taken;
  }
  const bool keyed = context_.format.shape == CallShape::Keyed;
  if (!keyed && (byte == '{' || byte == '[') && is_one_of(key_, kOuterKeys)) {
    place_ = Place::Outside;
    return Verdict::Again;
  }
  if (keyed) {
    if (const Verdict verdict = name_is(key_); verdict == Verdict::Broken) {
      return verdict;
    }
  } else if (bare_ && !begun_ && !is_one_of(key_, kNameKeys) && !is_one_of(key_, kArgumentKeys) &&
             !is_one_of(key_, kIdKeys) && key_ != "type") {
    return Verdict::Broken;  // an answer in JSON
  }
  place_ = Place::Value;
  scan_ = {};
  text_.clear();
  streams_ = begun_ && byte == '{' && (keyed || is_one_of(key_, kArgumentKeys));
  return Verdict::Again;
}

JsonBody::Verdict JsonBody::value(char byte) {
  switch (scan_.next(byte)) {
    case JsonScan::Step::Inside:
      (streams_ ? untold_ : text_) += byte;
      return Verdict::Taken;
    case JsonScan::Step::Ends:
      (streams_ ? untold_ : text_) += byte;
      return end_of_value();
    case JsonScan::Step::Before: {
      const Verdict verdict = end_of_value();
      return verdict == Verdict::Taken ? Verdict::Again : verdict;
    }
    case JsonScan::Step::Broken:
      break;
  }
  return Verdict::Broken;
}

JsonBody::Verdict JsonBody::end_of_value() {
  place_ = Place::BeforeKey;
  if (streams_) {
    streams_ = false;
    told_arguments_ = true;
    return Verdict::Taken;
  }
  const bool keyed = context_.format.shape == CallShape::Keyed;
  if (!keyed && is_one_of(key_, kNameKeys)) {
    const auto name = decoded_string(text_);
    return name ? name_is(*name) : Verdict::Broken;
  }
  if (!keyed && is_one_of(key_, kIdKeys)) {
    id_ = decoded_string(text_).value_or(text_);
    return Verdict::Taken;
  }
  if ((keyed || is_one_of(key_, kArgumentKeys)) && !told_arguments_) {
    // Some models write the arguments as a string that has the JSON in it.
    std::string arguments = text_ == "null" ? "{}" : decoded_string(text_).value_or(text_);
    if (begun_) {
      untold_ += arguments;
      told_arguments_ = true;
    } else {
      early_ = std::move(arguments);
    }
  }
  return Verdict::Taken;
}

JsonBody::Verdict JsonBody::name_is(std::string_view name) {
  if (begun_) {
    return Verdict::Taken;  // a second name says nothing
  }
  if (name.empty() || name.size() > kMostNameBytes || (bare_ && !context_.tools.has(name))) {
    return Verdict::Broken;
  }
  context_.writer.begin_call(name, id_.size() > kMostNameBytes ? std::string_view() : id_);
  begun_ = true;
  any_ = true;
  held_.clear();
  if (early_) {
    untold_ += *early_;
    told_arguments_ = true;
  }
  return Verdict::Taken;
}

JsonBody::Verdict JsonBody::end_of_object() {
  around_.pop_back();
  if (begun_) {
    if (!told_arguments_) {
      untold_ += "{}";
    }
    tell();
    context_.writer.end_call();
  } else if (!any_) {
    around_ += '{';
    return Verdict::Broken;
  }
  begun_ = false;
  told_arguments_ = false;
  early_.reset();
  id_.clear();
  held_.clear();
  place_ = around_.ends_with('{') ? Place::BeforeKey : Place::Outside;
  return around_.empty() ? Verdict::Done : Verdict::Taken;
}

}  // namespace mynah

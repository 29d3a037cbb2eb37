#include "chat/reply/gemma_body.h"

#include <algorithm>

#include "chat/reply/reply_markers.h"
#include "formats/json.h"
#include "text/utf8.h"

namespace mynah {
namespace {

using State = BodyStep::State;

constexpr std::string_view kCallPrefix = "call:";
constexpr std::string_view kWordEnds = ",}]";

}  // namespace

GemmaBody::GemmaBody(const CallContext& context)
    : context_(context), quote_(context.format.separator) {
  name_stops_ = {"{"};
  text_stops_ = quote_;
  for (const std::string& end : context_.format.end) {
    name_stops_.push_back(end);
    if (end.starts_with(kControlBegin)) {
      text_stops_.push_back(end);
    }
  }
}

BodyStep GemmaBody::take(std::string_view stream, bool last) {
  return take_steps(stream, place_, [&](std::string_view rest) { return step(rest, last); });
}

BodyStep GemmaBody::step(std::string_view stream, bool last) {
  if (place_ == Place::Name) {
    return name(stream, last);
  }
  if (stream.empty()) {
    return {};
  }
  switch (place_) {
    case Place::Key:
      return key(stream);
    case Place::QuotedKey:
      return quoted_key(stream, last);
    case Place::Word:
      return word(stream, last);
    case Place::Text:
      return text(stream, last);
    case Place::Json:
      return json(stream);
    default:
      break;
  }
  const std::string_view rest = without_leading_space(stream);
  BodyStep one;
  if (!rest.empty()) {
    one = place_ == Place::Behind ? behind(rest) : before(rest, last);
  }
  one.taken += stream.size() - rest.size();
  return one;
}

BodyStep GemmaBody::name(std::string_view stream, bool last) {
  const MarkerHit hit = find_marker(stream, name_stops_, last);
  const size_t end = end_of_word(stream.substr(0, hit.at));
  std::string name;
  if (end == hit.at && hit.match == MarkerMatch::Found) {
    name = stripped_word(stream.substr(0, end));
    if (name.starts_with(kCallPrefix)) {
      name.erase(0, kCallPrefix.size());
    }
  } else if (end == hit.at && !last) {
    return {};
  }
  if (name.empty()) {
    append_spelled(held_, stream.substr(0, end));
    return {.taken = end, .state = State::Broken};
  }
  context_.writer.begin_call(name, {});
  if (hit.which > 0) {
    context_.writer.arguments("{}");
    return {.taken = end, .state = State::Done};
  }
  BodyStep one = open('{');
  one.taken = end + hit.length;
  return one;
}

BodyStep GemmaBody::open(char bracket) {
  if (around_.size() >= static_cast<size_t>(kMaxJsonDepth)) {
    return {.state = State::Broken};
  }
  tell(std::string_view(&bracket, 1));
  comma_ = false;
  around_ += bracket;
  place_ = bracket == '{' ? Place::BeforeKey : Place::BeforeValue;
  return {.taken = 1};
}

BodyStep GemmaBody::close(char bracket) {
  if (!around_.ends_with(bracket == '}' ? '{' : '[')) {
    return {.state = State::Broken};
  }
  around_.pop_back();
  context_.writer.arguments(std::string_view(&bracket, 1));
  comma_ = false;
  place_ = Place::Behind;
  return {.taken = 1, .state = around_.empty() ? State::Done : State::More};
}

void GemmaBody::tell(std::string_view value) {
  if (comma_) {
    context_.writer.arguments(", ");
  }
  comma_ = false;
  context_.writer.arguments(value);
}

// Where a key or a value begins, or the brackets around it end. `stream` begins with no white
// space.
BodyStep GemmaBody::before(std::string_view stream, bool last) {
  const char byte = stream.front();
  if (place_ == Place::Colon) {
    place_ = Place::BeforeValue;
    return {.taken = 1, .state = byte == ':' ? State::More : State::Broken};
  }
  const bool is_key = place_ == Place::BeforeKey;
  const MarkerHit hit = match_marker(stream, quote_, last);
  if (hit.match == MarkerMatch::Maybe) {
    return {};
  }
  word_.clear();
  if (hit.match == MarkerMatch::Found) {
    place_ = is_key ? Place::QuotedKey : Place::Text;
    if (!is_key) {
      tell("\"");
    }
    return {.taken = hit.length};
  }
  if ((is_key && byte == '}') || (!is_key && byte == ']')) {
    return close(byte);
  }
  if (is_key) {
    place_ = Place::Key;
    return {};
  }
  if (byte == '{' || byte == '[') {
    return open(byte);
  }
  scan_ = {};
  place_ = byte == '"' ? Place::Json : Place::Word;
  return {};
}

BodyStep GemmaBody::key(std::string_view stream) {
  const size_t colon = std::min(stream.find(':'), stream.size());
  if (end_of_word(stream.substr(0, colon)) < colon) {
    return {.state = State::Broken};
  }
  if (colon == stream.size()) {
    return {};
  }
  tell(json_quoted(stripped_word(stream.substr(0, colon))));
  context_.writer.arguments(": ");
  place_ = Place::BeforeValue;
  return {.taken = colon + 1};
}

BodyStep GemmaBody::quoted_key(std::string_view stream, bool last) {
  const MarkerHit hit = find_marker(stream, quote_, last);
  const size_t end = end_of_word(stream.substr(0, hit.at));
  if (end < hit.at) {
    return {.state = State::Broken};
  }
  if (hit.match != MarkerMatch::Found) {
    return {};
  }
  std::string spelled;
  append_spelled(spelled, stream.substr(0, end));
  tell(json_quoted(spelled));
  context_.writer.arguments(": ");
  place_ = Place::Colon;
  return {.taken = end + hit.length};
}

BodyStep GemmaBody::word(std::string_view stream, bool /*last*/) {
  const size_t end =
      std::min({stream.find_first_of(kWordEnds), stream.find(kControlBegin), stream.size()});
  if (size_t room = kMostArgumentBytes - word_.size(); end > room) {
    room -= incomplete_utf8_tail(stream.substr(0, room));
    return {.taken = room, .state = State::Broken};
  }
  word_ += stream.substr(0, end);
  if (end < stream.size()) {
    const std::string word = stripped_word(word_);
    const auto value = parse_json(word, "value");
    tell(value && value->is_primitive() ? word : json_quoted(word));
    place_ = Place::Behind;
  }
  return {.taken = end};
}

BodyStep GemmaBody::text(std::string_view stream, bool last) {
  const MarkerHit hit = find_marker(stream, text_stops_, last);
  std::string spelled;
  append_spelled(spelled, stream.substr(0, hit.at));
  context_.writer.arguments(json_escaped(spelled));
  if (hit.match != MarkerMatch::Found) {
    return {.taken = hit.at};
  }
  if (hit.which >= quote_.size()) {
    return {.taken = hit.at, .state = State::Broken};
  }
  context_.writer.arguments("\"");
  place_ = Place::Behind;
  return {.taken = hit.at + hit.length};
}

BodyStep GemmaBody::json(std::string_view stream) {
  for (size_t at = 0; at < stream.size(); ++at) {
    const JsonScan::Step step = scan_.next(stream[at]);
    if (step == JsonScan::Step::Broken || word_.size() > kMostArgumentBytes) {
      return {.taken = at, .state = State::Broken};
    }
    word_ += stream[at];
    if (step == JsonScan::Step::Ends) {
      tell(word_);
      place_ = Place::Behind;
      return {.taken = at + 1};
    }
  }
  return {.taken = stream.size()};
}

// `stream` begins with no white space.
BodyStep GemmaBody::behind(std::string_view stream) {
  const char byte = stream.front();
  if (byte == '}' || byte == ']') {
    return close(byte);
  }
  if (byte != ',') {
    return {.state = State::Broken};
  }
  comma_ = true;
  place_ = around_.ends_with('{') ? Place::BeforeKey : Place::BeforeValue;
  return {.taken = 1};
}

}  // namespace mynah

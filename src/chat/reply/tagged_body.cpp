#include "chat/reply/tagged_body.h"

#include <utility>

#include "chat/reply/json_body.h"
#include "chat/reply/reply_markers.h"

namespace mynah {
namespace {

using State = BodyStep::State;

// XML's text that is taken as it is.
constexpr std::string_view kTextBegin = "<![CDATA[";
constexpr std::string_view kTextEnd = "]]>";

}  // namespace

TaggedBody::TaggedBody(const CallContext& context) : context_(context) {
  const CallFormat& format = context_.format;
  between_stops_ = {format.parameter_begin, format.function_end};
  between_stops_.insert(between_stops_.end(), format.end.begin(), format.end.end());
  between_stops_.insert(between_stops_.end(), format.section_end.begin(), format.section_end.end());
  name_stops_ = between_stops_;
  name_stops_.push_back(format.name_end);
}

std::string_view TaggedBody::held() const {
  return json_ ? json_->held() : std::string_view(held_);
}

BodyStep TaggedBody::take(std::string_view stream, bool last) {
  return take_steps(stream, place_, [&](std::string_view rest) { return step(rest, last); });
}

BodyStep TaggedBody::step(std::string_view stream, bool last) {
  switch (place_) {
    case Place::Begin:
      return begin(stream, last);
    case Place::Name:
      return name(stream, last);
    case Place::Between:
      return between(stream, last);
    case Place::ParameterName:
      return parameter_name(stream, last);
    case Place::BeforeValue:
      return before_value(stream, last);
    case Place::Value:
      return value(stream, last);
    case Place::Json:
      return json_->take(stream, last);
  }
  return {.state = State::Broken};
}

BodyStep TaggedBody::begin(std::string_view stream, bool last) {
  const std::string_view text = without_leading_space(stream);
  const size_t space = stream.size() - text.size();
  if (text.empty()) {
    return {.taken = space};
  }
  if (text.front() == '{') {
    json_ = std::make_unique<JsonBody>(context_, false);
    place_ = Place::Json;
    return {.taken = space};
  }
  const std::string& marker = context_.format.function_begin;
  if (marker.empty()) {
    place_ = Place::Name;
    return {.taken = space};
  }
  const MarkerHit hit = match_marker(text, {marker}, last);
  if (hit.match == MarkerMatch::None) {
    return {.taken = space, .state = State::Broken};
  }
  if (hit.match == MarkerMatch::Maybe) {
    return {.taken = space};
  }
  append_spelled(held_, marker);
  place_ = Place::Name;
  return {.taken = space + hit.length};
}

BodyStep TaggedBody::name(std::string_view stream, bool last) {
  const MarkerHit hit = find_marker(stream, name_stops_, last);
  const size_t end = end_of_word(stream.substr(0, hit.at));
  if (end == hit.at && hit.match == MarkerMatch::Found) {
    name_ = stripped_word(stream.substr(0, end));
  }
  if (end < hit.at || (last && hit.match != MarkerMatch::Found) ||
      (hit.match == MarkerMatch::Found && name_.empty())) {
    append_spelled(held_, stream.substr(0, end));
    return {.taken = end, .state = State::Broken};
  }
  if (hit.match != MarkerMatch::Found) {
    return {};
  }
  context_.writer.begin_call(name_, {});
  context_.writer.arguments("{");
  held_.clear();
  place_ = Place::Between;
  const bool is_name_end = hit.which + 1 == name_stops_.size();
  return {.taken = end + (is_name_end ? hit.length : 0)};
}

BodyStep TaggedBody::between(std::string_view stream, bool last) {
  const std::string_view text = without_leading_space(stream);
  const size_t space = stream.size() - text.size();
  if (value_open_) {
    gap_ += stream.substr(0, space);
  }
  if (text.empty()) {
    return {.taken = space};
  }
  const MarkerHit hit = match_marker(text, between_stops_, last);
  if (hit.match == MarkerMatch::Maybe) {
    return {.taken = space};
  }
  if (hit.match == MarkerMatch::None) {
    if (!value_open_) {
      return {.taken = space, .state = State::Broken};
    }
    // That was no end: a value may have its own end marker in it, as a text about tags has.
    add_to_value(std::exchange(gap_, {}));
    place_ = Place::Value;
    return {.taken = space};
  }
  end_value();
  if (hit.which == 0) {
    place_ = Place::ParameterName;
    return {.taken = space + hit.length};
  }
  context_.writer.arguments("}");
  const bool is_own = hit.which == 1;
  return {.taken = space + (is_own ? hit.length : 0), .state = State::Done};
}

BodyStep TaggedBody::parameter_name(std::string_view stream, bool last) {
  const MarkerHit hit = find_marker(stream, {context_.format.parameter_name_end}, last);
  const size_t end = end_of_word(stream.substr(0, hit.at));
  if (end < hit.at || (last && hit.match != MarkerMatch::Found)) {
    return {.state = State::Broken};
  }
  if (hit.match != MarkerMatch::Found) {
    return {};
  }
  begin_parameter(stripped_word(stream.substr(0, end)));
  place_ = Place::BeforeValue;
  return {.taken = end + hit.length};
}

void TaggedBody::begin_parameter(std::string_view written) {
  // DeepSeek V3.2 writes name="a" string="false".
  const size_t quote = written.find('"');
  parameter_ = written.substr(0, quote);
  const std::string_view attributes =
      quote == std::string_view::npos ? std::string_view() : written.substr(quote);
  forced_json_ = attributes.contains("string=\"false");
  is_text_ = attributes.contains("string=\"true") ||
             (!forced_json_ && context_.tools.is_text(name_, parameter_));
  std::string text = any_parameter_ ? ", " : "";
  text += json_quoted(parameter_);
  text += is_text_ ? ": \"" : ": ";
  context_.writer.arguments(text);
  any_parameter_ = true;
  value_.clear();
  value_open_ = true;
  at_value_begin_ = true;
  on_own_lines_ = false;
  in_cdata_ = false;
}

BodyStep TaggedBody::before_value(std::string_view stream, bool last) {
  const std::string& marker = context_.format.value_begin;
  if (marker.empty()) {
    place_ = Place::Value;
    return {};
  }
  const std::string_view text = without_leading_space(stream);
  const size_t space = stream.size() - text.size();
  const MarkerHit hit = match_marker(text, {marker}, last);
  if (hit.match == MarkerMatch::Found) {
    place_ = Place::Value;
    return {.taken = space + hit.length};
  }
  const bool waits = text.empty() || hit.match == MarkerMatch::Maybe;
  return {.taken = space, .state = waits ? State::More : State::Broken};
}

BodyStep TaggedBody::value(std::string_view stream, bool last) {
  if (stream.empty()) {
    return {};
  }
  if (at_value_begin_) {
    if (context_.format.cdata) {
      const MarkerHit begin = match_marker(stream, {std::string(kTextBegin)}, last);
      in_cdata_ = begin.match == MarkerMatch::Found;
      if (begin.match == MarkerMatch::Maybe) {
        return {};
      }
      if (in_cdata_) {
        at_value_begin_ = false;
        return {.taken = begin.length};
      }
    }
    at_value_begin_ = false;
    on_own_lines_ = stream.front() == '\n';
    if (on_own_lines_) {
      return {.taken = 1};
    }
  }
  const std::string& parameter_end = context_.format.parameter_end;
  std::vector<std::string> stops = {in_cdata_ ? std::string(kTextEnd) + parameter_end
                                              : parameter_end};
  if (on_own_lines_) {
    stops.push_back('\n' + parameter_end);
  }
  const size_t own_stops = stops.size();
  for (const std::string& end : context_.format.end) {
    if (end.starts_with(kControlBegin)) {
      stops.push_back(end);
    }
  }
  const MarkerHit hit = find_marker(stream, stops, last);
  add_to_value(stream.substr(0, hit.at));
  if (hit.match != MarkerMatch::Found) {
    return {.taken = hit.at};
  }
  if (hit.which >= own_stops || value_.size() > kMostArgumentBytes) {
    return {.taken = hit.at, .state = State::Broken};
  }
  gap_ = stream.substr(hit.at, hit.length);
  place_ = Place::Between;
  return {.taken = hit.at + hit.length};
}

void TaggedBody::add_to_value(std::string_view stream) {
  if (is_text_) {
    std::string text;
    append_spelled(text, stream);
    context_.writer.arguments(json_escaped(text));
  } else if (value_.size() <= kMostArgumentBytes) {
    append_spelled(value_, stream);
  }
}

void TaggedBody::end_value() {
  if (!value_open_) {
    return;
  }
  value_open_ = false;
  if (is_text_) {
    context_.writer.arguments("\"");
  } else if (forced_json_) {
    context_.writer.arguments(value_);
  } else {
    context_.writer.arguments(context_.tools.value_as_json(name_, parameter_, value_));
  }
}

}  // namespace mynah

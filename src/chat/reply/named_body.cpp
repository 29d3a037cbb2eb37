#include "chat/reply/named_body.h"

#include "chat/reply/json_body.h"
#include "chat/reply/reply_markers.h"

namespace mynah {
namespace {

// Kimi K2 writes functions.NAME:INDEX, which is the call's id.
void split_numbered_name(std::string& name, std::string& id) {
  constexpr std::string_view kPrefix = "functions.";
  if (!name.starts_with(kPrefix)) {
    return;
  }
  const size_t colon = name.rfind(':');
  const bool numbered = colon != std::string::npos && colon + 1 < name.size() &&
                        name.find_first_not_of("0123456789", colon + 1) == std::string::npos;
  if (numbered) {
    id = name;
    name.resize(colon);
  }
  name.erase(0, kPrefix.size());
}

}  // namespace

NamedBody::NamedBody(const CallContext& context) : context_(context) {
  const CallFormat& format = context_.format;
  for (const auto* const markers : {&format.separator, &format.id_separator, &format.end}) {
    stops_.insert(stops_.end(), markers->begin(), markers->end());
  }
}

BodyStep NamedBody::take(std::string_view stream, bool last) {
  return take_steps(stream, place_, [&](std::string_view rest) { return step(rest, last); });
}

BodyStep NamedBody::step(std::string_view stream, bool last) {
  switch (place_) {
    case Place::Begin:
      return begin_call(stream);
    case Place::Name:
    case Place::Id:
      return word(stream, last);
    case Place::BeforeArguments:
      return before_arguments(stream, last);
    case Place::Arguments:
      return arguments(stream);
    case Place::List:
      break;
  }
  return list_->take(stream, last);
}

BodyStep NamedBody::begin_call(std::string_view stream) {
  const std::string_view text = without_leading_space(stream);
  if (!text.empty()) {
    const bool is_json = text.front() == '{' || text.front() == '[';
    place_ = is_json ? Place::List : Place::Name;
    if (is_json) {
      list_ = std::make_unique<JsonBody>(context_, false);
    }
  }
  return {.taken = stream.size() - text.size()};
}

BodyStep NamedBody::word(std::string_view stream, bool last) {
  const MarkerHit hit = find_marker(stream, stops_, last);
  const size_t end = end_of_word(stream.substr(0, hit.at));
  if (end < hit.at || (last && hit.match != MarkerMatch::Found)) {
    append_spelled(held_, stream.substr(0, end));
    return {.taken = end, .state = BodyStep::State::Broken};
  }
  if (hit.match != MarkerMatch::Found) {
    return {};
  }
  (place_ == Place::Name ? name_ : id_) = stripped_word(stream.substr(0, hit.at));
  append_spelled(held_, stream.substr(0, hit.at));
  const CallFormat& format = context_.format;
  if (name_.empty()) {
    return {.taken = hit.at, .state = BodyStep::State::Broken};
  }
  if (hit.which >= format.separator.size() + format.id_separator.size()) {  // the call's end
    tell_begin();
    context_.writer.arguments("{}");
    return {.taken = hit.at, .state = BodyStep::State::Done};
  }
  if (hit.which < format.separator.size()) {
    tell_begin();
    place_ = Place::BeforeArguments;
  } else {
    append_spelled(held_, stream.substr(hit.at, hit.length));
    if (place_ == Place::Id) {
      return {.taken = hit.at + hit.length, .state = BodyStep::State::Broken};
    }
    place_ = Place::Id;
  }
  return {.taken = hit.at + hit.length};
}

void NamedBody::tell_begin() {
  split_numbered_name(name_, id_);
  context_.writer.begin_call(name_, id_);
  held_.clear();
}

BodyStep NamedBody::before_arguments(std::string_view stream, bool last) {
  const std::string_view text = without_leading_space(stream);
  const size_t space = stream.size() - text.size();
  if (text.empty()) {
    return {.taken = space};
  }
  if (text.front() == '{') {
    place_ = Place::Arguments;
    return {.taken = space};
  }
  const MarkerHit hit = match_marker(text, context_.format.end, last);
  if (hit.match == MarkerMatch::Maybe) {
    return {.taken = space};
  }
  if (hit.match == MarkerMatch::Found) {
    context_.writer.arguments("{}");
    return {.taken = space, .state = BodyStep::State::Done};
  }
  return {.taken = space, .state = BodyStep::State::Broken};
}

BodyStep NamedBody::arguments(std::string_view stream) {
  using State = BodyStep::State;
  BodyStep step;
  while (step.taken < stream.size() && step.state == State::More) {
    switch (scan_.next(stream[step.taken])) {
      case JsonScan::Step::Inside:
        ++step.taken;
        break;
      case JsonScan::Step::Ends:
        ++step.taken;
        step.state = State::Done;
        break;
      default:
        step.state = State::Broken;
    }
  }
  context_.writer.arguments(stream.substr(0, step.taken));
  return step;
}

}  // namespace mynah

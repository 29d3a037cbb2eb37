#include "chat/reply/marked_reply.h"

#include <algorithm>
#include <utility>

#include "chat/reply/reply_markers.h"

namespace mynah {

void MarkedReply::MarkerSet::add(Kind kind, const std::string& marker) {
  if (!marker.empty()) {
    markers.push_back(marker);
    kinds.push_back(kind);
  }
}

void MarkedReply::MarkerSet::add(Kind kind, const std::vector<std::string>& all) {
  for (const std::string& marker : all) {
    add(kind, marker);
  }
}

MarkedReply::MarkedReply(const ReplyFormat& format, const ToolSchemas& tools, ReplyWriter& writer)
    : format_(format),
      context_{.format = format.calls, .tools = tools, .writer = writer},
      writer_(writer) {
  const CallFormat& calls = format.calls;
  const bool are_calls = !calls.fenced || !tools.empty();
  MarkerSet begins;
  if (are_calls) {
    begins.add(Kind::SectionBegin, calls.section_begin);
    begins.add(Kind::CallBegin, calls.begin);
    // Some models leave out what stands around the function.
    begins.add(Kind::FunctionBegin, calls.function_begin);
  }
  MarkerSet ends;
  ends.add(Kind::CallEnd, calls.end);
  ends.add(Kind::SectionEnd, calls.section_end);

  in_text_ = begins;
  in_text_.add(Kind::ThoughtBegin, format.thoughts.begin);
  // An end without a beginning says nothing, and nobody is to hear it. A fence's is Markdown.
  in_text_.add(Kind::Dropped, format.thoughts.end);
  in_text_.add(Kind::Dropped, format.thoughts.dropped);
  if (!calls.fenced) {
    in_text_.add(Kind::Dropped, ends.markers);
  }
  in_thought_ = begins;
  in_thought_.add(Kind::ThoughtBegin, format.thoughts.begin);
  in_thought_.add(Kind::ThoughtEnd, format.thoughts.end);
  in_section_.add(Kind::CallBegin, calls.begin);
  in_section_.add(Kind::FunctionBegin, calls.function_begin);
  in_section_.add(Kind::SectionEnd, calls.section_end);
  behind_call_.add(Kind::CallEnd, calls.end);
  in_spoilt_ = begins;
  in_spoilt_.add(Kind::CallEnd, calls.end);
  in_spoilt_.add(Kind::SectionEnd, calls.section_end);
}

void MarkedReply::prompt_ends() {
  in_prompt_ = false;
  thought_is_from_prompt_ = place_ == Place::Thought;
  may_be_bare_ = format_.calls.bare && !context_.tools.empty();
}

size_t MarkedReply::take(std::string_view stream, bool last) {
  size_t taken = 0;
  while (true) {
    const std::string_view rest = stream.substr(taken);
    const Place before = place_;
    size_t step = 0;
    switch (place_) {
      case Place::Text:
        step = text(rest, last);
        break;
      case Place::Thought:
        step = thought(rest, last);
        break;
      case Place::Section:
        step = section(rest, last);
        break;
      case Place::Body:
        step = body(rest, last);
        break;
      case Place::Behind:
        step = behind(rest, last);
        break;
      case Place::Spoilt:
        step = spoilt(rest, last);
        break;
    }
    taken += step;
    if (step == 0 && place_ == before) {
      break;
    }
  }
  if (last) {
    end_of_reply();
  }
  return taken;
}

size_t MarkedReply::text(std::string_view stream, bool last) {
  if (may_be_bare_ && !stream.empty()) {
    const std::string_view shown = without_leading_space(stream);
    if (const size_t space = stream.size() - shown.size(); space > 0) {
      writer_.content(stream.substr(0, space));
      return space;
    }
    if (shown.front() == '{') {
      begin_body(true);
      return 0;
    }
    const MarkerHit hit = match_marker(shown, in_text_.markers, last);
    if (hit.match == MarkerMatch::Maybe) {
      return 0;
    }
    may_be_bare_ = hit.match == MarkerMatch::Found || shown.front() == kControlBegin;
  }
  const MarkerHit hit = find_marker(stream, in_text_.markers, last);
  // A control token that is no marker may stand before a bare call.
  const size_t end = may_be_bare_ ? std::min(hit.at, stream.find(kControlEnd) + 1) : hit.at;
  writer_.content(stream.substr(0, end));
  if (end < hit.at || hit.match != MarkerMatch::Found) {
    return end;
  }
  return end + meet(in_text_.kinds[hit.which], hit.length);
}

// Deals with a marker in text: the bytes of it that were taken.
size_t MarkedReply::meet(Kind kind, size_t length) {
  writer_.edge();
  switch (kind) {
    case Kind::ThoughtBegin:
      place_ = Place::Thought;
      thought_is_from_prompt_ = false;
      break;
    case Kind::SectionBegin:
      place_ = Place::Section;
      in_section_place_ = true;
      may_be_bare_ = false;
      break;
    case Kind::CallBegin:
      begin_body(false);
      break;
    case Kind::FunctionBegin:
      begin_body(false);
      return 0;
    default:
      break;
  }
  return length;
}

size_t MarkedReply::thought(std::string_view stream, bool last) {
  const MarkerHit hit = find_marker(stream, in_thought_.markers, last);
  writer_.reasoning(stream.substr(0, hit.at));
  if (hit.match != MarkerMatch::Found) {
    return hit.at;
  }
  const Kind kind = in_thought_.kinds[hit.which];
  const bool is_empty = writer_.is_at_edge();
  if (kind == Kind::ThoughtEnd) {
    writer_.edge();
    place_ = Place::Text;
  } else if (kind == Kind::ThoughtBegin && is_empty) {
    writer_.edge();  // the model repeats what the prompt ended with
  } else if (kind != Kind::ThoughtBegin && is_empty && thought_is_from_prompt_) {
    place_ = Place::Text;  // the model calls at once, where the prompt would have it think
    return hit.at;
  } else {
    writer_.reasoning(stream.substr(hit.at, hit.length));
  }
  return hit.at + hit.length;
}

size_t MarkedReply::section(std::string_view stream, bool last) {
  const std::string_view shown = without_leading_space(stream);
  const size_t space = stream.size() - shown.size();
  if (shown.empty()) {
    return space;
  }
  const MarkerHit hit = match_marker(shown, in_section_.markers, last);
  if (hit.match == MarkerMatch::Maybe) {
    return space;
  }
  if (hit.match == MarkerMatch::None) {
    in_section_place_ = false;
    place_ = Place::Text;
    return space;
  }
  const Kind kind = in_section_.kinds[hit.which];
  if (kind == Kind::SectionEnd) {
    in_section_place_ = false;
    place_ = Place::Text;
    return space + hit.length;
  }
  begin_body(false);
  return space + (kind == Kind::CallBegin ? hit.length : 0);
}

void MarkedReply::begin_body(bool bare) {
  body_ = bare ? make_bare_call_body(context_) : make_call_body(context_);
  body_is_bare_ = bare;
  may_be_bare_ = false;
  place_ = Place::Body;
}

size_t MarkedReply::body(std::string_view stream, bool last) {
  const BodyStep step = body_->take(stream, last);
  if (step.state == BodyStep::State::Done) {
    writer_.end_call();
    place_ = Place::Behind;
  } else if (step.state == BodyStep::State::Broken) {
    break_body();
  }
  return step.taken;
}

void MarkedReply::break_body() {
  const std::string held(body_->held());
  const bool open = writer_.has_open_call();
  body_.reset();
  if (body_is_bare_ && !open) {  // an answer, no call
    writer_.content(held);
    place_ = Place::Text;
    return;
  }
  place_ = Place::Spoilt;
  spoilt_.clear();
  if (open) {
    writer_.spoil_call();
  } else {
    add_spoilt(held);
  }
}

void MarkedReply::add_spoilt(std::string_view spelled) {
  if (writer_.has_open_call()) {
    writer_.arguments(spelled);
    return;
  }
  spoilt_ += spelled;
  if (without_leading_space(spoilt_).empty()) {
    return;
  }
  writer_.begin_call({}, {});
  writer_.spoil_call();
  writer_.arguments(std::exchange(spoilt_, {}));
}

size_t MarkedReply::spoilt(std::string_view stream, bool last) {
  const MarkerHit hit = find_marker(stream, in_spoilt_.markers, last);
  std::string spelled;
  append_spelled(spelled, stream.substr(0, hit.at));
  add_spoilt(spelled);
  if (hit.match != MarkerMatch::Found) {
    return hit.at;
  }
  writer_.end_call();
  const Kind kind = in_spoilt_.kinds[hit.which];
  if (kind == Kind::CallEnd) {
    after_call();
    return hit.at + hit.length;
  }
  // The end of all calls, or the next one without the end of this.
  after_call();
  return hit.at;
}

void MarkedReply::after_call() {
  body_.reset();
  place_ = in_section_place_ ? Place::Section : Place::Text;
}

bool MarkedReply::takes_more_json() const {
  const CallShape shape = format_.calls.shape;
  return shape == CallShape::Llama ||
         (shape == CallShape::Json && (body_is_bare_ || !format_.calls.end.empty()));
}

size_t MarkedReply::behind(std::string_view stream, bool last) {
  const std::string_view shown = without_leading_space(stream);
  const size_t space = stream.size() - shown.size();
  if (shown.empty()) {
    return space;
  }
  const MarkerHit hit = match_marker(shown, behind_call_.markers, last);
  if (hit.match == MarkerMatch::Maybe) {
    return space;
  }
  if (hit.match == MarkerMatch::Found) {
    after_call();
    return space + hit.length;
  }
  if (takes_more_json()) {
    if (shown.front() == ';' || shown.front() == ',') {
      return space + 1;
    }
    if (shown.front() == '{') {
      begin_body(body_is_bare_);
      return space;
    }
  }
  after_call();
  return space;
}

void MarkedReply::end_of_reply() {
  if (place_ == Place::Body) {
    const std::string held(body_->held());
    if (body_is_bare_ && !writer_.has_open_call()) {
      writer_.content(held);
    } else if (!writer_.has_open_call()) {
      add_spoilt(held);
    }
  }
}

}  // namespace mynah

#include "chat/reply/python_body.h"

#include "base/ascii.h"
#include "chat/reply/reply_markers.h"

namespace mynah {
namespace {

bool is_name_byte(char byte) {
  return is_ascii_letter(byte) || is_ascii_digit(byte) || byte == '_' || byte == '.' || byte == '-';
}

bool is_gap(char byte) {
  return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n' || byte == ',' || byte == ';';
}

// "a" of "a=1"; empty where an argument has no name.
std::string_view keyword_of(std::string_view argument) {
  const size_t end = argument.find('=');
  if (end == std::string_view::npos || argument.substr(end + 1).starts_with('=')) {
    return {};
  }
  std::string_view keyword = argument.substr(0, end);
  keyword = keyword.substr(0, keyword.find_last_not_of(" \t\r\n") + 1);
  const bool is_name = keyword.find_first_of("\"'([{ ") == std::string_view::npos;
  return is_name ? keyword : std::string_view();
}

}  // namespace

BodyStep PythonBody::take(std::string_view stream, bool /*last*/) {
  using State = BodyStep::State;
  BodyStep step;
  while (step.taken < stream.size() && step.state == State::More) {
    const char byte = stream[step.taken];
    switch (next(byte)) {
      case Verdict::Again:
        break;
      case Verdict::Broken:
        step.state = State::Broken;
        break;
      case Verdict::Before:
        step.state = State::Done;
        break;
      case Verdict::Done:
        step.state = State::Done;
        [[fallthrough]];
      case Verdict::Taken:
        ++step.taken;
        if (place_ == Place::Name) {
          held_ += byte;
        }
        break;
    }
  }
  return step;
}

PythonBody::Verdict PythonBody::next(char byte) {
  switch (place_) {
    case Place::Between:
      return between(byte);
    case Place::Name:
      return name(byte);
    case Place::BeforeArgument:
      if (is_gap(byte)) {
        return Verdict::Taken;
      }
      if (byte == ')') {
        context_.writer.arguments(arguments_ == 0 ? "{}" : "}");
        context_.writer.end_call();
        place_ = Place::Between;
        return Verdict::Taken;
      }
      scan_ = {};
      text_.clear();
      place_ = Place::Argument;
      return Verdict::Again;
    case Place::Argument:
      return argument(byte);
  }
  return Verdict::Broken;
}

PythonBody::Verdict PythonBody::between(char byte) {
  if (is_gap(byte)) {
    return Verdict::Taken;
  }
  if (byte == '[' && !in_list_ && !any_) {
    in_list_ = true;
    return Verdict::Taken;
  }
  if (byte == ']' && in_list_) {
    return Verdict::Done;
  }
  if (byte == ')' && printed_ && any_) {
    printed_ = false;
    return Verdict::Taken;
  }
  if (is_ascii_letter(byte) || byte == '_') {
    name_.clear();
    place_ = Place::Name;
    return Verdict::Again;
  }
  return any_ && !in_list_ ? Verdict::Before : Verdict::Broken;
}

PythonBody::Verdict PythonBody::name(char byte) {
  if (is_name_byte(byte)) {
    name_ += byte;
    return name_.size() > kMostNameBytes ? Verdict::Broken : Verdict::Taken;
  }
  if (byte != '(') {
    return Verdict::Broken;
  }
  if (name_ == "print" && !printed_ && !context_.tools.has(name_)) {
    printed_ = true;
    place_ = Place::Between;
    return Verdict::Taken;
  }
  constexpr std::string_view kCall = ".call";
  if (context_.format.shape == CallShape::Llama && name_.ends_with(kCall)) {
    name_.resize(name_.size() - kCall.size());
  }
  context_.writer.begin_call(name_, {});
  held_.clear();
  any_ = true;
  arguments_ = 0;
  place_ = Place::BeforeArgument;
  return Verdict::Taken;
}

PythonBody::Verdict PythonBody::argument(char byte) {
  switch (scan_.next(byte)) {
    case PythonScan::Step::Inside:
      text_ += byte;
      return text_.size() > kMostArgumentBytes ? Verdict::Broken : Verdict::Taken;
    case PythonScan::Step::Before:
      if (!end_argument()) {
        return Verdict::Broken;
      }
      place_ = Place::BeforeArgument;
      return Verdict::Again;
    case PythonScan::Step::Broken:
      break;
  }
  context_.writer.arguments(text_);
  return Verdict::Broken;
}

bool PythonBody::end_argument() {
  const std::string_view keyword = keyword_of(text_);
  const std::string name =
      keyword.empty() ? context_.tools.positional(name_, arguments_) : std::string(keyword);
  const std::string_view value = keyword.empty()
                                     ? std::string_view(text_)
                                     : std::string_view(text_).substr(text_.find('=') + 1);
  const auto json = python_literal_as_json(value);
  if (name.empty() || !json) {
    context_.writer.arguments(text_);
    return false;
  }
  context_.writer.arguments(arguments_ == 0 ? "{" : ", ");
  context_.writer.arguments(json_quoted(name));
  context_.writer.arguments(": ");
  context_.writer.arguments(*json);
  ++arguments_;
  return true;
}

}  // namespace mynah

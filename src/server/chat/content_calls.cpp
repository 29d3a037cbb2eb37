#include "server/chat/content_calls.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "server/http/json_text.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kWhite = " \t\r\n";

// Where a text stands beside what it may begin with.
enum class Fits : uint8_t { No, Partly, Whole };

struct Fit {
  Fits fits = Fits::No;
  size_t length = 0;  // of the text, that it took
};

// White space is passed over outside of strings.
Fit fit(std::string_view text, std::string_view beginning) {
  size_t at = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!in_string && kWhite.contains(text[i])) {
      continue;
    }
    if (text[i] != beginning[at]) {
      return {};
    }
    in_string = text[i] == '"' && (i == 0 || text[i - 1] != '\\') ? !in_string : in_string;
    if (++at == beginning.size()) {
      return {.fits = Fits::Whole, .length = i + 1};
    }
  }
  return {.fits = Fits::Partly};
}

// What is told of the call, in one delta.
CallDelta& call_of(ReplyDelta& told) {
  if (told.calls.empty()) {
    told.calls.emplace_back();
  }
  return told.calls.front();
}

}  // namespace

ContentCalls::ContentCalls(ContentIs content, const std::vector<std::string>& callable,
                           std::string id)
    : reads_(content == ContentIs::Text ? Reads::Content : Reads::Beginning),
      names_(callable),
      id_(std::move(id)) {
  for (const std::string& name : callable) {
    beginnings_.push_back(fmt::format(R"({{"name":{},"arguments":)", json_text(name)));
  }
}

void ContentCalls::begin(ReplyDelta& told) {
  bool may_be = false;
  for (size_t i = 0; i < beginnings_.size(); ++i) {
    const Fit found = fit(held_, beginnings_[i]);
    may_be = may_be || found.fits == Fits::Partly;
    if (found.fits == Fits::Whole) {
      held_.erase(0, found.length);
      told.calls.push_back({.index = 0, .id = id_, .name = names_[i], .arguments = {}});
      reads_ = Reads::Arguments;
      return;
    }
  }
  reads_ = may_be ? Reads::Beginning : Reads::Content;
}

void ContentCalls::tell_arguments(ReplyDelta& told) {
  if (arguments_.empty()) {
    held_.erase(0, std::min(held_.find_first_not_of(kWhite), held_.size()));
  }
  // The last bracket is the call's own.
  const size_t last = held_.find_last_not_of(kWhite);
  const size_t end = last == std::string::npos ? 0 : held_[last] == '}' ? last : last + 1;
  if (end > 0) {
    call_of(told).arguments += held_.substr(0, end);
    arguments_ += held_.substr(0, end);
    held_.erase(0, end);
  }
}

ReplyDelta ContentCalls::take(ReplyDelta said) {
  // Families that write bare objects have told it as a call already.
  if (reads_ == Reads::Content || said.content.empty()) {
    return said;
  }
  held_ += std::exchange(said.content, {});
  if (reads_ == Reads::Beginning) {
    begin(said);
  }
  if (reads_ == Reads::Content) {
    said.content = std::exchange(held_, {});
  } else if (reads_ == Reads::Arguments) {
    tell_arguments(said);
  }
  return said;
}

ReplyDelta ContentCalls::finish() {
  ReplyDelta told;
  if (reads_ == Reads::Beginning) {
    told.content = std::exchange(held_, {});
  } else if (reads_ == Reads::Arguments && held_.starts_with('}') && !Json::accept(arguments_)) {
    call_of(told).arguments = "}";  // it was cut behind its arguments' own
  }
  return told;
}

}  // namespace mynah::server

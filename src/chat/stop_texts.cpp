#include "chat/stop_texts.h"

#include <algorithm>
#include <utility>

namespace mynah {

StopTexts::StopTexts(std::vector<std::string> stops) : stops_(std::move(stops)) {
  std::erase(stops_, std::string());
}

std::string StopTexts::push(std::string_view text) {
  if (found_) {
    return {};
  }
  held_ += text;
  size_t end = held_.size();  // of what can be told
  for (size_t at = 0; at < held_.size() && !found_ && end == held_.size(); ++at) {
    const std::string_view rest = std::string_view(held_).substr(at);
    for (const std::string& stop : stops_) {
      if (rest.starts_with(stop)) {
        found_ = true;
        end = at;
        break;
      }
      if (std::string_view(stop).starts_with(rest)) {
        end = std::min(end, at);
      }
    }
  }
  std::string told = held_.substr(0, end);
  held_.erase(0, found_ ? std::string::npos : end);
  return told;
}

std::string StopTexts::finish() {
  // What was held back for a longer one may have a shorter one in it.
  size_t end = held_.size();
  for (const std::string& stop : stops_) {
    if (const size_t at = held_.find(stop); at < end) {
      found_ = true;
      end = at;
    }
  }
  return std::exchange(held_, {}).substr(0, end);
}

}  // namespace mynah

#include "chat/reply/json_scan.h"

#include <string_view>

#include "chat/reply/reply_markers.h"
#include "formats/json.h"

namespace mynah {

JsonScan::Step JsonScan::next(char byte) {
  if (byte == kControlBegin || byte == kControlEnd) {
    return word_ ? Step::Before : Step::Broken;
  }
  if (string_) {
    if (escaped_) {
      escaped_ = false;
    } else if (byte == '\\') {
      escaped_ = true;
    } else if (byte == '"') {
      string_ = false;
      return depth_ == 0 ? Step::Ends : Step::Inside;
    }
    return Step::Inside;
  }
  if (word_) {
    constexpr std::string_view kBehind = ",}] \t\r\n<`;";
    return kBehind.contains(byte) ? Step::Before : Step::Inside;
  }
  switch (byte) {
    case '"':
      string_ = true;
      return Step::Inside;
    case '{':
    case '[':
      return ++depth_ > kMaxJsonDepth ? Step::Broken : Step::Inside;
    case '}':
    case ']':
      if (depth_ == 0) {
        return Step::Broken;
      }
      return --depth_ == 0 ? Step::Ends : Step::Inside;
    default:
      word_ = depth_ == 0;
      return Step::Inside;
  }
}

}  // namespace mynah

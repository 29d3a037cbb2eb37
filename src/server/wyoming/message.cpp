#include "server/wyoming/message.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "server/http/json_text.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostLine = 64U << 10U;
constexpr int64_t kMostData = int64_t{1} << 20;
constexpr int64_t kMostPayload = int64_t{16} << 20;

// A length in a message's first line; -1: none that is taken.
int64_t length_of(const Json& head, const char* name, int64_t most) {
  const auto found = head.find(name);
  if (found == head.end() || found->is_null()) {
    return 0;
  }
  if (!found->is_number_integer()) {
    return -1;
  }
  const auto length = found->get<int64_t>();
  return length < 0 || length > most ? -1 : length;
}

std::unexpected<Error> no_message(const std::string& what) {
  return fail(ErrorCode::InvalidInput, "wanted a message of the Wyoming protocol, found " + what);
}

}  // namespace

std::string WyomingMessage::text(const char* name) const {
  const auto found = data.find(name);
  return found != data.end() && found->is_string() ? found->get<std::string>() : std::string();
}

int64_t WyomingMessage::number(const char* name, int64_t initial) const {
  const auto found = data.find(name);
  return found != data.end() && found->is_number_integer() ? found->get<int64_t>() : initial;
}

std::string encode(const WyomingMessage& message) {
  const std::string data = message.data.empty() ? std::string() : json_text(message.data);
  Json head = {{"type", message.type}, {"version", "1.9.0"}};
  if (!data.empty()) {
    head["data_length"] = data.size();
  }
  if (!message.payload.empty()) {
    head["payload_length"] = message.payload.size();
  }
  return head.dump() + "\n" + data + message.payload;
}

std::string encode(std::string type, Json data, std::string payload) {
  WyomingMessage message;
  message.type = std::move(type);
  message.data = std::move(data);
  message.payload = std::move(payload);
  return encode(message);
}

Result<std::vector<WyomingMessage>> WyomingReader::take(std::string_view bytes) {
  kept_ += bytes;
  std::vector<WyomingMessage> whole;
  while (true) {
    WyomingMessage message;
    MYNAH_TRY(const bool is_whole, read_one(message));
    if (!is_whole) {
      kept_.erase(0, std::exchange(read_, 0));
      return whole;
    }
    whole.push_back(std::move(message));
  }
}

Result<bool> WyomingReader::read_line() {
  const std::string_view left = std::string_view(kept_).substr(read_);
  const size_t end = left.find('\n', searched_);
  if (std::min(end, left.size()) > kMostLine) {
    return no_message("a line without an end");
  }
  if (end == std::string_view::npos) {
    searched_ = left.size();
    return false;
  }
  const Json head = parse_object(left.substr(0, end));
  const auto type = head.is_object() ? head.find("type") : head.end();
  if (!head.is_object() || type == head.end() || !type->is_string()) {
    return no_message("a line that is no object with a type");
  }
  const int64_t data = length_of(head, "data_length", kMostData);
  const int64_t payload = length_of(head, "payload_length", kMostPayload);
  if (data < 0 || payload < 0) {
    return no_message(fmt::format("one that is longer than {} MB of data and {} MB of sound",
                                  kMostData >> 20U, kMostPayload >> 20U));
  }
  line_ = Line{.data = static_cast<size_t>(data), .payload = static_cast<size_t>(payload)};
  line_->message.came = end + 1 + line_->data + line_->payload;
  line_->message.type = type->get<std::string>();
  if (const auto own = head.find("data"); own != head.end() && own->is_object()) {
    line_->message.data = *own;
  }
  read_ += end + 1;
  searched_ = 0;
  return true;
}

Result<bool> WyomingReader::read_one(WyomingMessage& message) {
  if (!line_) {
    MYNAH_TRY(const bool is_whole, read_line());
    if (!is_whole) {
      return false;
    }
  }
  const std::string_view left = std::string_view(kept_).substr(read_);
  const size_t size = line_->data + line_->payload;
  if (left.size() < size) {
    return false;
  }
  message = std::move(line_->message);
  if (line_->data > 0) {
    const Json more = parse_object(left.substr(0, line_->data));
    if (!more.is_object()) {
      return no_message("data that is no object");
    }
    message.data.update(more);
  }
  message.payload = left.substr(line_->data, line_->payload);
  read_ += size;
  ++whole_;
  line_.reset();
  return true;
}

}  // namespace mynah::server

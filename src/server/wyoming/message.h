// Messages of the Wyoming protocol (OHF-Voice/wyoming, README.md and wyoming/event.py): a line of
// JSON, then data in JSON, then bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace mynah::server {

struct WyomingMessage {
  std::string type;
  nlohmann::ordered_json data = nlohmann::ordered_json::object();
  std::string payload;
  size_t came = 0;  // bytes that it was sent in

  // A member of the data that is text; "": there is none.
  [[nodiscard]] std::string text(const char* name) const;
  // A member that is a whole number.
  [[nodiscard]] int64_t number(const char* name, int64_t initial) const;
};

// As it is sent.
[[nodiscard]] std::string encode(const WyomingMessage& message);
[[nodiscard]] std::string encode(std::string type, nlohmann::ordered_json data,
                                 std::string payload = {});

// Reads messages as their bytes come.
class WyomingReader {
 public:
  // The messages that are whole now. InvalidInput for what is none, or longer than is taken.
  Result<std::vector<WyomingMessage>> take(std::string_view bytes);

  // The number of the one that has begun and is not whole, from 1 on; 0: none has.
  [[nodiscard]] uint64_t message_under_way() const {
    return line_ || !kept_.empty() ? whole_ + 1 : 0;
  }

 private:
  // What a message's first line says: it is read once, however many pieces the rest comes in.
  struct Line {
    WyomingMessage message{};
    size_t data = 0;  // bytes of each
    size_t payload = 0;
  };

  // The next one, where it is whole.
  Result<bool> read_one(WyomingMessage& message);
  Result<bool> read_line();

  std::string kept_;
  size_t read_ = 0;      // so many of its bytes are dealt with
  size_t searched_ = 0;  // so many behind them hold no line's end
  std::optional<Line> line_;
  uint64_t whole_ = 0;  // so many messages were
};

}  // namespace mynah::server

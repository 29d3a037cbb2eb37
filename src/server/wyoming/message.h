// Messages of the Wyoming protocol (OHF-Voice/wyoming, README.md and wyoming/event.py): a line of
// JSON, then data in JSON, then bytes.
#pragma once

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

 private:
  // The next one, where it is whole.
  Result<bool> read_one(WyomingMessage& message);

  std::string kept_;
};

}  // namespace mynah::server

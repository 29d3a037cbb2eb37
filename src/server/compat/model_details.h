// What the heads of models' files say of them, for clients that list models.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "formats/tensor_file.h"

namespace mynah::server {

struct ModelDetails {
  std::string architecture;  // general.architecture; "": nobody knows
  std::string storage;       // of most of its bytes
  int64_t parameters = 0;
};

[[nodiscard]] ModelDetails details_of(const TensorFile& file);

// "134.52M", "7.0B": as ollama tells how many parameters a model has.
[[nodiscard]] std::string parameters_text(int64_t parameters);

// Details of files, each looked into once as long as it stays as it is. Thread-safe.
class KnownDetails {
 public:
  // None of them where the file cannot be read.
  [[nodiscard]] ModelDetails of(const std::string& path, const std::string& changed);

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, ModelDetails> known_;  // by path and change
};

}  // namespace mynah::server

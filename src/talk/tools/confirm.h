// Confirm: the user, who lets a tool change something by pressing a key. What was heard, written by
// a model or read from a file never answers in his place.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "base/result.h"

namespace mynah::talk {

struct ToolQuestion {
  std::string tool;    // as models call it
  std::string origin;  // ToolFacts::origin
  std::string shown;   // Tool::shown(): may have anything in it that a model wrote
};

class Confirm {
 public:
  enum class Answer : uint8_t {
    Yes,
    No,
    Nobody,  // there is no terminal, and so nobody who could press a key
  };

  Confirm() = default;
  virtual ~Confirm() = default;
  Confirm(const Confirm&) = delete;
  Confirm& operator=(const Confirm&) = delete;

  // Asks about one call. Only a key that was pressed after the question was shown says Yes.
  // Cancelled where the user leaves the whole answer instead.
  [[nodiscard]] virtual Result<Answer> ask(const ToolQuestion& question,
                                           const std::stop_token& stop) = 0;
};

// Where there is no terminal.
class NobodyConfirms final : public Confirm {
 public:
  [[nodiscard]] Result<Answer> ask(const ToolQuestion& /*question*/,
                                   const std::stop_token& /*stop*/) override {
    return Answer::Nobody;
  }
};

}  // namespace mynah::talk

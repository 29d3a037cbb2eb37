// Interrupts: Ctrl-C as a word to what is under way, and not to the program.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace mynah::cli {

// While it lives SIGINT ends no program: it stops what began last, and read() of a line that waits.
// So does the program's end, which stops what begins after it, too. One in a process.
class Interrupts {
 public:
  // `end`: requested where the program is to end.
  explicit Interrupts(std::stop_token end);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Something begins: the token is requested by the next SIGINT, and by the program's end. A SIGINT
  // that came before is forgotten.
  [[nodiscard]] std::stop_token begin();

  // Becomes readable with a SIGINT or the program's end; take() empties it.
  [[nodiscard]] int descriptor() const;

  // Whether one came since begin() or the last take().
  bool take();

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::optional<std::stop_callback<std::function<void()>>> on_end_;
};

}  // namespace mynah::cli

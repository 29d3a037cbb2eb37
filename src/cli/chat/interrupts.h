// Interrupts: Ctrl-C as a word to what is under way, and not to the program.
#pragma once

#include <memory>
#include <stop_token>

namespace mynah::cli {

// While it lives SIGINT ends no program: it stops what began last, and read() of a line that waits.
// One in a process.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Something begins: the token is requested by the next SIGINT. What came before is forgotten.
  [[nodiscard]] std::stop_token begin();

  // Becomes readable with a SIGINT; take() empties it.
  [[nodiscard]] int descriptor() const;

  // Whether one came since begin() or the last take().
  bool take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mynah::cli

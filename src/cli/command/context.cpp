#include <csignal>

#include "cli/command/verb.h"

namespace mynah::cli {

void Context::say(std::string_view text) const {
  err.line(std::string("mynah: ").append(text));
  err.flush();
}

void Context::say_of(std::string_view file, std::string_view text) const {
  const std::string_view name = file == "-" ? "standard input" : file;
  say(text.starts_with(name) ? std::string(text) : std::string(name) + ": " + std::string(text));
}

int Context::stopped_exit_code() const {
  const int signal = stopping_signal ? stopping_signal() : 0;
  return 128 + (signal == 0 ? SIGINT : signal);
}

}  // namespace mynah::cli

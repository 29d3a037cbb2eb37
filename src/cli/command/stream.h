// What a verb reads and writes: standard output and error, standard input, or memory in a test.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace mynah::cli {

// A text stream that remembers whether its reader has gone. Buffered; flushed line by line on a
// terminal. Thread-safe but for text(): what one call writes stays together.
class OutputStream {
 public:
  // Writes to an open file descriptor, which it does not own.
  explicit OutputStream(int fd);
  // Writes to memory; text() has it.
  OutputStream();
  ~OutputStream();
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;

  void write(std::string_view text);
  void line(std::string_view text);
  void flush();

  // True once a write failed; what is written after that is dropped.
  [[nodiscard]] bool failed() const { return error() != 0; }

  // True where the reader closed its end (EPIPE): not worth a message.
  [[nodiscard]] bool closed() const;

  // The errno of the first write that failed; 0: none did.
  [[nodiscard]] int error() const { return error_.load(); }

  [[nodiscard]] bool is_terminal() const { return terminal_; }

  void set_terminal(bool terminal) { terminal_ = terminal; }

  // Columns of the terminal, or 80.
  [[nodiscard]] int columns() const;

  // What was written to memory.
  [[nodiscard]] const std::string& text() const { return buffer_; }

  // What it writes to; -1: memory.
  [[nodiscard]] int descriptor() const { return fd_; }

 private:
  void write_held(std::string_view text);
  void flush_held();

  int fd_ = -1;  // -1: memory
  bool terminal_ = false;
  std::mutex mutex_;
  std::atomic<int> error_{0};
  std::string buffer_;
};

// Standard input, for questions to the user.
class InputStream {
 public:
  explicit InputStream(int fd);
  // Answers from memory, as a terminal would.
  explicit InputStream(std::string answers);

  [[nodiscard]] bool is_terminal() const { return terminal_; }

  // The next line without its end; none at the end of the input.
  std::optional<std::string> read_line();

  // All that is left; of more than `most` bytes the last ones.
  [[nodiscard]] std::string read_to_end(size_t most);

 private:
  int fd_ = -1;
  bool terminal_ = false;
  std::string text_;
};

}  // namespace mynah::cli

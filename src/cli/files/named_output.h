// NamedOutput: where bytes go that a user gave a name for.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audio/byte_sink.h"
#include "base/unique_fd.h"
#include "cli/command/stream.h"

namespace mynah::cli {

// Bytes to standard output, at once. Where that is a file (`> speech.wav`, `>> all.wav`) they can
// be written over; what stood in it before stays.
class StreamSink final : public ByteSink {
 public:
  explicit StreamSink(OutputStream& out) : out_(out) {}

  Status write(std::span<const std::byte> bytes) override;

  [[nodiscard]] bool keeps() const override { return bool(file_); }

  Status overwrite(uint64_t offset, std::span<const std::byte> bytes) override;

 private:
  // Looks where the first bytes will stand.
  void begin();

  OutputStream& out_;
  bool begun_ = false;
  UniqueFd file_;       // a way of its own into the file that standard output is; none: a pipe
  uint64_t begin_ = 0;  // where our first byte stands in it
};

// Bytes to a pipe or a device, at once.
class DescriptorSink final : public ByteSink {
 public:
  DescriptorSink(UniqueFd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}

  Status write(std::span<const std::byte> bytes) override;

  [[nodiscard]] bool keeps() const override { return false; }

  Status overwrite(uint64_t offset, std::span<const std::byte> bytes) override;

  void close() { fd_.reset(); }

 private:
  UniqueFd fd_;
  std::string name_;  // for messages
};

// A file appears under its name once it is whole, and what was there stays until then; where the
// name is a link, the file behind it. A device or a named pipe takes what comes as it comes; "-" is
// standard output.
class NamedOutput {
 public:
  // Io where it cannot be made or written to, told before anything is computed.
  static Result<NamedOutput> open(const std::string& path, OutputStream& out);

  [[nodiscard]] ByteSink& sink() { return *sink_; }

  // Everything was written.
  Status commit();

  // Not all was written: a file is called NAME.partial. Gives that name; of others none.
  Result<std::optional<std::string>> keep_part();

 private:
  NamedOutput(std::unique_ptr<ByteSink> sink, FileSink* file, std::string path)
      : sink_(std::move(sink)), file_(file), path_(std::move(path)) {}

  std::unique_ptr<ByteSink> sink_;
  FileSink* file_;  // the sink, where it is a file
  std::string path_;
};

// An option and the path that it was given.
struct NamedPath {
  std::string option;
  std::string path;
};

// Usage where two outputs are one file, or an output is an input, which it would destroy. Devices
// and pipes may be had by several, standard output may not.
Status check_distinct(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs);

}  // namespace mynah::cli

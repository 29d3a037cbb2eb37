// AccessLog: a line a request that is over: who asked for what and how that went; never a text, a
// file's name or a key.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/unique_fd.h"
#include "cli/command/stream.h"
#include "server/http/front.h"

namespace mynah::cli {

// Thread-safe.
class AccessLog {
 public:
  // On `usual`, unless open() is called.
  AccessLog(OutputStream& usual, bool json) : out_(&usual), json_(json) {}

  // Into a file, behind what it has. Io where it cannot be written.
  Status open(const std::string& path);

  // The file anew, where it is one: the one that it was may have been given another name. On an
  // error what was open stays.
  Status reopen();

  void write(const server::RequestHead& head, const server::Served& served);

 private:
  std::mutex mutex_;
  std::string path_;  // "": none
  UniqueFd fd_;
  std::unique_ptr<OutputStream> file_;
  OutputStream* out_;
  bool json_;
};

}  // namespace mynah::cli

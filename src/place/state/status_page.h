// StatusPage: what a mynah process has loaded, for `mynah ps` of the same user: memory of the
// process itself, found through /proc, so that nothing is left behind whatever ends it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/shared_memory.h"

namespace mynah::place {

class StatusPage {
 public:
  // A page of this process.
  static Result<StatusPage> create();

  // Replaces the text; what does not fit is not shown.
  void write(const std::string& text);

  // Whether somebody asked since the last call that what is loaded be let go.
  [[nodiscard]] bool take_unload_request();

 private:
  explicit StatusPage(SharedMemory memory) : memory_(std::move(memory)) {}

  SharedMemory memory_;
  uint32_t unloads_seen_ = 0;
};

// A process that has a page.
struct OtherProcess {
  int pid = 0;
  std::string text;  // as it wrote it
};

// Of all processes that this user may look at; those that end meanwhile are left out.
[[nodiscard]] std::vector<OtherProcess> find_status_pages();

// Why a process has no page.
[[nodiscard]] Error no_page_of(int pid);

// Asks a process to let go of what it has loaded. NotFound where it has no page.
[[nodiscard]] Status request_unload(int pid);

}  // namespace mynah::place

// Wheels that are looked at without being installed.
#pragma once

#include <string>

#include "base/result.h"
#include "doctor/tree.h"

namespace mynah::doctor {

// A folder of its own below the temporary one, removed with all that is in it.
class ScratchFolder {
 public:
  // `parent` is where temporary files go: TMPDIR, or /tmp.
  static Result<ScratchFolder> make(const std::string& parent);

  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&& other) noexcept;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

// Unpacks what says something about a package: its metadata, short Python files, libraries. The
// rest of the wheel is left out. Fails where it is no wheel, or would take more than 8 GiB or more
// than half of what is free there.
Status unpack_wheel(const std::string& wheel, const std::string& folder);

}  // namespace mynah::doctor

// One question to the loader of Windows.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "doctor/binaries/loader.h"

namespace mynah::doctor {

// Goes through the DLLs that a DLL imports ("Dynamic-link library search order" of Microsoft's
// documentation, as Python 3.8 and later ask for it, and PATH for what is loaded in the older
// manner).
class PeQuestion {
 public:
  PeQuestion(Loader& loader, const LoaderQuestion& question);

  Result<LoaderAnswer> answer();

 private:
  struct Node {
    std::shared_ptr<const PeFile> file;
    std::string path;
  };

  struct Found {
    std::string path;  // empty: nowhere
    std::string via;
  };

  void want(std::string_view name, Want kind, size_t by);
  [[nodiscard]] bool is_endless() const;
  Found search(std::string_view name, size_t by);
  Found try_folder(const std::string& folder, std::string_view name, std::string_view via,
                   uint16_t machine);

  Loader& loader_;
  const LoaderQuestion& question_;
  std::vector<Node> nodes_;
  std::unordered_map<std::string, Found> loaded_;  // beforehand, by name in small letters
  std::unordered_set<std::string> wanted_;         // names in small letters
  LoaderAnswer answer_;
};

}  // namespace mynah::doctor

// ProfileFolder: the profiles on this machine, a file each, and which of them is in use.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "place/plans/profile.h"

namespace mynah::place {

// HOME/profiles/NAME.json; HOME/profiles/pinned holds the name of the one in use.
class ProfileFolder {
 public:
  // `home`: that of StoreFolders. It need not be there.
  explicit ProfileFolder(std::string_view home) : folder_(std::string(home) + "/profiles") {}

  [[nodiscard]] std::string path(std::string_view name) const;

  // All profiles, by name. Those that cannot be read are left out and named in `damaged`, each with
  // its error, where that is given.
  [[nodiscard]] std::vector<Profile> list(std::vector<std::string>* damaged = nullptr) const;

  // NotFound, with the nearest name, where there is none of that name.
  [[nodiscard]] Result<Profile> load(std::string_view name) const;

  // Writes it whole or not at all. InvalidInput for a name that is none (is_model_name(), not
  // "none") and for a profile that load() would not read back.
  [[nodiscard]] Status save(const Profile& profile) const;

  // Takes damaged ones too. What was in use is no longer.
  [[nodiscard]] Status remove(std::string_view name) const;

  // The name of the one in use; none: none is.
  [[nodiscard]] Result<std::optional<std::string>> pinned() const;

  // Puts one in use, which must be readable.
  [[nodiscard]] Status pin(std::string_view name) const;

  // Puts none in use.
  [[nodiscard]] Status unpin() const;

 private:
  [[nodiscard]] std::string pin_path() const { return folder_ + "/pinned"; }

  // Of all files that are called as a profile is, readable or not.
  [[nodiscard]] std::vector<std::string> names() const;

  // The error where there is no file of that name.
  [[nodiscard]] Status check_there(std::string_view name) const;

  std::string folder_;
};

}  // namespace mynah::place

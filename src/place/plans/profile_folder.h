// ProfileFolder: the profiles on this machine, a file each, and which of them are in use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "place/plans/profile.h"

namespace mynah::place {

// A profile that is in use, and the model that it is of: known where the profile cannot be read.
struct ProfilePin {
  std::string name;
  std::string model;  // ""; as is the digest: it was written when the name alone was
  std::string model_sha256;
};

// HOME/profiles/NAME.json; HOME/profiles/pinned holds those in use, one at most of a model, a line
// each: the name, the model's SHA-256, the model.
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

  // InvalidInput for a name that no profile can have.
  [[nodiscard]] static Status check_name(std::string_view name);

  // Writes it whole or not at all. InvalidInput for a name that is none (is_model_name(), not
  // "none") and for a profile that load() would not read back.
  [[nodiscard]] Status save(const Profile& profile) const;

  // Takes damaged ones too. What was in use is no longer.
  [[nodiscard]] Status remove(std::string_view name) const;

  // Pins in use.
  [[nodiscard]] Result<std::vector<ProfilePin>> pins() const;

  // Their names.
  [[nodiscard]] Result<std::vector<std::string>> pinned() const;

  // Puts one in use, which must be readable, in place of another of its model (the same file, or
  // another of that name).
  [[nodiscard]] Status pin(std::string_view name) const;

  // Puts none in use.
  [[nodiscard]] Status unpin() const;

  // Puts this one out of use.
  [[nodiscard]] Status unpin(std::string_view name) const;

 private:
  [[nodiscard]] std::string pin_path() const { return folder_ + "/pinned"; }

  [[nodiscard]] Status write_pins(const std::vector<ProfilePin>& pins) const;

  // Of all files that are called as a profile is, readable or not.
  [[nodiscard]] std::vector<std::string> names() const;

  // The error where there is no file of that name.
  [[nodiscard]] Status check_there(std::string_view name) const;

  std::string folder_;
};

}  // namespace mynah::place

#include "doctor/recipes/docker_copies.h"

#include <filesystem>
#include <optional>
#include <system_error>

#include "doctor/characters.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/written_files.h"

namespace mynah::doctor {

namespace fs = std::filesystem;

namespace {

std::string relative(std::string_view source) {
  while (source.starts_with('/') || source.starts_with("./")) {
    source.remove_prefix(source.starts_with('/') ? 1 : 2);
  }
  while (source.ends_with('/')) {
    source.remove_suffix(1);
  }
  return source.empty() ? "." : std::string(source);
}

}  // namespace

void DockerCopies::add(const std::string& source, const std::string& target) {
  constexpr size_t kMostCopies = 500;
  if (copies_.size() < kMostCopies) {
    copies_.push_back({.source = source, .target = target});
  }
}

std::optional<std::string> DockerCopies::copied_from(std::string_view path) const {
  const std::string name = last_name(path);
  std::optional<std::string> folder;
  std::string target;
  bool absolute = false;
  for (auto copy = copies_.rbegin(); copy != copies_.rend(); ++copy) {
    const std::string source = last_name(copy->source);
    if (source == name || (!source.empty() && last_name(copy->target) == name)) {
      return beside(dockerfile_, relative(copy->source));
    }
    if (source.find('*') != std::string::npos &&
        name.starts_with(source.substr(0, source.find('*')))) {
      return beside(dockerfile_, (fs::path(relative(copy->source)).parent_path() / name).string());
    }
    if (!folder && fs::path(source).extension().empty()) {
      folder = relative(copy->source);
      target = relative(copy->target);
      absolute = copy->target.starts_with('/') && target != ".";
    }
  }
  if (!folder) {
    return std::nullopt;
  }
  const std::string whole = relative(path);
  const std::string below = target + "/";
  std::string inside = path.starts_with('/') ? name : std::string(path);
  if (whole.starts_with(below)) {
    inside = whole.substr(below.size());
  } else if (path.starts_with('/') && absolute) {
    return std::nullopt;
  }
  return beside(dockerfile_, (fs::path(*folder) / inside).string());
}

std::string DockerCopies::place_of(std::string_view path) const {
  const auto copied = copied_from(path);
  return copied ? *copied
                : beside(dockerfile_, path.starts_with('/') ? last_name(path) : std::string(path));
}

bool DockerCopies::is_own(std::string_view repository) const {
  constexpr int kMostAbove = 4;
  const std::string name = small_letters(repository_name(repository));
  std::error_code error;
  fs::path folder = fs::absolute(dockerfile_, error).lexically_normal().parent_path();
  for (int i = 0; i < kMostAbove && !name.empty(); ++i) {
    if (small_letters(folder.filename().string()).starts_with(name)) {
      return true;
    }
    folder = folder.parent_path();
  }
  return false;
}

}  // namespace mynah::doctor

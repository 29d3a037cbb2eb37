#include "doctor/binaries/loader_paths.h"

#include <array>
#include <climits>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace mynah::doctor {
namespace {

// As many links as Linux follows in one path.
constexpr int kMostLinks = 40;

}  // namespace

std::optional<std::string> real_path(const std::string& root, std::string_view path) {
  std::string rest(path);
  std::string done;  // without links, without a '/' at its end
  int links = 0;
  size_t at = 0;
  while (at < rest.size()) {
    const size_t end = std::min(rest.find('/', at), rest.size());
    const std::string part = rest.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") {
      continue;
    }
    if (part == "..") {
      done.resize(done.empty() ? 0 : done.rfind('/'));
      continue;
    }
    std::string next = done;
    next += '/';
    next += part;
    struct stat info{};
    if (next.size() > PATH_MAX || ::lstat((root + next).c_str(), &info) != 0) {
      return std::nullopt;
    }
    if (!S_ISLNK(info.st_mode)) {
      done = std::move(next);
      continue;
    }
    std::array<char, PATH_MAX> target;
    const ssize_t size = ::readlink((root + next).c_str(), target.data(), target.size());
    if (size <= 0 || ++links > kMostLinks) {
      return std::nullopt;
    }
    std::string behind(target.data(), static_cast<size_t>(size));
    if (behind.front() == '/') {
      done.clear();
    }
    if (at < rest.size()) {
      behind += '/';
      behind += std::string_view(rest).substr(at);
    }
    rest = std::move(behind);
    at = 0;
  }
  return done.empty() ? "/" : done;
}

std::vector<std::string> split_folders(std::string_view list, std::string_view separators) {
  std::vector<std::string> folders;
  while (!list.empty()) {
    const size_t end = list.find_first_of(separators);
    folders.emplace_back(list.substr(0, end));
    if (end == std::string_view::npos) {
      break;
    }
    list.remove_prefix(end + 1);
    if (list.empty()) {
      folders.emplace_back();  // behind a separator at the end
    }
  }
  return folders;
}

std::optional<std::string> expand_tokens(std::string_view folder, const LoaderTokens& tokens) {
  std::string expanded;
  while (!folder.empty()) {
    const size_t dollar = std::min(folder.find('$'), folder.size());
    expanded += folder.substr(0, dollar);
    folder.remove_prefix(dollar);
    if (folder.empty()) {
      break;
    }
    folder.remove_prefix(1);
    const bool braces = folder.starts_with('{');
    folder.remove_prefix(braces ? 1 : 0);
    bool known = false;
    for (const auto& [name, value] :
         {std::pair<std::string_view, const std::string&>("ORIGIN", tokens.origin),
          {"PLATFORM", tokens.platform},
          {"LIB", tokens.lib}}) {
      if (folder.starts_with(name) && (!braces || folder.substr(name.size()).starts_with('}'))) {
        expanded += value;
        folder.remove_prefix(name.size() + (braces ? 1 : 0));
        known = true;
        break;
      }
    }
    if (!known) {
      return std::nullopt;
    }
  }
  return expanded;
}

std::string folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || slash == 0) {
    return "/";
  }
  return std::string(path.substr(0, slash));
}

std::string_view file_name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace mynah::doctor

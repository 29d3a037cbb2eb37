#include "cli/output_records.h"

#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/unique_fd.h"

namespace mynah::cli {

namespace fs = std::filesystem;

OutputRecords::Recordings& OutputRecords::known() const {
  if (!known_) {
    known_.emplace();
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) {
      const auto entry = nlohmann::json::parse(line, nullptr, false);
      if (entry.is_object() && entry.contains("output") && entry["output"].is_string() &&
          entry.contains("recording") && entry["recording"].is_string()) {
        (*known_)[entry["output"]] = entry["recording"];
      }
    }
  }
  return *known_;
}

std::optional<std::string> OutputRecords::recording_of(const std::string& output) const {
  const Recordings& recordings = known();
  const auto found = recordings.find(identity(output));
  std::error_code error;
  if (found == recordings.end() || !fs::exists(found->first, error)) {
    return std::nullopt;
  }
  return found->second;
}

bool OutputRecords::is_of_another(const std::string& output, const std::string& recording) const {
  const auto of = recording_of(output);
  return of && *of != identity(recording);
}

void OutputRecords::add(const std::string& output, const std::string& recording) {
  if (path_.empty()) {
    return;
  }
  const std::string file = identity(output);
  const std::string of = identity(recording);
  std::string& before = known()[file];
  if (before == of) {
    return;
  }
  before = of;
  std::error_code none;
  fs::create_directories(fs::path(path_).parent_path(), none);
  const UniqueFd fd(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!fd) {
    return;
  }
  const nlohmann::ordered_json entry = {{"output", file}, {"recording", of}};
  // In one write, so that lines of several processes do not mix.
  const std::string line =
      entry.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  [[maybe_unused]] const ssize_t written = ::write(fd.get(), line.data(), line.size());
}

std::string OutputRecords::identity(const std::string& file) {
  if (file == "-") {
    return file;
  }
  std::error_code error;
  const fs::path path = fs::weakly_canonical(fs::absolute(file, error), error);
  return error ? file : path.string();
}

}  // namespace mynah::cli

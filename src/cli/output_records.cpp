#include "cli/output_records.h"

#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace mynah::cli {

namespace fs = std::filesystem;

OutputRecords OutputRecords::load(const std::string& path) {
  OutputRecords records;
  records.path_ = path;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto entry = nlohmann::json::parse(line, nullptr, false);
    if (entry.is_object() && entry.contains("output") && entry["output"].is_string() &&
        entry.contains("recording") && entry["recording"].is_string()) {
      records.recordings_[entry["output"]] = entry["recording"];
    }
  }
  return records;
}

std::optional<std::string> OutputRecords::recording_of(const std::string& output) const {
  const auto found = recordings_.find(identity(output));
  std::error_code error;
  if (found == recordings_.end() || !fs::exists(found->first, error)) {
    return std::nullopt;
  }
  return found->second;
}

void OutputRecords::add(const std::string& output, const std::string& recording) {
  if (path_.empty()) {
    return;
  }
  const std::string file = identity(output);
  const std::string of = identity(recording);
  std::string& known = recordings_[file];
  if (known == of) {
    return;
  }
  known = of;
  std::error_code none;
  fs::create_directories(fs::path(path_).parent_path(), none);
  const int fd = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) {
    return;
  }
  const nlohmann::ordered_json entry = {{"output", file}, {"recording", of}};
  // In one write, so that lines of several processes do not mix.
  const std::string line =
      entry.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  [[maybe_unused]] const ssize_t written = ::write(fd, line.data(), line.size());
  ::close(fd);
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

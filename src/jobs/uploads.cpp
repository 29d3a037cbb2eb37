#include "jobs/uploads.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "store/files.h"

namespace mynah::jobs {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view kAskedEnding = ".json";
constexpr uint64_t kMostAsked = uint64_t{32} << 20U;  // a form's text has 16 MB at most

std::unexpected<Error> cannot_keep(const std::string& what) {
  return fail(ErrorCode::Environment,
              fmt::format("the recording cannot be kept in {}: {}", what, std::strerror(errno)));
}

// Whatever a disk has against it: nothing is acknowledged, and another try needs another disk.
std::unexpected<Error> cannot_keep(const Error& error) {
  return fail(ErrorCode::Environment, "the recording cannot be kept: " + error.message);
}

// The same bytes under another name; false: it is of another file system, or has no name to be
// given.
bool link_to(int from, const std::string& to) {
  return ::linkat(AT_FDCWD, fmt::format("/proc/self/fd/{}", from).c_str(), AT_FDCWD, to.c_str(),
                  AT_SYMLINK_FOLLOW) == 0;
}

Status copy_to(const InputFile& recording, const std::string& path) {
  auto file = AtomicFile::create_private(path);
  if (!file) {
    return cannot_keep(file.error());
  }
  off_t at = 0;
  while (at < recording.size_bytes) {
    const ssize_t copied = ::sendfile(file->descriptor(), recording.fd.get(), &at,
                                      static_cast<size_t>(recording.size_bytes - at));
    if (copied < 0 && errno == EINTR) {
      continue;
    }
    if (copied <= 0) {
      return cannot_keep(path);
    }
  }
  if (Status written = file->commit(); !written) {
    return cannot_keep(written.error());
  }
  return {};
}

Status write_asked(const std::string& path, const std::string& text) {
  auto file = AtomicFile::create_private(path);
  if (!file) {
    return cannot_keep(file.error());
  }
  Status written = file->write(text);
  if (written) {
    written = file->commit();  // syncs the folder, so the recording's name too
  }
  return written ? Status() : cannot_keep(written.error());
}

}  // namespace

Status Uploads::keep(const Job& job, const InputFile& recording) const {
  const std::string path = path_of(job.id);
  if (link_to(recording.fd.get(), path)) {
    if (::fchmod(recording.fd.get(), 0600) != 0 || ::fsync(recording.fd.get()) != 0) {
      return cannot_keep(path);
    }
  } else {
    const auto size = static_cast<uint64_t>(recording.size_bytes);
    if (!check_disk_space(path, size)) {
      return fail(ErrorCode::Environment,
                  fmt::format("there is no room for a recording of {} in {}: make some, or "
                              "--state-folder names another disk",
                              human_bytes(size), folder_));
    }
    MYNAH_TRY_STATUS(copy_to(recording, path));
  }
  const Json asked = {{"owner", job.request.owner},
                      {"parameters", job.request.parameters},
                      {"webhook", job.request.webhook},
                      {"webhook_text", job.request.webhook_text},
                      {"created_ms", job.created_ms}};
  return write_asked(path + std::string(kAskedEnding),
                     asked.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Result<InputFile> Uploads::open(const std::string& id) const {
  return open_input_file(path_of(id));
}

Result<Job> Uploads::read(const std::string& id) const {
  MYNAH_TRY(const std::string text,
            read_text_file(path_of(id) + std::string(kAskedEnding), kMostAsked));
  const Json asked = Json::parse(text, nullptr, false);
  const auto is = [&asked](const char* name, Json::value_t type) {
    return asked.is_object() && asked.contains(name) && asked[name].type() == type;
  };
  if (!is("owner", Json::value_t::string) || !is("parameters", Json::value_t::string) ||
      !is("webhook", Json::value_t::string) || !is("webhook_text", Json::value_t::boolean) ||
      !is("created_ms", Json::value_t::number_unsigned)) {
    return fail(ErrorCode::InvalidInput, "what was asked of the upload " + id + " is damaged");
  }
  MYNAH_TRY(const InputFile recording, open(id));
  Job job;
  job.id = id;
  job.request = {.owner = asked["owner"],
                 .parameters = asked["parameters"],
                 .webhook = asked["webhook"],
                 .webhook_text = asked["webhook_text"]};
  job.created_ms = asked["created_ms"];
  return job;
}

void Uploads::remove(const std::string& id) const {
  // What was asked goes first: a recording alone is taken up by nobody.
  ::unlink((path_of(id) + std::string(kAskedEnding)).c_str());
  ::unlink(path_of(id).c_str());
}

std::vector<std::string> Uploads::tidy() const {
  std::set<std::string> ids;
  std::vector<fs::path> unfinished;
  std::error_code error;
  for (auto item = fs::directory_iterator(folder_, error);
       !error && item != fs::directory_iterator(); item.increment(error)) {
    const fs::path& path = item->path();
    if (path.extension() == ".partial") {  // as AtomicFile names them
      unfinished.push_back(path);
    } else {
      ids.insert(path.stem().string());
    }
  }
  for (const fs::path& path : unfinished) {
    fs::remove(path, error);
  }
  return {ids.begin(), ids.end()};
}

}  // namespace mynah::jobs

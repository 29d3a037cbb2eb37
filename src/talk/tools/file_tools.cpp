// Files below a folder: listed and read, never written.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/unique_fd.h"
#include "talk/tools/own_tools.h"
#include "text/utf8.h"

namespace mynah::talk {

namespace {

// A folder that tools may look into.
class Shelf {
 public:
  static Result<std::shared_ptr<const Shelf>> open(const std::string& folder) {
    UniqueFd fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd) {
      return fail(errno == ENOENT ? ErrorCode::NotFound : ErrorCode::Io,
                  fmt::format("cannot open the folder {}: {}", folder, std::strerror(errno)));
    }
    return std::make_shared<const Shelf>(std::move(fd));
  }

  explicit Shelf(UniqueFd fd) : fd_(std::move(fd)) {}

  // What stands there by a path from the folder; a FIFO is not waited for.
  [[nodiscard]] Result<UniqueFd> open_below(const std::string& path, uint64_t flags) const {
    if (path.find('\0') != std::string::npos) {
      return fail(ErrorCode::InvalidInput, "a path has no zero byte");
    }
    open_how how{};
    how.flags = flags | O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    // It gives up where somebody moves folders meanwhile, and is asked again.
    constexpr int kTries = 16;
    int error = EAGAIN;
    for (int i = 0; i < kTries && error == EAGAIN; ++i) {
      UniqueFd opened(static_cast<int>(
          ::syscall(SYS_openat2, fd_.get(), path.empty() ? "." : path.c_str(), &how, sizeof(how))));
      if (opened) {
        return opened;
      }
      error = errno;
    }
    if (error == EXDEV) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{} leads out of the folder that may be read", path));
    }
    if (error == ENOSYS || error == EPERM) {
      return fail(ErrorCode::Environment,
                  "this system cannot keep to a folder (openat2: Linux 5.6 or later is needed)");
    }
    return fail(error == ENOENT || error == ENOTDIR ? ErrorCode::NotFound : ErrorCode::Io,
                fmt::format("{}: {}", path, std::strerror(error)));
  }

 private:
  UniqueFd fd_;
};

struct DirectoryCloser {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// "notes/" for a folder, "todo.txt (1203 bytes)" for a file, sorted; what is neither is left out.
Result<std::string> list_below(const Shelf& shelf, const std::string& path) {
  constexpr size_t kMostNames = 1000;
  MYNAH_TRY(UniqueFd opened, shelf.open_below(path, O_DIRECTORY));
  const int fd = opened.get();
  const std::unique_ptr<DIR, DirectoryCloser> directory(::fdopendir(opened.release()));
  if (!directory) {
    return fail(ErrorCode::Io, fmt::format("{}: {}", path, std::strerror(errno)));
  }
  std::vector<std::string> lines;
  bool has_more = false;
  while (const dirent* entry = ::readdir(directory.get())) {  // NOLINT(concurrency-mt-unsafe): ours
    const std::string name = entry->d_name;
    struct stat about{};
    if (name == "." || name == ".." ||
        ::fstatat(fd, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;
    }
    has_more = lines.size() == kMostNames;
    if (has_more) {
      break;
    }
    if (S_ISDIR(about.st_mode)) {
      lines.push_back(name + "/");
    } else if (S_ISREG(about.st_mode)) {
      lines.push_back(fmt::format("{} ({} bytes)", name, about.st_size));
    } else if (S_ISLNK(about.st_mode)) {
      lines.push_back(name + " (a link)");
    }
  }
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  if (has_more) {
    text += fmt::format("[there are more: {} are shown]\n", kMostNames);
  }
  return text.empty() ? "there is nothing" : text;
}

bool is_text(std::string_view bytes) {
  while (!bytes.empty()) {
    const Utf8Step step = next_code_point(bytes);
    if (!step.valid || step.code_point == 0) {
      return false;
    }
    bytes.remove_prefix(step.bytes);
  }
  return true;
}

// From a line on, the first of which is 1.
Result<std::string> read_below(const Shelf& shelf, const std::string& path, int64_t first_line,
                               size_t most_bytes) {
  MYNAH_TRY(const UniqueFd opened, shelf.open_below(path, 0));
  struct stat about{};
  if (::fstat(opened.get(), &about) != 0 || !S_ISREG(about.st_mode)) {
    return fail(ErrorCode::InvalidInput, fmt::format("{} is no file", path));
  }
  std::string text(kMostFileBytes + 1, '\0');
  size_t have = 0;
  while (have < text.size()) {
    const ssize_t count = ::read(opened.get(), text.data() + have, text.size() - have);
    if (count < 0 && errno != EINTR) {
      return fail(ErrorCode::Io, fmt::format("{}: {}", path, std::strerror(errno)));
    }
    if (count == 0) {
      break;
    }
    have += static_cast<size_t>(std::max<ssize_t>(count, 0));
  }
  if (have > kMostFileBytes) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{} is longer than {} bytes", path, kMostFileBytes));
  }
  text.resize(have);
  if (!is_text(text)) {
    return fail(ErrorCode::InvalidInput, fmt::format("{} is no text in UTF-8", path));
  }
  size_t begin = 0;
  for (int64_t line = 1; line < first_line; ++line) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) {
      return fail(ErrorCode::InvalidInput, fmt::format("{} has {} lines", path, line));
    }
    begin = end + 1;
  }
  const std::string_view wanted = std::string_view(text).substr(begin);
  constexpr size_t kOfNote = 100;  // bytes of what is said behind it
  if (wanted.size() <= most_bytes || most_bytes <= kOfNote) {
    return std::string(wanted);
  }
  // Whole lines, so that who reads on knows where.
  size_t end = wanted.rfind('\n', most_bytes - kOfNote);
  if (end == std::string_view::npos) {
    return std::string(wanted);
  }
  const std::string_view shown = wanted.substr(0, ++end);
  return fmt::format("{}[cut here: read on from line {}]", shown,
                     first_line + std::ranges::count(shown, '\n'));
}

class ListFiles final : public Tool {
 public:
  explicit ListFiles(std::shared_ptr<const Shelf> shelf) : shelf_(std::move(shelf)) {}

  [[nodiscard]] const ToolFacts& facts() const override { return facts_; }

  [[nodiscard]] Result<std::string> run(const ToolJson& arguments,
                                        const ToolRun& /*run*/) override {
    MYNAH_TRY(const std::string path, text_argument(arguments, "folder"));
    return list_below(*shelf_, path);
  }

 private:
  std::shared_ptr<const Shelf> shelf_;
  ToolFacts facts_{
      .name = "list_files",
      .description = "Lists the files and folders of a folder.",
      .parameters = {{"type", "object"},
                     {"properties",
                      {{"folder",
                        {{"type", "string"},
                         {"description", "A path such as notes/2026; without it: the topmost."}}}}},
                     {"additionalProperties", false}},
      .origin = std::string(kOwnOrigin),
      .changes = false,
      .unnoticed = true,
      .may_leave = false};
};

class ReadFile final : public Tool {
 public:
  explicit ReadFile(std::shared_ptr<const Shelf> shelf) : shelf_(std::move(shelf)) {}

  [[nodiscard]] const ToolFacts& facts() const override { return facts_; }

  [[nodiscard]] Result<std::string> run(const ToolJson& arguments, const ToolRun& run) override {
    MYNAH_TRY(const std::string path, text_argument(arguments, "path"));
    if (path.empty()) {
      return fail(ErrorCode::InvalidInput, "path: wanted a file, as list_files tells it");
    }
    const auto line = arguments.find("from_line");
    const bool is_from = line != arguments.end() && !line->is_null();
    if (is_from && (!line->is_number_integer() || line->get<int64_t>() < 1)) {
      return fail(ErrorCode::InvalidInput, "from_line: wanted a number from 1 on");
    }
    return read_below(*shelf_, path, is_from ? line->get<int64_t>() : 1, run.most_bytes);
  }

 private:
  std::shared_ptr<const Shelf> shelf_;
  ToolFacts facts_{
      .name = "read_file",
      .description = "Reads a text file.",
      .parameters =
          {{"type", "object"},
           {"properties",
            {{"path", {{"type", "string"}, {"description", "A path such as notes/todo.txt"}}},
             {"from_line",
              {{"type", "integer"}, {"description", "Where to begin; without it: line 1."}}}}},
           {"required", ToolJson::array({"path"})},
           {"additionalProperties", false}},
      .origin = std::string(kOwnOrigin),
      .changes = false,
      .unnoticed = true,
      .may_leave = false};
};

}  // namespace

Result<std::vector<std::shared_ptr<Tool>>> make_file_tools(const std::string& folder) {
  MYNAH_TRY(const auto shelf, Shelf::open(folder));
  return std::vector<std::shared_ptr<Tool>>{std::make_shared<ListFiles>(shelf),
                                            std::make_shared<ReadFile>(shelf)};
}

}  // namespace mynah::talk

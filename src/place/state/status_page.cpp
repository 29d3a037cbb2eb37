#include "place/state/status_page.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <new>

#include <fcntl.h>
#include <fmt/format.h>

namespace mynah::place {
namespace {

constexpr const char* kName = "mynah-status";

// As /proc/PID/fd shows memory without a name in a file system (memfd_create(2)).
constexpr std::string_view kLink = "/memfd:mynah-status";

constexpr size_t kText = size_t{1} << 15;

// Odd while the text is being written; readers look before and after.
struct Page {
  std::atomic<uint32_t> sequence;
  std::atomic<uint32_t> unloads;
  std::atomic<uint32_t> length;
  std::array<char, kText> text;
};

Page& page_of(const SharedMemory& memory) {
  return *std::launder(reinterpret_cast<Page*>(memory.bytes().data()));
}

std::optional<SharedMemory> open_page(const std::filesystem::path& process) {
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(process / "fd", error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const auto target = std::filesystem::read_symlink(entry->path(), error);
    if (error || !target.native().starts_with(kLink)) {
      error.clear();
      continue;
    }
    UniqueFd fd(::open(entry->path().c_str(), O_RDWR | O_CLOEXEC));
    auto memory = fd ? SharedMemory::attach(std::move(fd))
                     : Result<SharedMemory>(fail(ErrorCode::Io, "closed"));
    if (memory && memory->bytes().size() >= sizeof(Page)) {
      return *std::move(memory);
    }
  }
  return std::nullopt;
}

// A page that is being written is read again; one that stays so is of a process that was stopped.
std::optional<std::string> read_text(const Page& page) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    const uint32_t before = page.sequence.load();
    const uint32_t length = page.length.load();
    if (before % 2 == 0 && length <= kText) {
      std::string text(page.text.data(), length);
      if (page.sequence.load() == before) {
        return text;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Result<StatusPage> StatusPage::create() {
  MYNAH_TRY(SharedMemory memory, SharedMemory::create(kName, sizeof(Page)));
  ::new (static_cast<void*>(memory.bytes().data())) Page{};
  return StatusPage(std::move(memory));
}

void StatusPage::write(const std::string& text) {
  Page& page = page_of(memory_);
  const size_t length = std::min(text.size(), kText);
  page.sequence.fetch_add(1);
  std::memcpy(page.text.data(), text.data(), length);
  page.length.store(static_cast<uint32_t>(length));
  page.sequence.fetch_add(1);
}

bool StatusPage::take_unload_request() {
  const uint32_t unloads = page_of(memory_).unloads.load();
  return std::exchange(unloads_seen_, unloads) != unloads;
}

std::vector<OtherProcess> find_status_pages() {
  std::vector<OtherProcess> found;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator("/proc", error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    int pid = 0;
    const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (bad != std::errc() || end != name.data() + name.size()) {
      continue;
    }
    const auto memory = open_page(entry->path());
    if (auto text = memory ? read_text(page_of(*memory)) : std::nullopt) {
      found.push_back({.pid = pid, .text = *std::move(text)});
    }
  }
  std::ranges::sort(found, {}, &OtherProcess::pid);
  return found;
}

Error no_page_of(int pid) {
  std::error_code error;
  const std::filesystem::path process = std::filesystem::path("/proc") / std::to_string(pid);
  if (!std::filesystem::exists(process, error)) {
    return {ErrorCode::NotFound,
            fmt::format("there is no process {}: `mynah ps` lists those of mynah", pid)};
  }
  return {
      ErrorCode::NotFound,
      fmt::format("process {} is no mynah that has anything loaded, or is not yours: `mynah ps` "
                  "lists those that have",
                  pid)};
}

Status request_unload(int pid) {
  const auto memory = open_page(std::filesystem::path("/proc") / std::to_string(pid));
  if (!memory) {
    return std::unexpected(no_page_of(pid));
  }
  page_of(*memory).unloads.fetch_add(1);
  return {};
}

}  // namespace mynah::place

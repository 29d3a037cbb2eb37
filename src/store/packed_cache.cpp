#include "store/packed_cache.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL  // of the library nothing is needed when mynah runs
#include <xxhash.h>

#include "store/file_identity.h"
#include "store/files.h"
#include "store/sha256.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "MYNAHPK2";
constexpr size_t kHashDigits = 64;
constexpr size_t kSignedHeaderBytes = 8 + 3 * 8 + kHashDigits;
constexpr size_t kHeaderBytes = kSignedHeaderBytes + kHashDigits;
constexpr uint64_t kAlignment = 64;  // a cache line, and the widest vector register
static_assert(kHeaderBytes == 160);
constexpr uint64_t kMostNote = 4096;

template <class T>
void append(std::string& text, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    text.push_back(static_cast<char>(value >> (8 * i)));
  }
}

// Reads integers and strings off the front of bytes; false where they end too early.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  bool take(T& value) {
    if (rest_.size() < sizeof(T)) {
      return false;
    }
    value = 0;
    for (size_t i = 0; i < sizeof(T); ++i) {
      value |= static_cast<T>(static_cast<unsigned char>(rest_[i])) << (8 * i);
    }
    rest_.remove_prefix(sizeof(T));
    return true;
  }

  bool take(std::string& text, size_t bytes) {
    if (rest_.size() < bytes) {
      return false;
    }
    text = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return true;
  }

  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string hash_of(std::string_view first, std::string_view second = {}) {
  Digest digest;
  digest.update(first);
  digest.update(second);
  return digest.hex();
}

// Against damage, not malice: reading the bytes takes longer than this.
uint64_t checksum_of(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

// Stands for a layout in the names of files.
std::string layout_name(const std::string& layout) {
  return hash_of(layout).substr(0, 16);
}

std::string model_folder(const std::string& cache_folder, const std::string& model_digest) {
  return fmt::format("{}/packed/{}", cache_folder, model_digest.substr(0, 16));
}

// A time long enough ago that whoever writes to a file now gives it another one.
constexpr std::chrono::seconds kPast{2};

// A file's time says on which day it was last opened: who cannot set it only makes it look older.
void mark_used(const std::string& path) {
  const auto now = fs::file_time_type::clock::now();
  std::error_code error;
  const auto used = fs::last_write_time(path, error);
  if (!error && used < now - std::chrono::days(1)) {
    fs::last_write_time(path, now - kPast, error);
  }
}

// Where it is noted which state of a file was found whole, as file_identity() tells it.
std::string note_of(const std::string& path) {
  return path + ".whole";
}

// The state that a file is in; "" where it may change and look the same.
std::string settled_identity(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || info.st_mtim.tv_sec + kPast.count() > ::time(nullptr)) {
    return "";
  }
  return file_identity(info);
}

// Files of earlier layouts, of models that are gone, and what a writer left that was killed: all
// that nobody opened for a month. Who has one mapped keeps it.
void remove_unused_files(const fs::path& packed_folder) {
  const auto month_ago = fs::file_time_type::clock::now() - std::chrono::days(30);
  std::error_code ignored;
  for (const auto& folder : fs::directory_iterator(packed_folder, ignored)) {
    for (const auto& file : fs::directory_iterator(folder.path(), ignored)) {
      std::error_code failed;
      const auto used = file.last_write_time(failed);
      if (!failed && used < month_ago && file.is_regular_file(failed)) {
        fs::remove(file.path(), ignored);
      }
    }
    fs::remove(folder.path(), ignored);  // only where it is empty
  }
}

}  // namespace

// Streams blobs into a temporary file beside the target, so that nothing is held in memory.
class PackedCache::Writer {
 public:
  static Result<std::unique_ptr<Writer>> create(const std::string& target) {
    auto writer = std::make_unique<Writer>();
    writer->path_ = temporary_name(target);
    // Who commits elsewhere takes folders along that are empty, such as this one.
    constexpr int kTries = 3;
    for (int i = 0; i < kTries && writer->file_ == nullptr; ++i) {
      MYNAH_TRY_STATUS(make_folders(fs::path(target).parent_path().string()));
      writer->file_.reset(std::fopen(writer->path_.c_str(), "wbxe"));
    }
    if (writer->file_ == nullptr) {
      return fail(ErrorCode::Io,
                  fmt::format("cannot write {}: {}", writer->path_, std::strerror(errno)));
    }
    MYNAH_TRY_STATUS(writer->write(std::string(kHeaderBytes, '\0')));
    return writer;
  }

  Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  ~Writer() {
    file_.reset();
    if (!path_.empty()) {
      ::unlink(path_.c_str());
    }
  }

  Status add(std::string_view name, std::span<const std::byte> bytes) {
    const uint64_t padding = (kAlignment - offset_ % kAlignment) % kAlignment;
    MYNAH_TRY_STATUS(write(std::string(padding, '\0')));
    const Entry entry{.offset = offset_, .bytes = bytes.size(), .checksum = checksum_of(bytes)};
    MYNAH_TRY_STATUS(write(as_text(bytes)));
    table_.emplace(std::string(name), entry);
    return {};
  }

  [[nodiscard]] bool has(std::string_view name) const { return table_.contains(name); }

  // Writes the table and the header, and puts the file in its place.
  Status finish(const std::string& target, const std::string& key) {
    std::string table;
    for (const auto& [name, entry] : table_) {
      append(table, static_cast<uint32_t>(name.size()));
      table += name;
      append(table, entry.offset);
      append(table, entry.bytes);
      append(table, entry.checksum);
    }
    const uint64_t table_offset = offset_;
    MYNAH_TRY_STATUS(write(table));
    std::string header(kMagic);
    append(header, offset_);
    append(header, table_offset);
    append(header, static_cast<uint64_t>(table.size()));
    header += key;
    header += hash_of(header, table);
    if (std::fseek(file_.get(), 0, SEEK_SET) != 0) {
      return write_error();
    }
    MYNAH_TRY_STATUS(write(header));
    if (std::fclose(file_.release()) != 0) {
      return write_error();
    }
    MYNAH_TRY_STATUS(sync_and_rename(path_, target));
    path_.clear();
    return {};
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  [[nodiscard]] std::unexpected<Error> write_error() const {
    return fail(ErrorCode::Io, fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
  }

  Status write(std::string_view text) {
    // A blob may be empty, and its bytes nowhere: fwrite must not see a null pointer.
    if (!text.empty() && std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) {
      return write_error();
    }
    offset_ += text.size();
    return {};
  }

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  uint64_t offset_ = 0;
  Table table_;
};

PackedCache::PackedCache(std::string path, std::string key,
                         std::function<void(const std::string&)> on_damage)
    : path_(std::move(path)), key_(std::move(key)), on_damage_(std::move(on_damage)) {}

PackedCache::~PackedCache() = default;

Result<std::unique_ptr<PackedCache>> PackedCache::open(
    const std::string& cache_folder, const PackedCacheKey& key,
    std::function<void(const std::string&)> on_damage) {
  const std::string folder = model_folder(cache_folder, key.model_digest);
  MYNAH_TRY_STATUS(make_folders(folder));
  const std::string layout = layout_name(key.layout);
  std::unique_ptr<PackedCache> cache(
      new PackedCache(fmt::format("{}/{}-{}.packed", folder, key.storage, layout),
                      hash_of(fmt::format("{}\n{}\n{}", key.model_digest, key.storage, key.layout)),
                      std::move(on_damage)));
  cache->load();
  return cache;
}

void PackedCache::load() {
  file_.reset();
  entries_.clear();
  unchecked_.clear();
  mark_used(path_);
  // Before it is opened: another that takes its place meanwhile is not taken for it.
  std::string identity = settled_identity(path_);
  auto file = MappedFile::open(path_);
  if (!file) {
    return;
  }
  auto table = read_table((*file)->bytes(), key_);
  if (!table) {
    return;
  }
  entries_ = std::move(*table);
  file_ = std::move(*file);
  if (const auto noted = read_text_file(note_of(path_), kMostNote); noted && *noted == identity) {
    for (const auto& [name, entry] : entries_) {
      entry.check = Check::Whole;
    }
  } else {
    unchecked_ = std::move(identity);
  }
}

// A note that cannot be kept only costs the next start its time.
void PackedCache::note_whole() {
  const auto is_whole = [](const auto& entry) { return entry.second.check == Check::Whole; };
  if (!unchecked_.empty() && std::ranges::all_of(entries_, is_whole)) {
    static_cast<void>(write_text_file(note_of(path_), std::exchange(unchecked_, "")));
  }
}

std::optional<PackedCache::Table> PackedCache::read_table(std::span<const std::byte> file,
                                                          std::string_view key) {
  const std::string_view text = as_text(file);
  if (text.size() < kHeaderBytes || !text.starts_with(kMagic)) {
    return std::nullopt;
  }
  Cursor header(text.substr(kMagic.size(), kHeaderBytes - kMagic.size()));
  uint64_t file_bytes = 0;
  uint64_t table_offset = 0;
  uint64_t table_bytes = 0;
  std::string found_key;
  std::string digest;
  const bool whole = header.take(file_bytes) && header.take(table_offset) &&
                     header.take(table_bytes) && header.take(found_key, kHashDigits) &&
                     header.take(digest, kHashDigits);
  if (!whole || file_bytes != text.size() || found_key != key || table_offset > text.size() ||
      table_bytes != text.size() - table_offset) {
    return std::nullopt;
  }
  const std::string_view table = text.substr(table_offset);
  if (hash_of(text.substr(0, kSignedHeaderBytes), table) != digest) {
    return std::nullopt;
  }
  Table entries;
  Cursor rest(table);
  while (!rest.at_end()) {
    uint32_t name_bytes = 0;
    std::string name;
    Entry entry;
    if (!rest.take(name_bytes) || !rest.take(name, name_bytes) || !rest.take(entry.offset) ||
        !rest.take(entry.bytes) || !rest.take(entry.checksum) || entry.offset % kAlignment != 0 ||
        entry.offset > table_offset || entry.bytes > table_offset - entry.offset) {
      return std::nullopt;
    }
    entries.emplace(std::move(name), entry);
  }
  return entries;
}

std::span<const std::byte> PackedCache::bytes_of(const Entry& entry) const {
  return file_->bytes().subspan(entry.offset, entry.bytes);
}

bool PackedCache::is_whole(const std::string& name, const Entry& entry) const {
  if (entry.check == Check::NotYet) {
    const bool whole = checksum_of(bytes_of(entry)) == entry.checksum;
    entry.check = whole ? Check::Whole : Check::Damaged;
    if (!whole && on_damage_) {
      on_damage_(
          fmt::format("{} is damaged ('{}' is not what was written): what is damaged is made anew",
                      path_, name));
      on_damage_ = nullptr;
    }
  }
  return entry.check == Check::Whole;
}

std::optional<Blob> PackedCache::find(std::string_view name) const {
  const auto entry = entries_.find(name);
  if (entry == entries_.end() || !is_whole(entry->first, entry->second)) {
    return std::nullopt;
  }
  return Blob{.bytes = bytes_of(entry->second), .owner = file_};
}

Status PackedCache::add(std::string_view name, std::span<const std::byte> bytes) {
  const auto known = entries_.find(name);
  if ((known != entries_.end() && is_whole(known->first, known->second)) ||
      (writer_ != nullptr && writer_->has(name))) {
    return {};
  }
  if (writer_ == nullptr) {
    MYNAH_TRY(writer_, Writer::create(path_));
  }
  return writer_->add(name, bytes);
}

Status PackedCache::commit() {
  if (writer_ == nullptr) {
    note_whole();
    return {};
  }
  const std::unique_ptr<Writer> writer = std::move(writer_);
  for (const auto& [name, entry] : entries_) {
    if (!writer->has(name) && is_whole(name, entry)) {
      MYNAH_TRY_STATUS(writer->add(name, bytes_of(entry)));
    }
  }
  MYNAH_TRY_STATUS(writer->finish(path_, key_));
  remove_unused_files(fs::path(path_).parent_path().parent_path());
  load();
  return {};
}

void PackedCache::release_pages() const {
  if (file_ != nullptr) {
    file_->release_pages(file_->bytes());
  }
}

void remove_packed_layout(const std::string& cache_folder, const std::string& model_digest,
                          const std::string& layout) {
  const std::string name = layout_name(layout) + ".packed";
  std::error_code error;
  std::vector<fs::path> files;
  for (auto entry = fs::directory_iterator(model_folder(cache_folder, model_digest), error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().filename().string().find(name) != std::string::npos) {
      files.push_back(entry->path());
    }
  }
  for (const fs::path& file : files) {
    fs::remove(file, error);
  }
}

uint64_t remove_packed_files(const std::string& cache_folder, const std::string& model_digest) {
  const std::string folder = model_folder(cache_folder, model_digest);
  const uint64_t freed = bytes_on_disk(folder);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return freed;
}

}  // namespace mynah

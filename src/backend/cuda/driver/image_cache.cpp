#include "backend/cuda/driver/image_cache.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include <fmt/format.h>
#include <zlib.h>

#include "base/atomic_file.h"

namespace mynah::cuda {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "MYNAHIM1";
constexpr std::string_view kExtension = ".image";

uint32_t checksum(std::string_view bytes, uint32_t seed = 0) {
  return static_cast<uint32_t>(
      crc32_z(seed, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// All that an image depends on; the text by two sums of different kinds and its length.
std::string described(const ImageKey& key) {
  const auto* const text = reinterpret_cast<const Bytef*>(key.text.data());
  return fmt::format("{}\n{}\n{}\n{:08x} {:08x} {}\n", key.driver, key.card, key.program,
                     checksum(key.text), adler32_z(1, text, key.text.size()), key.text.size());
}

}  // namespace

std::string ImageCache::path_of(const ImageKey& key) const {
  const std::string description = described(key);
  const uint32_t first = checksum(description);
  return (fs::path(folder_) / fmt::format("{}-{:08x}{:08x}{}", key.program, first,
                                          checksum(description, first), kExtension))
      .string();
}

std::optional<std::vector<std::byte>> ImageCache::find(const ImageKey& key) const {
  if (folder_.empty()) {
    return std::nullopt;
  }
  const std::string path = path_of(key);
  std::ifstream file(path, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::string head = std::string(kMagic) + described(key);
  constexpr size_t kSumBytes = sizeof(uint32_t);
  if (all.size() < head.size() + kSumBytes || !all.starts_with(head)) {
    return std::nullopt;
  }
  uint32_t sum = 0;
  std::memcpy(&sum, all.data() + all.size() - kSumBytes, kSumBytes);
  const auto body = std::string_view(all).substr(0, all.size() - kSumBytes);
  if (sum != checksum(body)) {
    return std::nullopt;
  }
  std::error_code none;
  fs::last_write_time(path, fs::file_time_type::clock::now(), none);  // used: it goes last
  const auto image = std::as_bytes(std::span(body.substr(head.size())));
  return std::vector<std::byte>(image.begin(), image.end());
}

Status ImageCache::add(const ImageKey& key, const void* image, size_t bytes) const {
  if (folder_.empty()) {
    return {};
  }
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) {
    return fail(ErrorCode::Io, fmt::format("making the folder {}: {}", folder_, error.message()));
  }
  std::string all = std::string(kMagic) + described(key);
  all.append(static_cast<const char*>(image), bytes);
  const uint32_t sum = checksum(all);
  all.append(reinterpret_cast<const char*>(&sum), sizeof(sum));
  MYNAH_TRY(AtomicFile file, AtomicFile::create(path_of(key)));
  MYNAH_TRY_STATUS(file.write(all));
  MYNAH_TRY_STATUS(file.commit());
  shrink();
  return {};
}

void ImageCache::shrink() const {
  struct Image {
    fs::path path;
    uint64_t bytes;
    fs::file_time_type used;
  };

  std::vector<Image> images;
  uint64_t held = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    std::error_code none;
    if (entry.path().extension() == kExtension) {
      const uint64_t bytes = entry.file_size(none);
      images.push_back({entry.path(), none ? 0 : bytes, entry.last_write_time(none)});
      held += images.back().bytes;
    }
  }
  std::ranges::sort(images, {}, &Image::used);
  for (const Image& image : images) {
    if (held <= most_bytes_) {
      return;
    }
    fs::remove(image.path, error);  // another process may have been faster
    held -= image.bytes;
  }
}

}  // namespace mynah::cuda

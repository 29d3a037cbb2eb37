// ImageCache: what a driver made of mynah's programs, kept from run to run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mynah::cuda {

// What an image was made from and for. Any difference makes another image.
struct ImageKey {
  std::string driver;     // version and release: "12040 550.54.14"
  std::string card;       // name and compute capability: "NVIDIA H200 9.0"
  std::string program;    // group and level: "norms.sm80"
  std::string_view text;  // the PTX
};

// A folder with a file an image: a header, the key, the image, and a checksum of all before it.
// Files are written whole or not at all, so that several processes can share the folder; one that
// is damaged, or of another key with the same name, is as good as none. When the folder grows past
// its bound, the images that were not used for longest go.
class ImageCache {
 public:
  // An empty folder: nothing is found and nothing is kept.
  explicit ImageCache(std::string folder, uint64_t most_bytes = kMostBytes)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}

  [[nodiscard]] std::optional<std::vector<std::byte>> find(const ImageKey& key) const;

  // Fails where the folder cannot be written, which costs time at the next start, nothing else.
  Status add(const ImageKey& key, const void* image, size_t bytes) const;

  // Where the image of that key is, or would be.
  [[nodiscard]] std::string path_of(const ImageKey& key) const;

  // All programs for one card take some 10 MB: room for many drivers and cards.
  static constexpr uint64_t kMostBytes = 256ULL << 20;

 private:
  void shrink() const;

  std::string folder_;
  uint64_t most_bytes_;
};

}  // namespace mynah::cuda

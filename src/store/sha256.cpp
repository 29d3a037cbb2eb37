#include "store/sha256.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "store/files.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

// Pieces large enough that the read calls cost nothing beside the hashing.
constexpr size_t kPieceBytes = 1U << 20U;

// What tells one state of a file from another without reading it.
std::string file_identity(const struct stat& info) {
  return fmt::format("{} {} {} {} {}", static_cast<uint64_t>(info.st_size),
                     static_cast<int64_t>(info.st_mtim.tv_sec),
                     static_cast<int64_t>(info.st_mtim.tv_nsec), static_cast<uint64_t>(info.st_ino),
                     static_cast<uint64_t>(info.st_dev));
}

Result<std::string> remembered_digest(const std::string& path, const std::string& cache_folder) {
  std::error_code error;
  const std::string absolute = fs::canonical(path, error).string();
  struct stat info{};
  if (error || ::stat(absolute.c_str(), &info) != 0) {
    return fail(ErrorCode::NotFound, fmt::format("cannot open {}: no such file", path));
  }
  if (cache_folder.empty()) {
    return sha256_of_file(absolute);
  }
  const std::string identity = file_identity(info);
  const std::string note =
      fmt::format("{}/digests/{}", cache_folder, sha256_hex(std::as_bytes(std::span(absolute))));
  // A note is two lines: the identity, the digest.
  if (const auto text = read_text_file(note, 4096)) {
    if (text->starts_with(identity + "\n")) {
      std::string digest = text->substr(identity.size() + 1, 64);
      if (is_sha256(digest)) {
        return digest;
      }
    }
  }
  MYNAH_TRY(std::string digest, sha256_of_file(absolute));
  // A note that cannot be kept only costs the next start its time.
  if (make_folders(cache_folder + "/digests")) {
    static_cast<void>(write_text_file(note, identity + "\n" + digest + "\n"));
  }
  return digest;
}

}  // namespace

struct Digest::Context {
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> state{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

Digest::Digest(Kind kind) : context_(std::make_unique<Context>()) {
  const EVP_MD* method = kind == Kind::Sha256 ? EVP_sha256() : EVP_sha1();
  MYNAH_CHECK(EVP_DigestInit_ex(context_->state.get(), method, nullptr) == 1);
}

Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;

void Digest::update(std::span<const std::byte> bytes) {
  MYNAH_CHECK(EVP_DigestUpdate(context_->state.get(), bytes.data(), bytes.size()) == 1);
}

void Digest::update(std::string_view text) {
  update(std::as_bytes(std::span(text)));
}

std::string Digest::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> value{};
  unsigned int size = 0;
  MYNAH_CHECK(EVP_DigestFinal_ex(context_->state.get(), value.data(), &size) == 1);
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += fmt::format("{:02x}", value[i]);
  }
  return text;
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Digest digest;
  digest.update(bytes);
  return digest.hex();
}

Result<std::string> sha256_of_file(const std::string& path, const std::stop_token& stop) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    const auto code = errno == ENOENT ? ErrorCode::NotFound : ErrorCode::Io;
    return fail(code, fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  }
  Digest digest;
  std::vector<std::byte> piece(kPieceBytes);
  ssize_t count = 0;
  while (!stop.stop_requested()) {
    count = ::read(descriptor, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      break;
    }
    digest.update(std::span(piece).first(static_cast<size_t>(count)));
  }
  const int error = errno;
  ::close(descriptor);
  if (stop.stop_requested()) {
    return fail(ErrorCode::Cancelled, fmt::format("stopped while reading {}", path));
  }
  if (count < 0) {
    return fail(ErrorCode::Io, fmt::format("cannot read {}: {}", path, std::strerror(error)));
  }
  return digest.hex();
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Result<std::string> model_digest(const std::string& path, const std::string& cache_folder) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return remembered_digest(path, cache_folder);
  }
  std::vector<fs::path> files;
  for (auto item = fs::directory_iterator(path, error); !error && item != fs::directory_iterator();
       item.increment(error)) {
    std::error_code ignored;
    if (item->is_regular_file(ignored)) {
      files.push_back(item->path());
    }
  }
  if (error) {
    return fail(ErrorCode::Io, fmt::format("cannot list {}: {}", path, error.message()));
  }
  std::ranges::sort(files);
  Digest digest;
  for (const fs::path& file : files) {
    MYNAH_TRY(const std::string hash, remembered_digest(file.string(), cache_folder));
    digest.update(fmt::format("{}  {}\n", hash, file.filename().string()));
  }
  return digest.hex();
}

}  // namespace mynah

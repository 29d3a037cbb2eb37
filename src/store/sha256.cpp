#include "store/sha256.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/check.h"
#include "store/file_identity.h"
#include "store/files.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

// Pieces large enough that the read calls cost nothing beside the hashing.
constexpr size_t kPieceBytes = 1U << 20U;

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

// OpenSSL's own functions and not EVP's, which since OpenSSL 3 look a digest up in a provider: the
// first one of a process takes a millisecond for that, as long as all else that placing a request
// may take.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

struct Digest::Context {
  std::variant<SHA256_CTX, SHA_CTX> state;
};

Digest::Digest(Kind kind) : context_(std::make_unique<Context>()) {
  if (kind == Kind::Sha256) {
    MYNAH_CHECK(SHA256_Init(&context_->state.emplace<SHA256_CTX>()) == 1);
  } else {
    MYNAH_CHECK(SHA1_Init(&context_->state.emplace<SHA_CTX>()) == 1);
  }
}

Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;

void Digest::update(std::span<const std::byte> bytes) {
  auto* const sha256 = std::get_if<SHA256_CTX>(&context_->state);
  MYNAH_CHECK((sha256 != nullptr ? SHA256_Update(sha256, bytes.data(), bytes.size())
                                 : SHA1_Update(&std::get<SHA_CTX>(context_->state), bytes.data(),
                                               bytes.size())) == 1);
}

std::string Digest::hex() {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> value{};
  auto* const sha256 = std::get_if<SHA256_CTX>(&context_->state);
  MYNAH_CHECK((sha256 != nullptr
                   ? SHA256_Final(value.data(), sha256)
                   : SHA1_Final(value.data(), &std::get<SHA_CTX>(context_->state))) == 1);
  const size_t size = sha256 != nullptr ? SHA256_DIGEST_LENGTH : SHA_DIGEST_LENGTH;
  std::string text;
  for (const unsigned char byte : std::span(value).first(size)) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

#pragma GCC diagnostic pop

void Digest::update(std::string_view text) {
  update(std::as_bytes(std::span(text)));
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Digest digest;
  digest.update(bytes);
  return digest.hex();
}

std::array<std::byte, 32> hmac_sha256(std::string_view key, std::string_view text) {
  std::array<std::byte, 32> code{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(),
       reinterpret_cast<unsigned char*>(code.data()), &size);
  MYNAH_CHECK(size == code.size(), "SHA-256 has 32 bytes");
  return code;
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
  return text.size() == 64 && std::ranges::all_of(text, is_small_hex_digit);
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

#include "ptx_text.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <regex>

namespace mynah::gpu::fake {
namespace {

constexpr std::array<char, 8> kMagic = {'F', 'A', 'K', 'E', 'C', 'B', 'I', 'N'};

struct ImageHead {
  std::array<char, 8> magic{};
  uint64_t text_bytes = 0;
  uint64_t checksum = 0;
  int64_t architecture = 0;
};

// FNV-1a.
uint64_t checksum_of(std::string_view text) {
  uint64_t hash = 14695981039346656037U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return hash;
}

int number(const std::string& text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Bytes of ".param .align 8 .b8 name[24]" or ".param .u64 name".
size_t parameter_bytes(const std::string& declaration) {
  static const std::regex kType(R"(\.[busf](8|16|32|64)\b)");
  static const std::regex kArray(R"(\[(\d+)\])");
  std::smatch type;
  std::smatch array;
  const size_t element = std::regex_search(declaration, type, kType) ? number(type[1]) / 8 : 0;
  const size_t count = std::regex_search(declaration, array, kArray) ? number(array[1]) : 1;
  return element * count;
}

PtxKernel read_kernel(std::string name, const std::string& parameters,
                      const std::string& directives) {
  PtxKernel kernel;
  kernel.name = std::move(name);
  static const std::regex kParameter(R"(\.param[^,)]*)");
  for (std::sregex_iterator found(parameters.begin(), parameters.end(), kParameter), end;
       found != end; ++found) {
    kernel.parameter_bytes.push_back(parameter_bytes(found->str()));
  }
  static const std::regex kThreads(
      R"(\.(?:maxntid|reqntid)\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?)");
  std::smatch threads;
  if (std::regex_search(directives, threads, kThreads)) {
    kernel.max_threads = 1;
    for (size_t i = 1; i < threads.size(); ++i) {
      kernel.max_threads *= threads[i].matched ? number(threads[i]) : 1;
    }
  }
  return kernel;
}

}  // namespace

std::optional<PtxText> read_ptx(std::string_view source) {
  PtxText text;
  text.source = source;
  // Before the first kernel: no expression runs over a whole text.
  const std::string head = text.source.substr(0, 4096);
  static const std::regex kVersion(R"(\.version\s+(\d+)\.(\d+))");
  static const std::regex kTarget(R"(\.target\s+sm_(\d+)(a?))");
  static const std::regex kAddresses(R"(\.address_size\s+64)");
  std::smatch version;
  std::smatch target;
  if (!std::regex_search(head, version, kVersion) || !std::regex_search(head, target, kTarget) ||
      !std::regex_search(head, kAddresses)) {
    return std::nullopt;
  }
  text.major = number(version[1]);
  text.minor = number(version[2]);
  text.target = number(target[1]);
  text.only_target = target[2].length() > 0;
  constexpr std::string_view kEntry = ".entry";
  for (size_t at = text.source.find(kEntry); at != std::string::npos;
       at = text.source.find(kEntry, at + 1)) {
    const size_t name = text.source.find_first_not_of(" \t\r\n", at + kEntry.size());
    const size_t open = text.source.find('(', at);
    const size_t close = text.source.find(')', at);
    const size_t body = text.source.find('{', at);
    if (name == std::string::npos || body == std::string::npos) {
      return std::nullopt;
    }
    const size_t name_end = text.source.find_first_of(" \t\r\n({.", name);
    const bool has_list = open < close && close < body;
    PtxKernel kernel =
        read_kernel(text.source.substr(name, name_end - name),
                    has_list ? text.source.substr(open, close - open + 1) : std::string(),
                    text.source.substr(has_list ? close : at, body - (has_list ? close : at)));
    text.kernels.emplace(kernel.name, kernel);
  }
  return text;
}

std::vector<std::byte> compiled_image(const PtxText& text, int architecture) {
  const ImageHead head = {.magic = kMagic,
                          .text_bytes = text.source.size(),
                          .checksum = checksum_of(text.source),
                          .architecture = architecture};
  std::vector<std::byte> image(sizeof(head) + text.source.size());
  std::memcpy(image.data(), &head, sizeof(head));
  std::memcpy(image.data() + sizeof(head), text.source.data(), text.source.size());
  return image;
}

bool is_compiled_image(const void* image) {
  // Not past the end of a short text.
  return std::strncmp(static_cast<const char*>(image), kMagic.data(), kMagic.size()) == 0;
}

std::optional<CompiledImage> read_compiled_image(const void* image) {
  ImageHead head;
  std::memcpy(&head, image, sizeof(head));
  const std::string_view source(static_cast<const char*>(image) + sizeof(head), head.text_bytes);
  if (checksum_of(source) != head.checksum) {
    return std::nullopt;
  }
  auto text = read_ptx(source);
  if (!text) {
    return std::nullopt;
  }
  return CompiledImage{.text = std::move(*text),
                       .architecture = static_cast<int>(head.architecture)};
}

}  // namespace mynah::gpu::fake

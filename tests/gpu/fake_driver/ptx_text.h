// As much of PTX as the fake driver needs: version, target, and the kernels with the sizes of their
// parameters.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mynah::gpu::fake {

struct PtxKernel {
  std::string name;
  std::vector<size_t> parameter_bytes;
  unsigned max_threads = 1024;  // of .maxntid and .reqntid, all dimensions
};

struct PtxText {
  int major = 0;  // .version
  int minor = 0;
  int target = 0;            // 80 of .target sm_80
  bool only_target = false;  // sm_90a: no other card
  std::map<std::string, PtxKernel> kernels;
  std::string source;
};

// None: not PTX, or without .version, .target or .address_size 64.
[[nodiscard]] std::optional<PtxText> read_ptx(std::string_view source);

// The fake's own "compiled" form: a head with size and checksum, the architecture, the PTX.
[[nodiscard]] std::vector<std::byte> compiled_image(const PtxText& text, int architecture);

// What is behind an image whose size is not told, as with cuModuleLoadDataEx.
struct CompiledImage {
  PtxText text;
  int architecture = 0;
};

[[nodiscard]] bool is_compiled_image(const void* image);

// None: its checksum is wrong.
[[nodiscard]] std::optional<CompiledImage> read_compiled_image(const void* image);

}  // namespace mynah::gpu::fake

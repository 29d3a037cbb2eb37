#include "store/wheel.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "store/files.h"
#include "store/sha256.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

// In the order of what is taken where a wheel repeats a model in several formats.
constexpr std::array<std::string_view, 6> kModelSuffixes = {".safetensors", ".gguf", ".bin",
                                                            ".onnx",        ".pt",   ".pth"};

// Smaller ones are tables and samples, not models.
constexpr uint64_t kLeastModelBytes = 64U << 10U;

std::string last_name(std::string_view path) {
  return fs::path(path).filename().string();
}

std::vector<std::string> candidates(const ZipArchive& archive, std::string_view suffix) {
  std::vector<std::string> names;
  for (const ZipMember& member : archive.members()) {
    if (member.name.ends_with(suffix) && member.bytes >= kLeastModelBytes) {
      names.push_back(member.name);
    }
  }
  return names;
}

// Configuration and vocabulary lie beside the model, or a folder below it (sentence-transformers'
// 1_Pooling/config.json): that folder, "" where it is the model's, none where they are another's.
std::optional<std::string> place_beside(std::string_view member, const std::string& folder) {
  const fs::path own = fs::path(member).parent_path();
  if (!member.ends_with(".json") && !member.ends_with(".txt")) {
    return std::nullopt;
  }
  if (own.string() == folder) {
    return std::string();
  }
  const bool below = own.parent_path().string() == folder && is_model_name(own.filename().string());
  return below ? std::optional(own.filename().string()) : std::nullopt;
}

}  // namespace

Result<OriginFile> extract_member(const ZipArchive& archive, std::string_view member,
                                  std::string_view sha256, const std::string& folder,
                                  const std::stop_token& stop) {
  const ZipMember* found = archive.find(member);
  if (found == nullptr) {
    return fail(ErrorCode::NotFound,
                fmt::format("{}: wanted the member {}, found none", archive.path(), member));
  }
  MYNAH_TRY_STATUS(check_disk_space(folder, found->bytes));
  const std::string path = fmt::format("{}/{}", folder, last_name(member));
  MYNAH_TRY_STATUS(archive.extract(*found, path));
  MYNAH_TRY(const std::string digest, sha256_of_file(path, stop));
  if (!sha256.empty() && digest != sha256) {
    std::error_code ignored;
    fs::remove(path, ignored);
    return fail(ErrorCode::InvalidInput, fmt::format("{}: {}: wanted SHA-256 {}, found {}",
                                                     archive.path(), member, sha256, digest));
  }
  return OriginFile{.name = last_name(member),
                    .from = {},
                    .sha256 = digest,
                    .size = found->bytes,
                    .proof = sha256.empty() ? "none" : "pinned"};
}

Result<std::string> extract_model(const ZipArchive& archive, const std::string& folder,
                                  const std::stop_token& stop) {
  for (const std::string_view suffix : kModelSuffixes) {
    const std::vector<std::string> names = candidates(archive, suffix);
    if (names.empty()) {
      continue;
    }
    if (names.size() > 1) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: wanted one model, found {}: {}; unpack it and import the one "
                              "you mean",
                              archive.path(), names.size(), fmt::join(names, ", ")));
    }
    const std::string model_folder = fs::path(names.front()).parent_path().string();
    size_t companions = 0;
    for (const ZipMember& member : archive.members()) {
      if (const auto place = place_beside(member.name, model_folder)) {
        const std::string target = place->empty() ? folder : fmt::format("{}/{}", folder, *place);
        MYNAH_TRY_STATUS(make_folders(target));
        MYNAH_TRY_STATUS(extract_member(archive, member.name, "", target, stop));
        ++companions;
      }
    }
    MYNAH_TRY_STATUS(extract_member(archive, names.front(), "", folder, stop));
    const bool is_folder = companions > 0 && last_name(names.front()).starts_with("model.");
    return is_folder ? folder : fmt::format("{}/{}", folder, last_name(names.front()));
  }
  return fail(ErrorCode::InvalidInput,
              fmt::format("{}: wanted a wheel with a model (safetensors, GGUF, .bin, ONNX, .pt), "
                          "found {} members, none of them one",
                          archive.path(), archive.members().size()));
}

}  // namespace mynah

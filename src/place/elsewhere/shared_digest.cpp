#include "place/elsewhere/shared_digest.h"

#include <algorithm>
#include <filesystem>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "store/sha256.h"

namespace mynah::place {
namespace {

Result<std::string> digest_of(const VoiceModelFile& file, const std::string& folder) {
  MYNAH_TRY(std::string key, model_digest(file.path, folder));
  // Piper's stands beside the network where none is named.
  const std::string config = file.config.empty() ? file.path + ".json" : file.config;
  std::error_code ignored;  // what cannot be looked at is not there
  if (std::filesystem::is_regular_file(config, ignored)) {
    MYNAH_TRY(const std::string digest, model_digest(config, folder));
    key += fmt::format("\nconfig {}", digest);
  }
  std::vector<std::string> voices;
  for (const VoiceFile& voice : file.voices) {
    MYNAH_TRY(const std::string digest, model_digest(voice.path, folder));
    voices.push_back(fmt::format("\nvoice {} {}", voice.facts.name, digest));
  }
  std::ranges::sort(voices);
  for (const std::string& voice : voices) {
    key += voice;
  }
  return sha256_hex(std::as_bytes(std::span(key)));
}

}  // namespace

Result<std::string> shared_digest(const ModelFile& file, const std::string& cache_folder) {
  if (const auto* const voice = std::get_if<VoiceModelFile>(&file)) {
    return digest_of(*voice, cache_folder);
  }
  return model_digest(path_of(file), cache_folder);
}

}  // namespace mynah::place

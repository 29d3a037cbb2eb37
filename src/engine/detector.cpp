#include "engine/detector.h"

#include <utility>

#include <fmt/format.h>

#include "engine/installed.h"
#include "engine/store_folders.h"
#include "place/terms/stage.h"
#include "store/store.h"

namespace mynah::engine {

namespace {

Result<OpenedDetector> open_builtin(const DetectorWish& wish, const Surroundings& surroundings) {
  constexpr int kRate_hz = 16000;
  const std::string& better = detector_entry().name;
  if (wish.rate_hz != kRate_hz) {
    return fail(ErrorCode::Usage,
                fmt::format("--rate {}: the built-in detector hears 16000 Hz; for 8000: mynah "
                            "pull {}",
                            wish.rate_hz, better));
  }
  if (wish.model == "auto") {
    surroundings.note(
        {.code = "builtin-detector",
         .text = better + " was not pulled: using the built-in detector, which is less exact",
         .remedy = fmt::format("'mynah pull {}' brings the better one", better)});
  }
  PlacementWish unpinned = wish.placement;
  unpinned.pinned = false;
  MYNAH_TRY(const auto placer, open_placer(unpinned, surroundings));
  MYNAH_TRY_STATUS(
      placer->check_processor(place::detecting_group(), "the built-in voice detector"));
  OpenedDetector opened;
  opened.detector = with_automatic_level(builtin_voice_detector());
  return opened;
}

}  // namespace

Status OpenedDetector::warm_up() const {
  const std::vector<float> silence(static_cast<size_t>(detector->rate_hz()));
  MYNAH_TRY_STATUS(detector->session()->push(silence));
  return {};
}

std::string detecting_model(const DetectorWish& wish, const Environment& environment) {
  const auto resolved = resolve_detector(Store(store_folders(environment)), wish.model);
  return resolved && wish.model != "builtin" ? resolved->path : std::string();
}

void OpenedDetector::name_work(const std::vector<std::string>& names) const {
  if (placer) {
    placer->name_work(id, names);
  }
}

Result<OpenedDetector> open_detector(const DetectorWish& wish, const Surroundings& surroundings) {
  const Store store(store_folders(surroundings.environment));
  const auto resolved = resolve_detector(store, wish.model);
  if (wish.model == "builtin" || (wish.model == "auto" && !resolved)) {
    return open_builtin(wish, surroundings);
  }
  if (!resolved) {
    return std::unexpected(as_named(resolved.error(), wish.model));
  }
  MYNAH_TRY_STATUS(check_finds_speech(store, *resolved));
  OpenedDetector opened;
  MYNAH_TRY(opened.placer, open_placer(wish.placement, surroundings));
  MYNAH_TRY_STATUS(opened.placer->check_profile(place::detecting_group()));
  const place::DetectorFile file{.path = resolved->path, .rate_hz = wish.rate_hz};
  MYNAH_TRY(auto detector, opened.placer->detector(file));
  opened.id = opened.placer->id_of(file);
  opened.detector = with_automatic_level(std::move(detector));
  return opened;
}

}  // namespace mynah::engine

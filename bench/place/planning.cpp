#include "planning.h"

#include <utility>
#include <vector>

#include "pairs.h"
#include "place/discovery/device_cache.h"
#include "place/kinds/kinds.h"
#include "place/state/placement_state.h"
#include "place/terms/device_request.h"

namespace mynah::bench {

Result<nlohmann::ordered_json> bench_planning(const PlanningOptions& options) {
  place::PlacerOptions wish;
  MYNAH_TRY(wish.request, place::parse_device_request(options.request));
  wish.settings.cuda_driver = options.cuda_driver;
  wish.discovery.gpus.driver.file = options.cuda_driver;
  wish.discovery.cache_file = options.cache_folder + "/devices";
  wish.discovery.build = place::file_stamp(options.program);
  wish.discovery.worker_program = options.program;
  wish.worker_program = options.program;
  wish.cache_folder = options.cache_folder;
  place::PlacementState state(std::move(wish));
  const place::ModelId tts =
      state.context().expect(place::VoiceModelFile{.family = "hibari",
                                                   .path = options.model,
                                                   .config = {},
                                                   .voices = {},
                                                   .name = "hibari",
                                                   .precision = Precision::Fast,
                                                   .cache_folder = options.cache_folder});
  Result<place::StagePlaces> places = fail(ErrorCode::Device, "not planned");
  const double first_ms = milliseconds_of([&] { places = state.planner().plan(tts); });
  MYNAH_TRY(const place::StagePlaces first, std::move(places));
  constexpr int kLater = 200;
  std::vector<double> later_ms;
  for (int i = 0; i < kLater; ++i) {
    later_ms.push_back(milliseconds_of([&] { places = state.planner().plan(tts); }));
    if (!places || *places != first) {
      return fail(ErrorCode::InvalidInput, "a later plan is another than the first");
    }
  }
  return nlohmann::ordered_json{
      {"device", place::devices_of(first)}, {"first_ms", first_ms}, {"later_ms", median(later_ms)}};
}

}  // namespace mynah::bench

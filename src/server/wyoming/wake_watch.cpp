#include "server/wyoming/wake_watch.h"

#include <utility>

#include "engine/wake.h"
#include "speech/hearing.h"
#include "store/store.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Result<std::unique_ptr<WakeWatch>> WakeWatch::begin(const WyomingMessage& detect,
                                                    Service& service) {
  engine::WakeWish wish;
  const auto names = detect.data.find("names");
  if (names != detect.data.end() && names->is_array()) {
    for (const Json& name : *names) {
      if (!name.is_string()) {
        return fail(ErrorCode::InvalidInput, "detect: wanted names of wake words as texts");
      }
      // A name of the store and no path: nobody far away says which file is read.
      const auto text = name.get<std::string>();
      if (!is_model_name(text)) {
        return fail(ErrorCode::NotFound, "detect: wanted the name of a wake word");
      }
      wish.push_back(text);
    }
  }
  MYNAH_TRY(auto words, engine::open_wake_words(wish, service.environment()));
  std::optional<Lease> hearing;
  std::shared_ptr<WakeCheck> check;
  if (!service.hearing_models().empty()) {
    MYNAH_TRY(Hearing opened, service.hearing(""));
    hearing.emplace(std::move(opened.lease));
    if ((*hearing)->model != nullptr) {
      MYNAH_TRY(check, WakeCheck::create((*hearing)->model));
    }
  }
  return std::unique_ptr<WakeWatch>(
      new WakeWatch(std::move(words), std::move(hearing), std::move(check)));
}

Status WakeWatch::start(const SampleFormat& format) {
  MYNAH_TRY(reader_, MonoReader::create(format, kHearingRate_hz));
  spotter_.reset();
  detected_ = false;
  return {};
}

Result<std::vector<std::string>> WakeWatch::push(const WyomingMessage& chunk) {
  std::vector<std::string> events;
  MYNAH_TRY(const std::vector<float> samples, reader_->read(chunk.payload));
  MYNAH_TRY(const std::vector<WakeDetection> words, spot(spotter_, check_.get(), samples, {}));
  for (const WakeDetection& found : words) {
    const int64_t since_start = found.sample * 1000 / kHearingRate_hz;
    events.push_back(encode("detection", {{"name", found.name},
                                          {"timestamp", chunk.number("timestamp", since_start)},
                                          {"speaker", nullptr}}));
    detected_ = true;
  }
  return events;
}

std::string WakeWatch::stop() {
  reader_.reset();
  return detected_ ? std::string() : encode("not-detected", Json::object());
}

}  // namespace mynah::server

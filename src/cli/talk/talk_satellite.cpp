#include "cli/talk/talk_satellite.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/host_name.h"
#include "cli/models/surroundings.h"
#include "engine/wake.h"
#include "server/access/addresses.h"
#include "server/wyoming/announcement.h"

namespace mynah::cli {

namespace {

constexpr int64_t kMostPort = 65535;

std::string satellite_line(const std::string& text) {
  return nlohmann::ordered_json({{"event", "satellite"}, {"text", text}})
      .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

DeskSound::DeskSound(SoundDevice& device, echo::EchoCanceller canceller,
                     std::function<void(const std::string& text)> tell)
    : device_(device), canceller_(std::move(canceller)), tell_(std::move(tell)) {}

Result<std::vector<float>> DeskSound::hear(const std::stop_token& stop) {
  std::vector<float> heard;
  while (heard.empty()) {
    MYNAH_TRY(const SoundFrame frame, device_.next(stop));
    for (const echo::CleanFrame& clean : canceller_.process(frame.heard, frame.played)) {
      heard.insert(heard.end(), clean.cleaned.begin(), clean.cleaned.end());
    }
  }
  for (const SoundNews& news : device_.take_news()) {
    tell_(news.text);
  }
  return heard;
}

void DeskSound::play(std::span<const float> samples) {
  device_.play(samples);
}

void DeskSound::stop_playing() {
  device_.drop();
}

bool DeskSound::is_playing() const {
  return device_.state().waiting > 0;
}

void SatelliteChoice::fields(Fields& fields) {
  fields.flag(
      "satellite", wanted,
      "Be a satellite of Home Assistant in place of conversing: it adds this machine by its "
      "address, as one of Wyoming's. With --wake the word is heard here, else there.");
  // A server's address in the environment or a configuration is not meant here.
  fields
      .option("host", "ADDRESS", host,
              "With --satellite: where it listens; 0.0.0.0: for all of the network, which is told "
              "of it by Avahi.")
      .once();
  fields.option("port", "N", port, "With --satellite: the port; 0: any that is free.")
      .within(0, kMostPort)
      .once();
}

Status SatelliteChoice::check(const std::vector<std::string>& given, bool wakes) const {
  constexpr std::array<std::string_view, 7> kUsed = {"satellite",  "host",        "port", "wake",
                                                     "microphone", "loudspeaker", "json"};
  // What confirms the word.
  constexpr std::array<std::string_view, 2> kUsedByWord = {"asr-model", "vad-model"};
  std::vector<std::string> useless;
  for (const std::string& option : given) {
    if (std::ranges::find(kUsed, option) == kUsed.end() &&
        (!wakes || std::ranges::find(kUsedByWord, option) == kUsedByWord.end())) {
      useless.push_back("--" + option);
    }
  }
  if (wanted && !useless.empty()) {
    return fail(ErrorCode::Usage,
                fmt::format("a satellite gives its sound to its server, which hears, replies and "
                            "speaks: wanted none of {} beside --satellite",
                            fmt::join(useless, ", ")));
  }
  const server::SatellitePort usual;
  if (!wanted && (host != usual.host || port != usual.port)) {
    return fail(ErrorCode::Usage, "--host and --port are for --satellite, which is not given");
  }
  return {};
}

Result<int> talk_as_satellite(Context& context, const SatelliteChoice& choice,
                              const std::string& word, const engine::RecognizerWish& hears,
                              const mynah::SoundOptions& sound) {
  MYNAH_TRY(const auto device, open_sound_device(sound));
  server::SatelliteOptions options;
  options.name = host_name();
  options.play_rate_hz = device->playback_hz();
  engine::OpenedWakeCheck opened;
  if (!word.empty()) {
    MYNAH_TRY(options.words, engine::open_wake_words({word}, context.environment));
    MYNAH_TRY(opened,
              engine::open_wake_check(engine::WakeConfirm::Auto, hears, surroundings_of(context)));
    options.check = opened.check;
  }
  const auto tell = [&](const std::string& text) {
    if (context.json) {
      context.out.line(satellite_line(text));
      context.out.flush();
    } else {
      context.say(text);
    }
  };
  MYNAH_TRY(auto canceller, echo::EchoCanceller::create(kHeardHz, echo::make_speex_filter));
  DeskSound desk(*device, std::move(canceller), tell);
  server::Satellite satellite(std::move(options));
  std::optional<server::Announcement> announcement;
  const bool far = !server::is_this_machine(choice.host);
  const server::SatellitePort port{
      .host = choice.host,
      .port = static_cast<int>(choice.port),
      .tell = [&](const std::string& text) {
        tell(text);
        if (far && choice.port != 0 && !announcement) {
          announcement = server::Announcement::of_wyoming(static_cast<int>(choice.port));
        }
      }};
  const Status served = run_satellite(satellite, desk, port, context.stop);
  if (context.stop.stop_requested()) {
    return context.stopped_exit_code();
  }
  MYNAH_TRY_STATUS(served);
  return 0;
}

}  // namespace mynah::cli

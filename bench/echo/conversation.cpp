#include "conversation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "work.h"

namespace mynah::bench {

namespace {

using Json = nlohmann::json;

constexpr double kRate_hz = 16000;

// A fade of 20 ms.
constexpr float kFade = 1.0F / 320;

double root_mean_square(std::span<const float> samples) {
  double sum = 0;
  for (const float sample : samples) {
    sum += static_cast<double>(sample) * sample;
  }
  return std::sqrt(sum / static_cast<double>(std::max<size_t>(1, samples.size())));
}

double amplitude(double db) {
  return std::pow(10.0, db / 20);
}

// A recording that is played often is read once.
Result<std::vector<float>> sound_of(const std::string& file) {
  static std::map<std::string, std::vector<float>> known;
  const auto found = known.find(file);
  if (found != known.end()) {
    return found->second;
  }
  MYNAH_TRY(const std::vector<float> samples, read_sound(file));
  known.emplace(file, samples);
  return samples;
}

Place place_of(const Json& line) {
  return {line.at(0).get<double>(), line.at(1).get<double>(), line.at(2).get<double>()};
}

// A loudspeaker that bends loud sound: odd by tanh, and a little of its square.
float bent(float x, double drive) {
  if (drive <= 0) {
    return x;
  }
  const double y = std::tanh(drive * x) / drive;
  return static_cast<float>(y + 0.1 * drive * (y * y));
}

std::vector<float> through(std::span<const float> taps, std::span<const float> in) {
  Convolver room(taps);
  std::vector<float> out(in.begin(), in.end());
  out.resize((in.size() + taps.size() + echo::kFrame - 1) / echo::kFrame * echo::kFrame);
  for (size_t at = 0; at < out.size(); at += echo::kFrame) {
    const auto frame = std::span(out).subspan(at, echo::kFrame);
    room.process(frame, frame);
  }
  return out;
}

void mix(std::vector<float>& into, std::span<const float> samples, int64_t at, double gain) {
  for (size_t i = 0; i < samples.size() && static_cast<size_t>(at) + i < into.size(); ++i) {
    into[static_cast<size_t>(at) + i] += static_cast<float>(gain * samples[i]);
  }
}

}  // namespace

Conversation::Conversation(std::span<const float> echo_taps, int64_t samples)
    : far_(static_cast<size_t>(samples)),
      other_(static_cast<size_t>(samples)),
      loudspeaker_(static_cast<int>(kRate_hz), 1, 1),
      echo_room_(echo_taps) {}

Result<Conversation> Conversation::make(const Json& line) {
  const Json& room_line = line.at("room");
  const Room room{.size = place_of(room_line.at("size")), .rt60_s = room_line.at("rt60")};
  const Place microphone = place_of(room_line.at("microphone"));
  const Place loudspeaker = place_of(room_line.at("loudspeaker"));
  const std::vector<float> echo_taps = impulse_response(room, loudspeaker, microphone);
  const std::vector<float> near_taps =
      impulse_response(room, place_of(room_line.at("speaker")), microphone);
  const auto samples = static_cast<int64_t>(line.at("seconds").get<double>() * 100) *
                       static_cast<int64_t>(echo::kFrame);
  Conversation made(echo_taps, samples);
  double away = 0;
  for (size_t side = 0; side < 3; ++side) {
    away += std::pow(loudspeaker[side] - microphone[side], 2);
  }
  made.direct_ = std::sqrt(away) / 343 * kRate_hz;
  made.delay_ = line.at("delay_ms").get<double>() * kRate_hz / 1000;
  made.drift_ppm_ = line.at("drift_ppm");
  made.drive_ = line.at("drive");

  // Everybody is as loud as every other, at the microphone.
  const double near_db = line.at("near_db");
  for (const Json& one : line.at("near")) {
    MYNAH_TRY(const std::vector<float> dry, sound_of(one.at("file")));
    const std::vector<float> wet = through(near_taps, dry);
    const auto begin = static_cast<int64_t>(one.at("at").get<double>() * kRate_hz);
    const double loud = root_mean_square(std::span(wet).first(dry.size()));
    mix(made.other_, wet, begin, amplitude(near_db) / std::max(loud, 1e-9));
    made.near_said_.push_back(
        {begin, begin + static_cast<int64_t>(dry.size()), one.at("text").get<std::string>()});
  }
  double played_power = 0;
  double heard_power = 0;
  double spoken = 0;
  for (const Json& one : line.at("far")) {
    MYNAH_TRY(const std::vector<float> dry, sound_of(one.at("file")));
    const auto begin = static_cast<int64_t>(one.at("at").get<double>() * kRate_hz);
    mix(made.far_, dry, begin, 1);
    made.far_said_.push_back(
        {begin, begin + static_cast<int64_t>(dry.size()), one.at("text").get<std::string>()});
    played_power += std::pow(root_mean_square(dry), 2) * static_cast<double>(dry.size());
    heard_power += std::pow(root_mean_square(through(echo_taps, dry)), 2) *
                   static_cast<double>(dry.size() + echo_taps.size());
    spoken += static_cast<double>(dry.size());
  }
  // The loudspeaker bends what is above its usual level: 1 is four times that.
  made.far_gain_ = 1 / (4 * std::max(std::sqrt(played_power / std::max(spoken, 1.0)), 1e-9));
  const double through_room = made.far_gain_ * std::sqrt(heard_power / std::max(spoken, 1.0));
  made.echo_gain_ =
      amplitude(near_db + line.at("echo_db").get<double>()) / std::max(through_room, 1e-9);
  if (!line.at("noise").is_null()) {
    MYNAH_TRY(const std::vector<float> noise, sound_of(line.at("noise")));
    const double gain = amplitude(near_db + line.at("noise_db").get<double>()) /
                        std::max(root_mean_square(noise), 1e-9);
    for (int64_t at = 0; at < samples; at += static_cast<int64_t>(noise.size())) {
      mix(made.other_, noise, at, gain);
    }
  }
  return made;
}

bool Conversation::next(bool stopped, RoomFrame& frame) {
  const auto begin = static_cast<size_t>(at_);
  if (begin + echo::kFrame > far_.size()) {
    return false;
  }
  frame.played.resize(echo::kFrame);
  std::vector<float> bent_sound(echo::kFrame);
  for (size_t i = 0; i < echo::kFrame; ++i) {
    open_ = std::clamp(open_ + (stopped ? -kFade : kFade), 0.0F, 1.0F);
    frame.played[i] = open_ * far_[begin + i];
    bent_sound[i] = bent(static_cast<float>(far_gain_ * frame.played[i]), drive_);
  }
  loudspeaker_.push(bent_sound);
  frame.echo.resize(echo::kFrame);
  for (size_t i = 0; i < echo::kFrame; ++i) {
    const auto at = static_cast<double>(begin + i);
    frame.echo[i] = loudspeaker_.at(at - delay_ - drift_ppm_ * 1e-6 * at);
  }
  echo_room_.process(frame.echo, frame.echo);
  frame.other.assign(other_.begin() + at_, other_.begin() + at_ + echo::kFrame);
  frame.captured.resize(echo::kFrame);
  for (size_t i = 0; i < echo::kFrame; ++i) {
    frame.echo[i] *= static_cast<float>(echo_gain_);
    frame.captured[i] = frame.echo[i] + frame.other[i];
  }
  at_ += static_cast<int64_t>(echo::kFrame);
  return true;
}

}  // namespace mynah::bench

#include "judge.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "audio/byte_sink.h"
#include "audio/echo/power.h"
#include "audio/plain_writer.h"

namespace mynah::bench {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kRate_hz = 16000;

// What is heard of somebody begins so long before and ends so long after, as with a pre-roll.
constexpr int64_t kAround = 8000;

// Somebody may be heard this long after they ended: in the room's tail.
constexpr int64_t kTail = 9600;

double decibels(double ratio) {
  return 10 * std::log10(std::max(ratio, 1e-12));
}

Status write_wav(const std::string& path, std::span<const float> samples) {
  MYNAH_TRY(AtomicFile file, AtomicFile::create(path));
  FileSink sink(std::move(file));
  const auto writer = make_wav_writer(sink, static_cast<int>(kRate_hz));
  MYNAH_TRY_STATUS(writer->write(samples));
  MYNAH_TRY_STATUS(writer->finish());
  return sink.commit();
}

// Whoever spoke at that time, or had just ended.
const Said* at_time(const std::vector<Said>& all, int64_t sample, int64_t tail) {
  for (const Said& one : all) {
    if (one.begin <= sample && sample < one.end + tail) {
      return &one;
    }
  }
  return nullptr;
}

// What is counted of a conversation.
struct Score {
  Json decisions = Json::array();  // seconds
  std::vector<double> stopped_s;   // of each of near(), when it was noticed; -1: never
  double echo_power = 0;
  double left_power = 0;
  double quiet_power = 0;
  double taken_s = 0;  // of the processor, by the canceller
};

}  // namespace

Result<Json> judge(const nlohmann::json& line, const VoiceDetector& voice,
                   const JudgeOptions& options) {
  MYNAH_TRY(Conversation conversation, Conversation::make(line));
  MYNAH_TRY(echo::EchoCanceller canceller,
            echo::EchoCanceller::create(static_cast<int>(kRate_hz), options.make_filter));
  const auto session = voice.session();
  NearVoice near_voice(options.near_voice);
  Score score;
  score.stopped_s.assign(conversation.near().size(), -1);
  std::ofstream trace;
  if (!options.trace.empty()) {
    trace.open(options.trace, std::ios::app);
  }
  RoomFrame room;
  std::vector<float> cleaned;
  const auto detector_frame = static_cast<size_t>(voice.frame_s() * kRate_hz);
  std::vector<float> waiting;
  bool stopped = false;
  bool speaking = false;
  int64_t at = 0;  // samples that the canceller gave back
  while (conversation.next(stopped, room)) {
    if (!options.echo) {
      std::ranges::fill(room.played, 0.0F);
      room.captured = room.other;
    }
    const std::clock_t before = std::clock();
    const std::vector<echo::CleanFrame> frames = canceller.process(room.captured, room.played);
    score.taken_s += static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    for (const echo::CleanFrame& frame : frames) {
      at += static_cast<int64_t>(echo::kFrame);
      cleaned.insert(cleaned.end(), frame.cleaned.begin(), frame.cleaned.end());
      waiting.insert(waiting.end(), frame.quieted.begin(), frame.quieted.end());
      // Alone, and after the filter had ten seconds.
      if (at > 10 * static_cast<int64_t>(kRate_hz) && !at_time(conversation.near(), at, kTail) &&
          at_time(conversation.far(), at, 0)) {
        score.echo_power += echo::power(room.captured);
        score.left_power += echo::power(frame.cleaned);
        score.quiet_power += echo::power(frame.quieted);
      }
      const Said* playing = at_time(conversation.far(), at, 0);
      if (playing == nullptr) {
        stopped = false;
      }
    }
    if (waiting.size() < detector_frame) {
      continue;
    }
    const auto frame = std::span<const float>(waiting).first(detector_frame);
    MYNAH_TRY(const std::vector<float> probabilities, session->push(frame));
    const echo::EchoFacts& facts = canceller.facts();
    const NearVoice::Frame seen{.ms = 1000 * voice.frame_s(),
                                .probability = probabilities.empty() ? 0 : probabilities[0],
                                .level_db = decibels(echo::power(frame)),
                                .far_active = facts.far_active,
                                .settled = facts.settled,
                                .inaudible = facts.inaudible,
                                .excess_db = facts.excess_db};
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<ptrdiff_t>(detector_frame));
    const Said* person = at_time(conversation.near(), at, kTail);
    const Said* reply = at_time(conversation.far(), at, 0);
    if (trace.is_open()) {
      trace << fmt::format(
          "{}\t{:.3f}\t{:.3f}\t{:.1f}\t{}\t{}\t{:.1f}\t{}\t{}\n",
          line.at("name").get<std::string>(), static_cast<double>(at) / kRate_hz, seen.probability,
          seen.level_db, seen.far_active ? 1 : 0, seen.settled ? 1 : 0, seen.excess_db,
          person == nullptr ? -1 : person - conversation.near().data(), reply == nullptr ? 0 : 1);
    }
    const bool before_it = std::exchange(speaking, near_voice.push(seen));
    if (!speaking) {
      continue;
    }
    const double now_s = static_cast<double>(at) / kRate_hz;
    if (person != nullptr) {
      double& noticed = score.stopped_s[static_cast<size_t>(person - conversation.near().data())];
      noticed = noticed < 0 ? now_s : noticed;
    }
    if (!before_it) {
      score.decisions.push_back(
          {{"at", now_s}, {"person", person != nullptr}, {"far", seen.far_active}});
    }
    stopped = options.stops && reply != nullptr;
  }
  Json report{{"name", line.at("name")},
              {"echo_db", line.at("echo_db")},
              {"rt60", line.at("room").at("rt60")},
              {"seconds", static_cast<double>(at) / kRate_hz},
              {"taken_s", score.taken_s}};
  const echo::EchoFacts& facts = canceller.facts();
  report["delay_ms"] = facts.delay_ms ? Json(*facts.delay_ms) : Json();
  report["true_delay_ms"] =
      1000 * (conversation.delay() + conversation.drift_ppm() * 1e-6 * static_cast<double>(at)) /
      kRate_hz;
  report["drift_ppm"] = facts.drift_ppm;
  report["true_drift_ppm"] = conversation.drift_ppm();
  report["erle_db"] = decibels(score.echo_power / std::max(score.left_power, 1e-12));
  report["quieted_db"] = decibels(score.echo_power / std::max(score.quiet_power, 1e-12));
  report["decisions"] = score.decisions;
  report["near"] = Json::array();
  for (size_t i = 0; i < conversation.near().size(); ++i) {
    const Said& one = conversation.near()[i];
    Json said{{"begin", static_cast<double>(one.begin) / kRate_hz},
              {"end", static_cast<double>(one.end) / kRate_hz},
              {"noticed", score.stopped_s[i]},
              {"over", at_time(conversation.far(), one.begin, 0) != nullptr},
              {"text", one.text}};
    if (!options.folder.empty()) {
      const auto all = std::span<const float>(cleaned);
      const auto begin = static_cast<size_t>(std::max<int64_t>(0, one.begin - kAround));
      const auto end = std::min(all.size(), static_cast<size_t>(one.end + kAround));
      said["file"] =
          fmt::format("{}/{}-{}.wav", options.folder, line.at("name").get<std::string>(), i);
      MYNAH_TRY_STATUS(write_wav(said["file"].get<std::string>(), all.subspan(begin, end - begin)));
    }
    report["near"].push_back(std::move(said));
  }
  return report;
}

}  // namespace mynah::bench

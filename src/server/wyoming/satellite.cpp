#include "server/wyoming/satellite.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/version.h"
#include "speech/hearing.h"

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kSampleBytes = 2;
// Of a message of sound, as wyoming-satellite cuts it.
constexpr size_t kChunkBytes = 1024 * kSampleBytes;

Json satellite_artifact(const std::string& name) {
  return {{"name", name},
          {"attribution", {{"name", "mynah"}, {"url", ""}}},
          {"installed", true},
          {"description", name},
          {"version", std::string(engine::program_version().version)}};
}

void append_s16le(std::span<const float> samples, std::string& bytes) {
  constexpr float kFullScale = 32768.0F;
  for (const float sample : samples) {
    const float scaled = std::isnan(sample) ? 0.0F : std::round(sample * kFullScale);
    const auto value = static_cast<uint16_t>(
        static_cast<int16_t>(std::clamp(scaled, -kFullScale, kFullScale - 1)));
    bytes += static_cast<char>(value & 0xFFU);
    bytes += static_cast<char>(value >> 8U);
  }
}

}  // namespace

Satellite::Satellite(SatelliteOptions options)
    : options_(std::move(options)), spotter_(options_.words, {}, options_.check != nullptr) {}

WyomingMessage Satellite::info() const {
  Json satellite = satellite_artifact(options_.name);
  satellite["area"] = options_.area.empty() ? Json() : Json(options_.area);
  satellite["has_vad"] = false;
  Json active = Json::array();
  Json models = Json::array();
  for (const auto& word : options_.words) {
    const WakeWordFacts& facts = word->facts();
    active.push_back(facts.name);
    Json model = satellite_artifact(facts.name);
    model["description"] = facts.phrase;
    model["languages"] = facts.languages;
    model["phrase"] = facts.phrase;
    models.push_back(std::move(model));
  }
  satellite["active_wake_words"] = active;
  satellite["max_active_wake_words"] = options_.words.size();
  satellite["supports_trigger"] = false;
  Json wake = Json::array();
  if (!options_.words.empty()) {
    wake.push_back(satellite_artifact("mynah"));
    wake.back()["models"] = std::move(models);
  }
  WyomingMessage message;
  message.type = "info";
  message.data = {{"asr", Json::array()},    {"tts", Json::array()},
                  {"handle", Json::array()}, {"intent", Json::array()},
                  {"wake", std::move(wake)}, {"mic", Json::array()},
                  {"snd", Json::array()},    {"satellite", std::move(satellite)}};
  return message;
}

void Satellite::begin_stream(const std::string& word, SatelliteStep& step) {
  const bool here = !options_.words.empty();
  Json pipeline = {
      {"start_stage", here ? "asr" : "wake"}, {"end_stage", "tts"}, {"restart_on_end", !here}};
  if (here) {
    step.messages.push_back(
        encode("detection", {{"name", word}, {"timestamp", nullptr}, {"speaker", nullptr}}));
    pipeline["wake_word_name"] = word;
  }
  step.messages.push_back(encode("run-pipeline", std::move(pipeline)));
  step.messages.push_back(encode("streaming-started", Json::object()));
  state_ = State::Streaming;
  chunk_.clear();
  streamed_ = 0;
}

// What is left of a message is of no use: a pipeline that hears has heard enough.
void Satellite::end_stream(SatelliteStep& step) {
  step.messages.push_back(encode("streaming-stopped", Json::object()));
  spotter_.reset();
}

void Satellite::stop_playing(SatelliteStep& step) {
  reply_.reset();
  step.stop_sound = std::exchange(playing_, false);
}

void Satellite::stream(std::span<const float> samples, SatelliteStep& step) {
  append_s16le(samples, chunk_);
  while (chunk_.size() >= kChunkBytes) {
    step.messages.push_back(encode("audio-chunk",
                                   {{"rate", kHearingRate_hz},
                                    {"width", kSampleBytes},
                                    {"channels", 1},
                                    {"timestamp", streamed_ * 1000 / kHearingRate_hz}},
                                   chunk_.substr(0, kChunkBytes)));
    chunk_.erase(0, kChunkBytes);
    streamed_ += static_cast<int64_t>(kChunkBytes / kSampleBytes);
  }
}

SatelliteStep Satellite::hear(std::span<const float> samples) {
  SatelliteStep step;
  if (state_ == State::Waiting) {
    const auto found = spot(spotter_, options_.check.get(), samples, {});
    if (!found) {
      step.fault = found.error().message;
    } else if (!found->empty()) {
      // Who says the word wants to be heard, and no more of the last reply.
      stop_playing(step);
      begin_stream(found->front().name, step);
    }
  } else if (state_ == State::Streaming) {
    stream(samples, step);
  }
  return step;
}

Status Satellite::play(const WyomingMessage& message, SatelliteStep& step) {
  if (message.type == "audio-start" || !reply_) {
    MYNAH_TRY(const SampleFormat format, sample_format_of(message));
    MYNAH_TRY(reply_, MonoReader::create(format, options_.play_rate_hz));
    playing_ = true;
  }
  if (message.type == "audio-chunk") {
    MYNAH_TRY(step.sound, reply_->read(message.payload));
  }
  return {};
}

Result<SatelliteStep> Satellite::take(const WyomingMessage& message) {
  SatelliteStep step;
  const std::string& type = message.type;
  if (type == "describe") {
    step.messages.push_back(encode(info()));
  } else if (type == "ping") {
    step.messages.push_back(encode("pong", {{"text", message.text("text")}}));
  } else if (type == "run-satellite") {
    if (state_ == State::Paused) {
      spotter_.reset();
      state_ = State::Waiting;
      if (options_.words.empty()) {
        begin_stream("", step);
      }
    }
  } else if (type == "pause-satellite") {
    if (std::exchange(state_, State::Paused) == State::Streaming) {
      end_stream(step);
    }
  } else if (type == "transcript" || type == "error") {
    // A server that listens for the word itself is sent sound all the time.
    if (state_ == State::Streaming && !options_.words.empty()) {
      state_ = State::Waiting;
      end_stream(step);
    }
  } else if (type == "audio-start" || type == "audio-chunk") {
    MYNAH_TRY_STATUS(play(message, step));
  } else if (type == "audio-stop" && reply_) {
    MYNAH_TRY(step.sound, reply_->finish());
    reply_.reset();
    step.sound_ends = true;
  }
  return step;
}

SatelliteStep Satellite::played() {
  SatelliteStep step;
  playing_ = false;
  if (state_ != State::Paused) {
    step.messages.push_back(encode("played", Json::object()));
  }
  return step;
}

SatelliteStep Satellite::leave() {
  SatelliteStep step;
  state_ = State::Paused;
  chunk_.clear();
  stop_playing(step);
  return step;
}

}  // namespace mynah::server

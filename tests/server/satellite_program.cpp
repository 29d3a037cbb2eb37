// A satellite whose microphone is a file and whose loudspeaker is one: satellite.py speaks to it as
// Home Assistant does.
//
//   satellite_program WORD.tflite HEARD.wav PLAYED.raw     16 kHz; prints where it listens
//
// The recording is heard in real time, then silence until standard input ends; what is played is
// written when it was, at 16 kHz in s16le.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include "audio/open.h"
#include "server/wyoming/satellite_port.h"

namespace mynah::server {
namespace {

class FileSound final : public SatelliteSound {
 public:
  FileSound(std::vector<float> samples, const std::string& played)
      : samples_(std::move(samples)), played_(played, std::ios::binary) {}

  Result<std::vector<float>> hear(const std::stop_token& /*stop*/) override {
    next_ += std::chrono::milliseconds(10);
    std::this_thread::sleep_until(next_);
    if (pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
        poll(&input, 1, 0) > 0 && (input.revents & (POLLIN | POLLHUP)) != 0) {
      return std::vector<float>();  // the test is over
    }
    constexpr size_t kStep = 160;
    std::vector<float> heard(kStep, 0.0F);
    for (size_t i = 0; i < kStep && at_ < samples_.size(); ++i, ++at_) {
      heard[i] = samples_[at_];
    }
    for (size_t i = 0; i < kStep && !waiting_.empty(); ++i) {
      const auto value = static_cast<int16_t>(waiting_.front() * 32767.0F);
      waiting_.erase(waiting_.begin());
      played_.write(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    played_.flush();
    return heard;
  }

  void play(std::span<const float> samples) override {
    waiting_.insert(waiting_.end(), samples.begin(), samples.end());
  }

  void stop_playing() override { waiting_.clear(); }

  [[nodiscard]] bool is_playing() const override { return !waiting_.empty(); }

 private:
  std::vector<float> samples_;
  std::ofstream played_;
  std::vector<float> waiting_;
  size_t at_ = 0;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now();
};

Status run(const std::string& word, const std::string& recording, const std::string& played) {
  SatelliteOptions options{.name = "kitchen"};
  MYNAH_TRY(auto loaded, WakeWord::load(word));
  options.words.push_back(std::move(loaded));
  MYNAH_TRY(const auto source, open_audio(recording, {}));
  std::vector<float> samples;
  std::vector<float> piece(16000);
  for (size_t count = 1; count > 0;) {
    MYNAH_TRY(count, source->read(piece));
    samples.insert(samples.end(), piece.begin(), piece.begin() + static_cast<ptrdiff_t>(count));
  }
  FileSound sound(std::move(samples), played);
  Satellite satellite(std::move(options));
  const auto tell = [](const std::string& text) {
    std::puts(text.c_str());
    std::fflush(stdout);
  };
  return run_satellite(satellite, sound, {.port = 0, .tell = tell}, {});
}

}  // namespace
}  // namespace mynah::server

int main(int count, char** arguments) {
  if (count != 4) {
    return 2;
  }
  const mynah::Status status = mynah::server::run(arguments[1], arguments[2], arguments[3]);
  if (!status) {
    std::fprintf(stderr, "%s\n", status.error().message.c_str());
  }
  return status ? 0 : 1;
}

// MonoSource: turns frames as recorded into the mono samples, rate and stretch that were asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audio/channel_phase.h"
#include "audio/frame_reader.h"
#include "audio/open.h"
#include "audio/resampler.h"
#include "audio/source.h"

namespace mynah {

// Holds a block of frames and what the resampler made of it: the same however long the recording.
// A stretch (start, duration) is cut out at the wanted rate and equals that part of the whole.
class MonoSource final : public AudioSource {
 public:
  // `name` is for messages. Errors: a channel that is not there, a rate out of range, a start past
  // the end.
  static Result<std::unique_ptr<MonoSource>> create(std::unique_ptr<FrameReader> reader,
                                                    std::string name,
                                                    const AudioOpenOptions& options);

  Result<size_t> read(std::span<float> out) override;

  [[nodiscard]] int rate_hz() const override { return rate_hz_; }

  [[nodiscard]] std::optional<double> duration_s() const override;

  [[nodiscard]] AudioTracks tracks() const override { return reader_->tracks(); }

 private:
  MonoSource(std::unique_ptr<FrameReader> reader, std::string name,
             const AudioOpenOptions& options);

  Status begin_recording();
  Status skip_to(int64_t first);
  void refill();
  void finish();
  void mix(size_t frames);
  void drop_before_start();
  Status check_not_empty() const;

  std::unique_ptr<FrameReader> reader_;
  std::string name_;
  int rate_hz_;
  std::optional<int> channel_;
  double start_s_;
  std::function<void(const std::string&)> note_;
  std::optional<Resampler> resampler_;  // none where the rates are equal
  std::optional<ChannelPhase> phase_;   // none where one channel is heard alone

  std::vector<float> frames_;  // one block, interleaved
  std::vector<float> mono_;    // the same block, one channel
  std::vector<float> ready_;   // at the wanted rate, not yet read
  size_t ready_at_ = 0;
  int64_t drop_ = 0;             // samples still to forget before the start
  std::optional<int64_t> left_;  // samples still to give, where a duration was asked for
  bool any_frames_ = false;
  bool any_samples_ = false;
  bool ended_ = false;
  std::optional<Error> error_;  // told once what was read before it has been given
};

}  // namespace mynah

#include "cli/hear/voice_hearing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <utility>

#include "audio/prompt_reads.h"
#include "cli/files/spoken_track.h"

namespace mynah::cli {

namespace {

// Recordings no longer than this are heard together, up to as much as that in memory (58 MB, and as
// much again for what the detector hears of them).
constexpr double kShort_s = 300;
constexpr double kTogether_s = 900;

// Of a recording that is heard as it comes, so much is listened to at once where it is there.
constexpr double kPiece_s = 30;

Error stopped() {
  return {ErrorCode::Cancelled, "stopped"};
}

// Peaks of each frame, of samples that come in pieces.
class PeakMeter {
 public:
  PeakMeter(size_t frame, std::vector<FramePeaks>& peaks) : frame_(frame), peaks_(peaks) {}

  void push(std::span<const float> samples) {
    for (const float sample : samples) {
      if (in_frame_ == 0) {
        peaks_.push_back({sample, sample});
      }
      FramePeaks& last = peaks_.back();
      last.low = std::min(last.low, sample);
      last.high = std::max(last.high, sample);
      in_frame_ = (in_frame_ + 1) % frame_;
    }
  }

 private:
  size_t frame_;
  std::vector<FramePeaks>& peaks_;
  size_t in_frame_ = 0;
};

}  // namespace

VoiceReport VoiceHearing::empty_report(const std::string& file) const {
  return {.file = file,
          .model = detector_.name(),
          .rate_hz = detector_.rate_hz(),
          .frame_s = detector_.frame_s(),
          .start_s = options_.audio.start_s,
          .duration_s = 0,
          .spans = {},
          .probabilities = {},
          .peaks = {}};
}

void VoiceHearing::keep_span(VoiceReport& report, const SpeechSpan& span) const {
  report.spans.push_back({report.start_s + span.start_s, report.start_s + span.end_s});
}

Result<VoiceReport> VoiceHearing::hear_as_it_comes(
    const std::string& file, AudioSource& source,
    const std::function<void(const SpeechSpan&)>& on_span) const {
  VoiceReport report = empty_report(file);
  const std::unique_ptr<VoiceDetector::Session> session = detector_.session();
  SpeechSegmenter segmenter(options_.vad, detector_.frame_s());
  PeakMeter meter(static_cast<size_t>(std::lround(report.frame_s * report.rate_hz)), report.peaks);
  const auto keep = [&](const std::vector<SpeechSpan>& spans) {
    for (const SpeechSpan& span : spans) {
      keep_span(report, span);
      if (on_span) {
        on_span(report.spans.back());
      }
    }
  };
  const auto hear = [&](const std::vector<float>& probabilities) {
    if (options_.probabilities) {
      report.probabilities.insert(report.probabilities.end(), probabilities.begin(),
                                  probabilities.end());
    }
    keep(segmenter.push(probabilities));
  };
  std::vector<float> piece(static_cast<size_t>(std::lround(kPiece_s * report.rate_hz)));
  size_t heard = 0;
  Result<size_t> last = 1;
  while (last && *last > 0) {
    if (stop_.stop_requested()) {
      return std::unexpected(stopped());
    }
    size_t count = 0;
    for (PromptReads reads; reads.more() && count < piece.size(); count += last.value_or(0)) {
      last = reads.read(source, std::span(piece).subspan(count));
    }
    const auto samples = std::span<const float>(piece).first(count);
    heard += count;
    if (options_.peaks) {
      meter.push(samples);
    }
    if (!samples.empty()) {
      MYNAH_TRY(const std::vector<float> probabilities, session->push(samples));
      hear(probabilities);
    }
  }
  if (!last) {
    return std::unexpected(std::move(last).error());
  }
  MYNAH_TRY(const std::vector<float> rest, session->flush());
  hear(rest);
  report.duration_s = static_cast<double>(heard) / report.rate_hz;
  keep(segmenter.flush(report.duration_s));
  return report;
}

Result<std::vector<float>> VoiceHearing::read_whole(AudioSource& source) const {
  std::vector<float> samples;
  std::array<float, 16384> piece;
  while (true) {
    if (stop_.stop_requested()) {
      return std::unexpected(stopped());
    }
    MYNAH_TRY(const size_t count, source.read(piece));
    if (count == 0) {
      return samples;
    }
    samples.insert(samples.end(), piece.begin(), piece.begin() + static_cast<ptrdiff_t>(count));
  }
}

void VoiceHearing::hear_together(std::vector<Loaded>& loaded, const Listener& listener) const {
  std::vector<std::span<const float>> recordings;
  std::vector<std::string> files;
  for (const Loaded& one : loaded) {
    if (one.samples) {
      recordings.emplace_back(*one.samples);
      files.push_back(one.file);
    }
  }
  if (listener.on_begin) {
    listener.on_begin(files);
  }
  const Result<std::vector<std::vector<float>>> found = detector_.probabilities(recordings);
  size_t next = 0;
  for (Loaded& one : loaded) {
    if (!one.samples) {
      listener.on_report(one.file, std::unexpected(std::move(one.samples).error()));
      continue;
    }
    if (!found) {
      listener.on_report(one.file, std::unexpected(found.error()));
      continue;
    }
    const std::vector<float>& probabilities = (*found)[next++];
    VoiceReport report = empty_report(one.file);
    report.duration_s = static_cast<double>(one.samples->size()) / report.rate_hz;
    SpeechSegmenter segmenter(options_.vad, report.frame_s);
    std::vector<SpeechSpan> spans = segmenter.push(probabilities);
    std::ranges::move(segmenter.flush(report.duration_s), std::back_inserter(spans));
    for (const SpeechSpan& span : spans) {
      keep_span(report, span);
    }
    if (options_.probabilities) {
      report.probabilities = probabilities;
    }
    if (options_.peaks) {
      const auto frame = static_cast<size_t>(std::lround(report.frame_s * report.rate_hz));
      PeakMeter(frame, report.peaks).push(*one.samples);
    }
    listener.on_report(one.file, std::move(report));
  }
  loaded.clear();
}

void VoiceHearing::hear(std::span<const std::string> files, const Listener& listener) const {
  AudioOpenOptions audio = options_.audio;
  audio.rate_hz = detector_.rate_hz();
  audio.stop = stop_;
  std::vector<Loaded> loaded;
  double loaded_s = 0;
  for (const std::string& file : files) {
    if (stop_.stop_requested()) {
      break;
    }
    if (listener.on_note) {
      audio.note = [&listener, file](const std::string& text) { listener.on_note(file, text); };
    }
    auto source = open_spoken_track(file, audio, &detector_);
    if (!source) {
      loaded.push_back({file, std::unexpected(std::move(source).error())});
      continue;
    }
    const double duration_s = (*source)->duration_s().value_or(kShort_s + 1);
    const bool is_short = files.size() > 1 && duration_s <= kShort_s;
    if (!is_short || loaded_s + duration_s > kTogether_s) {
      hear_together(loaded, listener);
      loaded_s = 0;
    }
    if (is_short) {
      loaded.push_back({file, read_whole(**source)});
      loaded_s += duration_s;
    } else {
      if (listener.on_begin) {
        listener.on_begin({file});
      }
      const auto on_span = files.size() == 1 ? listener.on_span : nullptr;
      listener.on_report(file, hear_as_it_comes(file, **source, on_span));
    }
  }
  if (!stop_.stop_requested()) {
    hear_together(loaded, listener);
  }
}

}  // namespace mynah::cli

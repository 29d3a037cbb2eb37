#include "cli/hear/speaker_channels.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/files/job_range.h"

namespace mynah::cli {

namespace {

constexpr size_t kChannels = 2;

// Adds what is known of another channel of the same recording.
void add(Transcript& whole, const Transcript& part) {
  if (part.segments.size() > whole.segments.size()) {
    whole.language = part.language;
    whole.language_probability = part.language_probability;
  }
  whole.duration_s = std::max(whole.duration_s, part.duration_s);
  for (const StageTiming& timing : part.timings) {
    const auto same = std::ranges::find(whole.timings, timing.stage, &StageTiming::stage);
    if (same == whole.timings.end()) {
      whole.timings.push_back(timing);
    } else {
      same->milliseconds += timing.milliseconds;
    }
  }
  for (const std::string& note : part.notes) {
    if (std::ranges::find(whole.notes, note) == whole.notes.end()) {
      whole.notes.push_back(note);
    }
  }
  whole.explanations.insert(whole.explanations.end(), part.explanations.begin(),
                            part.explanations.end());
}

// Two jobs of a recogniser as one of the observer's.
class ChannelObserver final : public RecognizerObserver {
 public:
  ChannelObserver(const StereoSpeakers& speakers, RecognizerObserver& observer, size_t job)
      : speakers_(speakers), observer_(observer), job_(job) {}

  void on_segment(size_t channel, const Segment& segment) override {
    Channel& its = channels_[channel];
    its.reported = true;
    its.heard_s = std::max(its.heard_s, segment.start_s);
    if (!speakers_.is_other(static_cast<int>(channel), segment.start_s, segment.end_s)) {
      its.waiting.push_back(segment);
      its.waiting.back().speaker = std::to_string(channel);
    }
    pass_on();
  }

  void on_progress(size_t channel, double done_s, std::optional<double> duration_s) override {
    channels_[channel].done_s = done_s;
    observer_.on_progress(job_, std::min(channels_[0].done_s, channels_[1].done_s), duration_s);
  }

  void on_done(size_t channel, const Result<Transcript>& result) override {
    Channel& its = channels_[channel];
    if (result && !its.reported) {
      for (const Segment& segment : result->segments) {
        on_segment(channel, segment);
      }
    }
    its.heard_s = std::numeric_limits<double>::infinity();
    pass_on();
    if (!whole_ || (*whole_ && !result)) {
      whole_ = result;
    } else if (*whole_ && result) {
      add(**whole_, *result);
    }
    if (++done_ == kChannels) {
      if (*whole_) {
        (*whole_)->segments = std::move(passed_);
      }
      observer_.on_done(job_, *whole_);
    }
  }

 private:
  struct Channel {
    std::vector<Segment> waiting;  // in order of time
    double heard_s = -1;           // nothing that begins before comes any more
    double done_s = 0;
    bool reported = false;
  };

  // Hands on, in order of time, what neither channel can have anything before.
  void pass_on() {
    const double until_s = std::min(channels_[0].heard_s, channels_[1].heard_s);
    std::vector<Segment> due;
    const auto end_of = [until_s](Channel& channel) {
      return std::ranges::find_if(
          channel.waiting, [until_s](const Segment& segment) { return segment.start_s > until_s; });
    };
    auto& [first, second] = channels_;
    std::ranges::merge(std::ranges::subrange(first.waiting.begin(), end_of(first)),
                       std::ranges::subrange(second.waiting.begin(), end_of(second)),
                       std::back_inserter(due), {}, &Segment::start_s, &Segment::start_s);
    for (Channel& channel : channels_) {
      channel.waiting.erase(channel.waiting.begin(), end_of(channel));
    }
    for (const Segment& segment : due) {
      observer_.on_segment(job_, segment);
      passed_.push_back(segment);
    }
  }

  const StereoSpeakers& speakers_;
  RecognizerObserver& observer_;
  size_t job_;
  Channel channels_[kChannels];
  std::vector<Segment> passed_;
  std::optional<Result<Transcript>> whole_;
  size_t done_ = 0;
};

}  // namespace

void run_with_speakers(const Recognizer& recognizer, const RecognizerOptions& options,
                       const RecognizerJob& mixed, const ChannelOpener& open_channel,
                       TranscriptSink& sink, size_t job) {
  Result<StereoSpeakers> speakers = StereoSpeakers::measure(open_channel);
  if (!speakers || !speakers->apart()) {
    sink.set_speakers(job, std::move(speakers));
    JobRange observer(sink, job);
    recognizer.run(std::span(&mixed, 1), options, observer, sink.stop());
    return;
  }
  std::vector<RecognizerJob> jobs;
  jobs.reserve(kChannels);
  for (int channel = 0; channel < static_cast<int>(kChannels); ++channel) {
    jobs.push_back(
        {.name = mixed.name, .open = [&open_channel, channel] { return open_channel(channel); }});
  }
  ChannelObserver observer(*speakers, sink, job);
  recognizer.run(jobs, options, observer, sink.stop());
}

}  // namespace mynah::cli

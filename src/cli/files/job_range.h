// JobRange: one run of a recogniser over some of the jobs that an observer hears of.
#pragma once

#include <cstddef>
#include <optional>

#include "speech/recognizer.h"

namespace mynah::cli {

// Job 0 of the run is job `first` of the observer.
class JobRange final : public RecognizerObserver {
 public:
  JobRange(RecognizerObserver& observer, size_t first) : observer_(observer), first_(first) {}

  void on_segment(size_t job, const Segment& segment) override {
    observer_.on_segment(first_ + job, segment);
  }

  void on_progress(size_t job, double done_s, std::optional<double> duration_s) override {
    observer_.on_progress(first_ + job, done_s, duration_s);
  }

  void on_finished(size_t job, const Transcript& transcript) override {
    observer_.on_finished(first_ + job, transcript);
  }

  void on_done(size_t job, const Result<Transcript>& result) override {
    observer_.on_done(first_ + job, result);
  }

 private:
  RecognizerObserver& observer_;
  size_t first_;
};

}  // namespace mynah::cli

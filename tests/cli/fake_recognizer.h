// A recogniser that hears what it is told: the command can be tested without weights.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/recognizer.h"
#include "speech/recognizer.h"

namespace mynah::cli {

// Reads every recording to its end and says "N seconds", a segment a second.
class FakeRecognizer : public Recognizer {
 public:
  // What a test looks at afterwards.
  mutable RecognizerOptions last_options;
  mutable engine::RecognizerWish last_engine;
  mutable std::vector<std::string> opened;
  mutable std::vector<size_t> runs;  // recordings of each batch
  // Asks for a stop after this many segments, as a user would.
  std::stop_source* stop_source = nullptr;
  int stop_after = -1;
  bool knows_languages = false;  // multilingual()
  bool silent = false;
  bool doubts = false;  // its text is doubtful throughout
  std::string name = "fake";
  // Set: the last recording is done first, and this is called before any is reported as done.
  std::function<void()> before_done;
  std::function<void()> on_push;  // called by a live session for each piece
  bool timestamps = false;        // segments have their timestamps as tokens

  class FakeSession : public Session {
   public:
    explicit FakeSession(const FakeRecognizer& fake) : fake_(fake), silent_(fake.silent) {}

    Result<LiveText> push(std::span<const float> samples,
                          const std::stop_token& /*stop*/) override {
      if (fake_.on_push) {
        fake_.on_push();
      }
      n_ += samples.size();
      LiveText text;
      text.partial = "...";
      while (!silent_ && n_ >= static_cast<size_t>(next_ + 1) * 16000) {
        text.committed.push_back(segment(next_++));
        if (fake_.stop_source != nullptr && next_ == fake_.stop_after) {
          fake_.stop_source->request_stop();
        }
      }
      return text;
    }

    Result<LiveText> idle(const SenderSilence& /*silence*/,
                          const std::stop_token& /*stop*/) override {
      return LiveText();
    }

    Result<LiveText> wait(const std::stop_token& /*stop*/) override { return LiveText(); }

    Result<LiveText> end_turn(const std::stop_token& /*stop*/) override { return LiveText(); }

    void on_answer(std::function<void()> /*told*/) override {}

    Result<LiveText> commit(const std::stop_token& /*stop*/) override { return LiveText(); }

    Result<LiveText> flush(const std::stop_token& /*stop*/) override {
      LiveText text;
      if (!silent_ && n_ > static_cast<size_t>(next_) * 16000) {
        text.committed.push_back(segment(next_++));
      }
      return text;
    }

    void reset() override {
      n_ = 0;
      next_ = 0;
    }

   private:
    const FakeRecognizer& fake_;
    bool silent_;
    size_t n_ = 0;
    int next_ = 0;
  };

  [[nodiscard]] Result<std::unique_ptr<Session>> session(
      const RecognizerOptions& options) const override {
    last_options = options;
    return std::make_unique<FakeSession>(*this);
  }

  void run(std::span<const RecognizerJob> jobs, const RecognizerOptions& options,
           RecognizerObserver& observer, const std::stop_token& stop) const override {
    last_options = options;
    runs.push_back(jobs.size());
    if (before_done) {
      std::vector<Result<Transcript>> results(jobs.size());
      for (size_t job = jobs.size(); job-- > 0;) {
        results[job] = run_one(job, jobs[job], observer, stop);
        if (job > 0 && results[job]) {
          observer.on_finished(job, *results[job]);
        }
      }
      before_done();
      for (size_t job = 0; job < jobs.size(); ++job) {
        observer.on_done(job, results[job]);
      }
      return;
    }
    for (size_t job = 0; job < jobs.size(); ++job) {
      opened.push_back(jobs[job].name);
      observer.on_done(job, run_one(job, jobs[job], observer, stop));
    }
  }

  [[nodiscard]] std::string model_name() const override { return name; }

  [[nodiscard]] bool multilingual() const override { return knows_languages; }

  [[nodiscard]] Status check(const RecognizerOptions& options) const override {
    if (options.decoding.task == Task::Translate) {
      return fail(ErrorCode::Unsupported, "the model fake is English only: --task translate");
    }
    return {};
  }

  static Segment segment(int second) {
    Segment segment;
    segment.id = second;
    segment.start_s = second;
    segment.end_s = second + 1;
    segment.text = " second " + std::to_string(second);
    Word first{.text = " second", .start_s = segment.start_s, .end_s = second + 0.5};
    first.probability = 0.9F;
    Word last{.text = " " + std::to_string(second), .start_s = second + 0.5, .end_s = second + 1.0};
    last.probability = 0.2F;
    segment.words = {first, last};
    return segment;
  }

 private:
  Result<Transcript> run_one(size_t job, const RecognizerJob& recording,
                             RecognizerObserver& observer, const std::stop_token& stop) const {
    if (stop.stop_requested()) {
      return fail(ErrorCode::Cancelled, "stopped");
    }
    MYNAH_TRY(const auto source, recording.open());
    Transcript transcript;
    transcript.language = "en";
    transcript.language_probability = 1;
    transcript.model = "fake";
    transcript.device = "cpu";
    std::vector<float> second(16000);
    size_t filled = 0;
    size_t total = 0;
    while (true) {
      const auto got = source->read(std::span(second).subspan(filled));
      if (!got) {
        return std::unexpected(got.error());
      }
      filled += *got;
      total += *got;
      if (filled > 0 && (filled == second.size() || *got == 0) && !silent) {
        Segment next = segment(static_cast<int>(transcript.segments.size()));
        if (timestamps) {
          next.opening = TimestampToken{.token = 90, .log_probability = 0, .position = 0};
          next.closing = TimestampToken{.token = 140, .log_probability = 0, .position = 50};
        }
        if (!last_options.decoding.words) {
          next.words.clear();
        }
        if (doubts) {
          next.tokens.resize(10);
          next.mean_log_probability = -2;
        }
        transcript.segments.push_back(next);
        observer.on_segment(job, next);
        observer.on_progress(job, next.end_s, source->duration_s());
        filled = 0;
        if (stop_source != nullptr && ++segments_ == stop_after) {
          stop_source->request_stop();
        }
        if (stop.stop_requested()) {
          return fail(ErrorCode::Cancelled, "stopped");
        }
      } else if (filled == second.size()) {
        filled = 0;
      }
      if (*got == 0) {
        break;
      }
    }
    transcript.duration_s = static_cast<double>(total) / 16000;
    transcript.timings = {{.stage = "stt.encoder", .device = "cpu", .milliseconds = 1.5}};
    return transcript;
  }

  mutable int segments_ = 0;
};

// What engine::open_recognizer would give, with the fake in it.
inline engine::RecognizerOpener fake_engine(std::shared_ptr<FakeRecognizer> recognizer) {
  return [recognizer](
             const engine::RecognizerWish& options,
             const engine::Surroundings& /*surroundings*/) -> Result<engine::OpenedRecognizer> {
    engine::OpenedRecognizer engine;
    engine.recognizer = recognizer;
    recognizer->last_engine = options;
    engine.model_path = options.model;
    engine.explanation = {"model fake: a test's"};
    return engine;
  };
}

}  // namespace mynah::cli

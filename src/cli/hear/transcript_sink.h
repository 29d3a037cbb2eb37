// TranscriptSink: what becomes of segments and transcripts as they come: printed, written, counted.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/command/verb.h"
#include "cli/files/progress.h"
#include "cli/hear/outputs.h"
#include "cli/hear/segment_printer.h"
#include "cli/hear/stereo_speakers.h"
#include "speech/recognizer.h"

namespace mynah::cli {

// One recording on its way through a recogniser.
struct SinkRecording {
  std::string name;
  OutputPlan plan;
};

struct SinkOptions {
  bool print_segments = true;  // text on standard output as it comes
  bool keep_going = false;     // recordings have files: a closed standard output does not stop them
  bool quiet = false;
  bool explain = false;
  double start_s = 0;            // where in each recording reading began: added to all times
  std::vector<ClipRange> clips;  // what is heard, in seconds from there; empty: all
  int max_segment_length = 0;
  bool special_tokens = false;  // text has Whisper's timestamps in it
  std::string doubt;            // noted where a text is doubtful throughout; empty: nothing is
  PrintOptions print;
  WriterOptions writer;
  Transcript known;  // of each recording before it is heard: model, device, language, task
  // Where recordings are heard, as it is when one is done; empty: nothing is said of it.
  std::function<PlacementReport()> placement;
  // Vouches for what was written, however recordings ended; an error: it may be wrong. May be
  // empty.
  std::function<Status()> settle;
  // Told of each recording whose files are written.
  std::function<void(const SinkRecording&)> on_written;
  // How often what was heard so far is kept as NAME.partial: a power cut takes no more than that.
  std::chrono::seconds save_every{30};
};

// Recordings are told about in any order between them, and finished in their own; their text is
// printed in that order too.
class TranscriptSink : public RecognizerObserver {
 public:
  TranscriptSink(Context& context, SinkOptions options, std::vector<SinkRecording> recordings,
                 ProgressStyle progress);

  void on_segment(size_t job, const Segment& segment) override;
  void on_progress(size_t job, double done_s, std::optional<double> duration_s) override;
  void on_finished(size_t job, const Transcript& transcript) override;
  void on_done(size_t job, const Result<Transcript>& result) override;

  // Who speaks in a recording whose segments do not say so, or why that is not known.
  void set_speakers(size_t job, Result<StereoSpeakers> speakers);

  // What is being said, on the terminal of standard error: words that are said for good, and dim
  // those that may still change. Nothing of both takes it away.
  void show_partial(const std::string& agreed, const std::string& rest);

  // Whether anybody would see it.
  [[nodiscard]] bool shows_partial() const;

  // Requested by the user's stop, and when there is nobody left to write for.
  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }

  // Says which recordings failed, and where a device was wrong; returns the exit code.
  int finish();

 private:
  struct State {
    SinkRecording recording;
    std::vector<Segment> segments;  // prepared
    std::optional<Result<StereoSpeakers>> speakers;
    size_t printed = 0;
    bool done = false;
    std::optional<Status> written;                        // its files, before its turn came
    std::chrono::steady_clock::time_point saved_at = {};  // begin of the job at first
  };

  struct Failure {
    std::string name;
    Error error;
  };

  // With absolute times, a speaker, cut to length.
  std::vector<Segment> prepare(State& state, const Segment& segment);
  void print_up_to_date(State& state);
  void end_line(const State& state);
  // An error where no clip begins before the recording ends; a note where some do not.
  [[nodiscard]] Status check_clips(const State& state, double duration_s);
  // The writers' options, with the recording's name.
  [[nodiscard]] WriterOptions writer_for(const State& state) const;
  [[nodiscard]] Transcript whole_of(const State& state, Transcript transcript) const;
  void write_done(State& state, Transcript transcript);
  [[nodiscard]] Status write_files(const State& state, const Transcript& transcript);
  void write_failed(State& state, const Error& error);
  void save_now_and_then(State& state);
  // Where it was heard, as it is now.
  void add_placement(Transcript& transcript) const;
  [[nodiscard]] Transcript part_of(const State& state, const std::string& why) const;
  void print_what_has_no_file(const State& state, const Transcript& transcript);
  // As NAME.partial; `why` it is not all.
  Result<std::vector<std::string>> write_part(const State& state, const std::string& why) const;
  void print_json_error(const State& state, const Error& error);
  void write_to_stdout(const State& state, const Transcript& transcript);
  void note(const State& state, const std::string& text);
  void fail_recording(const State& state, Error error);
  void explain(const State& state, const Transcript& transcript);
  void check_output();
  // Settles, once: before the last recording's answer, or at the end.
  const Status& last_look();

  Context& context_;
  SinkOptions options_;
  Progress progress_;
  std::vector<State> states_;
  std::vector<Failure> failures_;
  std::optional<Status> right_;  // what last_look() found
  size_t current_ = 0;           // the recording whose text is being printed
  bool header_printed_ = false;
  std::string partial_;  // what is shown
  std::stop_source stop_;
  std::stop_callback<std::function<void()>> user_stop_;
};

}  // namespace mynah::cli

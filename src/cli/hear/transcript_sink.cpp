#include "cli/hear/transcript_sink.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command/error_json.h"
#include "cli/command/program.h"
#include "cli/placement/placement_answer.h"
#include "speech/decode_quality.h"

namespace mynah::cli {

namespace {

void shift(Segment& segment, double by_s) {
  segment.start_s += by_s;
  segment.end_s += by_s;
  for (Word& word : segment.words) {
    word.start_s += by_s;
    word.end_s += by_s;
  }
}

}  // namespace

TranscriptSink::TranscriptSink(Context& context, SinkOptions options,
                               std::vector<SinkRecording> recordings, ProgressStyle progress)
    : context_(context),
      options_(std::move(options)),
      progress_(context.err, progress, recordings.size()),
      states_(recordings.size()),
      user_stop_(context.stop, [this] { stop_.request_stop(); }) {
  for (size_t i = 0; i < recordings.size(); ++i) {
    states_[i].recording = std::move(recordings[i]);
  }
}

std::vector<Segment> TranscriptSink::prepare(State& state, const Segment& segment) {
  Segment prepared = segment;
  if (state.speakers && *state.speakers) {
    prepared.speaker = (*state.speakers)->speaker(segment.start_s, segment.end_s);
  }
  shift(prepared, options_.start_s);
  std::vector<Segment> pieces = {prepared};
  if (options_.max_segment_length > 0) {
    pieces = split_segments(pieces, options_.max_segment_length, options_.writer.token_text);
  }
  if (options_.special_tokens) {
    for (Segment& piece : pieces) {
      piece.text = text_with_timestamps(piece, options_.writer.style);
    }
  }
  return pieces;
}

void TranscriptSink::set_speakers(size_t job, Result<StereoSpeakers> speakers) {
  states_[job].speakers = std::move(speakers);
}

void TranscriptSink::on_segment(size_t job, const Segment& segment) {
  State& state = states_[job];
  if (state.speakers && !*state.speakers && state.segments.empty()) {
    note(state, "speakers are not named: " + state.speakers->error().message);
  }
  for (Segment& piece : prepare(state, segment)) {
    piece.id = static_cast<int64_t>(state.segments.size());
    state.segments.push_back(std::move(piece));
  }
  print_up_to_date(state);
  save_now_and_then(state);
}

void TranscriptSink::save_now_and_then(State& state) {
  const auto now = std::chrono::steady_clock::now();
  if (state.saved_at == std::chrono::steady_clock::time_point()) {
    state.saved_at = now;
  }
  if (state.recording.plan.files.empty() || now - state.saved_at < options_.save_every) {
    return;
  }
  state.saved_at = now;
  if (const auto names = write_part(state, "still being heard"); !names) {
    note(state, names.error().message);
  }
}

void TranscriptSink::print_up_to_date(State& state) {
  if (&state != &states_[current_] || !options_.print_segments) {
    return;
  }
  if (state.printed == state.segments.size()) {
    return;
  }
  progress_.clear();
  show_partial({}, {});
  if (states_.size() > 1 && !header_printed_) {
    context_.out.line(state.recording.name + ":");
    header_printed_ = true;
  }
  for (; state.printed < state.segments.size(); ++state.printed) {
    const std::string line = segment_line(state.segments[state.printed], options_.print);
    context_.out.write(options_.print.joined ? line : line + "\n");
  }
  context_.out.flush();  // whoever reads the pipe gets text while audio is still coming
  check_output();
}

// Ends a recording's line where all its segments stand on one.
void TranscriptSink::end_line(const State& state) {
  if (options_.print.joined && state.printed > 0) {
    context_.out.line("");
    context_.out.flush();
  }
}

void TranscriptSink::on_progress(size_t job, double done_s, std::optional<double> duration_s) {
  progress_.update(job, states_[job].recording.name, done_s, duration_s);
}

// One slow recording does not keep the files of those behind it waiting.
void TranscriptSink::on_finished(size_t job, const Transcript& transcript) {
  State& state = states_[job];
  // Where clips were asked for, or nothing was found, there is something to be said first.
  if (state.recording.plan.files.empty() || state.segments.empty() || !options_.clips.empty()) {
    return;
  }
  Transcript whole = whole_of(state, transcript);
  add_placement(whole);
  state.written = write_files(state, whole);
}

// What was reported piece by piece is what is written: both went through prepare().
Transcript TranscriptSink::whole_of(const State& state, Transcript transcript) const {
  transcript.segments = state.segments;
  if (!options_.doubt.empty() && doubtful_throughout(transcript.segments)) {
    transcript.notes.push_back(options_.doubt);
  }
  return transcript;
}

void TranscriptSink::on_done(size_t job, const Result<Transcript>& result) {
  State& state = states_[job];
  state.done = true;
  progress_.finish(job);
  show_partial({}, {});
  if (&state == &states_.back()) {
    last_look();
  }
  const Status clips = result ? check_clips(state, result->duration_s) : Status();
  if (!result || !clips) {
    end_line(state);
    write_failed(state, result ? clips.error() : result.error());
  } else {
    write_done(state, *result);
    end_line(state);
  }
  if (&state == &states_[current_] && current_ + 1 < states_.size()) {
    ++current_;
    header_printed_ = false;
    print_up_to_date(states_[current_]);
  }
}

Status TranscriptSink::check_clips(const State& state, double duration_s) {
  std::string past;
  size_t count = 0;
  for (const ClipRange& clip : options_.clips) {
    if (clip.start_s >= duration_s) {
      past += fmt::format("{}{:g} s", past.empty() ? "" : ", ", clip.start_s);
      ++count;
    }
  }
  if (count == 0) {
    return {};
  }
  const std::string what =
      fmt::format("ends after {:.3f} s, before the clip{} that begin{} at {}", duration_s,
                  count == 1 ? "" : "s", count == 1 ? "s" : "", past);
  if (count == options_.clips.size()) {
    return fail(ErrorCode::InvalidInput, what);
  }
  note(state, what);
  return {};
}

WriterOptions TranscriptSink::writer_for(const State& state) const {
  WriterOptions writer = options_.writer;
  writer.file = state.recording.name;
  return writer;
}

void TranscriptSink::write_done(State& state, Transcript transcript) {
  if (state.segments.empty()) {
    for (const Segment& segment : transcript.segments) {
      on_segment(static_cast<size_t>(&state - states_.data()), segment);
    }
  }
  transcript = whole_of(state, std::move(transcript));
  add_placement(transcript);
  print_up_to_date(state);
  for (const std::string& text : transcript.notes) {
    note(state, text);
  }
  if (transcript.segments.empty()) {
    note(state, "no speech found");
  }
  const Status written = state.written ? *state.written : write_files(state, transcript);
  if (!written) {
    fail_recording(state, written.error());
    print_what_has_no_file(state, transcript);
  }
  if (context_.json) {
    context_.out.line(transcript_json_line(transcript, writer_for(state)));
  } else {
    write_to_stdout(state, transcript);
  }
  context_.out.flush();
  check_output();
  if (options_.explain) {
    explain(state, transcript);
  }
}

Status TranscriptSink::write_files(const State& state, const Transcript& transcript) {
  MYNAH_TRY_STATUS(write_outputs(state.recording.plan, transcript, writer_for(state)));
  if (options_.on_written) {
    options_.on_written(state.recording);
  }
  return {};
}

// A full disk takes the file, not the text.
void TranscriptSink::print_what_has_no_file(const State& state, const Transcript& transcript) {
  if (context_.json || options_.print_segments || transcript.segments.empty()) {
    return;
  }
  context_.say("its text follows on standard output");
  context_.out.write(
      write_transcript(transcript, state.recording.plan.files.front().format, writer_for(state)));
}

void TranscriptSink::write_to_stdout(const State& state, const Transcript& transcript) {
  const WriterOptions writer = writer_for(state);
  for (const TranscriptFormat format : state.recording.plan.to_stdout) {
    context_.out.write(write_transcript(transcript, format, writer));
  }
}

void TranscriptSink::write_failed(State& state, const Error& error) {
  fail_recording(state, error);
  if (context_.json) {
    print_json_error(state, error);
  }
  if (state.segments.empty()) {
    return;
  }
  // What was heard before it broke is kept, under a name that says so.
  const auto names = write_part(state, error.message);
  if (!names) {
    note(state, names.error().message);
    return;
  }
  for (const std::string& name : *names) {
    note(state, "what was recognised so far is kept in " + name);
  }
  write_to_stdout(state, part_of(state, error.message));
}

Transcript TranscriptSink::part_of(const State& state, const std::string& why) const {
  Transcript transcript = options_.known;
  transcript.segments = state.segments;
  transcript.duration_s = state.segments.back().end_s;
  add_placement(transcript);
  transcript.notes = {"not the whole recording: " + why};
  return transcript;
}

void TranscriptSink::add_placement(Transcript& transcript) const {
  if (!options_.placement) {
    return;
  }
  transcript.placement = options_.placement();
  for (StagePlacement& stage : transcript.placement->stages) {
    const auto timing = std::ranges::find(transcript.timings, stage.stage, &StageTiming::stage);
    if (timing != transcript.timings.end()) {
      stage.milliseconds = timing->milliseconds;  // of this recording
    }
  }
}

Result<std::vector<std::string>> TranscriptSink::write_part(const State& state,
                                                            const std::string& why) const {
  return write_partial_outputs(state.recording.plan, part_of(state, why), writer_for(state));
}

void TranscriptSink::print_json_error(const State& state, const Error& error) {
  nlohmann::ordered_json json = {{"file", state.recording.name}};
  if (!state.segments.empty()) {
    // What was heard before it broke, as of a whole recording.
    json = nlohmann::ordered_json::parse(
        transcript_json_line(part_of(state, error.message), writer_for(state)));
    json["resume_at"] = options_.start_s + state.segments.back().end_s;
  } else if (options_.placement) {
    json["placement"] = to_json(options_.placement());
  }
  json["error"] = error_json(error);
  context_.out.line(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void TranscriptSink::fail_recording(const State& state, Error error) {
  const bool stopped = error.code == ErrorCode::Cancelled;
  if (!stopped) {
    progress_.clear();
    context_.say_of(state.recording.name, error.message);
  }
  failures_.push_back({.name = state.recording.name, .error = std::move(error)});
}

void TranscriptSink::note(const State& state, const std::string& text) {
  if (options_.quiet) {
    return;
  }
  progress_.clear();
  context_.say_of(state.recording.name, text);
}

void TranscriptSink::explain(const State& state, const Transcript& transcript) {
  for (const std::string& text : transcript.explanations) {
    note(state, text);
  }
  double total_ms = 0;
  for (const StageTiming& timing : transcript.timings) {
    context_.err.line(stage_time_line(timing.stage, timing.device, timing.milliseconds));
    total_ms += timing.milliseconds;
  }
  if (total_ms > 0) {
    context_.err.line(fmt::format("{} for {:.1f} s of audio",
                                  stage_time_line("together", transcript.device, total_ms),
                                  transcript.duration_s));
  }
  context_.err.flush();
}

bool TranscriptSink::shows_partial() const {
  return context_.err.is_terminal() && !options_.quiet;
}

void TranscriptSink::show_partial(const std::string& agreed, const std::string& rest) {
  if (!shows_partial()) {
    return;
  }
  const auto room = static_cast<size_t>(std::max(8, context_.err.columns() - 4));
  std::string shown = last_characters(agreed + rest, room);
  if (!rest.empty()) {
    shown.insert(shown.size() - std::min(shown.size(), rest.size()), "\033[2m");
    shown += "\033[0m";
  }
  if (shown == partial_) {
    return;
  }
  context_.err.write("\r\033[K" + shown);
  context_.err.flush();
  partial_ = std::move(shown);
}

void TranscriptSink::check_output() {
  if (context_.out.failed() && !options_.keep_going) {
    stop_.request_stop();
  }
}

const Status& TranscriptSink::last_look() {
  if (!right_) {
    right_ = options_.settle ? options_.settle() : Status{};
  }
  return *right_;
}

int TranscriptSink::finish() {
  progress_.clear();
  const Status& right = last_look();
  if (!right) {
    context_.say(right.error().message);
  }
  if (failures_.empty()) {
    return right ? 0 : exit_code(right.error().code);
  }
  size_t stopped = 0;
  std::vector<ErrorCode> codes;
  std::string names;
  for (const Failure& failure : failures_) {
    codes.push_back(failure.error.code);
    if (failure.error.code == ErrorCode::Cancelled) {
      ++stopped;
    } else {
      names += (names.empty() ? "" : ", ") + failure.name;
    }
  }
  const size_t failed = failures_.size() - stopped;
  if (failed > 0 && states_.size() > 1) {
    context_.say(fmt::format("{} of {} recordings failed: {}", failed, states_.size(), names));
  }
  if (stopped > 0) {
    if (context_.out.closed()) {
      return kClosedOutputExitCode;
    }
    if (context_.stop.stop_requested()) {
      context_.say(states_.size() == 1
                       ? "stopped before the end"
                       : fmt::format("stopped: {} of {} recordings are not finished", stopped,
                                     states_.size()));
      return context_.stopped_exit_code();
    }
    return 1;
  }
  return right ? exit_code_of(codes, states_.size()) : exit_code(right.error().code);
}

}  // namespace mynah::cli

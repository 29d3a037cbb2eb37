#include "cli/hear/live.h"

#include <chrono>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cli/files/job_range.h"
#include "cli/files/read_ahead.h"

namespace mynah::cli {

namespace {

// Short enough that text follows speech closely, long enough that a session is not called for
// nothing.
constexpr double kChunk_s = 0.1;

// How often a sender is looked at that sends nothing.
constexpr double kIdleLook_s = 0.1;

Status recognise(Recognizer::Session& session, ReadAhead& source, Transcript& transcript,
                 TranscriptSink& sink, size_t job) {
  std::vector<float> samples(static_cast<size_t>(source.rate_hz() * kChunk_s));
  double heard_s = 0;
  const auto take = [&](const LiveText& text) {
    for (const Segment& segment : text.committed) {
      sink.on_segment(job, segment);
    }
    sink.show_partial(text.agreed, text.partial);
    if (!text.language.empty()) {
      transcript.language = text.language;
      transcript.language_probability = text.language_probability;
    }
  };
  std::optional<Error> broken;
  while (true) {
    if (const auto silence = source.wait(kIdleLook_s)) {
      MYNAH_TRY(const LiveText text, session.idle(*silence, sink.stop()));
      take(text);
      continue;
    }
    const auto got = source.read(samples);
    if (!got) {
      broken = got.error();  // what came before is recognised all the same
      break;
    }
    if (*got == 0) {
      break;
    }
    heard_s += static_cast<double>(*got) / source.rate_hz();
    MYNAH_TRY(const LiveText text, session.push(std::span(samples).first(*got), sink.stop()));
    take(text);
  }
  MYNAH_TRY(const LiveText rest, session.flush(sink.stop()));
  take(rest);
  transcript.duration_s = heard_s;
  if (broken) {
    return std::unexpected(*broken);
  }
  return {};
}

void run_live(const Recognizer& recognizer, const RecognizerOptions& options, ReadAhead& source,
              Transcript transcript, TranscriptSink& sink, size_t job) {
  const auto begin = std::chrono::steady_clock::now();
  RecognizerOptions wanted = options;
  wanted.cutting.partial_text = sink.shows_partial();
  const auto session = recognizer.session(wanted);
  const Status status = session ? recognise(**session, source, transcript, sink, job)
                                : std::unexpected(session.error());
  // First, as a stop cuts the recording off.
  if (sink.stop().stop_requested()) {
    sink.on_done(job, fail(ErrorCode::Cancelled, "stopped while audio was still coming"));
    return;
  }
  if (!status) {
    sink.on_done(job, std::unexpected(status.error()));
    return;
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  transcript.timings.push_back(
      {.stage = "live", .device = transcript.device, .milliseconds = took.count()});
  sink.on_done(job, std::move(transcript));
}

}  // namespace

void run_stream(const Recognizer& recognizer, const RecognizerOptions& options,
                const Stream& stream, Transcript known, TranscriptSink& sink, size_t job) {
  Result<std::unique_ptr<ReadAhead>> source = ReadAhead::open(stream.open, sink.stop());
  if (!source) {
    sink.on_done(job, std::unexpected(source.error()));
    return;
  }
  if (options.cutting.clips.empty() && (*source)->pace() == Pace::Live) {
    run_live(recognizer, options, **source, std::move(known), sink, job);
    return;
  }
  const RecognizerJob recording{
      .name = stream.name,
      .open = [&source]() -> Result<std::unique_ptr<AudioSource>> { return std::move(*source); }};
  JobRange observer(sink, job);
  recognizer.run(std::span(&recording, 1), options, observer, sink.stop());
}

}  // namespace mynah::cli

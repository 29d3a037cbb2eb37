// How `mynah speak` ends, before its text does or with it: what was said is kept.
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/file_name.h"
#include "cli/command/error_json.h"
#include "cli/hear/captions.h"
#include "cli/placement/placement_answer.h"
#include "cli/speak/speak.h"
#include "cli/speak/speak_lines.h"
#include "cli/speak/speak_observer.h"
#include "engine/last_look.h"
#include "engine/synthesizer.h"
#include "tensor/device_failure.h"

namespace mynah::cli {

using Json = nlohmann::ordered_json;

Status SpeakCommand::finish(Context& context, SpeakObserver& observer) const {
  if (!observer.has_spoken()) {
    return fail(ErrorCode::InvalidInput, "nothing in it can be spoken: wanted words");
  }
  MYNAH_TRY_STATUS(observer.finish());
  return write_captions(observer.transcript(), sound_.captions, context.out);
}

Status SpeakCommand::look_last(const Context& context, const place::Placer* placer, bool spoken) {
  Status right = engine::LastLook(placer).take();
  if (!right && !spoken) {
    context.say(right.error().message);
  }
  return right;
}

Status SpeakCommand::look_last_of_lines(Context& context, const LineSpeaker& lines, bool spoken) {
  const auto moves = [&lines] {
    return lines.placer() != nullptr ? lines.placer()->report().moves.size() : 0;
  };
  const size_t told = moves();
  Status right = look_last(context, lines.placer(), spoken);
  if (context.json && moves() > told) {
    context.out.line(Json{{"lines", lines.spoken()},
                          {"failed", lines.failed()},
                          {"placement", placement_json(lines.placer())}}
                         .dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return right;
}

void SpeakCommand::explain_times(const Context& context,
                                 const engine::OpenedSynthesizer& engine) const {
  if (explain_) {
    say_times(context, engine.placer.get());
  }
}

// Keeps what was said as files, whose names it returns; nothing was said, or it went elsewhere:
// none.
Result<std::vector<std::string>> SpeakCommand::keep_part(Context& context,
                                                         SpeakObserver& observer) const {
  if (observer.duration_s() == 0) {
    return std::vector<std::string>();
  }
  MYNAH_TRY(std::vector<std::string> files, observer.keep_part());
  if (files.empty()) {
    return files;
  }
  CaptionOptions captions = sound_.captions;
  for (std::string* caption : {&captions.srt, &captions.vtt}) {
    if (!caption->empty() && *caption != "-") {
      *caption = with_ending(*caption, ".partial");
      files.push_back(*caption);
    }
  }
  MYNAH_TRY_STATUS(write_captions(observer.transcript(), captions, context.out));
  return files;
}

Result<int> SpeakCommand::end_stopped(Context& context, SpeakObserver& observer) const {
  MYNAH_TRY(const std::vector<std::string> files, keep_part(context, observer));
  const double said_s = observer.duration_s();
  context.say(said_s == 0     ? std::string("stopped before anything was said")
              : files.empty() ? fmt::format("stopped after {:.1f} s of speech", said_s)
                              : fmt::format("stopped after {:.1f} s of speech, kept as {}", said_s,
                                            fmt::join(files, ", ")));
  return context.stopped_exit_code();
}

Result<int> SpeakCommand::end_failed(Context& context, SpeakObserver& observer,
                                     const engine::OpenedSynthesizer& engine, Error error) const {
  MYNAH_TRY(const std::vector<std::string> files, keep_part(context, observer));
  if (observer.duration_s() > 0) {
    error.message += fmt::format(
        "; {:.1f} s of speech {}, the rest begins at byte {} of the text", observer.duration_s(),
        files.empty() ? std::string("were given out")
                      : fmt::format("are kept as {}", fmt::join(files, ", ")),
        observer.text_end());
  }
  if (context.json) {
    context.out.line(Json{{"partial", true},
                          {"duration", observer.duration_s()},
                          {"resume_at", observer.text_end()},
                          {"files", files},
                          {"placement", placement_json(engine.placer.get())},
                          {"error", error_json(error)}}
                         .dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return std::unexpected(std::move(error));
}

Result<int> SpeakCommand::end_failed_book(Context& context, const engine::OpenedSynthesizer& engine,
                                          const Error& error) {
  if (context.json && is_of_device(error.code)) {
    context.out.line(Json{{"partial", true},
                          {"placement", placement_json(engine.placer.get())},
                          {"error", error_json(error)}}
                         .dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return std::unexpected(error);
}

Result<int> SpeakCommand::end_doubted(Error error, double duration_s, const std::string& names) {
  error.message += fmt::format("; {:.1f} s of speech went to {}", duration_s, names);
  return std::unexpected(std::move(error));
}

}  // namespace mynah::cli

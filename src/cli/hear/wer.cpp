#include "cli/hear/wer.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audio/open.h"
#include "base/ascii.h"
#include "base/atomic_file.h"
#include "cli/command/error_codes.h"
#include "cli/files/progress.h"
#include "cli/models/surroundings.h"
#include "cli/placement/engine_fields.h"
#include "cli/placement/placement_answer.h"
#include "engine/last_look.h"

namespace mynah::cli {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string_view> cells_of(std::string_view line) {
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  return split(line, '\t');
}

Result<std::string> read_file(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: wanted a table (clip, lang, text), found a folder", path));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(errno == ENOENT ? ErrorCode::NotFound : ErrorCode::Io,
                fmt::format("{}: {}", path, std::strerror(errno)));
  }
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// Takes the texts of one run; recordings that fail are heard as nothing.
class ScoringObserver : public RecognizerObserver {
 public:
  ScoringObserver(Context& context, Progress& progress, const std::vector<std::string>& names)
      : context_(context), progress_(progress), names_(names), texts_(names.size()) {}

  void on_progress(size_t job, double done_s, std::optional<double> duration_s) override {
    progress_.update(job, names_[job], done_s, duration_s);
  }

  void on_done(size_t job, const Result<Transcript>& result) override {
    progress_.finish(job);
    if (result) {
      texts_[job] = text_of(result->segments);
      audio_s_ += result->duration_s;
      return;
    }
    failures_.push_back(result.error().code);
    if (result.error().code != ErrorCode::Cancelled) {
      context_.say_of(names_[job], result.error().message);
    }
  }

  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }

  [[nodiscard]] double audio_s() const { return audio_s_; }

  [[nodiscard]] const std::vector<ErrorCode>& failures() const { return failures_; }

 private:
  Context& context_;
  Progress& progress_;
  const std::vector<std::string>& names_;
  std::vector<std::string> texts_;
  double audio_s_ = 0;
  std::vector<ErrorCode> failures_;
};

Json counts_json(const ErrorCounts& counts) {
  return {{"errors", counts.errors()},     {"length", counts.reference_length()},
          {"rate", counts.rate()},         {"substitutions", counts.substitutions},
          {"deletions", counts.deletions}, {"insertions", counts.insertions}};
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Result<std::vector<ReferenceClip>> parse_references(const std::string& table,
                                                    const std::string& path) {
  std::istringstream lines(table);
  std::string line;
  std::getline(lines, line);
  const std::string header_line = line;
  const std::vector<std::string_view> header = cells_of(header_line);
  const auto column = [&header](std::string_view name) {
    return static_cast<size_t>(std::ranges::find(header, name) - header.begin());
  };
  const size_t clip = column("clip");
  const size_t language = column("lang");
  const size_t text = column("text");
  if (clip == header.size() || text == header.size()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}:1: wanted a header with the columns clip and text between tabs, "
                            "found '{}'",
                            path, line.substr(0, 80)));
  }
  std::vector<ReferenceClip> clips;
  for (int number = 2; std::getline(lines, line); ++number) {
    if (line.empty() || line == "\r") {
      continue;
    }
    const std::vector<std::string_view> cells = cells_of(line);
    if (cells.size() != header.size()) {
      return fail(ErrorCode::InvalidInput, fmt::format("{}:{}: wanted {} columns, found {}", path,
                                                       number, header.size(), cells.size()));
    }
    clips.push_back({.clip = std::string(cells[clip]),
                     .language = std::string(language < cells.size() ? cells[language] : "en"),
                     .text = std::string(cells[text])});
  }
  return clips;
}

void WerCommand::fields(Fields& fields) {
  fields
      .positional("REFERENCES", tables_,
                  "A table with the columns clip, lang and text, between tabs.")
      .completes(Complete::Files);
  fields.section("Scoring");
  fields
      .option("hypotheses", "FILE", hypotheses_,
              "Score the texts of this table; recognise nothing.")
      .completes(Complete::Files)
      .once();
  fields
      .option("write-hypotheses", "FILE", write_hypotheses_,
              "Write what was recognised, for --hypotheses.")
      .completes(Complete::Files)
      .once();
  fields.option("html", "FILE", html_, "Write a page that plays each clip beside its differences.")
      .completes(Complete::Files)
      .once();
  fields.list("only-language", "LIST", languages_, "Only clips of these languages.")
      .completes(Complete::Languages)
      .once();
  fields.flag("auto-language", auto_language_,
              "Hear the language of each clip, instead of taking the table's.");
  fields.flag("explain", explain_, "Say what was chosen, and why.").once();
  model_fields(fields, engine_);
  flags_.fields(fields);
  flags_.vad_fields(fields);
}

std::string WerCommand::details() const {
  return "Texts are made comparable by Whisper's normalisers. Errors are counted by word; by\n"
         "character in Chinese, Japanese, Korean and other languages without spaces.\n\n" +
         device_details();
}

Result<std::vector<ReferenceClip>> WerCommand::read_references() const {
  if (tables_.size() != 1) {
    return fail(ErrorCode::Usage,
                fmt::format("wanted one table of references, found {}", tables_.size()));
  }
  MYNAH_TRY(const std::string table, read_file(tables_.front()));
  MYNAH_TRY(std::vector<ReferenceClip> clips, parse_references(table, tables_.front()));
  if (!languages_.empty()) {
    std::erase_if(clips, [this](const ReferenceClip& clip) {
      return std::ranges::find(languages_, clip.language) == languages_.end();
    });
  }
  if (clips.empty()) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("{}: wanted clips to score, found none{}{}", tables_.front(),
                    languages_.empty() ? "" : " of --only-language ", fmt::join(languages_, ",")));
  }
  return clips;
}

Result<std::vector<std::string>> WerCommand::recognise(Context& context,
                                                       std::vector<ReferenceClip>& clips) {
  MYNAH_TRY(RecognizerOptions options, flags_.finish());
  engine::RecognizerWish wanted = engine_;
  wanted.placement.batch = options.cutting.batch;
  wanted.cuts = options.cutting.vad;
  MYNAH_TRY(const engine::OpenedRecognizer engine, open_(wanted, surroundings_of(context)));
  if (explain_) {
    say_each(context, engine.explanation);
  }
  if (!engine.recognizer->multilingual()) {
    const auto removed =
        std::erase_if(clips, [](const ReferenceClip& clip) { return clip.language != "en"; });
    if (clips.empty()) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("{}: wanted English clips to score, as the model {} knows English "
                              "only, found none: use a multilingual model, such as small ('mynah "
                              "pull small')",
                              tables_.front(), engine.recognizer->model_name()));
    }
    if (removed > 0) {
      context.say(fmt::format("{} of other languages left out: the model {} is English only",
                              removed == 1 ? "1 clip" : fmt::format("{} clips", removed),
                              engine.recognizer->model_name()));
    }
  }
  // One run a language: its recordings share batches.
  std::map<std::string, std::vector<size_t>> groups;
  for (size_t i = 0; i < clips.size(); ++i) {
    groups[auto_language_ ? "auto" : clips[i].language].push_back(i);
  }
  const fs::path folder = fs::path(tables_.front()).parent_path();
  std::vector<std::string> texts(clips.size());
  engine::LastLook last_look(engine.placer.get());
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& [language, members] : groups) {
    options.decoding.language = language;
    MYNAH_TRY_STATUS(engine.recognizer->check(options));
    std::vector<std::string> names;
    std::vector<RecognizerJob> jobs;
    for (const size_t member : members) {
      names.push_back((folder / clips[member].clip).string());
      AudioOpenOptions audio;
      audio.stop = context.stop;
      jobs.push_back({.name = names.back(),
                      .open = [path = names.back(), audio] { return open_audio(path, audio); }});
    }
    Progress progress(context.err,
                      context.err.is_terminal() ? ProgressStyle::Bar : ProgressStyle::Off,
                      jobs.size());
    ScoringObserver observer(context, progress, names);
    engine.recognizer->run(jobs, options, observer, context.stop);
    if (context.stop.stop_requested()) {
      if (const Status& right = last_look.take(); !right) {
        context.say(right.error().message);
      }
      return fail(ErrorCode::Cancelled, "stopped");
    }
    for (size_t i = 0; i < members.size(); ++i) {
      texts[members[i]] = observer.texts()[i];
    }
    audio_s_ += observer.audio_s();
    failures_.insert(failures_.end(), observer.failures().begin(), observer.failures().end());
  }
  elapsed_s_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  right_ = last_look.take();
  if (engine.placer) {
    placement_ = engine.placer->report();
  }
  return texts;
}

Result<std::vector<std::string>> WerCommand::read_hypotheses(
    Context& context, const std::vector<ReferenceClip>& clips) const {
  MYNAH_TRY(const std::string table, read_file(hypotheses_));
  MYNAH_TRY(const std::vector<ReferenceClip> rows, parse_references(table, hypotheses_));
  std::map<std::string, std::string> by_clip;
  for (const ReferenceClip& row : rows) {
    by_clip[row.clip] = row.text;
  }
  std::vector<std::string> texts;
  size_t missing = 0;
  for (const ReferenceClip& clip : clips) {
    const auto found = by_clip.find(clip.clip);
    missing += found == by_clip.end() ? 1 : 0;
    texts.push_back(found == by_clip.end() ? std::string() : found->second);
  }
  if (missing > 0) {
    context.say(fmt::format("{}: {} of {} clips are not in it and count as heard as nothing",
                            hypotheses_, missing, clips.size()));
  }
  return texts;
}

Status WerCommand::write_files(const WerReport& report) const {
  if (!html_.empty()) {
    MYNAH_TRY(AtomicFile file, AtomicFile::create(html_));
    MYNAH_TRY_STATUS(file.write(write_html(report, tables_.front())));
    MYNAH_TRY_STATUS(file.commit());
  }
  if (!write_hypotheses_.empty()) {
    MYNAH_TRY(AtomicFile file, AtomicFile::create(write_hypotheses_));
    MYNAH_TRY_STATUS(file.write("clip\tlang\ttext\n"));
    for (const ScoredClip& clip : report.clips()) {
      std::string text = clip.hypothesis;
      std::ranges::replace_if(
          text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
      MYNAH_TRY_STATUS(file.write(fmt::format("{}\t{}\t{}\n", clip.name, clip.language, text)));
    }
    MYNAH_TRY_STATUS(file.commit());
  }
  return {};
}

void WerCommand::print(Context& context, const WerReport& report) const {
  if (!context.json) {
    context.out.write(write_table(report));
    if (elapsed_s_ > 0) {
      context.out.line(fmt::format("{:.1f} s of audio in {:.1f} s: {:.1f} times real time",
                                   audio_s_, elapsed_s_, audio_s_ / elapsed_s_));
    }
    return;
  }
  for (const ScoredClip& clip : report.clips()) {
    Json json = {{"file", clip.name},
                 {"language", clip.language},
                 {"unit", clip.by_character ? "character" : "word"}};
    json.update(counts_json(clip.alignment.counts));
    json["reference"] = clip.reference;
    json["hypothesis"] = clip.hypothesis;
    context.out.line(dump(json));
  }
  Json total = {{"clips", report.clips().size()}};
  total["words"] = counts_json(report.words());
  total["characters"] = counts_json(report.characters());
  for (const auto& [language, counts] : report.by_language()) {
    total["languages"][language] = counts_json(counts);
  }
  total["failed"] = failures_.size();
  total["audio_seconds"] = audio_s_;
  total["seconds"] = elapsed_s_;
  total["placement"] = placement_ ? to_json(*placement_) : Json(nullptr);
  context.out.line(dump(Json{{"total", total}}));
}

Result<int> WerCommand::run(Context& context) {
  MYNAH_TRY(std::vector<ReferenceClip> clips, read_references());
  MYNAH_TRY(const std::vector<std::string> texts,
            hypotheses_.empty() ? recognise(context, clips) : read_hypotheses(context, clips));
  const fs::path folder = fs::path(tables_.front()).parent_path();
  std::error_code error;
  const fs::path page_folder = fs::absolute(html_, error).parent_path();
  WerReport report;
  for (size_t i = 0; i < clips.size(); ++i) {
    // As the page names it: from the page's folder, so that both can be moved or served together.
    const fs::path audio = fs::relative(folder / clips[i].clip, page_folder, error);
    report.add(
        score_clip(clips[i].clip, audio.string(), clips[i].language, clips[i].text, texts[i]));
  }
  const Status written = write_files(report);
  if (!written && !right_) {
    context.say(right_.error().message);
  }
  MYNAH_TRY_STATUS(written);
  print(context, report);
  if (!failures_.empty()) {
    context.say(fmt::format("{} of {} clips failed and count as heard as nothing", failures_.size(),
                            clips.size()));
  }
  MYNAH_TRY_STATUS(right_);
  return exit_code_of(failures_, clips.size());
}

}  // namespace mynah::cli

#include "cli/hear/outputs.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/ascii.h"
#include "base/atomic_file.h"
#include "base/file_name.h"
#include "base/nearest_name.h"

namespace mynah::cli {

namespace fs = std::filesystem;

namespace {

Result<std::vector<TranscriptFormat>> parse_formats(const std::vector<std::string>& names) {
  std::vector<TranscriptFormat> formats;
  const auto add = [&formats](TranscriptFormat format) {
    // "-oj -ojf" is the full one alone, as both are NAME.json.
    for (TranscriptFormat& present : formats) {
      if (extension(present) == extension(format)) {
        present = std::max(present, format);
        return;
      }
    }
    formats.push_back(format);
  };
  for (const std::string& name : names) {
    if (name == "all") {
      for (const auto format : {TranscriptFormat::Txt, TranscriptFormat::Vtt, TranscriptFormat::Srt,
                                TranscriptFormat::Tsv, TranscriptFormat::Json}) {
        add(format);
      }
      continue;
    }
    const auto format = parse_transcript_format(name);
    if (!format) {
      return fail(ErrorCode::Usage, fmt::format("--format: wanted {} or all, found '{}'{}",
                                                fmt::join(transcript_format_names(), ", "), name,
                                                suggestion(name, transcript_format_names())));
    }
    add(*format);
  }
  return formats;
}

std::string stem_of(const std::string& recording) {
  return recording == "-" ? "stdin" : fs::path(recording).stem().string();
}

// One recording's files: BASE.EXTENSION of each format; the base "-" is standard output.
struct Target {
  std::string base;
  std::vector<TranscriptFormat> formats;
  bool chosen = false;             // by the user, for this recording
  std::string dot_extension = {};  // as the user wrote it: ".TXT"
};

// The file of that format; `base` is the target's, or one like it.
std::string path_of(const Target& target, const std::string& base, TranscriptFormat format) {
  return ends_in(target.dot_extension, format) ? base + target.dot_extension
                                               : fmt::format("{}.{}", base, extension(format));
}

// A name given as "talk.srt" has its extension already where that is written, and chooses the
// format where none was asked for. whisper-cli adds its own to whatever it is told.
Target named_target(const std::string& name, const std::vector<TranscriptFormat>& asked,
                    TranscriptStyle style) {
  const bool as_it_stands = style == TranscriptStyle::WhisperCpp && !asked.empty();
  for (const std::string& format_name : transcript_format_names()) {
    const TranscriptFormat format = *parse_transcript_format(format_name);
    const bool written =
        asked.empty() || std::ranges::find(asked, extension(format), extension) != asked.end();
    if (!as_it_stands && written && ends_in(name, format)) {
      const std::string dot_extension = fs::path(name).extension();
      return {.base = name.substr(0, name.size() - dot_extension.size()),
              .formats = asked.empty() ? std::vector{format} : asked,
              .chosen = true,
              .dot_extension = dot_extension};
    }
  }
  return {.base = name, .formats = asked, .chosen = true};
}

// The files that each recording gets, by what the user asked for.
std::vector<Target> wanted_targets(const OutputOptions& options,
                                   const std::vector<TranscriptFormat>& asked,
                                   std::span<const std::string> recordings) {
  std::vector<Target> targets;
  const std::string folder = options.folder.empty() ? "." : options.folder;
  for (size_t i = 0; i < recordings.size(); ++i) {
    Target target{.base = {}, .formats = asked};
    if (i < options.bases.size()) {
      target = named_target(options.bases[i], asked, options.style);
      if (!options.folder.empty() && target.base != "-") {
        target.base = (fs::path(folder) / target.base).lexically_normal().string();
      }
    } else if (options.beside) {
      target.base = recordings[i] == "-" ? "stdin" : recordings[i];
    } else {
      target.base = (fs::path(folder) / stem_of(recordings[i])).lexically_normal().string();
    }
    if (target.formats.empty()) {
      target.formats = {TranscriptFormat::Txt};
    }
    targets.push_back(std::move(target));
  }
  return targets;
}

// The base, cut where a name made of it would be longer than its folder takes.
std::string fitted(const Target& target, const std::string& base) {
  std::string longest;
  for (const TranscriptFormat format : target.formats) {
    std::string ending = path_of(target, "", format);
    longest = ending.size() > longest.size() ? std::move(ending) : longest;
  }
  const std::string path = with_ending(base, longest);
  return path.substr(0, path.size() - longest.size());
}

// A base none of whose files another recording has yet: NAME, NAME-2, NAME-3 ...
std::string distinct(const Target& target, const std::string& recording,
                     const OutputRecords& records, std::set<std::string>& taken) {
  std::string base = fitted(target, target.base);
  const auto is_taken = [&](TranscriptFormat format) {
    const std::string path = path_of(target, base, format);
    return taken.contains(path) || (!target.chosen && records.is_of_another(path, recording));
  };
  for (int n = 2; std::ranges::any_of(target.formats, is_taken); ++n) {
    base = fitted(target, fmt::format("{}-{}", target.base, n));
  }
  for (const TranscriptFormat format : target.formats) {
    taken.insert(path_of(target, base, format));
  }
  return base;
}

// A transcript takes the place of what had its name: of a file, and of nothing else.
Status check_replaceable(const std::string& path) {
  if (is_device_or_pipe(path)) {
    return fail(ErrorCode::Usage,
                fmt::format("{} is a device or a pipe, and outputs are files: name a file, or "
                            "--output-file - for standard output",
                            path));
  }
  return {};
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// What a file of that format cannot lack: another program's may have been cut short. An empty one
// is not whole by itself.
bool is_whole(const OutputFile& output) {
  const std::string text = read_text(output.path);
  switch (output.format) {
    case TranscriptFormat::Json:
    case TranscriptFormat::JsonFull:
      return nlohmann::json::accept(text);
    case TranscriptFormat::Vtt:
      return text.starts_with("WEBVTT\n\n") && text.ends_with("\n\n");
    case TranscriptFormat::Srt:
      return text.ends_with("\n\n");
    case TranscriptFormat::Tsv:
    case TranscriptFormat::Csv:
      return text.starts_with("start") && text.ends_with('\n');
    case TranscriptFormat::Txt:
    case TranscriptFormat::Lrc:
    case TranscriptFormat::Aud:
    case TranscriptFormat::Wts:
      return text.ends_with('\n');
  }
  return false;
}

Status write_file(const std::string& path, const std::string& text) {
  MYNAH_TRY(AtomicFile file, AtomicFile::create(path));
  MYNAH_TRY_STATUS(file.write(text));
  return file.commit();
}

// Makes a folder that is to be written to ("": the current one). An error where it cannot be made
// or written to; `option` names another one.
Status make_folder(const std::string& folder, std::string_view option) {
  std::error_code error;
  if (!folder.empty() && !fs::is_directory(folder, error)) {
    fs::create_directories(folder, error);
    if (error) {
      return fail(ErrorCode::Io, fmt::format("making the folder {}: {}", folder, error.message()));
    }
  }
  // Better said now than when the recording has been heard.
  const std::string name = folder.empty() ? "." : folder;
  if (::access(name.c_str(), W_OK | X_OK) != 0) {
    return fail(ErrorCode::Io, fmt::format("the folder {} may not be written to ({}): name another "
                                           "with {}",
                                           name, std::strerror(errno), option));
  }
  return {};
}

}  // namespace

bool ends_in(const std::string& name, TranscriptFormat format) {
  return ends_with_but_for_case(name, fmt::format(".{}", extension(format)));
}

Result<OutputPlans> plan_outputs(const OutputOptions& options,
                                 std::span<const std::string> recordings,
                                 const OutputRecords& records) {
  OutputPlans plans;
  plans.recordings.resize(recordings.size());
  MYNAH_TRY(const std::vector<TranscriptFormat> formats, parse_formats(options.formats));
  const bool named = !options.folder.empty() || !options.bases.empty() || options.beside;
  if (formats.empty() && !named) {
    return plans;  // text as it comes
  }
  // whisper-cli names the others after their recordings.
  const bool some = !options.bases.empty() && options.bases.size() < recordings.size() &&
                    options.style != TranscriptStyle::WhisperCpp;
  if (some || options.bases.size() > recordings.size()) {
    return fail(ErrorCode::Usage,
                fmt::format("--output-file: wanted one a recording ({}), found {}",
                            recordings.size(), options.bases.size()));
  }
  if (!named && formats.size() == 1) {
    for (OutputPlan& plan : plans.recordings) {
      plan.to_stdout = formats;
    }
    return plans;
  }
  if (!named) {
    plans.notes.emplace_back("several formats go to files here; --output-dir names another folder");
  }
  for (const std::string& base : options.bases) {
    MYNAH_TRY_STATUS(check_replaceable(base));
  }
  const std::vector<Target> targets = wanted_targets(options, formats, recordings);
  std::set<std::string> taken;
  for (size_t i = 0; i < recordings.size(); ++i) {
    const Target& target = targets[i];
    OutputPlan& plan = plans.recordings[i];
    if (target.base == "-") {
      plan.to_stdout = target.formats;
      continue;
    }
    const std::string base = distinct(target, recordings[i], records, taken);
    const std::string wanted = fitted(target, target.base);
    if (wanted != target.base) {
      plans.notes.push_back(
          fmt::format("{}: its name is too long for the names of its outputs, which are {}.*",
                      recordings[i], base));
    } else if (base != wanted) {
      plans.notes.push_back(
          fmt::format("{}: another recording's outputs are called {}.* already; these are {}.*",
                      recordings[i], target.base, base));
    }
    for (const TranscriptFormat format : target.formats) {
      plan.files.push_back({.path = path_of(target, base, format), .format = format});
      MYNAH_TRY_STATUS(check_replaceable(plan.files.back().path));
    }
  }
  return plans;
}

Status check_standard_output(std::span<const TranscriptFormat> printed, bool json) {
  const auto all = [&](std::string_view wanted) {
    return std::ranges::all_of(
        printed, [wanted](TranscriptFormat format) { return extension(format) == wanted; });
  };
  if (json && !all("json")) {
    return fail(ErrorCode::Usage,
                fmt::format("--json and --format {} both want standard output: name a folder for "
                            "the files with --output-dir",
                            extension(printed.front())));
  }
  if (printed.size() > 1 && !all("json") && !all("txt")) {
    return fail(ErrorCode::Usage,
                fmt::format("{} files ({}) want standard output, where no program could tell them "
                            "apart: name a folder for them with --output-dir",
                            printed.size(), extension(printed.front())));
  }
  return {};
}

Status make_folder_of(const std::string& file, std::string_view option) {
  std::error_code error;
  if (file.empty() || file == "-" || fs::exists(fs::symlink_status(file, error))) {
    return {};
  }
  return make_folder(fs::path(file).parent_path().string(), option);
}

Status make_folders(const OutputPlans& plans) {
  std::set<std::string> folders;
  for (const OutputPlan& plan : plans.recordings) {
    for (const OutputFile& file : plan.files) {
      folders.insert(fs::path(file.path).parent_path().string());
    }
  }
  for (const std::string& folder : folders) {
    MYNAH_TRY_STATUS(make_folder(folder, "--output-dir"));
  }
  return {};
}

bool is_made_otherwise(const OutputPlan& plan, const std::string& options,
                       const OutputRecords& records) {
  return std::ranges::any_of(plan.files, [&](const OutputFile& output) {
    return records.is_made_otherwise(output.path, options);
  });
}

bool is_done(const OutputPlan& plan, const std::string& recording, const OutputRecords& records) {
  if (plan.files.empty()) {
    return false;
  }
  for (const OutputFile& output : plan.files) {
    std::error_code error;
    const auto written = fs::last_write_time(output.path, error);
    if (error || records.is_of_another(output.path, recording)) {
      return false;
    }
    const bool empty = fs::file_size(output.path, error) == 0;
    // Nobody spoke, or the text was lost: only a record tells.
    if (empty ? !records.was_empty(output.path, recording) : !is_whole(output)) {
      return false;
    }
    const auto recorded = fs::last_write_time(recording, error);
    if (!error && recorded > written) {
      return false;
    }
  }
  return true;
}

Status write_outputs(const OutputPlan& plan, const Transcript& transcript,
                     const WriterOptions& options) {
  for (const OutputFile& output : plan.files) {
    MYNAH_TRY_STATUS(write_file(output.path, write_transcript(transcript, output.format, options)));
    // What a run that was stopped left is in there now.
    std::error_code none;
    fs::remove(with_ending(output.path, ".partial"), none);
  }
  return {};
}

Result<std::vector<std::string>> write_partial_outputs(const OutputPlan& plan,
                                                       const Transcript& transcript,
                                                       const WriterOptions& options) {
  std::vector<std::string> names;
  for (const OutputFile& output : plan.files) {
    names.push_back(with_ending(output.path, ".partial"));
    const std::string text = write_transcript(transcript, output.format, options);
    std::error_code error;
    const auto before = fs::file_size(names.back(), error);
    if (error || before <= text.size()) {
      MYNAH_TRY_STATUS(write_file(names.back(), text));
    }
  }
  return names;
}

}  // namespace mynah::cli

#include "cli/outputs.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/atomic_file.h"
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

// A name no other recording has yet: NAME, NAME-2, NAME-3 ...
std::string distinct(const std::string& wanted, std::set<std::string>& taken) {
  std::string name = wanted;
  for (int n = 2; !taken.insert(name).second; ++n) {
    name = fmt::format("{}-{}", wanted, n);
  }
  return name;
}

// The name without extension that each recording's files get; "-" for standard output.
Result<std::vector<std::string>> base_names(const OutputOptions& options,
                                            std::span<const std::string> recordings,
                                            std::vector<std::string>& notes) {
  std::vector<std::string> bases;
  std::set<std::string> taken;
  const std::string folder = options.folder.empty() ? "." : options.folder;
  for (size_t i = 0; i < recordings.size(); ++i) {
    std::string wanted;
    if (i < options.bases.size()) {
      wanted = options.bases[i];
    } else if (options.beside) {
      wanted = recordings[i] == "-" ? "stdin" : recordings[i];
    } else {
      wanted = (fs::path(folder) / stem_of(recordings[i])).lexically_normal().string();
    }
    if (wanted == "-") {
      bases.push_back(wanted);
      continue;
    }
    bases.push_back(distinct(wanted, taken));
    if (bases.back() != wanted) {
      notes.push_back(
          fmt::format("{}: another recording's outputs are called {}.* already; these "
                      "are {}.*",
                      recordings[i], wanted, bases.back()));
    }
  }
  return bases;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// What a file of that format cannot lack: another program's may have been cut short.
bool is_whole(const OutputFile& output) {
  const std::string text = read_text(output.path);
  switch (output.format) {
    case TranscriptFormat::Json:
    case TranscriptFormat::JsonFull:
      return nlohmann::json::accept(text);
    case TranscriptFormat::Vtt:
      return text.starts_with("WEBVTT\n\n") && text.ends_with("\n\n");
    case TranscriptFormat::Srt:
      return text.empty() || text.ends_with("\n\n");
    case TranscriptFormat::Tsv:
    case TranscriptFormat::Csv:
      return text.starts_with("start") && text.ends_with('\n');
    case TranscriptFormat::Txt:
    case TranscriptFormat::Lrc:
    case TranscriptFormat::Aud:
    case TranscriptFormat::Wts:
      return text.empty() || text.ends_with('\n');
  }
  return false;
}

Status write_file(const std::string& path, const std::string& text) {
  MYNAH_TRY(AtomicFile file, AtomicFile::create(path));
  MYNAH_TRY_STATUS(file.write(text));
  return file.commit();
}

}  // namespace

Result<OutputPlans> plan_outputs(const OutputOptions& options,
                                 std::span<const std::string> recordings) {
  OutputPlans plans;
  plans.recordings.resize(recordings.size());
  MYNAH_TRY(std::vector<TranscriptFormat> formats, parse_formats(options.formats));
  const bool named = !options.folder.empty() || !options.bases.empty() || options.beside;
  if (formats.empty()) {
    if (!named) {
      return plans;  // text as it comes
    }
    formats = {TranscriptFormat::Txt};
  }
  if (options.bases.size() > recordings.size()) {
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
  MYNAH_TRY(const std::vector<std::string> bases, base_names(options, recordings, plans.notes));
  for (size_t i = 0; i < recordings.size(); ++i) {
    OutputPlan& plan = plans.recordings[i];
    if (bases[i] == "-") {
      plan.to_stdout = formats;
      continue;
    }
    for (const TranscriptFormat format : formats) {
      plan.files.push_back(
          {.path = fmt::format("{}.{}", bases[i], extension(format)), .format = format});
    }
  }
  return plans;
}

Status make_folders(const OutputPlans& plans) {
  std::set<std::string> folders;
  for (const OutputPlan& plan : plans.recordings) {
    for (const OutputFile& file : plan.files) {
      folders.insert(fs::path(file.path).parent_path().string());
    }
  }
  for (const std::string& folder : folders) {
    std::error_code error;
    if (!folder.empty() && !fs::is_directory(folder, error)) {
      fs::create_directories(folder, error);
      if (error) {
        return fail(ErrorCode::Io,
                    fmt::format("making the folder {}: {}", folder, error.message()));
      }
    }
    // Better said now than when the recording has been heard.
    const std::string name = folder.empty() ? "." : folder;
    if (::access(name.c_str(), W_OK | X_OK) != 0) {
      return fail(ErrorCode::Io,
                  fmt::format("the folder {} may not be written to ({}): name another with "
                              "--output-dir",
                              name, std::strerror(errno)));
    }
  }
  return {};
}

bool is_done(const OutputPlan& plan, const std::string& recording) {
  if (plan.files.empty()) {
    return false;
  }
  for (const OutputFile& output : plan.files) {
    std::error_code error;
    const auto written = fs::last_write_time(output.path, error);
    if (error || !is_whole(output)) {
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
    fs::remove(output.path + ".partial", none);
  }
  return {};
}

Result<std::vector<std::string>> write_partial_outputs(const OutputPlan& plan,
                                                       const Transcript& transcript,
                                                       const WriterOptions& options) {
  std::vector<std::string> names;
  for (const OutputFile& output : plan.files) {
    names.push_back(output.path + ".partial");
    MYNAH_TRY_STATUS(
        write_file(names.back(), write_transcript(transcript, output.format, options)));
  }
  return names;
}

}  // namespace mynah::cli

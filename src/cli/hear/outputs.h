// Output files of transcripts: their names, whether they are there already, writing them whole.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/files/output_records.h"
#include "cli/hear/transcribe_options.h"
#include "speech/writers.h"

namespace mynah::cli {

// One file of one recording.
struct OutputFile {
  std::string path;
  TranscriptFormat format = TranscriptFormat::Txt;
};

// Where one recording's transcript goes.
struct OutputPlan {
  std::vector<OutputFile> files;
  // Not empty: written to standard output in these formats when the recording is done.
  std::vector<TranscriptFormat> to_stdout;
};

// True where a name ends in a format's extension, in either case.
[[nodiscard]] bool ends_in(const std::string& name, TranscriptFormat format);

struct OutputPlans {
  std::vector<OutputPlan> recordings;  // one each
  std::vector<std::string> notes;      // names that had to differ from what was asked for
};

// Names every file before anything is recognised. Two recordings never share a name, and none
// takes the name that another one's output has from a run before, but for those that the user
// names himself.
Result<OutputPlans> plan_outputs(const OutputOptions& options,
                                 std::span<const std::string> recordings,
                                 const OutputRecords& records);

// Refuses what is no file any more on standard output: several files, but for text and for JSON,
// which may follow one another, and with `json`, whose lines go there, any other format.
Status check_standard_output(std::span<const TranscriptFormat> printed, bool json);

// Makes the folder of a file that is to be written. What is there already (a link, a device,
// /dev/stdout) is opened where it leads, whatever its folder allows. An error where the folder
// cannot be made or written to; `option` names another one.
Status make_folder_of(const std::string& file, std::string_view option);

// Makes the folders that the plans write to. An error where one cannot be made or written to.
Status make_folders(const OutputPlans& plans);

// True where every file is there, whole by its format's measure, not older than the recording and,
// where that is known, made of it. An empty file counts only where it is known to have been written
// so.
[[nodiscard]] bool is_done(const OutputPlan& plan, const std::string& recording,
                           const OutputRecords& records);

// True where a file is known to have been made with other options (see OutputRecords::add).
[[nodiscard]] bool is_made_otherwise(const OutputPlan& plan, const std::string& options,
                                     const OutputRecords& records);

// Writes each file whole or not at all; where its name is a link, the file behind it.
Status write_outputs(const OutputPlan& plan, const Transcript& transcript,
                     const WriterOptions& options);

// The same for what is known of a recording that was not finished, as NAME.partial; returns the
// names. One with more text, that a run before left, stays.
Result<std::vector<std::string>> write_partial_outputs(const OutputPlan& plan,
                                                       const Transcript& transcript,
                                                       const WriterOptions& options);

}  // namespace mynah::cli

// What `mynah doctor` is asked, and its actions.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command/verb.h"

namespace mynah::cli {

struct DoctorOptions {
  std::string as;    // a file of facts about another machine; "-": standard input; "": this one
  std::string html;  // "-": standard output; "": no page
  bool facts = false;
  bool redact = false;
  bool strict = false;
  bool resolve = false;
  bool all = false;
  bool show = false;
  double timeout_s = 120;
  std::vector<std::string> gpus;  // names or compute capabilities
  std::string driver;
  std::string want;  // requirements, with commas
  std::string python;
  bool dockerfile = false;
  std::vector<std::string> command;  // behind "--"
};

// The exit code where something will fail, hangs or crashes.
inline constexpr int kDoctorFoundFault = 3;

// Looks at places, or at this machine where there are none: 0, or kDoctorFoundFault.
[[nodiscard]] Result<int> doctor_look(Context& context, const std::vector<std::string>& places,
                                      const DoctorOptions& options);

// Explains a log: words, a file, or standard input. NotFound where nothing in it is known.
[[nodiscard]] Result<int> doctor_explain(Context& context, const std::vector<std::string>& words,
                                         const DoctorOptions& options);

// Takes a newer knowledge base, or shows which is in use.
[[nodiscard]] Result<int> doctor_update(Context& context, const std::vector<std::string>& words,
                                        const DoctorOptions& options);

// Runs a command in a watched child.
[[nodiscard]] Result<int> doctor_try(Context& context, const DoctorOptions& options);

// Exact versions that work together on a card: 0, or kDoctorFoundFault where there are none.
[[nodiscard]] Result<int> doctor_plan(Context& context, const DoctorOptions& options);

// What differs between two places: 0, or kDoctorFoundFault where something fails in the second
// alone.
[[nodiscard]] Result<int> doctor_compare(Context& context, const std::vector<std::string>& places,
                                         const DoctorOptions& options);

}  // namespace mynah::cli

// Tools that mynah brings itself: the time, timers and alarms, arithmetic, files below a folder.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "talk/tools/timers.h"
#include "talk/tools/tool.h"

namespace mynah::talk {

// What the clock shows.
using NowOf = std::function<SystemSeconds()>;

// What stands in ToolFacts::origin of these.
inline constexpr std::string_view kOwnOrigin = "mynah";

// "get_time": the date and the time, here or in another zone.
[[nodiscard]] std::shared_ptr<Tool> make_clock_tool(NowOf now);

// "calculate": compute() of an expression.
[[nodiscard]] std::shared_ptr<Tool> make_calculator();

// "set_timer", "set_alarm", "list_timers", "cancel_timer". All but the list change something.
[[nodiscard]] std::vector<std::shared_ptr<Tool>> make_timer_tools(
    const std::shared_ptr<Timers>& timers, const NowOf& now);

// Bytes of a file that may be read.
inline constexpr size_t kMostFileBytes = size_t{1} << 20;

// "list_files", "read_file": what is below a folder, and nothing else. A link is followed as far as
// it stays below, whoever exchanges folders meanwhile (openat2). NotFound, or Io, where the folder
// cannot be opened.
[[nodiscard]] Result<std::vector<std::shared_ptr<Tool>>> make_file_tools(const std::string& folder);

}  // namespace mynah::talk

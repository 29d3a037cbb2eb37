// Connects to the servers of a file of tools, tells what they offer, and makes calls:
// mcp_probe FILE [NAME ARGUMENTS]... A line of JSON each; what people should know is on stderr.
#include <csignal>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "talk/tools/tools_file.h"
#include "talk_tools/recording_tools.h"

int main(int count, char** words) {
  using namespace mynah::talk;  // NOLINT(google-build-using-namespace): a program of its own
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  const auto file = ToolsFile::read(count > 1 ? words[1] : "");
  if (!file) {
    fmt::print(stderr, "{}\n", file.error().message);
    return 1;
  }
  auto opened = open_tools(*file, {});
  if (!opened) {
    fmt::print(stderr, "{}\n", opened.error().message);
    return 1;
  }
  const auto refresh = [&] {
    for (const std::string& note : opened->box.refresh({})) {
      fmt::print(stderr, "{}\n", note);
    }
  };
  refresh();
  fmt::print("{}\n", opened->box.offered(ModelPlace::Here).dump());
  NobodyConfirms nobody;
  for (int i = 2; i + 1 < count; i += 2) {
    refresh();
    const auto answer = opened->box.call(
        test::call_of(words[i], words[i + 1]), ModelPlace::Here, nobody,
        {.on_progress = [](std::string_view told) { fmt::print(stderr, "{}\n", told); }});
    if (!answer) {
      fmt::print(stderr, "{}\n", answer.error().message);
      return 1;
    }
    fmt::print("{}\n", ToolJson({{"ran", answer->ran}, {"text", answer->text}}).dump());
  }
  return 0;
}

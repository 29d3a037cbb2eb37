// Standard output and error, which work on several threads writes to.
#include "cli/command/stream.h"

#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cli/test_context.h"

namespace mynah::cli {
namespace {

TEST(OutputStream, LinesOfSeveralThreadsStayWhole) {
  constexpr int kThreads = 4;
  constexpr int kLines = 500;
  TestProgram program({});
  const Context context = program.context();
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&context, i] {
        const std::string text(static_cast<size_t>(10 + i), static_cast<char>('a' + i));
        for (int k = 0; k < kLines; ++k) {
          context.say(text);
        }
      });
    }
  }
  std::istringstream lines(program.err.text());
  int whole = 0;
  for (std::string line; std::getline(lines, line); ++whole) {
    ASSERT_GT(line.size(), 7U);
    const auto i = static_cast<size_t>(line[7] - 'a');
    ASSERT_EQ(line, "mynah: " + std::string(10 + i, line[7]));
  }
  EXPECT_EQ(whole, kThreads * kLines);
}

}  // namespace
}  // namespace mynah::cli

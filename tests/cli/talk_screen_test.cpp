#include "cli/talk/talk_screen.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// The painting's rows without the terminal's commands, and without blanks at their ends.
std::vector<std::string> rows_of(const std::string& painting) {
  std::vector<std::string> rows(1);
  for (size_t i = 0; i < painting.size(); ++i) {
    if (painting[i] == '\x1b') {
      while (!std::isalpha(static_cast<unsigned char>(painting[i]))) {
        ++i;
      }
    } else if (painting[i] == '\n') {
      rows.emplace_back();
    } else if (painting[i] != '\r') {
      rows.back() += painting[i];
    }
  }
  for (std::string& row : rows) {
    row.erase(row.find_last_not_of(' ') + 1);
  }
  return rows;
}

TalkView conversation() {
  return {.lines = {{.who = "you", .text = "What is the time?"},
                    {.who = "mynah", .text = "It is noon, as far as I know."},
                    {.who = "", .text = "the sound server is gone: waiting for it"}},
          .draft = "And what",
          .doing = "listening",
          .level_db = -30,
          .devices = "Mic -> Box",
          .figures = "microphone 20 ms",
          .keys = "q: quit"};
}

TEST(TalkScreen, TheConversationStandsAboveWhatGoesOn) {
  EXPECT_THAT(
      rows_of(painted(conversation(), 10, 60)),
      ElementsAre("you: What is the time?", "mynah: It is noon, as far as I know.",
                  "the sound server is gone: waiting for it", "you: And what", "", "",
                  "[##########          ] listening", "Mic -> Box", "microphone 20 ms", "q: quit"));
}

TEST(TalkScreen, AReplyIsShownWhileItIsSpoken) {
  TalkView view = conversation();
  view.draft.clear();
  view.saying = "It is noon,";
  EXPECT_THAT(rows_of(painted(view, 10, 60))[3], "mynah: It is noon,");
}

TEST(TalkScreen, FiguresHaveASecondRowWhereThereIsRoom) {
  TalkView view = conversation();
  view.figures =
      "microphone 20 ms, loudspeaker 120 ms, echo -31 dB, drift 12 ppm, xruns 0; replied after 495 "
      "ms";
  const auto shown = rows_of(painted(view, 24, 80));
  ASSERT_EQ(shown.size(), 24U);
  EXPECT_THAT(shown[21], HasSubstr("microphone 20 ms"));
  EXPECT_EQ(shown[22], "replied after 495 ms");
  EXPECT_EQ(shown[23], "q: quit");
}

TEST(TalkScreen, APlainLineHasNoCommandsAndIsOne) {
  EXPECT_EQ(plain_line({.who = "you", .text = "a\x1b[2J\nb"}), "you: a[2J b");
  EXPECT_EQ(plain_line({.who = "", .text = "it is back"}), "it is back");
}

TEST(TalkScreen, WhereRoomIsShortTheLastRowsAreShown) {
  EXPECT_THAT(rows_of(painted(conversation(), 6, 20)),
              ElementsAre("gone: waiting for it", "you: And what", "[##########", "Mic -> Box",
                          "microphone 20 ms", "q: quit"));
}

// Whatever the texts and the size are, there are as many rows as the terminal has, none is wider,
// and nothing of a text is a command.
TEST(TalkScreen, EveryRowFits) {
  TalkView view = conversation();
  view.lines.push_back(
      {.who = "you", .text = "\x1b[2J\x07 日本語の長い文章です 日本語の長い文章です"});
  view.lines.push_back({.who = "mynah", .text = std::string(300, 'x') + "\nand\tmore \xff"});
  view.devices = "\x1b]0;title\x07" + std::string(200, 'd');
  for (const int columns : {2, 3, 7, 20, 80, 500}) {
    for (const int rows : {1, 5, 6, 24, 200}) {
      const std::string painting = painted(view, rows, columns);
      EXPECT_THAT(painting, Not(HasSubstr("\x1b[2J")));
      EXPECT_THAT(painting, Not(HasSubstr("\x1b]")));
      const auto shown = rows_of(painting);
      EXPECT_EQ(shown.size(), static_cast<size_t>(std::max(rows, 5)));
      for (const std::string& row : shown) {
        int width = 0;
        for (const char32_t c : to_code_points(row)) {
          width += is_wide(c) ? 2 : 1;
        }
        EXPECT_LE(width, columns) << row;
      }
    }
  }
}

TEST(TalkScreen, WhatIsNoTerminalIsRefused) {
  const auto screen = TalkScreen::open(-1, -1);
  ASSERT_FALSE(screen);
  EXPECT_EQ(screen.error().code, ErrorCode::Environment);
}

}  // namespace
}  // namespace mynah::cli

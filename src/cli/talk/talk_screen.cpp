#include "cli/talk/talk_screen.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <string_view>

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/chat/shown_text.h"
#include "cli/command/signals.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah::cli {

namespace {

// xterm's: another screen than the one with the user's history, no cursor; and back.
constexpr std::string_view kEnterScreen = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view kLeaveScreen = "\x1b[?25h\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kClear = "\x1b[2J";
constexpr std::string_view kRestOfLine = "\x1b[K";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kPlain = "\x1b[0m";

constexpr int kRowsBelow = 4;  // level, devices, figures, keys
// From so many rows on there is room for a second row of each but the level.
constexpr size_t kRowsForTwo = 14;
constexpr int kBar = 20;
constexpr double kQuietest_db = -60;

// What a handler needs to give the terminal back. It can reach nothing but globals.
std::atomic<int> screen_fd{-1};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
termios terminal_before{};       // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<bool> resized{};     // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
constexpr std::array<int, 6> kCrashes = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGQUIT};

void give_back(int fd) {
  [[maybe_unused]] const ssize_t written = ::write(fd, kLeaveScreen.data(), kLeaveScreen.size());
  ::tcsetattr(fd, TCSANOW, &terminal_before);
}

void give_back_once() {
  if (const int fd = screen_fd.exchange(-1); fd >= 0) {
    give_back(fd);
  }
}

extern "C" void on_crash(int signal) {
  give_back_once();
  ::raise(signal);  // its handler was for once
}

extern "C" void on_resize(int /*signal*/) {
  resized = true;
}

size_t columns_of(std::u32string_view text) {
  size_t columns = 0;
  for (const char32_t c : text) {
    columns += is_wide(c) ? 2 : 1;
  }
  return columns;
}

// Cut where it is wider.
std::string fitted(std::string_view text, size_t columns) {
  std::u32string code_points = to_code_points(shown_text(text));
  std::ranges::replace(code_points, U'\n', U' ');
  std::ranges::replace(code_points, U'\t', U' ');
  while (columns_of(code_points) > columns) {
    code_points.pop_back();
  }
  return to_utf8(code_points);
}

// In rows, broken at spaces where a row has one; those behind the first are indented.
std::vector<std::string> rows_of(std::string_view text, size_t columns, size_t indent) {
  std::u32string rest = to_code_points(shown_text(text));
  std::ranges::replace(rest, U'\n', U' ');
  std::ranges::replace(rest, U'\t', U' ');
  std::vector<std::string> rows;
  std::u32string margin;
  do {
    size_t end = 0;
    for (size_t width = margin.size(); end < rest.size(); ++end) {
      width += is_wide(rest[end]) ? 2 : 1;
      if (width > columns) {
        break;
      }
    }
    const size_t space = rest.rfind(U' ', end);
    if (end < rest.size() && space != std::u32string::npos && space > 0) {
      end = space;
    }
    end = std::max<size_t>(end, std::min<size_t>(1, rest.size()));
    rows.push_back(to_utf8(margin + rest.substr(0, end)));
    rest.erase(0, end);
    rest.erase(0, rest.find_first_not_of(U' '));
    margin.assign(std::min(indent, columns / 2), U' ');
  } while (!rest.empty());
  return rows;
}

std::vector<std::string> rows_of(const TalkView& view, size_t columns) {
  std::vector<std::string> rows;
  const auto add = [&](const std::string& who, const std::string& text, std::string_view style) {
    const std::string head = who.empty() ? "" : who + ": ";
    for (const std::string& row : rows_of(head + text, columns, who.empty() ? 0 : 2)) {
      rows.push_back(style.empty() ? row : fmt::format("{}{}{}", style, row, kPlain));
    }
  };
  for (const TalkView::Line& line : view.lines) {
    add(line.who, line.text, line.who.empty() ? kDim : std::string_view());
  }
  if (!view.draft.empty()) {
    add("you", view.draft, kDim);
  }
  if (!view.saying.empty()) {
    add("mynah", view.saying, std::string_view());
  }
  return rows;
}

std::string level_bar(double level_db) {
  const double part = std::clamp(1 - level_db / kQuietest_db, 0.0, 1.0);
  const auto full = static_cast<size_t>(std::lround(part * kBar));
  return fmt::format("[{}{}]", std::string(full, '#'), std::string(kBar - full, ' '));
}

}  // namespace

std::string painted(const TalkView& view, int rows, int columns) {
  const auto width = static_cast<size_t>(std::max(columns, 2));
  const auto height = static_cast<size_t>(std::max(rows, kRowsBelow + 1));
  std::vector<std::string> said = rows_of(view, width);
  std::vector<std::string> below = {
      fitted(fmt::format("{} {}", level_bar(view.level_db), view.doing), width)};
  for (const std::string* line : {&view.devices, &view.figures, &view.keys}) {
    std::vector<std::string> of_line = rows_of(*line, width, 0);
    if (height < kRowsForTwo) {
      of_line = {fitted(*line, width)};
    } else if (of_line.size() > 2) {
      of_line.resize(2);
    }
    below.insert(below.end(), of_line.begin(), of_line.end());
  }
  const size_t room = height - below.size();
  if (said.size() > room) {
    said.erase(said.begin(), said.end() - static_cast<std::ptrdiff_t>(room));
  }
  said.resize(room);
  said.insert(said.end(), below.begin(), below.end());
  std::string text(kHome);
  for (size_t i = 0; i < said.size(); ++i) {
    text += fmt::format("{}{}{}", i == 0 ? "" : "\r\n", said[i], kRestOfLine);
  }
  return text;
}

std::string plain_line(const TalkView::Line& line) {
  std::string plain =
      shown_text(line.who.empty() ? line.text : fmt::format("{}: {}", line.who, line.text));
  std::ranges::replace(plain, '\n', ' ');
  return plain;
}

Result<std::unique_ptr<TalkScreen>> TalkScreen::open(int in, int out) {
  if (::isatty(in) == 0 || ::isatty(out) == 0 || ::tcgetattr(out, &terminal_before) != 0) {
    return fail(ErrorCode::Environment,
                "wanted a terminal to show the conversation on, found none");
  }
  std::unique_ptr<TalkScreen> screen(new TalkScreen(in, out));
  struct sigaction crash{};
  crash.sa_handler = on_crash;
  crash.sa_flags = SA_RESETHAND;
  sigemptyset(&crash.sa_mask);
  for (const int signal : kCrashes) {
    ::sigaction(signal, &crash, nullptr);
  }
  struct sigaction resize{};
  resize.sa_handler = on_resize;
  resize.sa_flags = SA_RESTART;
  sigemptyset(&resize.sa_mask);
  ::sigaction(SIGWINCH, &resize, nullptr);
  screen_fd = out;
  before_second_signal(give_back_once);
  termios keys = terminal_before;
  // Keys come at once and unseen; Ctrl-C is one, so that the terminal is given back in order.
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
  keys.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL);
  keys.c_cc[VMIN] = 0;
  keys.c_cc[VTIME] = 0;
  ::tcsetattr(out, TCSANOW, &keys);
  [[maybe_unused]] const ssize_t written = ::write(out, kEnterScreen.data(), kEnterScreen.size());
  return screen;
}

TalkScreen::~TalkScreen() {
  give_back_once();
  before_second_signal(nullptr);
  ::signal(SIGWINCH, SIG_DFL);
  for (const int signal : kCrashes) {
    ::signal(signal, SIG_DFL);
  }
}

bool TalkScreen::show(const TalkView& view) {
  winsize size{};
  if (::ioctl(out_, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) {
    size = {.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  }
  // A terminal of another size has its rows elsewhere, whatever they are.
  const bool anew = resized.exchange(false);
  std::string text = painted(view, size.ws_row, size.ws_col);
  if (text == shown_ && !anew) {
    return true;
  }
  shown_ = std::move(text);
  const std::string all = anew ? std::string(kClear) + shown_ : shown_;
  for (std::string_view rest = all; !rest.empty();) {
    const ssize_t count = ::write(out_, rest.data(), rest.size());
    if (count < 0 && errno != EINTR && errno != EAGAIN) {
      return false;
    }
    rest.remove_prefix(count > 0 ? static_cast<size_t>(count) : 0);
  }
  return true;
}

std::optional<char> TalkScreen::key() {
  pollfd input{.fd = in_, .events = POLLIN, .revents = 0};
  if (::poll(&input, 1, 0) <= 0 || (input.revents & POLLIN) == 0) {
    return std::nullopt;
  }
  constexpr char kEscape = 27;
  char first = 0;
  if (::read(in_, &first, 1) != 1) {
    return std::nullopt;
  }
  if (first == kEscape && ::poll(&input, 1, 0) > 0) {
    // An arrow or the like: "\x1b[A", up to its letter.
    char next = 0;
    while (::read(in_, &next, 1) == 1 && (next == '[' || next == 'O' || next < '@')) {
    }
    return std::nullopt;
  }
  return first;
}

}  // namespace mynah::cli

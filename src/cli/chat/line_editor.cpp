#include "cli/chat/line_editor.h"

#include <array>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cwchar>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <histedit.h>
#include <poll.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#ifdef MYNAH_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

#include "base/check.h"
#include "cli/chat/shown_text.h"
#include "text/utf8.h"

namespace mynah::cli {

namespace {

constexpr int kKept = 1000;  // lines of the history

// What terminals send behind what is pasted, and what has them mark it (xterm's bracketed paste).
constexpr std::string_view kPasteEnd = "\x1b[201~";
constexpr std::string_view kMarkPastes = "\x1b[?2004h";
constexpr std::string_view kMarkNone = "\x1b[?2004l";

// Text as it was pasted, whose lines end as terminals send them; what is a command elsewhere is
// left out.
std::string cleaned(std::string_view pasted) {
  std::string text;
  for (size_t i = 0; i < pasted.size(); ++i) {
    const bool ends_line = pasted[i] == '\r';
    text += ends_line ? '\n' : pasted[i];
    i += ends_line && pasted.substr(i + 1).starts_with('\n') ? 1 : 0;
  }
  return shown_text(replace_invalid_utf8(text));
}

void show(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

// Waits for a byte of standard input. Interrupted or at the end: none.
std::optional<char> wait_for_byte(Interrupts& interrupts, bool& interrupted) {
  std::array<pollfd, 2> fds = {{{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                                {.fd = interrupts.descriptor(), .events = POLLIN, .revents = 0}}};
  while (true) {
    if (::poll(fds.data(), fds.size(), -1) < 0) {
      if (errno == EINTR) {
        continue;
      }
      return std::nullopt;
    }
    if (fds[1].revents != 0 && interrupts.take()) {
      interrupted = true;
      return std::nullopt;
    }
    char byte = 0;
    const ssize_t count = ::read(STDIN_FILENO, &byte, 1);
    if (count == 1) {
      return byte;
    }
    if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      return std::nullopt;
    }
  }
}

}  // namespace

struct LineEditor::State {
  std::string file;
  Interrupts* interrupts = nullptr;
  Complete complete;
  bool marks_pastes = false;
  std::string prompt;
  bool interrupted = false;
  EditLine* editor = nullptr;
  History* history = nullptr;
  HistEvent event{};

  static State* of(EditLine* editor) {
    State* state = nullptr;
    el_get(editor, EL_CLIENTDATA, &state);
    return state;
  }

  static char* show_prompt(EditLine* editor) { return of(editor)->prompt.data(); }

  // All until the end of what is pasted, as one.
  static unsigned char take_paste(EditLine* editor, int /*key*/) {
    State& state = *of(editor);
    std::string pasted;
    while (!pasted.ends_with(kPasteEnd)) {
      const auto byte = wait_for_byte(*state.interrupts, state.interrupted);
      if (!byte) {
        return CC_EOF;
      }
      pasted += *byte;
    }
    pasted.resize(pasted.size() - kPasteEnd.size());
    const std::string text = cleaned(pasted);
    return text.empty() || el_insertstr(editor, text.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  }

  // A mark without a paste is no text.
  static unsigned char pass_over(EditLine* /*editor*/, int /*key*/) { return CC_NORM; }

  static unsigned char go_on(EditLine* editor, int /*key*/) {
    const LineInfo* const line = el_line(editor);
    const Completion found = of(editor)->complete(std::string_view(line->buffer, line->cursor));
    if (!found.choices.empty()) {
      show(fmt::format("\n{}\n", fmt::join(found.choices, "  ")));
      return CC_REDISPLAY;
    }
    return !found.rest.empty() && el_insertstr(editor, found.rest.c_str()) == 0 ? CC_REFRESH
                                                                                : CC_NORM;
  }

  // Whether the terminal reads control sequences.
  bool is_able() const {
    const char* terminal = nullptr;
    el_get(editor, EL_TERMINAL, &terminal);
    return ::isatty(STDOUT_FILENO) == 1 && terminal != nullptr &&
           std::string_view(terminal) != "dumb";
  }

  // One character of the terminal's UTF-8.
  static int get_character(EditLine* editor, wchar_t* character) {
    State& state = *of(editor);
    std::mbstate_t shift{};
    while (true) {
      const auto byte = wait_for_byte(*state.interrupts, state.interrupted);
      if (!byte) {
        return state.interrupted ? -1 : 0;
      }
      const size_t size = std::mbrtowc(character, &*byte, 1, &shift);
      if (size == static_cast<size_t>(-1)) {
        shift = {};  // no UTF-8: passed over
      } else if (size != static_cast<size_t>(-2)) {
        return 1;
      }
    }
  }
};

LineEditor::LineEditor(std::string history, Interrupts& interrupts, Complete complete)
    : state_(std::make_unique<State>()) {
  // The editor counts columns by the locale; mynah writes UTF-8 whatever that says.
  std::setlocale(LC_CTYPE, "C.UTF-8");
  State& state = *state_;
  state.file = std::move(history);
  state.interrupts = &interrupts;
  state.complete = std::move(complete);
  state.history = history_init();
  state.editor = el_init("mynah", stdin, stdout, stderr);
  MYNAH_CHECK(state.history != nullptr && state.editor != nullptr, "no memory for a line editor");
  el_set(state.editor, EL_CLIENTDATA, &state);
  el_set(state.editor, EL_PROMPT, &State::show_prompt);
  el_set(state.editor, EL_GETCFN, &State::get_character);
  el_set(state.editor, EL_EDITOR, "emacs");
#ifdef MYNAH_ADDRESS_SANITIZER
  const __lsan::ScopedDisabler copies;  // libedit keeps those of names and helps for good
#endif
  el_set(state.editor, EL_ADDFN, "take-paste", "Takes what is pasted", &State::take_paste);
  el_set(state.editor, EL_ADDFN, "pass-over", "Does nothing", &State::pass_over);
  el_set(state.editor, EL_ADDFN, "go-on", "Goes on with a command", &State::go_on);
  el_set(state.editor, EL_BIND, "\\e[200~", "take-paste", nullptr);
  el_set(state.editor, EL_BIND, "\\e[201~", "pass-over", nullptr);
  el_set(state.editor, EL_BIND, "^I", "go-on", nullptr);
  ::history(state.history, &state.event, H_SETSIZE, kKept);
  ::history(state.history, &state.event, H_SETUNIQUE, 1);
  el_set(state.editor, EL_HIST, ::history, state.history);
  el_source(state.editor, nullptr);  // the user's own ~/.editrc
  if (!state.file.empty()) {
    ::history(state.history, &state.event, H_LOAD, state.file.c_str());
  }
  state.marks_pastes = state.is_able();
  if (state.marks_pastes) {
    show(kMarkPastes);
  }
}

LineEditor::~LineEditor() {
  State& state = *state_;
  if (state.marks_pastes) {
    show(kMarkNone);
  }
  if (!state.file.empty()) {
    // Before there is anything in it: what somebody asks is nobody else's.
    const int fd = ::open(state.file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0) {
      ::close(fd);
      ::history(state.history, &state.event, H_SAVE, state.file.c_str());
    }
  }
  el_end(state.editor);
  history_end(state.history);
}

std::optional<LineEditor::Line> LineEditor::read(const std::string& prompt) {
  State& state = *state_;
  state.prompt = prompt;
  state.interrupted = false;
  int count = 0;
  const char* const text = el_gets(state.editor, &count);
  if (state.interrupted) {
    el_reset(state.editor);
    return Line{.text = {}, .interrupted = true};
  }
  if (text == nullptr || count <= 0) {
    return std::nullopt;
  }
  std::string line(text, static_cast<size_t>(count));
  while (line.ends_with('\n') || line.ends_with('\r')) {
    line.pop_back();
  }
  return Line{.text = std::move(line), .interrupted = false};
}

void LineEditor::keep(const std::string& text) {
  if (!text.empty()) {
    ::history(state_->history, &state_->event, H_ENTER, text.c_str());
  }
}

std::optional<char> LineEditor::read_key(const std::string& question) {
  termios before{};
  const bool is_terminal = ::tcgetattr(STDIN_FILENO, &before) == 0;
  if (is_terminal) {
    // Before the question is shown: what was typed ahead answers nothing, what is typed on seeing
    // it does.
    termios raw = before;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
  }
  show(question);
  bool interrupted = false;
  const auto key = wait_for_byte(*state_->interrupts, interrupted);
  if (is_terminal) {
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
  }
  show("\n");
  return key;
}

}  // namespace mynah::cli

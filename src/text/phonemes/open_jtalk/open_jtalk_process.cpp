#include "text/phonemes/open_jtalk/open_jtalk_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "base/process.h"

namespace mynah::open_jtalk {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kPackages = "`apt install open-jtalk open-jtalk-mecab-naist-jdic`";
constexpr std::string_view kAnyWord = "はい";
constexpr int kVoiceFd = 3;
constexpr int kTraceFd = 4;
// Of each phoneme a label of some 250 bytes and what its voice would do, as much again: 1.2 MB of
// the longest text that was tried.
constexpr size_t kLongestTrace = size_t{16} << 20;

std::unexpected<Error> no_answer(const std::string& what) {
  return fail(ErrorCode::Environment,
              fmt::format("open_jtalk, which reads Japanese, {}; {} brings it anew", what,
                          "`apt install --reinstall open-jtalk open-jtalk-mecab-naist-jdic`"));
}

// Numbers as this machine has them in memory, which is how the engine reads them.
template <class T>
void put(std::string& bytes, std::initializer_list<T> values) {
  for (const T value : values) {
    std::array<char, sizeof(T)> raw{};
    std::memcpy(raw.data(), &value, sizeof value);
    bytes.append(raw.data(), raw.size());
  }
}

// A file of these bytes, at its begin.
Result<UniqueFd> in_memory(const std::string& bytes) {
  UniqueFd fd(::memfd_create("open_jtalk", MFD_CLOEXEC));
  if (!fd || ::write(fd.get(), bytes.data(), bytes.size()) != std::ssize(bytes) ||
      ::lseek(fd.get(), 0, SEEK_SET) != 0) {
    return fail(ErrorCode::Io,
                fmt::format("cannot keep a file for open_jtalk: {}", std::strerror(errno)));
  }
  return fd;
}

// All that comes until its end. None: the time was over, or too much came.
Result<std::optional<std::string>> read_all(int fd, Clock::time_point until) {
  std::string all;
  std::array<char, 1 << 14> block{};
  while (all.size() < kLongestTrace) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    MYNAH_TRY(const bool ready, wait_readable(fd, std::max(left, left.zero())));
    if (!ready) {
      return std::nullopt;
    }
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return std::optional(std::move(all));
    }
    all.append(block.data(), static_cast<size_t>(got));
  }
  return std::nullopt;
}

}  // namespace

std::string silent_voice() {
  std::string data;
  std::string positions;
  const auto add = [&](std::string_view key, std::string_view bytes) {
    positions += fmt::format("{}:{}-{}\n", key, data.size(), data.size() + bytes.size() - 1);
    data += bytes;
  };
  const auto density = [](std::initializer_list<float> values) {
    std::string bytes;
    put(bytes, {uint32_t{1}});
    put(bytes, values);
    return bytes;
  };
  const auto tree = [](std::string_view name) {
    return fmt::format("{{*}}[2]\n   \"{}_s2_1\"\n", name);
  };
  add("DURATION_PDF", density({1, 1}));
  add("DURATION_TREE", tree("dur"));
  add("STREAM_WIN[MCP]", "1 1.0\n");
  add("STREAM_WIN[LF0]", "1 1.0\n");
  add("STREAM_PDF[MCP]", density({0, 0, 1, 1}));
  add("STREAM_PDF[LF0]", density({0, 1, 0}));  // never voiced
  add("STREAM_TREE[MCP]", tree("mgc"));
  add("STREAM_TREE[LF0]", tree("lf0"));
  return "[GLOBAL]\nHTS_VOICE_VERSION:1.0\nSAMPLING_FREQUENCY:8000\nFRAME_PERIOD:1\nNUM_STATES:1\n"
         "NUM_STREAMS:2\nSTREAM_TYPE:MCP,LF0\nFULLCONTEXT_FORMAT:HTS_TTS_JPN\n"
         "FULLCONTEXT_VERSION:1.0\nGV_OFF_CONTEXT:\nCOMMENT:\n"
         "[STREAM]\nVECTOR_LENGTH[MCP]:2\nVECTOR_LENGTH[LF0]:1\nIS_MSD[MCP]:0\nIS_MSD[LF0]:1\n"
         "NUM_WINDOWS[MCP]:1\nNUM_WINDOWS[LF0]:1\nUSE_GV[MCP]:0\nUSE_GV[LF0]:0\n"
         "OPTION[MCP]:ALPHA=0.0\nOPTION[LF0]:\n[POSITION]\n" +
         positions + "[DATA]\n" + data;
}

Result<OpenJtalkProcess> OpenJtalkProcess::start(ProgramOptions options) {
  OpenJtalkProcess process(std::move(options));
  const auto path = find_program(process.options_.program);
  if (!path) {
    return fail(ErrorCode::Environment, fmt::format("{} is not installed, which reads Japanese: {}",
                                                    process.options_.program, kPackages));
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(process.options_.dictionary + "/sys.dic", error)) {
    return fail(ErrorCode::Environment,
                fmt::format("open_jtalk's dictionary is not in {}, by which it reads Japanese: {}",
                            process.options_.dictionary, kPackages));
  }
  process.path_ = *path;
  MYNAH_TRY(const Trace trace, process.ask(kAnyWord));
  if (trace.morphemes.empty()) {
    return no_answer("does not read a word");
  }
  return process;
}

Result<Trace> OpenJtalkProcess::ask(std::string_view text) const {
  MYNAH_CHECK(text.size() < kLongestText && text.find('\n') == std::string_view::npos,
              "[open_jtalk] wants a short text on one line");
  constexpr int kTries = 2;
  for (int i = 1;; ++i) {
    auto trace = ask_once(text);
    auto parsed = trace ? parse_trace(*trace) : std::unexpected(trace.error());
    if (parsed || i == kTries) {
      return parsed || parsed.error().code == ErrorCode::Environment
                 ? std::move(parsed)
                 : no_answer("gives no answer that can be read: " + parsed.error().message);
    }
  }
}

Result<std::string> OpenJtalkProcess::ask_once(std::string_view text) const {
  const auto until = Clock::now() + options_.patience;
  MYNAH_TRY(const UniqueFd voice, in_memory(silent_voice()));
  MYNAH_TRY(const UniqueFd line, in_memory(std::string(text) + "\n"));
  MYNAH_TRY(Pipe out, Pipe::create());
  MYNAH_TRY(Process process,
            Process::spawn({.program = path_,
                            .arguments = {"-x", options_.dictionary, "-m",
                                          fmt::format("/proc/self/fd/{}", kVoiceFd), "-ot",
                                          fmt::format("/proc/self/fd/{}", kTraceFd)},
                            .descriptors = {{line.get(), STDIN_FILENO},
                                            {voice.get(), kVoiceFd},
                                            {out.write_end.get(), kTraceFd}},
                            .environment = {"LC_ALL=C.UTF-8"},
                            .group = ProcessGroup::Own}));
  out.write_end.reset();
  MYNAH_TRY(std::optional<std::string> trace, read_all(out.read_end.get(), until));
  if (!trace) {
    process.kill(SIGKILL);
    return no_answer(fmt::format("gave no answer within {} ms", options_.patience.count()));
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  MYNAH_TRY(const auto end, process.wait(std::max(left, left.zero())));
  // Where nothing is to be said it writes nothing and calls that a failure.
  const bool silent = end && end->signal == 0 && end->exit_code == 1 && trace->empty();
  if (!silent && (!end || !end->ok())) {
    process.kill(SIGKILL);
    return no_answer("has ended without an answer");
  }
  return std::move(*trace);
}

}  // namespace mynah::open_jtalk
